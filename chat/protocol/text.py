"""Keeps characters that no frame and no database can hold out of a reply."""

import re

from chat.protocol import problems
from chat.protocol.events import Problem

# A pair is one character written as two halves (UTF-16). Halves alone can't be encoded as UTF-8, and
# PostgreSQL stores no NUL.
_BROKEN = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff\0]")
_FIRST_HALVES = ("\ud800", "\udbff")


class TextGuard:
    """Stands between a model's stream and everything else: what it gives can be encoded and stored as it is.

    Halves of a character that arrive in two pieces are joined; halves that stay alone and NUL are left out.
    Nothing is ever replaced by a substitute.
    """

    def __init__(self) -> None:
        self.dropped = 0
        self._half = ""

    def feed(self, text: str) -> str:
        """The piece without broken characters; a first half at its end is kept for the next piece."""
        if not self._half and text.isascii() and "\0" not in text:
            return text
        text = self._half + text
        self._half = ""
        if text and _FIRST_HALVES[0] <= text[-1] <= _FIRST_HALVES[1]:
            self._half = text[-1]
            text = text[:-1]
        return _BROKEN.sub(self._mend, text)

    def close(self) -> Problem | None:
        """The problem to report if anything had to be left out."""
        if self._half:
            self._half = ""
            self.dropped += 1
        return problems.broken_characters(self.dropped) if self.dropped else None

    def _mend(self, match: re.Match[str]) -> str:
        found = match[0]
        if len(found) == 2:
            return found.encode("utf-16", "surrogatepass").decode("utf-16")
        self.dropped += 1
        return ""


def guarded(text: str) -> str:
    """A whole text without broken characters."""
    return TextGuard().feed(text)
