"""A model server on loopback that speaks the chat-completions stream, and does wrong what a test asks for.

    with Provider() as provider:
        provider.say("Hello", size=3)                     # queued: the next request gets it
        provider.answer = lambda request: Script([...])   # or: a function of each request
        model = OpenAIModel(LLMSettings(base_url=provider.base_url, model="m"))

It runs on an event loop in a thread of its own, and costs little per piece, so benchmarks use it too.
"""

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

END = b"data: [DONE]\n\n"


# What a script is made of. Bytes are sent as they are.
class Gate:
    """Sends nothing further until a test opens it, from any thread; `reached` tells that it waits."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._lock = threading.Lock()
        self._open = False
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def open(self) -> None:
        """Let everything pass from now on."""
        with self._lock:
            self._open = True
            for loop, event in self._waiting:
                loop.call_soon_threadsafe(event.set)

    async def passed(self) -> None:
        with self._lock:
            event = asyncio.Event()
            self._waiting.append((asyncio.get_running_loop(), event))
            if self._open:
                event.set()
        self.reached.set()
        await event.wait()


async def happened(event: threading.Event, seconds: float = 10) -> None:
    """Return once the event is set, for tests on an event loop; fails after some seconds."""
    assert await asyncio.to_thread(event.wait, seconds), f"not within {seconds} seconds"


@dataclass(frozen=True)
class Pause:
    """Waits some seconds, for the natural rate of a benchmark."""

    seconds: float


@dataclass(frozen=True)
class Cut:
    """Ends the connection in the middle of the stream, with a reset."""


@dataclass(frozen=True)
class Stall:
    """Sends nothing for ever; ends when the client goes away."""


@dataclass(frozen=True)
class Forever:
    """Sends these bytes again and again until the client goes away."""

    data: bytes


type Step = bytes | Gate | Pause | Cut | Stall | Forever


@dataclass
class Script:
    """One answer of the server."""

    steps: Iterable[Step] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    split: int | None = None  # write the stream's bytes in parts of this size, each by itself
    hold: Gate | None = None  # not even the status before the test opens it


@dataclass
class Request:
    """What the server got, and what became of it."""

    body: dict[str, Any]
    headers: dict[str, str]
    path: str
    disconnected: threading.Event = field(default_factory=threading.Event)  # the client left before the end
    finished: threading.Event = field(default_factory=threading.Event)  # the answer was sent, or given up

    @property
    def messages(self) -> list[dict[str, str]]:
        messages: list[dict[str, str]] = self.body["messages"]
        return messages


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> bytes:
    """Return one event of the stream."""
    choices = [{"index": 0, "delta": delta or {}, "finish_reason": finish}]
    return event({"id": "c1", "object": "chat.completion.chunk", "model": "test", "choices": choices, **more})


def event(value: Any) -> bytes:
    """Return a value as one event."""
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


def usage(input_tokens: int = 11, output_tokens: int = 7) -> bytes:
    """Return the event that carries the usage, with no choices."""
    counted = {"prompt_tokens": input_tokens, "completion_tokens": output_tokens}
    return event({"id": "c1", "choices": [], "usage": counted})


def pieces(text: str, size: int) -> list[str]:
    """Return the text in parts of `size` characters."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def reply(
    text: str = "",
    *,
    size: int = 20,
    reasoning: str = "",
    reasoning_name: str = "reasoning_content",
    finish: str | None = "stop",
    done: bool = True,
    tokens: tuple[int, int] | None = (11, 7),
    before_end: Sequence[Step] = (),
    split: int | None = None,
) -> Script:
    """Return the script of an ordinary reply, in pieces of `size` characters."""
    steps: list[Step] = [chunk({"role": "assistant", "content": ""})]
    steps += [chunk({reasoning_name: part}) for part in pieces(reasoning, size)]
    steps += [chunk({"content": part}) for part in pieces(text, size)]
    steps += before_end
    if finish:
        steps.append(chunk({}, finish))
    if tokens:
        steps.append(usage(*tokens))
    if done:
        steps.append(END)
    return Script(steps, split=split)


