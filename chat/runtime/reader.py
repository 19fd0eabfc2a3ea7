"""Reads the model's stream into a reply, without ever waiting for what the reply does."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from chat.llm.base import (
    ChatModel,
    ErrorKind,
    Finished,
    FinishReason,
    ModelError,
    ModelMessage,
    Piece,
    ReasoningPiece,
    TextPiece,
    Usage,
)
from chat.protocol.text import TextGuard, guarded
from chat.runtime.reply import Reply
from chat.runtime.store import Store

logger = logging.getLogger(__name__)

REASONING_CHARS = 100_000
REASONING_INTERVAL = 0.5  # seconds; a row with all of it is saved each time

LONGEST_PAUSE = 2.0  # seconds; who asks for more gets another try when the user wants it

MISTAKE = "The reply could not be read because of a mistake of this site; it is in its log."

REASONS = {
    FinishReason.LENGTH: "The reply reached the provider's length limit.",
    FinishReason.TOO_MUCH: "The reply is longer than this site takes.",
    FinishReason.FILTER: "The provider withheld the rest of the reply.",
    FinishReason.UNKNOWN: "The stream ended without saying that the reply is complete, so it may be cut.",
}


@dataclass(frozen=True)
class Ending:
    """How a reply ended. `why` is empty when all went well; `retry` says that another try can help."""

    why: str = ""
    retry: bool = False
    wait: float | None = None  # seconds that the provider asked for before that
    stopped: bool = False
    final: bool = False  # even though something is wrong, the model need not go on


class Reader:
    """The task that drains one model stream."""

    def __init__(self, store: Store, reply: Reply) -> None:
        self.store = store
        self.reply = reply
        self.started = False
        self._task: asyncio.Task[None] | None = None
        self._error: ModelError | None = None
        self._reason: FinishReason | None = None
        self._guard = TextGuard()
        self._reasoning: list[str] = []
        self._reasoned = 0
        self._saved = 0.0

    def start(self, model: ChatModel, messages: Sequence[ModelMessage]) -> None:
        """Call the model and begin to read."""
        self.started = True
        self._task = asyncio.create_task(self._read(model, messages))

    async def cut(self) -> None:
        """Close the provider's stream now; what had arrived stays."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if not self.reply.ended:
            self.reply.end()

    async def leave(self) -> None:
        """Close the provider's stream without ending the reply: another runner sees to that."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def ending(self) -> Ending:
        """Return how the reply ended, once its effects are complete."""
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)
        if (error := self._error) is not None:
            # While nothing has come the client tries again by itself; that is not repeated here.
            began = self.reply.message.first_token is not None
            soon = (error.retry_after or 0.0) <= LONGEST_PAUSE
            retry = error.retryable and began and soon and not self.reply.has_acted
            return Ending(error.message, retry=retry, wait=error.retry_after)
        if self._reason in REASONS:
            whole = self._reason is FinishReason.UNKNOWN and all(
                block.complete for block in self.reply.blocks
            )
            return Ending(REASONS[self._reason], final=whole)
        return Ending()

    async def _read(self, model: ChatModel, messages: Sequence[ModelMessage]) -> None:
        try:
            async with model.stream(messages) as pieces:
                async for piece in pieces:
                    self._take(piece)
                    if self.reply.only_grew:
                        await self.store.pace()
        except ModelError as error:
            logger.warning("A model call failed (%s): %s", error.kind, error.detail or error.message)
            self._error = error
        except Exception as error:  # a reply that never ended would hang for ever
            logger.exception("A reply could not be read")
            self._error = ModelError(ErrorKind.BAD_STREAM, MISTAKE, detail=repr(error), retryable=False)
        self._keep_reasoning()
        self.reply.end()
        if (problem := self._guard.close()) is not None:
            self.reply.report(problem)

    def _take(self, piece: Piece) -> None:
        message = self.reply.message
        if message.first_token is None and isinstance(piece, TextPiece | ReasoningPiece):
            message.first_token = self.store.now()
            self.store.touch(message)
        match piece:
            case TextPiece(text):
                self._feed(self._guard.feed(text))
            case ReasoningPiece(text):
                self._reason_on(text)
            case Usage(input_tokens, output_tokens):
                message.input_tokens, message.output_tokens = input_tokens, output_tokens
            case Finished(reason):
                self._reason = reason

    def _feed(self, text: str) -> None:
        if text:
            self.reply.feed(text)

    def _reason_on(self, text: str) -> None:
        if self._reasoned < REASONING_CHARS:
            self._reasoning.append(text)
            self._reasoned += len(text)
        now = asyncio.get_running_loop().time()
        if now - self._saved > REASONING_INTERVAL:
            self._saved = now
            self._keep_reasoning()

    def _keep_reasoning(self) -> None:
        if self._reasoning:
            self.reply.message.reasoning = guarded("".join(self._reasoning))[:REASONING_CHARS]
            self.store.touch(self.reply.message)
