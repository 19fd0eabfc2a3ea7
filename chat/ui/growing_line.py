"""A paragraph of one line that grows: what cannot change any more is read once.

Most of what a model writes are such paragraphs, and each is shown many times while it grows. The plainest
forms are told by a pattern; for everything else, and to be measured against, there is the parser.
"""

import re
from typing import Any, Final

from django.utils.safestring import SafeString, mark_safe

from chat.ui.commonmark import render_inline

# Forms that mean the same whatever follows: text without any sign that could open something, and emphasis and
# code that are closed, each before a character that cannot go on with them.
_PLAIN: Final = r"(?:[^\\`*_~\[\]<>&\s\0]| )"
_WORD: Final = r"[^\W_]"
_FORM: Final = re.compile(
    rf"(?P<plain>{_PLAIN}+)"
    rf"|(?<![^\w (])\*\*(?P<strong>(?={_WORD}){_PLAIN}+(?<={_WORD}))\*\*(?=[ ,.;:?!)])"
    rf"|(?<![^\w (])\*(?P<em>(?={_WORD}){_PLAIN}+(?<={_WORD}))\*(?=[ ,.;:?!)])"
    r"|`(?P<code>[^`\s<>&\0]+)`(?=[^`])"
)
# Between two words: what stands on either side of it reads the same as if the other side were not there.
_BOUNDARY: Final = re.compile(rf"(?<={_WORD}) (?=\S)")
_ONLY_PLAIN: Final = re.compile(rf"{_PLAIN}*")


class GrowingLine:
    """Renders a line of text again and again as it grows, at the cost of what came to it."""

    def __init__(self) -> None:
        self._source = ""  # what is settled
        self._html = ""

    def paragraph(self, text: str, env: dict[str, Any]) -> SafeString:
        """Return what `render_block` gives for the text, which must be `one_line`."""
        line = text.strip()
        if not line.startswith(self._source):
            self._source = self._html = ""
        length, html = _settled(line[len(self._source) :])
        self._source = line[: len(self._source) + length]
        self._html += html
        rest = line[len(self._source) :]
        tail = rest if _ONLY_PLAIN.fullmatch(rest) else render_inline(rest, env)
        # No form lets < > & through, and the elements around them are ours; a tail that is not plain is the
        # parser's.
        return mark_safe(f"<p>{self._html}{tail}</p>\n")  # noqa: S308


def one_line(text: str) -> bool:
    """Whether Markdown, as it is, is a paragraph of one line: one that begins with a letter can't be else."""
    return text[:1].isalpha() and "\n" not in text.rstrip("\n") and "\r" not in text


def _settled(text: str) -> tuple[int, str]:
    """Return how much of the text, from its beginning, reads the same whatever comes, and its HTML."""
    settled = place = 0
    sure, html = "", ""
    while found := _FORM.match(text, place):
        name = found.lastgroup
        assert name is not None
        if name == "plain":
            for boundary in _BOUNDARY.finditer(text, place, found.end() + 1):
                settled = boundary.end()
            if settled > place:
                sure = html + text[place:settled]
            html += found[0]
        else:
            html += f"<{name}>{found[name]}</{name}>"
        place = found.end()
    return settled, sure
