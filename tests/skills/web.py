"""A web server on loopback whose pages a test writes, and names that resolve to what a test says."""

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import pytest


@dataclass
class Answer:
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "text/plain; charset=utf-8"})
    endless: bool = False  # the body again and again
    hang: bool = False  # nothing at all


@dataclass
class Asked:
    path: str
    headers: dict[str, str]


class Web:
    """A context; `pages` maps paths to answers, `asked` holds the requests that came."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.pages: dict[str, Answer] = {}
        self.asked: list[Asked] = []
        self._tls = tls
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}{path}"

    def __enter__(self) -> Self:
        self._thread.start()
        starting = asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self._server = asyncio.run_coroutine_threadsafe(starting, self._loop).result()
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._shut(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _shut(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip()
            first, *lines = head.split("\r\n")
            headers = {
                name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
            }
            path = first.split(" ")[1]
            self.asked.append(Asked(path, headers))
            await self._answer(self.pages.get(path, Answer(b"nothing here", 404)), writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, answer: Answer, writer: asyncio.StreamWriter) -> None:
        if answer.hang:
            await asyncio.Event().wait()
        lines = [f"HTTP/1.1 {answer.status} X", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in answer.headers.items()]
        writer.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + answer.body)
        await writer.drain()
        while answer.endless:
            writer.write(answer.body)
            await writer.drain()


type Names = dict[str, list[str]]


def resolve_as(names: Names, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let names resolve to what a test says, each answer once, the last one for ever; return what was asked.

    Only names: numbers go to the real resolver, which is what reads their notations.
    """
    asked: list[str] = []
    real: Callable[..., Any] = socket.getaddrinfo

    def getaddrinfo(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name not in names:
            return real(host, port, *args, **kwargs)
        asked.append(name)
        answers = names[name]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        return [entry for part in answer.split() for entry in real(part, port, *args, **kwargs)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked
