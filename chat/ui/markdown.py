"""The one Markdown renderer, of message texts and components: whole texts, and texts that grow.

A growing text has finished blocks and an open rest; the cost is linear in its length.
"""

import re
from itertools import pairwise
from typing import Any, Final

from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from markdown_it.common.utils import normalizeReference

from chat.ui.commonmark import parser, render_block
from chat.ui.growing_line import GrowingLine, one_line

# A block that refers to a link which is not defined yet waits for that many characters after it.
HOLD: Final = 4_000

# The open rest is looked at again when it has grown by this part of itself, so that all looks together cost a
# constant times the whole; a short rest is looked at whenever it changed.
GROWTH: Final = 0.04
SHORT: Final = 2_000

# After a blank line these neither go on with a list nor define a link.
_BEGINNING: Final = re.compile(r"[^\W\d_]|[#>|`~]|\*\*[^\W\d_]")


class MarkdownStream:
    """A growing Markdown text.

    `finished` holds the HTML of each top-level block that cannot change any more, `open` that of the rest.
    Closed, it holds what the whole text gives, block by block, however the text was cut into pieces.
    """

    def __init__(self) -> None:
        self.finished: list[SafeString] = []
        self._rest = ""  # complete blocks are cut off it
        self._held: list[str] = []  # complete blocks that wait for a link reference
        self._env: dict[str, Any] = {}
        self._line = GrowingLine()
        self._looked_at = 0  # length of the rest when blocks were last looked for
        self._open = SafeString()
        self._open_length = 0  # of that part of what is open which is shown
        self._open_is_old = False

    def feed(self, text: str) -> list[SafeString]:
        """Take more text; return the blocks that it finished."""
        if not text:
            return []
        self._rest = (self._rest + text).replace("\r\n", "\n")
        finished: list[SafeString] = []
        if _grown(len(self._rest), self._looked_at):
            self._looked_at = len(self._rest)
            finished = self._cut()
        length = sum(map(len, self._held)) + len(self._rest)
        if _grown(length, self._open_length):
            self._open_length = length
            self._open_is_old = True
        return finished

    def close(self) -> list[SafeString]:
        """Finish everything; return the blocks that were still open."""
        before = len(self.finished)
        self._cut(last=True)
        self._open, self._open_is_old = SafeString(), False
        return self.finished[before:]

    @property
    def open(self) -> SafeString:
        """The HTML of what is not finished; of a long block it may lag a little behind the text."""
        if self._open_is_old:
            shown = ("".join(self._held) + self._rest)[: self._open_length]
            self._open = self._html(shown, _copy(self._env)) if shown.strip() else SafeString()
            self._open_is_old = False
        return self._open

    def _cut(self, *, last: bool = False) -> list[SafeString]:
        """Move complete blocks from the rest to the finished ones; return those."""
        before = len(self.finished)
        lines = self._rest.split("\n")
        # An incomplete line may still become anything, but mostly it is clear already that it begins a block.
        complete = lines if last or _begins_block(lines) else lines[:-1]
        starts = _block_starts("\n".join(complete))
        ends = [*starts[1:], len(lines)] if last else starts[1:]
        begin = 0
        for end in ends:
            block = "\n".join(lines[begin:end])
            self._take(block if end == len(lines) else block + "\n")
            begin = end
        self._rest = "" if last else "\n".join(lines[begin:])
        self._looked_at = 0 if begin else self._looked_at
        if last:
            self._release(last=True)
        if len(self.finished) > before:
            self._open_length = 0
        return self.finished[before:]

    def _take(self, block: str) -> None:
        self._held.append(block)
        if "]:" in block:  # its definitions count from here on, also for the blocks that wait
            parser().block.parse(block, parser(), self._env, [])
        self._release()

    def _release(self, *, last: bool = False) -> None:
        while self._held:
            length = sum(map(len, self._held[1:]))
            if not last and length <= HOLD and _lacks_reference(self._held[0], self._env):
                return
            html = self._html(self._held.pop(0), self._env)
            if html:
                self.finished.append(html)

    def _html(self, block: str, env: dict[str, Any]) -> SafeString:
        return self._line.paragraph(block, env) if one_line(block) else render_block(block, env)


def _begins_block(lines: list[str]) -> bool:
    """Whether the last line, incomplete as it is, begins a block unless it is inside of a fence."""
    return len(lines) > 1 and not lines[-2].strip() and _BEGINNING.match(lines[-1]) is not None


def _grown(length: int, before: int) -> bool:
    return length < SHORT or length < before or length > before * (1 + GROWTH)


def _copy(env: dict[str, Any]) -> dict[str, Any]:
    return {**env, "references": dict(env.get("references", {}))}


def _block_starts(source: str) -> list[int]:
    """Return the line in which each top-level block starts; the first is always line 0."""
    tokens: list[Any] = []
    markdown = parser()
    markdown.block.parse(source, markdown, {}, tokens)
    starts = [token.map[0] for token in tokens if token.level == 0 and token.nesting >= 0 and token.map]
    return [0, *starts[1:]] if starts else [0]


def _lacks_reference(block: str, env: dict[str, Any]) -> bool:
    """Tell whether the block has a `[text][label]` whose label is not defined yet."""
    known = env.get("references", {})
    parts = block.split("][")
    for before, after in pairwise(parts):
        label = after.partition("]")[0] or before.rpartition("[")[2]
        if normalizeReference(label) not in known:
            return True
    return False


def render_blocks(text: str) -> list[SafeString]:
    """Return the HTML of each top-level block of a whole text."""
    stream = MarkdownStream()
    stream.feed(text)
    stream.close()
    return stream.finished


def render_markdown(text: str) -> SafeString:
    """Return the HTML of a whole text."""
    return format_html_join("", "{}", ((block,) for block in render_blocks(text)))
