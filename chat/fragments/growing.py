"""A text that grows on open pages: what was shown of it, and the least that brings it up to date."""

import re
from dataclasses import dataclass, field

from chat.ui.markdown import MarkdownStream

_CLOSING = re.compile(r"</[a-z][a-z0-9-]*>\s*\Z")
LONGEST_CLOSING = 40  # characters of a closing tag and the space after it
_TAG = re.compile(r'<(/?)([a-z][a-z0-9-]*)(?:\s+[a-z][a-z-]*(?:="[^"]*")?)*\s*>')
_VOID = frozenset({"br", "hr"})


@dataclass
class Growing:
    """A text block as it was shown.

    `waiting` has what came since, in the portions in which it is saved: a page that reads them from the
    database cuts the text into the same pieces.
    """

    stream: MarkdownStream = field(default_factory=MarkdownStream)
    waiting: list[str] = field(default_factory=list)
    closed: bool = False
    open: int | None = None  # number of the piece that may still grow
    shown: str = ""  # its HTML

    def take(self, *, closed: bool) -> None:
        """Read what came since."""
        for text in self.waiting:
            self.stream.feed(text)
        self.waiting.clear()
        if closed and not self.closed:
            self.stream.close()
            self.closed = True
        self.shown = self.stream.open
        self.open = len(self.stream.finished) if self.shown else None

    @property
    def start(self) -> int:
        """The number of the first piece that may have changed since it was shown."""
        return len(self.stream.finished) if self.open is None else self.open


def addition(old: str, new: str) -> tuple[int, str] | None:
    """Return how deep, in last children, which HTML makes `new` of `old` when appended; None if none does."""
    start = len(old)
    depth = 0
    while found := _CLOSING.search(old, max(0, start - LONGEST_CLOSING), start):
        start = found.start()
        depth += 1
        end = old[start:]
        if new.startswith(old[:start]) and new.endswith(end) and len(new) >= len(old):
            added = new[start : len(new) - len(end)]
            if _is_balanced(added):
                return depth, added
    return None


def _is_balanced(html: str) -> bool:
    """Whether some HTML opens and closes all its elements itself."""
    if "<" not in html:
        return True
    open_tags: list[str] = []
    for slash, name in _TAG.findall(html):
        if name in _VOID:
            continue
        if not slash:
            open_tags.append(name)
        elif not open_tags or open_tags.pop() != name:
            return False
    return not open_tags and "<" not in _TAG.sub("", html)
