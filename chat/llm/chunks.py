"""Payloads of a chat-completions stream as pieces, whatever dialect the server speaks."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

import jiter

from chat.llm import errors
from chat.llm.base import Finished, FinishReason, ModelError, Piece, ReasoningPiece, TextPiece, Usage
from chat.llm.thinking import ThinkTags

END = b"[DONE]"
REASONS = {
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.FILTER,
}


class ChunkReader:
    """Collects what a stream's payloads say; `read` never raises, `error` holds what went wrong."""

    def __init__(self, max_empty: int) -> None:
        self.error: ModelError | None = None
        self.reason: FinishReason | None = None
        self.usage: Usage | None = None
        self.done = False  # the server's own last line has come
        self._max_empty = max_empty
        self._empty = 0
        self._tags = ThinkTags()

    def read(self, payloads: Iterable[bytes]) -> list[Piece]:
        """Return the pieces of these payloads; adjacent pieces of a kind that came together are one."""
        pieces: list[Piece] = []
        for payload in payloads:
            if payload == END:
                self.done = True
                break
            try:
                found = self._chunk(jiter.from_json(payload, cache_mode="keys"))
            except (ValueError, TypeError, AttributeError) as error:  # not JSON, or of another shape
                self.error = errors.bad_stream(f"{error}: {payload[:200]!r}")
                break
            except ModelError as error:
                self.error = error
                break
            pieces += found
            self._empty = 0 if found else self._empty + 1
            if self._empty > self._max_empty:
                self.error = errors.flooded(self._max_empty)
                break
        return _joined(pieces)

    def close(self) -> list[Piece]:
        """Return what the end of a stream adds: withheld text, usage and the finish."""
        pieces = self._tags.close()
        if self.usage is not None:
            pieces.append(self.usage)
        reason = self.reason or (FinishReason.STOP if self.done else FinishReason.UNKNOWN)
        pieces.append(Finished(reason))
        return pieces

    def _chunk(self, chunk: Any) -> list[Piece]:
        if not isinstance(chunk, dict):
            raise ValueError("not an object")
        if chunk.get("error"):
            raise errors.from_stream(chunk["error"])
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self._count(usage)
        # The chunk with the usage has no choices; some servers send null.
        choices = chunk.get("choices")
        if not choices:
            return []
        choice = choices[0]
        reason = choice.get("finish_reason")
        if reason:
            # A reason we do not know still says that the server ended the reply on purpose.
            self.reason = REASONS.get(reason, FinishReason.STOP)
        # An answer that was not streamed after all has a message in place of the delta.
        delta = choice.get("delta") or choice.get("message")
        return self._delta(delta) if delta else []

    def _delta(self, delta: dict[str, Any]) -> list[Piece]:
        pieces: list[Piece] = []
        # Two names are in use; servers in transition send both with the same text.
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if thought and isinstance(thought, str):
            pieces.append(ReasoningPiece(thought))
        content = delta.get("content") or delta.get("refusal")
        if not content:
            return pieces
        if isinstance(content, list):
            return pieces + self._parts(content)
        if not isinstance(content, str):
            raise ValueError(f"content is {type(content).__name__}, not text")
        if self._tags.passing:
            pieces.append(TextPiece(content))
            return pieces
        return pieces + self._tags.feed(content)

    def _parts(self, parts: list[Any]) -> list[Piece]:
        """Return the pieces of content that comes as a list of typed parts."""
        pieces: list[Piece] = []
        for part in parts:
            kind = part.get("type") if isinstance(part, dict) else None
            if kind == "text" and part.get("text"):
                pieces += self._tags.feed(part["text"])
            elif kind == "thinking":
                inner = part.get("thinking") or []
                thought = (
                    inner if isinstance(inner, str) else "".join(str(item.get("text", "")) for item in inner)
                )
                pieces += [ReasoningPiece(thought)] if thought else []
        return pieces

    def _count(self, usage: dict[str, Any]) -> None:
        tokens = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
        if isinstance(tokens[0], int) and isinstance(tokens[1], int):
            self.usage = Usage(tokens[0], tokens[1])


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces with adjacent ones of text, and of thought, as one."""
    joined: list[Piece] = []
    for kind, group in groupby(pieces, type):
        if kind is TextPiece or kind is ReasoningPiece:
            joined.append(kind("".join(piece.text for piece in group)))  # type: ignore[union-attr]
        else:
            joined += group
    return joined
