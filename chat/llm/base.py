"""What the runtime knows of a model: messages in, pieces out, and one kind of error."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, Protocol

# Begins what the site itself tells the model in a user message: outputs and errors. The prompt explains it.
FEEDBACK_MARK: Final = "[feedback]"


@dataclass(frozen=True, slots=True)
class ModelMessage:
    """One message of the history that goes to the model."""

    role: Literal["system", "user", "assistant"]
    content: str


class FinishReason(StrEnum):
    """Why a reply ended."""

    STOP = "stop"
    LENGTH = "length"  # the provider's or the model's limit
    TOO_MUCH = "too_much"  # longer than this site takes
    FILTER = "filter"  # the provider withheld the rest
    UNKNOWN = "unknown"  # the stream ended cleanly but said nothing, so the reply may be cut


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A part of the reply's text, never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPiece:
    """A part of what the model thought before it replied, never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of the whole call, as the provider counts them; comes at most once, before `Finished`."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The last piece of every stream that did not break off."""

    reason: FinishReason


type Piece = TextPiece | ReasoningPiece | Usage | Finished


class ErrorKind(StrEnum):
    """What went wrong with a model call."""

    CONNECTION = "connection"
    RATE = "rate"
    AUTH = "auth"
    SERVER = "server"
    STALLED = "stalled"
    TOO_LONG = "too_long"
    BAD_REQUEST = "bad_request"
    FLOOD = "flood"
    CIRCUIT_OPEN = "circuit_open"
    BAD_STREAM = "bad_stream"


# Trying the same call again can help with these; the others need a change of settings or of the conversation.
RETRYABLE = frozenset(
    {
        ErrorKind.CONNECTION,
        ErrorKind.RATE,
        ErrorKind.SERVER,
        ErrorKind.STALLED,
        ErrorKind.FLOOD,
        ErrorKind.CIRCUIT_OPEN,
        ErrorKind.BAD_STREAM,
    }
)


class ModelError(Exception):
    """A model call that failed.

    `message` is written for the user; `detail` is what the provider said, for the log. `retry_after` is
    how many seconds the provider asked to wait, when it did.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        detail: str = "",
        retryable: bool | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.detail = detail
        self.retryable = kind in RETRYABLE if retryable is None else retryable
        self.retry_after = retry_after


class ChatModel(Protocol):
    """A model that continues a conversation."""

    @property
    def name(self) -> str:
        """What the page calls the model."""

    @property
    def is_demo(self) -> bool:
        """Whether replies are scripted, so that the page can say so."""

    def stream(self, messages: Sequence[ModelMessage]) -> AbstractAsyncContextManager[AsyncIterator[Piece]]:
        """Return a context that gives the pieces of one reply.

        Entering and iterating may raise `ModelError`. Leaving the context, also by cancellation, closes the
        provider's stream. Who asks for the next piece late gets all text that has come meanwhile as one.
        """

    async def close(self) -> None:
        """Give back what is kept between replies; the process ends, or the event loop does."""
