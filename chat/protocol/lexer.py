"""As much of Python's grammar of tokens as it takes to know where a logical line ends.

One state for `FenceParser` (is a closing line inside a triple-quoted string?) and for `StatementSplitter`
(does the statement go on?). It reads whole physical lines, so that no token but a string spans two calls.
"""

import re
from dataclasses import dataclass
from enum import Enum

# What Python's tokenizer takes for a part of a name. `\w` has no combining marks.
NAME_CHARACTER = r"[A-Za-z0-9_\u0080-\U0010ffff]"


class _Kind(Enum):
    BRACKET = "bracket"  # code between ( [ { and its closing
    FIELD = "field"  # code between { and } of an f-string
    STRING = "string"  # a string without fields
    LITERAL = "literal"  # the literal part of an f-string
    SPEC = "spec"  # what follows the colon of an f-string's field


@dataclass(frozen=True, slots=True)
class _Frame:
    """Something open. `quote` ends the string it belongs to, `body` matches what can't end or change it."""

    kind: _Kind
    quote: str = ""
    body: re.Pattern[str] | None = None
    raw: bool = False


_BRACKET = _Frame(_Kind.BRACKET)
_FIELD = _Frame(_Kind.FIELD)


def _string_body(quote: str) -> re.Pattern[str]:
    """All up to the quote, or a newline if it is a single one. A backslash takes the next character along."""
    mark = quote[0]
    if len(quote) == 3:
        return re.compile(rf"(?:[^\\{mark}]++|\\.|{mark}(?!{mark}{mark}))*+", re.DOTALL)
    return re.compile(rf"(?:[^\\\n{mark}]++|\\.)*+", re.DOTALL)


def _literal_body(quote: str, raw: bool, spec: bool) -> re.Pattern[str]:
    """As for a string, but braces end it: doubled ones only outside a format spec are themselves."""
    mark = quote[0]
    parts = [rf"[^\\{{}}{mark}]++", r"\\(?=[{}])", r"\\.", rf"{mark}(?!{mark}{mark})"]
    if len(quote) == 1:
        parts = [rf"[^\\\n{{}}{mark}]++", r"\\(?=[{}])", r"\\."]
    if not raw:
        parts.insert(0, rf"\\N\{{[^{{}}\n{mark}]*+\}}")  # a character's name, not a field
    if not spec:
        parts += [r"\{\{", r"\}\}"]
    return re.compile(f"(?:{'|'.join(parts)})*+", re.DOTALL)


_QUOTES = ("'", '"', "'''", '"""')
_STRINGS = {quote: _Frame(_Kind.STRING, quote, _string_body(quote)) for quote in _QUOTES}
_LITERALS = {
    (quote, raw): _Frame(_Kind.LITERAL, quote, _literal_body(quote, raw, spec=False), raw)
    for quote in _QUOTES
    for raw in (False, True)
}
_SPECS = {
    (quote, raw): _Frame(_Kind.SPEC, quote, _literal_body(quote, raw, spec=True), raw)
    for quote in _QUOTES
    for raw in (False, True)
}

# A line that leaves nothing open and has no comment, backslash, brace in a string or brackets three deep.
# Most lines are like that and cost one match; all others are read token by token.
_ATOMS = r"""[^#'"()\[\]{}\\\n]++|"[^"\\\n{]*+"(?!")|'[^'\\\n{]*+'(?!')"""
_PLAIN_LINE = re.compile(rf"(?:{_ATOMS}|[(\[{{](?:{_ATOMS}|[(\[{{](?:{_ATOMS})*+[)\]}}])*+[)\]}}])*+\n")

_CODE = re.compile(r"""['"#()\[\]{}\n]|\\\n""")
_FIELD_CODE = re.compile(r"""['"#()\[\]{}:\n]|\\\n""")
_FIELD_PREFIX = re.compile(rf"(?<!{NAME_CHARACTER})(?:[ft]r?|r[ft])\Z", re.IGNORECASE)
_LONGEST_PREFIX = 2


