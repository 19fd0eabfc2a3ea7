"""JSON that is still being written: its value so far, and at the end its value or what is wrong with it."""

import math
import re
from enum import Enum
from typing import Final, Literal

import jiter

from chat.protocol import problems
from chat.protocol.events import Problem
from chat.protocol.limits import MAX_DATA_CHARS
from chat.protocol.text import guarded

type JSON = dict[str, JSON] | list[JSON] | str | int | float | bool | None


class Nothing(Enum):
    """The type of NOTHING, which is not None because null is a value."""

    NOTHING = "nothing"


NOTHING: Final = Nothing.NOTHING

# A page that changes more often looks no smoother.
MIN_INTERVAL_SECONDS = 0.05
# Each evaluation reads all text so far. A second's wait for so many characters keeps evaluations to about one
# percent of a core whatever the size, and so their total cost linear in the length of the stream.
CHARS_PER_SECOND = 1_000_000

_MARKS = re.compile(r'\\.|"', re.DOTALL)
_OPEN_NUMBER = re.compile(r"[-+.0-9eE]+\Z")
_LONGEST_OPEN_NUMBER = 400  # longer ones are out of range anyway
_HUGE_NUMBER = re.compile(r"[eE]\+?0*[0-9]{3}|[0-9]{200}")
_HUGE_NUMBER_CHARS = 200
_NUMBERS = re.compile(
    r'"(?:[^"\\]++|\\.)*+"?|(?P<number>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?)', re.DOTALL
)
_ERROR = re.compile(r"(?P<reason>.*) at line (?P<line>[0-9]+) column (?P<column>[0-9]+)", re.DOTALL)


class PartialJSON:
    """The JSON of one data block, fed in pieces of any size. Never raises, whatever the text.

    A value so far has everything that is certain and as much of the last string as has arrived, never half an
    escape or half a character, and never a number whose last digit may still be missing.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._size = 0
        self._fresh = False  # text has arrived since the last evaluation
        self._next = float("-inf")
        self._value: JSON | Nothing = NOTHING
        self._scanned = 0
        self._in_string = False
        self._has_nul = False
        self._has_huge_number = False

    def feed(self, text: str) -> None:
        """Take the next piece; costs nothing until the value is asked for."""
        self._size += len(text)
        if self._size <= MAX_DATA_CHARS:
            self._pieces.append(text)
            self._fresh = True

    def due(self, now: float) -> bool:
        """True if it is time to ask for the value: something is new, and the last time is long enough ago.

        `now` is any clock in seconds that does not run backwards. At most 20 times a second, and less often
        the longer the text is; each True begins the waiting anew.
        """
        if not self._fresh or now < self._next:
            return False
        self._next = now + max(MIN_INTERVAL_SECONDS, self._size / CHARS_PER_SECOND)
        return True

    def value(self) -> JSON | Nothing:
        """The value so far: the newest that could be read, NOTHING before the first."""
        if self._fresh:
            self._fresh = False
            text = self._text()
            self._scan(text)
            if not self._in_string:
                text = _without_open_number(text)
            value = self._evaluate(text)
            if not isinstance(value, Problem):
                self._value = value
        return self._value

    def close(self) -> JSON | Problem:
        """The value of the whole block, or the problem with line and column."""
        if self._size > MAX_DATA_CHARS:
            return problems.data_too_long()
        text = self._text()
        self._scan(text)
        return self._evaluate(text, whole=True)

    def _text(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def _scan(self, text: str) -> None:
        """Follow strings through what is new, so that all scans together read the text once."""
        end = self._scanned
        for match in _MARKS.finditer(text, self._scanned):
            end = match.end()
            if match[0] == '"':
                self._in_string = not self._in_string
        new = max(self._scanned - _HUGE_NUMBER_CHARS, 0)
        self._has_huge_number = self._has_huge_number or _HUGE_NUMBER.search(text, new) is not None
        self._has_nul = self._has_nul or text.find("\\u0000", new) >= 0
        is_cut = end < len(text) and text[-1] == "\\"
        self._scanned = len(text) - 1 if is_cut else len(text)

    def _evaluate(self, text: str, *, whole: bool = False) -> JSON | Problem:
        mode: Literal[False, "trailing-strings"] = False if whole else "trailing-strings"
        if self._has_huge_number and (huge := _huge_number(text)):
            return _problem_at(text, "number out of range", huge.start())
        try:
            value: JSON = jiter.from_json(_encoded(text), allow_inf_nan=False, partial_mode=mode)
        except ValueError as error:
            return _problem(text, str(error))
        return _without_nul(value) if self._has_nul else value


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return guarded(text).encode()


def _without_open_number(text: str) -> str:
    match = _OPEN_NUMBER.search(text, max(len(text) - _LONGEST_OPEN_NUMBER, 0))
    return text[: match.start()] if match else text


def _huge_number(text: str) -> re.Match[str] | None:
    """The first number that would become infinite, which is no JSON."""
    for match in _NUMBERS.finditer(text):
        if match["number"] and math.isinf(float(match["number"])):
            return match
    return None


def _without_nul(value: JSON) -> JSON:
    """The value without the NUL characters that its strings got from escapes: PostgreSQL stores none."""
    match value:
        case str():
            return value.replace("\0", "")
        case list():
            return [_without_nul(item) for item in value]
        case dict():
            return {key.replace("\0", ""): _without_nul(item) for key, item in value.items()}
        case _:
            return value


def _problem(text: str, error: str) -> Problem:
    """The problem for an error of jiter, whose columns count the bytes of a line."""
    match = _ERROR.fullmatch(error)
    if match is None:
        return problems.bad_json(error, 1, 1, text)
    line = int(match["line"])
    lines = text.split("\n")
    source = lines[line - 1] if line <= len(lines) else ""
    before = _encoded(source)[: max(int(match["column"]) - 1, 0)]
    return problems.bad_json(match["reason"], line, len(before.decode(errors="ignore")) + 1, source)


def _problem_at(text: str, reason: str, index: int) -> Problem:
    start = text.rfind("\n", 0, index) + 1
    source = text[start:].split("\n", 1)[0]
    return problems.bad_json(reason, text.count("\n", 0, index) + 1, index - start + 1, source)
