"""One GET request with all its redirects, each checked like the first URL."""

import asyncio
import ssl
import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import cache

import httpx2

from chat.skills.http.policy import HttpPolicy
from chat.skills.http.target import RefusedError, Target, find_target

USER_AGENT = "Mozilla/5.0 (compatible; agent-site)"
REDIRECTS = frozenset({301, 302, 303, 307, 308})
# The deadline of the policy is for all of it; this one leaves time for the next address when one is silent.
TIMEOUT = httpx2.Timeout(None, connect=5.0)
GZIP = 16 + zlib.MAX_WBITS  # how zlib is told the format
# Set by us, or they would change what the request is about.
OWN_HEADERS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "accept-encoding", "upgrade"}
)


@dataclass(frozen=True, slots=True)
class Page:
    """What a server answered."""

    status: int
    url: str
    headers: dict[str, str]
    body: bytes
    charset: str


async def get(url: str, headers: Mapping[str, str], policy: HttpPolicy) -> Page:
    """Return the answer to a GET request; raises `RefusedError`."""
    bad = [name for name in headers if name.lower() in OWN_HEADERS]
    if bad:
        raise RefusedError(f"The header {bad[0]!r} cannot be set.")
    try:
        async with asyncio.timeout(policy.seconds):
            return await _follow(url, dict(headers), policy)
    except TimeoutError:
        raise RefusedError(f"{url} did not answer completely within {policy.seconds:g} seconds.") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, zlib.error, ValueError) as error:
        raise RefusedError(f"{url} could not be fetched: {error or type(error).__name__}.") from None


async def _follow(url: str, headers: dict[str, str], policy: HttpPolicy) -> Page:
    target = await find_target(url, policy)
    for _ in range(policy.max_redirects + 1):
        page = await _request(target, headers, policy)
        if isinstance(page, Page):
            return page
        following = await find_target(page, policy)
        if following.origin != target.origin:
            headers = {}  # what was meant for one server, such as a key, is not for another
        target = following
    raise RefusedError(f"{url} redirects more than {policy.max_redirects} times.")


async def _request(target: Target, headers: Mapping[str, str], policy: HttpPolicy) -> Page | str:
    """Return the page, or the URL to which it redirects."""
    # A client for each request: nothing, such as cookies, is shared between users. No proxy of the machine's
    # environment either, since it would resolve the name once more.
    async with httpx2.AsyncClient(verify=_tls(), trust_env=False, timeout=TIMEOUT) as client:
        async with aclosing(await _send(client, target, headers)) as response:
            location = response.headers.get("location", "")
            if response.status_code in REDIRECTS and location:
                return str(target.url.join(location))
            body = b"".join([part async for part in _bounded(response, target, policy.max_bytes)])
            return Page(
                status=response.status_code,
                url=str(target.url),
                headers={name.lower(): value for name, value in response.headers.items()},
                body=body,
                charset=response.charset_encoding or "utf-8",
            )


async def _send(client: httpx2.AsyncClient, target: Target, headers: Mapping[str, str]) -> httpx2.Response:
    """Connect to one of the checked addresses, in the name of the host."""
    sent = httpx2.Headers({"User-Agent": USER_AGENT, "Accept": "*/*"})
    sent.update(headers)
    sent.update({"Accept-Encoding": "gzip", "Host": target.url.netloc.decode("ascii")})
    failure: httpx2.TransportError = httpx2.ConnectError("no address")
    for address in target.addresses:
        request = client.build_request(
            "GET",
            target.url.copy_with(host=address),
            headers=sent,
            # The certificate must be the host's, although the connection goes to a number.
            extensions={"sni_hostname": target.url.host},
        )
        try:
            return await client.send(request, stream=True)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            failure = error
    raise failure


async def _bounded(response: httpx2.Response, target: Target, limit: int) -> AsyncIterator[bytes]:
    """Give the decompressed body, never more than the limit: a few bytes can unpack to gigabytes."""
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity", "gzip", "x-gzip"):
        raise RefusedError(f"{target.url} answered in the encoding {coding!r}, which cannot be read here.")
    unpacker = None if coding in ("", "identity") else zlib.decompressobj(GZIP)
    size = 0
    async for raw in response.aiter_raw():
        part = unpacker.decompress(raw, limit - size + 1) if unpacker else raw
        size += len(part)
        if size > limit or (unpacker and unpacker.unconsumed_tail):
            raise RefusedError(f"{target.url} is longer than {limit:,} bytes, the most that can be fetched.")
        yield part


@cache
def _tls() -> ssl.SSLContext:
    # Loading the certificates takes longer than most requests.
    return httpx2.create_ssl_context(trust_env=False)
