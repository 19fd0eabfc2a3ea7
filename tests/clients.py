"""Clients of the site without a browser: a session that posts, and sockets that take frames."""

import asyncio
import http.client
import json
import re
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http.cookies import SimpleCookie
from urllib.parse import urlencode

from websockets.asyncio.client import ClientConnection, connect

CONFIRM_EVERY = 1.0  # seconds, as chat/static/chat/frames.js does


class Session:
    """A person's cookies; any process of the site may answer each request."""

    def __init__(self, ports: Callable[[], int]) -> None:
        self.ports = ports
        self.cookies: dict[str, str] = {}

    def log_in(self, username: str, password: str) -> None:
        """Log in; raises when that fails."""
        self.request("GET", "/accounts/login/")
        status, _, _ = self.post("/accounts/login/", username=username, password=password)
        assert status == 302, f"could not log in: {status}"

    def start(self, text: str, key: str = "") -> str:
        """Start a conversation and return its id; with the key of an earlier try it is the same one."""
        key = key or str(uuid.uuid4())
        status, headers, body = self.post("/start/", key=key, text=text)
        assert status == 302, (status, body[:500])
        assert key in headers["Location"]
        return key

    def post(self, path: str, **fields: str) -> tuple[int, dict[str, str], str]:
        """Send a form."""
        return self.request("POST", path, urlencode(fields))

    def get(self, path: str) -> str:
        """Return a page."""
        status, _, body = self.request("GET", path)
        assert status == 200, (status, path)
        return body

    def request(self, method: str, path: str, body: str = "") -> tuple[int, dict[str, str], str]:
        """Return status, headers and body of an answer. Raises OSError when there is none."""
        port = self.ports()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        headers = {"Cookie": self.cookie_header, "Host": f"127.0.0.1:{port}"}
        if method == "POST":
            headers |= {
                "Content-Type": "application/x-www-form-urlencoded",
                "X-CSRFToken": self.cookies.get("csrftoken", ""),
            }
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            for name, value in response.getheaders():
                if name.lower() == "set-cookie":
                    self.cookies |= {key: morsel.value for key, morsel in SimpleCookie(value).items()}
            return response.status, dict(response.getheaders()), response.read().decode()
        except http.client.HTTPException as error:
            raise ConnectionError(str(error)) from error
        finally:
            connection.close()

    def copy(self) -> "Session":
        """Return a session of the same person, for another thread."""
        other = Session(self.ports)
        other.cookies = dict(self.cookies)
        return other

    @property
    def cookie_header(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    @asynccontextmanager
    async def socket(self, conversation: str, have: int) -> AsyncIterator[ClientConnection]:
        """Open the socket of a page that has a frame."""
        port = self.ports()
        headers = {"Cookie": self.cookie_header, "Origin": f"http://127.0.0.1:{port}"}
        async with connect(
            f"ws://127.0.0.1:{port}/ws/c/{conversation}/",
            additional_headers=headers,
            max_size=None,
            compression=None,
            ping_interval=None,
            open_timeout=30,
        ) as socket:
            await socket.send(json.dumps({"have": have}))
            yield socket


def seq_of(page: str) -> int:
    """Return the number of the frame that a page has."""
    found = re.search(r'data-seq="(\d+)"', page)
    assert found
    return int(found[1])


async def confirm(socket: ClientConnection, have: Callable[[], int]) -> None:
    """Tell the site now and then which frame the page has, until cancelled."""
    told = have()
    while True:
        await asyncio.sleep(CONFIRM_EVERY)
        if have() != told:
            told = have()
            await socket.send(json.dumps({"have": told}))
