"""Any server that speaks chat completions, by its base URL.

The client library makes connection and request. The lines of the stream are read here: the library's typed
chunks cost several times as much processor time, and its timeouts know neither the first token nor the end.
"""

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, suppress
from types import TracebackType
from typing import Any, Self

import httpx2
import openai

from chat.llm import errors
from chat.llm.base import ErrorKind, FinishReason, ModelError, ModelMessage, Piece, ReasoningPiece, TextPiece
from chat.llm.breaker import Permit, breaker_for
from chat.llm.chunks import ChunkReader
from chat.llm.client import close_clients, shared_client
from chat.llm.config import LLMSettings
from chat.llm.sse import MAX_LINE, EventLines, LineTooLongError
from chat.llm.tap import Tap

DEFAULT_MODEL = "gpt-5-mini"
AFTER_FINISH_SECONDS = 3.0  # the usage comes right after the finish reason, or never
FULL = 16 * 1024  # bytes that the transport gives at once when it has more of them
DRAIN_SECONDS = 0.1  # the end of the answer is mostly there already; a new connection costs about as much
FIRST_RETRY_SECONDS = 0.5  # doubled with each try, and spread so that many callers do not come back together
# Tried again before anything has streamed; the others would fail in the same way.
RETRIED = frozenset({ErrorKind.CONNECTION, ErrorKind.SERVER, ErrorKind.RATE})
FAILURES = (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL, OSError, ModelError)
# How servers call a parameter that they do not know, without naming it.
UNKNOWN_PARAMETER_WORDS = ("extra", "unknown", "unrecognized", "unexpected")


class OpenAIModel:
    """A model behind a chat-completions server."""

    is_demo = False

    def __init__(self, settings: LLMSettings) -> None:
        self.settings = settings
        self.name = settings.model or DEFAULT_MODEL
        self.options: dict[str, Any] = {"stream_options": {"include_usage": True}}
        if settings.max_output_tokens is not None:
            self.options["max_tokens"] = settings.max_output_tokens

    def stream(self, messages: Sequence[ModelMessage]) -> "ReplyStream":
        """Return a context that gives the pieces of one reply."""
        return ReplyStream(self, messages)

    async def close(self) -> None:
        """Close the connections that are kept for the next reply."""
        await close_clients()

    def adapt(self, refusal: str) -> bool:
        """Change, for good, the option that a refusal is about; return whether there was one to change."""
        said = refusal.lower()
        if "max_completion_tokens" in said and "max_tokens" in self.options:
            self.options["max_completion_tokens"] = self.options.pop("max_tokens")
            return True
        words = ("stream_options", "include_usage", *UNKNOWN_PARAMETER_WORDS)
        return any(word in said for word in words) and self.options.pop("stream_options", None) is not None