def failure(
    status: int, message: str = "it went wrong", *, headers: dict[str, str] | None = None, **more: str
) -> Script:
    """Return the script of an error answer, in the usual form."""
    body = json.dumps({"error": {"message": message, **more}}).encode()
    return Script([body], status=status, headers={"Content-Type": "application/json", **(headers or {})})


class Provider:
    """The server; a context, started on entering. What is queued is sent first, then `answer` is asked."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.answer: Callable[[Request], Script] = lambda request: reply("Nothing was queued.")
        self.connections = 0  # that were made in all
        self.open_connections = 0
        self._queue: deque[Script] = deque()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="provider", daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()
        self._arrived = threading.Condition()
        self.port = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=1024), self._loop
        ).result()
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._shut(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def queue(self, *scripts: Script) -> None:
        """Answer the next requests with these."""
        self._queue.extend(scripts)

    def say(self, text: str, **options: Any) -> None:
        """Answer the next request with an ordinary reply; options as for `reply`."""
        self.queue(reply(text, **options))

    def wait_for_request(self, number: int = 1, seconds: float = 10) -> Request:
        """Return the request with this number (from 1), once it has arrived; for callers in other threads."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.requests) >= number, seconds), (
                f"{len(self.requests)} requests came within {seconds} seconds, not {number}"
            )
        return self.requests[number - 1]

    async def _shut(self) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        self.open_connections += 1
        ahead: bytes | None = b""
        try:
            while ahead is not None:
                ahead = await self._exchange(ahead, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.open_connections -= 1
            self._tasks.discard(task)
            writer.close()

    async def _exchange(
        self, ahead: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bytes | None:
        """Answer one request; return what was read of the next one, or None when the connection is over."""
        request = await _read_request(ahead, reader)
        if request is None:
            return None
        with self._arrived:
            self.requests.append(request)
            self._arrived.notify_all()
        script = self._queue.popleft() if self._queue else self.answer(request)
        # A client sends nothing while it waits for an answer, so a read that returns means that it closed.
        listening = asyncio.ensure_future(reader.read(1))
        sending = asyncio.ensure_future(_send(script, writer))
        try:
            await asyncio.wait({listening, sending}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done() and not sending.exception():
                if not sending.result():
                    return None
                # The answer is out, so what was read already belongs to the next request.
                return listening.result() or None if listening.done() else b""
            request.disconnected.set()
            return None
        finally:
            for task in (sending, listening):
                task.cancel()
            await asyncio.gather(sending, listening, return_exceptions=True)
            request.finished.set()


async def _read_request(ahead: bytes, reader: asyncio.StreamReader) -> Request | None:
    try:
        head = ahead + await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").rstrip().split("\r\n")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(json.loads(body or b"{}"), headers, first.split(" ")[1])


async def _send(script: Script, writer: asyncio.StreamWriter) -> bool:
    if script.hold:
        await script.hold.passed()
    headers = {
        "Content-Type": "text/event-stream; charset=utf-8",
        "Transfer-Encoding": "chunked",
        **script.headers,
    }
    lines = [f"HTTP/1.1 {script.status} X", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")
    for step in script.steps:
        match step:
            case bytes():
                await _write(writer, step, script.split)
            case Gate():
                await writer.drain()
                await step.passed()
            case Pause(seconds):
                await asyncio.sleep(seconds)
            case Cut():
                await writer.drain()
                writer.transport.abort()
                return False
            case Stall():
                await asyncio.Event().wait()
            case Forever(data):
                while True:
                    await _write(writer, data, None)
                    await asyncio.sleep(0)
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


async def _write(writer: asyncio.StreamWriter, data: bytes, split: int | None) -> None:
    parts = [data] if split is None else [data[start : start + split] for start in range(0, len(data), split)]
    for part in parts:
        writer.write(b"%x\r\n%b\r\n" % (len(part), part))
        await writer.drain()
        if split is not None:
            await asyncio.sleep(0)  # lets the socket send each part by itself
