"""Skills that read the web."""

import json
from collections.abc import Mapping
from typing import Any

from chat.skills.base import SkillContext, SkillError, skill
from chat.skills.http.client import Page, get
from chat.skills.http.target import RefusedError

# Their bytes as text are noise that fills the sandbox and the model's context.
BINARY = (
    "image/",
    "audio/",
    "video/",
    "font/",
    "application/octet-stream",
    "application/pdf",
    "application/zip",
)


@skill()
async def fetch(context: SkillContext, url: str, *, headers: dict[str, str] | None = None) -> dict[str, Any]:
    """Read a public web page (GET). Returns {"status": 200, "url": ..., "headers": {...}, "text": ...}.

    Any status is returned, not raised; redirects are followed.
    """
    page = await _page(context, url, headers)
    return {"status": page.status, "url": page.url, "headers": page.headers, "text": _text(page)}


@skill()
async def fetch_json(context: SkillContext, url: str, *, headers: dict[str, str] | None = None) -> Any:
    """Read JSON from a public address. Returns the parsed value; raises when the status is not 2xx."""
    page = await _page(context, url, {"Accept": "application/json", **(headers or {})})
    text = _text(page)
    start = " ".join(text[:200].split())
    if not 200 <= page.status < 300:
        raise SkillError(f"{page.url} answered with status {page.status}: {start}")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SkillError(f"{page.url} did not answer with JSON ({error}); it begins with: {start}") from None


async def _page(context: SkillContext, url: str, headers: Mapping[str, str] | None) -> Page:
    if headers is not None and not (
        isinstance(headers, dict) and all(isinstance(part, str) for pair in headers.items() for part in pair)
    ):
        raise SkillError(f"headers must be a dict of texts, not {headers!r}.")
    try:
        page = await get(url, headers or {}, context.http)
    except RefusedError as error:
        raise SkillError(str(error)) from None
    kind = page.headers.get("content-type", "").strip().lower()
    if kind.startswith(BINARY) or b"\0" in page.body[:1000]:
        raise SkillError(f"{page.url} is not text but {kind or 'binary data'}; only text can be fetched.")
    return page


def _text(page: Page) -> str:
    try:
        return page.body.decode(page.charset, errors="replace")
    except LookupError:  # a character set that nobody knows
        return page.body.decode("utf-8", errors="replace")