class ReplyStream:
    """One reply: a context, and the iterator of its pieces."""

    _permit: Permit
    _began: float

    def __init__(self, model: OpenAIModel, messages: Sequence[ModelMessage]) -> None:
        self._model = model
        self._settings = model.settings
        self._messages = [{"role": message.role, "content": message.content} for message in messages]
        self._ready: deque[Piece] = deque()
        self._characters = 0
        self._tries = 0
        self._progress: float | None = None  # when the last text came
        self._ended = False
        self._loop = asyncio.get_running_loop()
        self._reset()

    def _reset(self) -> None:
        self._connection = AsyncExitStack()
        self._body: AsyncIterator[bytes] | None = None
        self._tap: Tap | None = None
        self._first = True  # nothing of the body has been seen
        self._whole: bytearray | None = None  # an answer that is one JSON document
        self._finish_seen: float | None = None
        self._lines = EventLines()
        self._reader = ChunkReader(self._settings.max_empty_pieces)

    async def __aenter__(self) -> Self:
        self._permit = breaker_for(self._settings.base_url, self._settings.breaker).enter()
        self._began = self._loop.time()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended = True
        self._permit.release()
        try:
            if kind is None and self._reader.done:
                await self._drain()
        finally:
            await self._close()

    async def _close(self) -> None:
        with suppress(*FAILURES):  # a connection that is broken is closed, too
            await self._connection.aclose()

    async def _drain(self) -> None:
        """Read what ends the answer, so that its connection can serve the next call."""
        with suppress(TimeoutError, *FAILURES):
            async with asyncio.timeout(DRAIN_SECONDS):
                if self._body is not None:
                    await self._read(self._body)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Piece:
        while not self._ready:
            if self._ended:
                raise StopAsyncIteration
            try:
                await self._advance()
            except FAILURES as error:
                await self._recover(errors.from_exception(error))
        return self._ready.popleft()

    async def _advance(self) -> None:
        """Take in what the server sends next."""
        reader = self._reader
        if reader.error is not None:
            raise reader.error
        try:
            async with asyncio.timeout_at(self._deadline()):
                if self._body is None:
                    self._body = await self._open()
                data = await self._read(self._body)
        except TimeoutError:
            if reader.reason is None:
                raise self._late() from None
            data = b""
        except FAILURES:
            if reader.reason is None:
                raise
            data = b""  # all of the reply is here, so how the connection ends is of no interest
        self._take(reader.read(self._payloads(data)))
        if reader.reason is not None and self._finish_seen is None:
            self._finish_seen = self._loop.time()
        if reader.done or (not data and reader.error is None):
            self._finish()

    async def _open(self) -> AsyncIterator[bytes]:
        """Return the bytes of the answer, once the server accepted the request."""
        settings = self._settings
        completions = shared_client(settings.api_key, settings.base_url).chat.completions
        request: Any = completions.with_streaming_response.create
        context = request(model=self._model.name, messages=self._messages, stream=True, **self._model.options)
        response = await self._connection.enter_async_context(context)
        self._tap = Tap(response.http_response)
        body: AsyncIterator[bytes] = response.http_response.aiter_bytes()
        return body

    async def _read(self, body: AsyncIterator[bytes]) -> bytes:
        """Return all that has come; nothing means the end."""
        assert self._tap is not None
        self._tap.open()
        data = part = await anext(body, b"")
        while len(part) >= FULL and len(data) < MAX_LINE:
            data += (part := await anext(body, b""))
        self._tap.close()
        return data

    def _payloads(self, data: bytes) -> list[bytes]:
        """Return the JSON documents that `data` completes; no data means the end."""
        if self._first and (start := data.lstrip()[:1]):
            self._first = False
            # The first byte tells what the server sent; its content type often does not.
            match start:
                case b"{":
                    self._whole = bytearray()
                case b"<":
                    raise errors.bad_stream(f"markup instead of events: {data[:200]!r}")
        if self._whole is not None:
            self._whole += data
            if len(self._whole) > MAX_LINE:
                raise errors.bad_stream(f"an answer of more than {MAX_LINE} bytes that is not streamed")
            return [] if data else [bytes(self._whole)]
        try:
            return self._lines.feed(data) if data else self._lines.close()
        except LineTooLongError as error:
            raise errors.bad_stream(str(error)) from error

    def _take(self, pieces: list[Piece]) -> None:
        if not pieces:
            return
        self._progress = self._loop.time()
        self._permit.succeed()
        self._ready += pieces
        for piece in pieces:
            if isinstance(piece, TextPiece | ReasoningPiece):
                self._characters += len(piece.text)
        if self._characters > self._settings.max_characters:
            self._reader.reason = FinishReason.TOO_MUCH
            self._reader.done = True

    def _finish(self) -> None:
        self._permit.succeed()
        self._ready += self._reader.close()
        self._ended = True

    def _deadline(self) -> float:
        limits = self._settings.deadlines
        if self._finish_seen is not None:
            return self._finish_seen + AFTER_FINISH_SECONDS
        if self._progress is None:
            return self._began + min(limits.first, limits.total)
        return min(self._progress + limits.between, self._began + limits.total)

    def _late(self) -> ModelError:
        limits = self._settings.deadlines
        if self._loop.time() >= self._began + limits.total:
            return errors.took_too_long(limits.total)
        if self._progress is None:
            return errors.stalled(limits.first, started=False)
        return errors.stalled(limits.between, started=True)

    async def _recover(self, error: ModelError) -> None:
        """Make ready for another try; raises `error` when there must not be one."""
        await self._close()
        if self._progress is None and error.kind is ErrorKind.BAD_REQUEST and self._model.adapt(error.detail):
            self._reset()
            return
        wait = error.retry_after
        if wait is None:
            wait = FIRST_RETRY_SECONDS * 2**self._tries * random.uniform(0.8, 1.2)  # noqa: S311 - no secret
        if (
            self._progress is not None
            or self._tries >= self._settings.retries
            or error.kind not in RETRIED
            or not error.retryable
            or wait > self._settings.max_retry_wait
            or self._loop.time() + wait > self._deadline()
        ):
            self._ended = True
            self._permit.fail(error.kind)
            raise error
        self._tries += 1
        await asyncio.sleep(wait)
        self._reset()
