"""What providers and connections do wrong, as `ModelError`s that tell a user what happened and what to do."""

from collections.abc import Mapping
from typing import Any

import httpx2
import openai

from chat.llm.base import ErrorKind, ModelError

AGAIN = "Try again in a moment."
# What a provider says goes to the log, not the page; a page of HTML need not fill it.
MAX_DETAIL = 1000

# Words in a provider's error code, type or message that tell more than the HTTP status does.
TOO_LONG_WORDS = (
    "context_length",
    "context length",
    "context window",
    "maximum context",
    "too many tokens",
    "prompt is too long",
)
NO_CREDIT_WORDS = ("insufficient_quota", "billing", "credit balance", "payment required")
RATE_WORDS = ("rate_limit", "rate limit", "too many requests", "overloaded")
AUTH_WORDS = ("invalid_api_key", "authentication", "permission_denied", "unauthorized")


def from_exception(error: Exception) -> ModelError:
    """Return the `ModelError` for whatever the client library or the connection raised."""
    match error:
        case ModelError():
            return error
        case openai.APIStatusError():
            return from_status(error.status_code, error.body, error.response.headers)
        case openai.APIConnectionError() | httpx2.TransportError() | OSError():
            return ModelError(
                ErrorKind.CONNECTION,
                f"The connection to the model server failed. {AGAIN} "
                "If it keeps failing, the operator should check OPENAI_BASE_URL.",
                detail=_detail(error),
            )
    return bad_stream(_detail(error))


def from_status(status: int, body: object, headers: Mapping[str, str]) -> ModelError:
    """Return the `ModelError` for an answer with an HTTP status of 400 or more."""
    said = _said(body)
    words = said.lower()
    detail = f"HTTP {status}: {said}"[:MAX_DETAIL]
    if status == 413 or (status in (400, 422) and any(word in words for word in TOO_LONG_WORDS)):
        return _too_long(detail)
    if status == 402 or (status == 429 and any(word in words for word in NO_CREDIT_WORDS)):
        return _no_credit(detail)
    if status == 429:
        return rate_limited(detail, retry_after(headers))
    if status in (401, 403):
        return _refused_key(detail)
    if status == 404:
        return ModelError(
            ErrorKind.BAD_REQUEST,
            "The model server does not know this model or address. "
            "The operator should check OPENAI_MODEL and OPENAI_BASE_URL (which usually ends in /v1).",
            detail=detail,
        )
    if status >= 500 or status in (408, 409, 425):
        return ModelError(
            ErrorKind.SERVER,
            f"The model server has a problem (status {status}). {AGAIN}",
            detail=detail,
            retry_after=retry_after(headers),
        )
    return ModelError(
        ErrorKind.BAD_REQUEST,
        f"The model server refused the request (status {status}). "
        "Trying again will not help; the operator finds its reason in the log.",
        detail=detail,
    )


def from_stream(error: object) -> ModelError:
    """Return the `ModelError` for an error object that came inside a stream."""
    said = _said(error)
    words = said.lower()
    detail = f"in the stream: {said}"[:MAX_DETAIL]
    code = error.get("code", error.get("status")) if isinstance(error, dict) else None
    if isinstance(code, int) and 400 <= code < 600:
        return from_status(code, error, {})
    if any(word in words for word in TOO_LONG_WORDS):
        return _too_long(detail)
    if any(word in words for word in NO_CREDIT_WORDS):
        return _no_credit(detail)
    if any(word in words for word in RATE_WORDS):
        return rate_limited(detail, None)
    if any(word in words for word in AUTH_WORDS):
        return _refused_key(detail)
    return ModelError(
        ErrorKind.SERVER, f"The model server reported a problem while it replied. {AGAIN}", detail=detail
    )


def rate_limited(detail: str, seconds: float | None) -> ModelError:
    """Return the error for too many requests; says the wait that the provider asked for."""
    when = f"in {max(1, round(seconds))} seconds" if seconds is not None else "in a minute"
    return ModelError(
        ErrorKind.RATE,
        f"The model server gets too many requests at the moment. Try again {when}.",
        detail=detail,
        retry_after=seconds,
    )


def bad_stream(detail: str) -> ModelError:
    """Return the error for an answer that is not what a chat-completions server sends."""
    return ModelError(
        ErrorKind.BAD_STREAM,
        f"The model server sent something unreadable. {AGAIN} "
        "If it happens every time, the operator should check that OPENAI_BASE_URL points at a "
        "server for chat completions (its address usually ends in /v1).",
        detail=detail[:MAX_DETAIL],
    )


def stalled(seconds: float, *, started: bool) -> ModelError:
    """Return the error for a provider that has been silent for too long."""
    what = "stopped sending" if started else "did not begin to reply"
    return ModelError(
        ErrorKind.STALLED, f"The model server {what} for {seconds:g} seconds, so the call was ended. {AGAIN}"
    )


def took_too_long(seconds: float) -> ModelError:
    """Return the error for a reply that went on over its total deadline."""
    return ModelError(
        ErrorKind.STALLED,
        f"The reply took longer than {seconds:g} seconds, so it was ended. "
        "Ask for something shorter, or try again.",
    )


def flooded(pieces: int) -> ModelError:
    """Return the error for a provider that sends pieces without content."""
    return ModelError(
        ErrorKind.FLOOD,
        f"The model server sent {pieces} empty pieces in a row, so the call was ended. {AGAIN}",
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a `Retry-After` header asks for, None without a usable one."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue  # absent, or a date: our own delays do then
        if 0 <= seconds < 86_400:
            return seconds
    return None


def _too_long(detail: str) -> ModelError:
    return ModelError(
        ErrorKind.TOO_LONG,
        "This conversation is longer than the model can read. Start a new conversation.",
        detail=detail,
    )


def _no_credit(detail: str) -> ModelError:
    return ModelError(
        ErrorKind.RATE,
        "The account at the model's provider has no credit left. The operator must add some.",
        detail=detail,
        retryable=False,
    )


def _refused_key(detail: str) -> ModelError:
    return ModelError(
        ErrorKind.AUTH,
        "The model server refused the site's key. The operator should check OPENAI_API_KEY.",
        detail=detail,
    )


def _said(body: object) -> str:
    """Return what a provider says in an error, as one line of text."""
    inner: Any = body
    if isinstance(inner, dict) and isinstance(inner.get("error"), dict):
        inner = inner["error"]
    if isinstance(inner, dict):
        parts = [inner.get(name) for name in ("code", "type", "param", "message")]
        inner = " ".join(str(part) for part in parts if part) or str(body)
    return " ".join(str(inner or "").split())


def _detail(error: Exception) -> str:
    cause = f" ({error.__cause__!r})" if error.__cause__ else ""
    return f"{type(error).__name__}: {error}{cause}"[:MAX_DETAIL]