class PythonLexer:
    """Follows strings, brackets, comments and backslashes through code that is fed line by line.

    Broken code is followed as well as possible: a string that its line leaves open ends there, a closing
    bracket closes whatever bracket is open.
    """

    def __init__(self) -> None:
        self._open: list[_Frame] = []
        self._triples = 0
        self._continued = False
        self._ends_with_colon = False

    @property
    def idle(self) -> bool:
        """True between two logical lines."""
        return not self._open and not self._continued

    @property
    def in_triple_quotes(self) -> bool:
        """True inside an unfinished triple-quoted string, the fields of an f-string included."""
        return self._triples > 0

    @property
    def ends_with_colon(self) -> bool:
        """True when the last token of the logical line that has just ended is a colon."""
        return self._ends_with_colon

    def feed(self, text: str) -> None:
        """Take one or more physical lines, each with its LF (only the very last line may lack it)."""
        pos, end = 0, len(text)
        line_start = 0
        while pos < end:
            frame = self._open[-1] if self._open else None
            if frame is None:
                # Tried once per line: a failed match may have looked at the whole line.
                plain = _PLAIN_LINE.match(text, pos) if pos == line_start else None
                pos = self._plain_line(text, pos, plain.end()) if plain else self._code(text, pos, _CODE)
            elif frame.body is not None:
                pos = self._string(text, pos, frame, frame.body)
            else:
                pos = self._code(text, pos, _FIELD_CODE if frame is _FIELD else _CODE)
            if text[pos - 1] == "\n":
                line_start = pos

    def _plain_line(self, text: str, pos: int, end: int) -> int:
        self._end_code(text, pos, end - 1)
        self._continued = False
        return end

    def _code(self, text: str, pos: int, interesting: re.Pattern[str]) -> int:
        """Read code from `pos` to where another way of reading begins; that place."""
        start = pos
        while True:
            match = interesting.search(text, pos)
            if match is None:
                self._end_code(text, start, len(text))
                return len(text)
            at, pos = match.start(), match.end()
            mark = text[at]
            if mark == "\n":
                self._continued = False
                self._end_code(text, start, at)
                return pos
            if mark == "\\":
                self._continued = True
                self._end_code(text, start, at)
                return pos
            if mark == "#":
                self._end_code(text, start, at)
                newline = text.find("\n", at)
                return self._end_comment(text, newline)
            if mark in "'\"":
                self._ends_with_colon = False
                return self._open_string(text, at, mark)
            if mark in "([{":
                self._open.append(_BRACKET)
                if interesting is _FIELD_CODE:
                    return pos
            elif mark == ":":
                self._open.append(self._spec())
                return pos
            elif self._close_bracket(mark):
                return pos

    def _end_comment(self, text: str, newline: int) -> int:
        if newline < 0:
            return len(text)
        self._continued = False
        return newline + 1

    def _end_code(self, text: str, start: int, end: int) -> None:
        """Note how the code in this stretch of a line ends; blanks alone change nothing."""
        while end > start and text[end - 1] in " \t\f":
            end -= 1
        if end > start:
            self._ends_with_colon = not self._open and text[end - 1] == ":"

    def _close_bracket(self, mark: str) -> bool:
        """Close what is open; True when the way of reading changes by it."""
        if not self._open or (self._open[-1] is _FIELD and mark != "}"):
            return False
        self._open.pop()
        self._ends_with_colon = False
        return not self._open or self._open[-1] is not _BRACKET

    def _open_string(self, text: str, at: int, mark: str) -> int:
        quote = mark * 3 if text.startswith(mark * 3, at) else mark
        prefix = None
        if at and text[at - 1] in "fFrRtT":
            prefix = _FIELD_PREFIX.search(text[max(at - _LONGEST_PREFIX - 1, 0) : at])
        if prefix is None:
            self._push_string(_STRINGS[quote])
        else:
            self._push_string(_LITERALS[quote, "r" in prefix[0].lower()])
        return at + len(quote)

    def _push_string(self, frame: _Frame) -> None:
        self._open.append(frame)
        if len(frame.quote) == 3:
            self._triples += 1

    def _spec(self) -> _Frame:
        """The frame of a format spec in the innermost f-string, whose field is the innermost frame."""
        enclosing = self._open[-2]
        return _SPECS[enclosing.quote, enclosing.raw]

    def _string(self, text: str, pos: int, frame: _Frame, body: re.Pattern[str]) -> int:
        """Read on in a string; the place after its end, or where a field begins or ends."""
        match = body.match(text, pos)
        pos = match.end() if match else pos
        if pos >= len(text):
            return pos
        mark = text[pos]
        if mark == "\\":
            return pos + 1  # the very last character
        if mark == "{":
            self._open.append(_FIELD)
            return pos + 1
        if mark == "}":
            if frame.kind is _Kind.SPEC:
                del self._open[-2:]
            return pos + 1
        if mark == "\n":
            self._leave_line(frame)
            return pos
        self._end_string(frame)
        return pos + len(frame.quote)

    def _leave_line(self, frame: _Frame) -> None:
        """End what a newline can't be in: of a format spec the field goes on, a string is broken off."""
        if frame.kind is _Kind.SPEC:
            self._open.pop()
        else:
            self._end_string(frame)

    def _end_string(self, frame: _Frame) -> None:
        """Close the string that the frame belongs to; a quote in a format spec ends the whole f-string."""
        while self._open[-1].kind in (_Kind.SPEC, _Kind.FIELD, _Kind.BRACKET):
            self._open.pop()
        self._open.pop()
        if len(frame.quote) == 3:
            self._triples -= 1
