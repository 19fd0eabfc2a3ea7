"""What a page shows: the words of each element that has an id, from HTML or from frames."""

from html.parser import HTMLParser
from typing import Final

VOID: Final = {
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
}  # fmt: skip


class Texts(HTMLParser):
    """Collects `texts`, by id: all that stands in the element, with single spaces."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}
        self.states: dict[str, str] = {}
        self._open: list[tuple[str, str | None]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        name = values.get("id")
        if name:
            self.texts[name] = ""
            self.states[name] = values.get("data-state") or ""
        if tag not in VOID:
            self._open.append((tag, name))

    def handle_endtag(self, tag: str) -> None:
        while self._open:
            closed, _ = self._open.pop()
            if closed == tag:
                return

    def handle_data(self, data: str) -> None:
        for _, name in self._open:
            if name:
                self.texts[name] = f"{self.texts[name]}{data}"


def texts(html: str) -> dict[str, str]:
    """Return the words of all elements that have an id."""
    return {name: " ".join(text.split()) for name, text in Texts(html).texts.items()}
