"""From a URL to the addresses that may be connected to."""

import asyncio
import ipaddress
import socket
from dataclasses import dataclass

import httpx2

from chat.skills.http.policy import HttpPolicy

MAX_URL = 4000  # longer ones are refused by servers anyway


class RefusedError(Exception):
    """A URL that must not be fetched, and why."""


@dataclass(frozen=True, slots=True)
class Target:
    """A checked URL with the addresses its name had at that moment; only these are connected to."""

    url: httpx2.URL
    addresses: tuple[str, ...]

    @property
    def origin(self) -> tuple[str, str, int | None]:
        """Scheme, host and port."""
        return self.url.scheme, self.url.host, self.url.port


async def find_target(url: str, policy: HttpPolicy) -> Target:
    """Return the checked target of a URL; raises `RefusedError`.

    Names are resolved here, once: an answer that changes between check and connection (rebinding) has no
    effect. Addresses that are written as numbers, in any notation, pass through the resolver too and are
    checked as it reads them.
    """
    parsed = _parsed(url)
    host = parsed.host.rstrip(".").lower()
    if reason := policy.host_error(host):
        raise RefusedError(f"{reason}.")
    addresses = await _resolve(host, parsed.port or (443 if parsed.scheme == "https" else 80))
    for address in addresses:
        # One address that is not public is enough: which one the connection would take is no matter of luck.
        if not policy.allows(ipaddress.ip_address(address)):
            raise RefusedError(
                f"{host} is at {address}, which is not on the open internet. "
                "Only public web sites can be fetched."
            )
    return Target(parsed, addresses)


def _parsed(url: str) -> httpx2.URL:
    if not isinstance(url, str):
        raise RefusedError(f"The URL must be a text, not {type(url).__name__}.")
    if len(url) > MAX_URL:
        raise RefusedError(f"The URL has {len(url)} characters; {MAX_URL} are accepted.")
    try:
        parsed = httpx2.URL(url.strip())
    except (httpx2.InvalidURL, UnicodeError, ValueError) as error:
        raise RefusedError(f"{url!r} is no URL ({error}).") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise RefusedError(
            f"{url!r} cannot be fetched: the URL must start with https:// or http:// and name a host."
        )
    if parsed.userinfo:
        raise RefusedError("A URL with a user name or password in it is not accepted.")
    return parsed


async def _resolve(host: str, port: int) -> tuple[str, ...]:
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise RefusedError(f"The host {host!r} was not found ({error}).") from None
    # In the resolver's order, each once.
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
