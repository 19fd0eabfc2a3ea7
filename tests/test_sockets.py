"""Who may open a socket: pages of this very site only, and whose it is then."""

from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.test import Client

from agentsite.sockets import same_origin, same_origin_only, with_user
from chat.access import session_user
from tests.conftest import PASSWORD


def scope(host: str, origin: str | None, scheme: str = "ws", **headers: str) -> dict[str, Any]:
    given = {"host": host, **headers} | ({"origin": origin} if origin is not None else {})
    return {
        "scheme": scheme,
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items()],
    }


@pytest.mark.parametrize(
    ("host", "origin", "scheme", "allowed"),
    [
        ("localhost:8000", "http://localhost:8000", "ws", True),
        ("127.0.0.1:8000", "http://127.0.0.1:8000", "ws", True),
        ("[::1]:8000", "http://[::1]:8000", "ws", True),
        ("localhost", "https://localhost", "wss", True),
        ("LocalHost:8000", "http://localhost:8000", "ws", True),
        ("localhost:8000", "https://localhost:8000", "ws", False),  # another scheme
        ("localhost:8000", "http://localhost:9000", "ws", False),  # another port
        ("localhost:8000", "http://127.0.0.1:8000", "ws", False),  # another host
        ("localhost:8000", "http://example.com", "ws", False),
        ("localhost:8000", "null", "ws", False),
        ("localhost:8000", "", "ws", False),
        ("localhost:8000", None, "ws", False),
        ("example.com", "http://example.com", "ws", False),  # a name that leads here, but is not ours
        ("", "http://", "ws", False),
    ],
)
def test_origins(host: str, origin: str | None, scheme: str, allowed: bool) -> None:
    assert same_origin(scope(host, origin, scheme)) is allowed


def test_behind_a_proxy_that_ends_tls(settings: Any) -> None:
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    assert same_origin(scope("localhost", "https://localhost", x_forwarded_proto="https"))
    assert not same_origin(scope("localhost", "http://localhost", x_forwarded_proto="https"))
    assert same_origin(scope("localhost", "http://localhost", x_forwarded_proto="http"))


class WhoConsumer(AsyncWebsocketConsumer):
    """Says who it is talking to."""

    async def connect(self) -> None:
        await self.accept()
        await self.send(self.scope["user"].get_username() or "nobody")


async def who(cookie: str, origin: str = "http://localhost") -> str | None:
    """Return what the site calls the holder of a cookie, None when it lets nobody in."""
    headers = [(b"host", b"localhost"), (b"origin", origin.encode()), (b"cookie", cookie.encode())]
    application = same_origin_only(with_user(WhoConsumer.as_asgi()))
    socket = WebsocketCommunicator(application, "/", headers=headers)
    connected, _ = await socket.connect()
    name = await socket.receive_from() if connected else None
    await socket.disconnect()
    return str(name) if name else None


@pytest.mark.django_db(transaction=True)
async def test_users_of_sockets() -> None:
    client = Client()

    def log_in() -> str:
        User.objects.create_user("ada", password=PASSWORD)
        client.login(username="ada", password=PASSWORD)
        return client.cookies["sessionid"].value

    key = await database_sync_to_async(log_in)()
    assert await who(f"theme=dark; sessionid={key}") == "ada"
    assert await who("sessionid=wrong") == "nobody"
    assert await who("") == "nobody"
    assert await who('sessionid="; \\') == "nobody"
    assert await who(f"sessionid={key}", origin="http://example.com") is None
    await database_sync_to_async(client.logout)()
    assert await who(f"sessionid={key}") == "nobody"


@pytest.fixture
def session_key(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies["sessionid"].value


def test_a_session_tells_its_user(user: User, session_key: str) -> None:
    assert session_user(session_key) == user
    assert session_user(None) is None
    assert session_user("wrong") is None


def test_deactivated_and_deleted_users_are_nobody(user: User, session_key: str) -> None:
    User.objects.update(is_active=False)
    assert session_user(session_key) is None
    user.delete()
    assert session_user(session_key) is None


def test_a_changed_password_ends_the_session(user: User, session_key: str) -> None:
    user.set_password("another good passphrase")
    user.save()
    assert session_user(session_key) is None


def test_a_rotated_secret_key_keeps_people_in(user: User, session_key: str, settings: Any) -> None:
    old = settings.SECRET_KEY
    settings.SECRET_KEY = "a new one, as long as the system checks want it to be, or longer"
    assert session_user(session_key) is None
    settings.SECRET_KEY_FALLBACKS = [old]
    assert session_user(session_key) == user
    assert session_user(session_key) == user  # nothing was written that would end the session
