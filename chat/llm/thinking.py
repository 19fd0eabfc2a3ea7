"""Thought inside the text: some servers send it between tags at the start of the reply."""

from chat.llm.base import Piece, ReasoningPiece, TextPiece

OPENING = "<think>"
CLOSING = "</think>"


class ThinkTags:
    """Turns text that starts with `<think>…</think>` into reasoning and text.

    Text is withheld only while it could still become a tag. A tag that never closes means that the reply was
    cut while the model thought, so all of it stays reasoning.
    """

    __slots__ = ("_held", "_state")

    def __init__(self) -> None:
        self._state = "start"
        self._held = ""

    @property
    def passing(self) -> bool:
        """Whether everything further is text, so that `feed` need not be asked."""
        return self._state == "text"

    def feed(self, text: str) -> list[Piece]:
        """Return what is certain now."""
        if self._state == "text":
            return [TextPiece(text)]
        self._held += text
        pieces: list[Piece] = []
        if self._state == "start":
            lead = self._held.lstrip()
            if OPENING.startswith(lead[: len(OPENING)]) and len(lead) < len(OPENING):
                return pieces
            if not lead.startswith(OPENING):
                return self._as_text()
            self._state, self._held = "thought", lead[len(OPENING) :]
        if self._state == "thought":
            thought, tag, rest = self._held.partition(CLOSING)
            if not tag:
                keep = _overlap(thought, CLOSING)
                self._held = thought[len(thought) - keep :]
                thought = thought[: len(thought) - keep]
            if thought:
                pieces.append(ReasoningPiece(thought))
            if not tag:
                return pieces
            self._state, self._held = "after", rest
        # The blank lines that separate thought and reply belong to neither.
        self._held = self._held.lstrip("\r\n")
        if self._held:
            pieces += self._as_text()
        return pieces

    def close(self) -> list[Piece]:
        """Return what was withheld."""
        held, self._held = self._held, ""
        if not held:
            return []
        return [ReasoningPiece(held) if self._state == "thought" else TextPiece(held)]

    def _as_text(self) -> list[Piece]:
        held, self._held, self._state = self._held, "", "text"
        return [TextPiece(held)]


def _overlap(text: str, tag: str) -> int:
    """Return how many characters at the end of `text` could begin `tag`."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:size])), 0)
