"""Lets what a provider sends wait in the system's buffers until it is wanted.

Read as it comes, each of the hundred small pieces of a second costs a turn of the event loop; read when the
last ones were shown, many of them cost one.
"""

import asyncio

import httpx2


class Tap:
    """The socket of a streamed answer. Where it can't be found nothing is held back, which is only slower."""

    def __init__(self, response: httpx2.Response) -> None:
        # Neither library says which socket an answer comes from, so this follows attributes of their own.
        stream = getattr(response.stream, "_stream", response.stream)
        self._response = getattr(stream, "_aiohttp_response", None)

    @property
    def socket(self) -> asyncio.ReadTransport | None:
        """The socket; None also after the answer's end, when it may serve another one."""
        connection = getattr(self._response, "connection", None)
        socket: asyncio.ReadTransport | None = getattr(connection, "transport", None)
        return None if socket is None or socket.is_closing() else socket

    def open(self) -> None:
        """Take in what has come, and what comes."""
        if (socket := self.socket) is not None:
            socket.resume_reading()

    def close(self) -> None:
        """Take in nothing more."""
        if (socket := self.socket) is not None:
            socket.pause_reading()
