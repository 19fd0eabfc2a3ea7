"""The client library's connections: one client per process, event loop and provider."""

import asyncio
from weakref import WeakKeyDictionary

import httpx2
import openai

CONNECT_SECONDS = 10.0  # longer than any handshake, short enough to say that nobody is there
CONNECTIONS = 2000  # one per reply that streams; how many may is not decided by a queue in here
IDLE_CONNECTIONS = 100  # kept for the next call; a handshake costs more than the socket

type Clients = dict[tuple[str, str], openai.AsyncOpenAI]

# Connections belong to the loop that opened them, so a client must not outlive it nor be shared.
_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Clients] = WeakKeyDictionary()


def shared_client(api_key: str, base_url: str) -> openai.AsyncOpenAI:
    """Return the client of the running loop for this provider; made on first use."""
    clients = _clients.setdefault(asyncio.get_running_loop(), {})
    client = clients.get((api_key, base_url))
    if client is None:
        limits = httpx2.Limits(max_connections=CONNECTIONS, max_keepalive_connections=IDLE_CONNECTIONS)
        client = clients[api_key, base_url] = openai.AsyncOpenAI(
            # Local servers need no key, but the client insists on one.
            api_key=api_key or "none",
            base_url=base_url or None,
            # Retries and deadlines are ours, see `openai.py`.
            max_retries=0,
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
            # Its parser, which is compiled, gathers what has come; the default hands on every small piece.
            http_client=openai.DefaultAioHttpClient(limits=limits),
        )
    return client


async def close_clients() -> None:
    """Close the connections of the running loop."""
    for client in _clients.pop(asyncio.get_running_loop(), {}).values():
        await client.close()
