"""The reply as events: finds the fences of CommonMark in a stream of text, and acts on those at top level."""

import re
from collections.abc import Callable
from enum import Enum

from chat.protocol import problems
from chat.protocol.events import (
    DataClosed,
    DataDelta,
    DataOpened,
    Event,
    RunClosed,
    RunDelta,
    RunOpened,
    TextDelta,
)
from chat.protocol.fence_lines import (
    NO_FENCE,
    Fence,
    Line,
    judge_closing,
    judge_opening,
    long_fence,
    may_be_list_item,
    read_list_opening,
    read_opening,
)
from chat.protocol.info import DataInfo, RefusedInfo, RunInfo, read_info
from chat.protocol.limits import MAX_BLOCKS, MAX_REPLY_CHARS
from chat.protocol.quotes import TripleQuoteWatch


class _Block(Enum):
    """What the current line belongs to."""

    TEXT = "text"
    SAMPLE = "sample"  # an ordinary fence: text in which nothing acts
    RUN = "run"
    DATA = "data"
    REFUSED = "refused"  # a near miss: its content is neither run nor shown


_EOL = re.compile(r"[\r\n]")

_DELTAS: dict[_Block, Callable[[str], Event]] = {
    _Block.TEXT: TextDelta,
    _Block.SAMPLE: TextDelta,
    _Block.RUN: RunDelta,
    _Block.DATA: DataDelta,
}


