"""ASGI middleware for websockets: from which pages they may come, and who opened them."""

from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

from channels.db import database_sync_to_async
from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http.request import split_domain_port, validate_host

from chat.access import session_user

Scope = MutableMapping[str, Any]
Application = Callable[[Scope, Callable[..., Any], Callable[..., Any]], Awaitable[Any]]


refused = WebsocketDenier.as_asgi()


def header(scope: Scope, name: bytes) -> str:
    """Return a header of the connection, or "" when it has none."""
    values = [value for key, value in scope.get("headers", []) if key.lower() == name]
    return values[-1].decode("latin-1") if values else ""


def is_secure(scope: Scope) -> bool:
    """Return whether the browser speaks TLS, by the same rule as for requests."""
    proxy: tuple[str, str] | None = settings.SECURE_PROXY_SSL_HEADER
    if proxy:
        name = proxy[0].removeprefix("HTTP_").replace("_", "-").lower().encode()
        said = header(scope, name)
        if said:
            return said.split(",")[0].strip() == proxy[1]
    return scope.get("scheme") in ("wss", "https")


def same_origin(scope: Scope) -> bool:
    """Return whether the socket was opened by a page of this very site: scheme, host and port are compared.

    Sockets carry cookies but no CSRF token, so this is what keeps other sites out.
    """
    host = header(scope, b"host")
    domain, _ = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        return False
    scheme = "https" if is_secure(scope) else "http"
    return header(scope, b"origin").lower() == f"{scheme}://{host}".lower()


def same_origin_only(application: Application) -> Application:
    """Return an application that refuses sockets opened by pages of other origins."""

    async def checked(scope: Scope, receive: Callable[..., Any], send: Callable[..., Any]) -> Any:
        if same_origin(scope):
            return await application(scope, receive, send)
        return await refused(scope, receive, send)

    return checked


def with_user(application: Application) -> Application:
    """Return an application whose scope has `user` (maybe anonymous) and `session_key` (to check again)."""

    async def authenticated(scope: Scope, receive: Callable[..., Any], send: Callable[..., Any]) -> Any:
        try:
            cookies = SimpleCookie(header(scope, b"cookie"))
        except CookieError:
            cookies = SimpleCookie()
        morsel = cookies.get(settings.SESSION_COOKIE_NAME)
        session_key = morsel.value if morsel else None
        user = await database_sync_to_async(session_user)(session_key)
        scope = {**scope, "user": user or AnonymousUser(), "session_key": session_key}
        return await application(scope, receive, send)

    return authenticated
