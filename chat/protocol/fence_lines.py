"""Judges whether a line, known in part or as a whole, opens or closes a fence."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from chat.protocol.limits import MAX_FENCE_LINE_CHARS


class Line(Enum):
    """What is known about a line from its beginning."""

    UNDECIDED = "undecided"
    CONTENT = "content"
    OPENING = "opening"
    CLOSING = "closing"
    TOO_LONG = "too long"


@dataclass(frozen=True, slots=True)
class Fence:
    """An open fence: its character, length and indent, and the width of the list marker before it."""

    mark: str
    length: int
    indent: int = 0
    container: int = 0


NO_FENCE = Fence("", 0)

_OPENING = re.compile(r"(?P<indent> {0,3})(?P<fence>`{3,}(?=[^`]*\Z)|~{3,})(?P<info>.*)", re.DOTALL)
_MAY_OPEN = re.compile(r" {0,3}(?:`{0,2}|~{0,2}|`{3,}[^`]*|~{3,}.*)", re.DOTALL)
_MAY_CLOSE = re.compile(r" {0,3}(?:(?P<fence>`+|~+)(?P<blanks>[ \t]*))?")

# A fence may also stand behind a list marker ("1. ```js"). It is not at the start of its line and so never
# acts, but if it were overlooked, its closing line would be taken for the opening of another fence.
_MAY_BE_LIST = re.compile(r" {0,3}[-+*0-9]")
_LIST_OPENING = re.compile(
    r"(?P<marker> {0,3}(?:(?:[-+*]|[0-9]{1,9}[.)]) {1,4})+)(?P<fence>`{3,}(?=[^`]*\Z)|~{3,}).*", re.DOTALL
)


def judge_opening(line: str, *, ended: bool) -> Line:
    """Whether a line at top level opens a fence; `line` is all of it that is known, without its line end."""
    if line and line[0] not in " `~":
        return Line.CONTENT
    if ended and len(line) <= MAX_FENCE_LINE_CHARS:
        return Line.OPENING if _OPENING.fullmatch(line) else Line.CONTENT
    start = line[: MAX_FENCE_LINE_CHARS + 1]
    if not _MAY_OPEN.fullmatch(start):
        return Line.CONTENT
    return Line.TOO_LONG if len(start) > MAX_FENCE_LINE_CHARS else Line.UNDECIDED


def judge_closing(line: str, fence: Fence, in_string: Callable[[], bool], *, ended: bool) -> Line:
    """Whether a line closes the fence; `in_string` is asked only if nothing else speaks against it."""
    if line and line[0] != " " and line[0] != fence.mark:
        return Line.CONTENT
    start = line[: MAX_FENCE_LINE_CHARS + 1]
    match = _MAY_CLOSE.fullmatch(start)
    if match is None:
        return Line.CONTENT
    run = match["fence"] or ""
    if (run and run[0] != fence.mark) or (match["blanks"] and len(run) < fence.length):
        return Line.CONTENT
    if not run and len(line) < fence.indent and not ended:
        return Line.UNDECIDED  # the fence's indent is taken off even inside a string
    if len(start) > MAX_FENCE_LINE_CHARS or in_string():
        return Line.CONTENT
    if not ended:
        return Line.UNDECIDED
    return Line.CLOSING if run and len(run) >= fence.length else Line.CONTENT


def read_opening(line: str) -> tuple[Fence, str]:
    """The fence that an opening line opens, and its info string."""
    match = _OPENING.fullmatch(line)
    if match is None:
        return NO_FENCE, ""
    return Fence(match["fence"][0], len(match["fence"]), len(match["indent"])), match["info"]


def long_fence(line: str) -> Fence:
    """The fence that a line opens which is too long to be an opening line."""
    marks = line.lstrip(" ")[:MAX_FENCE_LINE_CHARS]
    return Fence(marks[0], len(marks) - len(marks.lstrip(marks[0])))


def may_be_list_item(line: str) -> bool:
    """True if the line may begin with a list marker, judged by its first character that is not blank."""
    return _MAY_BE_LIST.match(line) is not None


def read_list_opening(line: str) -> Fence | None:
    """The fence that begins on the line of a list marker, if there is one."""
    match = _LIST_OPENING.fullmatch(line) if len(line) <= MAX_FENCE_LINE_CHARS else None
    if match is None:
        return None
    return Fence(match["fence"][0], len(match["fence"]), container=len(match["marker"]))