class FenceParser:
    """Turns the text of one reply, fed in pieces of any size, into events. Never raises, whatever the text.

    The same text in other pieces gives the same events once adjacent deltas are merged. Only the start of a
    line that may still become a fence line is withheld; all else is passed on by the call that brought it.
    """

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._parts: list[str] = []  # content that is not yet an event
        self._room = MAX_REPLY_CHARS
        self._blocks = 0
        self._skip_lf = False  # after a CR where line ends are rewritten
        self._head = ""  # the withheld start of an undecided line
        self._decided = False  # the current line is content, whatever follows
        self._block = _Block.TEXT
        self._fence = NO_FENCE
        self._delta: Callable[[str], Event] | None = TextDelta
        self._quotes: TripleQuoteWatch | None = None
        # Where content is kept besides: for the watch or, in text, of a line that may be a list item.
        self._kept: list[str] | None = None

    def feed(self, text: str) -> list[Event]:
        """The events that this piece of the reply brings about."""
        self._room -= len(text)
        # Most pieces are a few characters within a line of content: they take this short way.
        if self._decided and text and "\n" not in text and "\r" not in text and self._room >= 0:
            if self._kept is not None:
                self._kept.append(text)
            return [self._delta(text)] if self._delta else []
        if self._room >= 0:
            self._feed_lines(text)
        else:
            self._feed_last(text)
        return self._take_events()

    def close(self) -> list[Event]:
        """The events at the end of the reply; a block that is still open closes with `complete=False`."""
        self._end_reply()
        return self._take_events()

    def _end_reply(self) -> None:
        if self._head:
            content = self._start_line("", "", ended=True)
            self._add(content or "")
        block = self._block
        self._enter(_Block.TEXT)
        self._flush()
        if block is _Block.RUN:
            self._events.append(RunClosed(complete=False))
        elif block is _Block.DATA:
            self._events.append(DataClosed(complete=False))

    def _feed_last(self, text: str) -> None:
        """End the reply where it becomes too long; nothing that follows has any effect."""
        fitting = len(text) + self._room
        if fitting < 0:
            return
        self._feed_lines(text[:fitting])
        self._end_reply()
        self._events.append(problems.reply_too_long())
        self._room = -1

    def _feed_lines(self, text: str) -> None:
        pos, end = 0, len(text)
        while pos < end:
            if self._skip_lf:
                self._skip_lf = False
                if text[pos] == "\n":
                    pos += 1
                    continue
            match = _EOL.search(text, pos)
            stop = match.start() if match else end
            eol = text[stop : stop + 1]
            content: str | None = text[pos:stop]
            if not self._decided:
                content = self._start_line(text[pos:stop], eol, ended=match is not None)
            if content is not None:
                self._add(content)
                if eol:
                    self._end_line(eol)
            pos = stop + 1

    def _start_line(self, rest: str, eol: str, *, ended: bool) -> str | None:
        """Judge a line by all that is known of it; its content, or None if it is withheld or a fence line."""
        line = self._head + rest
        self._head = ""
        match self._judge(line, ended):
            case Line.UNDECIDED:
                self._head = line
                return None
            case Line.OPENING:
                self._open_fence(line, eol)
                return None
            case Line.CLOSING:
                self._close_fence(line, eol)
                return None
            case Line.TOO_LONG:
                self._open_long_fence(line)
        self._decided = True
        if self._block is _Block.TEXT and may_be_list_item(line):
            self._kept = []
        return self._without_indent(line)

    def _end_line(self, eol: str) -> None:
        self._decided = False
        if self._block is _Block.TEXT:
            line = "" if self._kept is None else "".join(self._kept)
            self._kept = None
            self._add(eol)
            if line:
                self._enter_list_sample(line)
        elif self._block is _Block.SAMPLE:
            self._add(eol)
        else:
            self._add("\n")
            self._skip_lf = eol == "\r"

    def _judge(self, line: str, ended: bool) -> Line:
        if ended and not line:
            return Line.CONTENT
        if self._block is _Block.TEXT:
            return judge_opening(line, ended=ended)
        width = self._fence.container
        if not width:
            return judge_closing(line, self._fence, self._in_string, ended=ended)
        blanks = len(line) - len(line.lstrip(" "))
        if blanks >= width:
            return judge_closing(line[width:], self._fence, self._in_string, ended=ended)
        if blanks == len(line):
            return Line.CONTENT if ended else Line.UNDECIDED
        if line[blanks] == "\t":
            return Line.CONTENT
        self._enter(_Block.TEXT)  # the list item ends here, and with it the fence in it
        return judge_opening(line, ended=ended)

    def _in_string(self) -> bool:
        return self._quotes is not None and self._quotes.inside()

    def _open_fence(self, line: str, eol: str) -> None:
        fence, info = read_opening(line)
        intent = read_info(info)
        if intent is None:
            self._enter(_Block.SAMPLE, fence)
            self._add(line)
            self._add(eol)
            return
        if self._blocks >= MAX_BLOCKS and not isinstance(intent, RefusedInfo):
            intent = RefusedInfo(problems.too_many_blocks(info), python=isinstance(intent, RunInfo))
        self._skip_lf = eol == "\r"
        self._act(intent, fence)

    def _act(self, intent: RunInfo | DataInfo | RefusedInfo, fence: Fence) -> None:
        """Begin the block that the info string asks for."""
        index = self._blocks
        match intent:
            case RunInfo():
                self._enter(_Block.RUN, fence, python=True)
                self._events.append(RunOpened(index))
            case DataInfo(target):
                self._enter(_Block.DATA, fence)
                self._events.append(DataOpened(index, target))
            case RefusedInfo(problem, python):
                self._enter(_Block.REFUSED, fence, python=python)
                self._events.append(problem)
                return
        self._blocks += 1

    def _close_fence(self, line: str, eol: str) -> None:
        block = self._block
        if block is _Block.SAMPLE:
            self._add(line)
            self._add(eol)
        self._enter(_Block.TEXT)
        if block is not _Block.SAMPLE:
            self._skip_lf = eol == "\r"
        if block is _Block.RUN:
            self._events.append(RunClosed(complete=True))
        elif block is _Block.DATA:
            self._events.append(DataClosed(complete=True))

    def _open_long_fence(self, line: str) -> None:
        """Begin a fence in which nothing acts: who opened it meant a fence, but what for is not known."""
        self._flush()
        self._events.append(problems.fence_line_too_long(line))
        self._enter(_Block.SAMPLE, long_fence(line))

    def _enter_list_sample(self, line: str) -> None:
        fence = read_list_opening(line)
        if fence:
            self._enter(_Block.SAMPLE, fence)

    def _enter(self, block: _Block, fence: Fence = NO_FENCE, *, python: bool = False) -> None:
        """Begin a block at the start of a line."""
        if self._parts and _DELTAS.get(block) is not self._delta:
            self._flush()
        self._block = block
        self._fence = fence
        self._delta = _DELTAS.get(block)
        self._decided = False
        self._quotes = TripleQuoteWatch() if python else None
        self._kept = self._quotes.pieces if self._quotes else None

    def _without_indent(self, line: str) -> str:
        indent = self._fence.indent
        if not indent or self._block is _Block.SAMPLE:
            return line
        blanks = len(line) - len(line.lstrip(" "))
        return line[min(indent, blanks) :]

    def _add(self, content: str) -> None:
        if content and self._delta:
            self._parts.append(content)
        if content and self._kept is not None:
            self._kept.append(content)

    def _flush(self) -> None:
        if self._parts and self._delta:
            self._events.append(self._delta("".join(self._parts)))
            self._parts.clear()

    def _take_events(self) -> list[Event]:
        self._flush()
        events, self._events = self._events, []
        return events
