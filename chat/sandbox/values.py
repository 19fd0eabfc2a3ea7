"""Which values may pass from agent code to the host: plain data only, of limited size."""

import datetime
from decimal import Decimal
from typing import Any, Final

MAX_DEPTH: Final = 60
OVERHEAD: Final = 16  # bytes counted per value, so that millions of empty ones are not free

SIMPLE: Final = (
    bool, float, datetime.date, datetime.time, datetime.timedelta, datetime.timezone, Decimal,
)  # fmt: skip


class NotPlainError(TypeError):
    """The value is no plain data, or too much of it."""


def plain(value: Any, limit: int) -> Any:
    """Return the value with sets and tuples as lists; raises NotPlainError."""
    return _Plain(limit).take(value, 0)


def clean(text: str) -> str:
    """Return text that databases take: without zero characters."""
    return text.replace("\0", "\ufffd") if "\0" in text else text


def given(value: Any) -> Any:
    """Return a value of the host as the interpreter can take it: plain data, of whole characters."""
    match value:
        case str():
            return value if value.isascii() else value.encode("utf-8", "replace").decode()
        case dict():
            return {given(key): given(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [given(item) for item in value]
        case None | int() | bytes():
            return value
    return value if isinstance(value, SIMPLE) else str(value)


class _Plain:
    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.left = limit

    def take(self, value: Any, depth: int) -> Any:
        self.left -= OVERHEAD
        match value:
            case None:
                return None
            case str():
                self.left -= len(value)
                self.check()
                return clean(value)
            case bytes():
                self.left -= len(value)
                self.check()
                return value
            case int() if not isinstance(value, bool):
                self.left -= value.bit_length() // 8
                self.check()
                return value
            case dict():
                self.check()
                if depth > MAX_DEPTH:
                    raise NotPlainError(f"data for the host is nested more than {MAX_DEPTH} levels deep")
                return {self.take(key, depth + 1): self.take(item, depth + 1) for key, item in value.items()}
            case list() | tuple() | set() | frozenset():
                self.check()
                if depth > MAX_DEPTH:
                    raise NotPlainError(f"data for the host is nested more than {MAX_DEPTH} levels deep")
                return [self.take(item, depth + 1) for item in value]
        if isinstance(value, SIMPLE):
            self.check()
            return value
        name = getattr(value, "name", None) or type(value).__name__
        raise NotPlainError(f"a host call takes plain data (text, numbers, dates, lists, dicts), not {name}")

    def check(self) -> None:
        if self.left < 0:
            raise NotPlainError(f"data for the host is larger than {self.limit} bytes")
