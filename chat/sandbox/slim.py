"""Makes the dump of a fresh namespace small: it is the larger part of every saved conversation.

A dump is CBOR after an eight-byte head. Three quarters of the prelude's share are tables that say which bytes
of its source each instruction came from, and that source; errors never show them, so they are cut out.
Nothing else is touched, and the result is tried before it is used.
"""

from typing import Final

HEAD_BYTES: Final = 8
FUNCTIONS: Final = b"ifunctions"
POSITIONS: Final = b"aL"
SOURCES: Final = b"gsources"
NO_LIST: Final = b"\x80"
NO_TEXT: Final = b"\x60"
BREAK: Final = 0xFF


def slimmed(dump: bytes, source: str) -> bytes:
    """Return the dump without the positions of its functions and without the text of that source."""
    try:
        cut = _Cut(dump, _text(source))
        end = cut.copy(HEAD_BYTES, frozenset())
    except (IndexError, ValueError):
        return dump
    return dump[:HEAD_BYTES] + b"".join(cut.out) if end == len(dump) else dump


def _text(value: str) -> bytes:
    """Return a short text as CBOR."""
    raw = value.encode()
    return bytes([0x60 + len(raw)]) + raw if len(raw) < 24 else bytes([0x78, len(raw)]) + raw


class _Cut:
    def __init__(self, data: bytes, source: bytes) -> None:
        self.data = data
        self.source = source
        self.out: list[bytes] = []

    def head(self, at: int) -> tuple[int, int, int]:
        """Return kind, length (-1: until a break) and where the content starts."""
        kind, size = self.data[at] >> 5, self.data[at] & 31
        if size < 24:
            return kind, size, at + 1
        if size < 28:
            width = 1 << (size - 24)
            return kind, int.from_bytes(self.data[at + 1 : at + 1 + width], "big"), at + 1 + width
        if size == 31:
            return kind, -1, at + 1
        raise ValueError("no CBOR")

    def skip(self, at: int) -> int:
        """Return where the item at this place ends."""
        kind, size, at = self.head(at)
        match kind:
            case 2 | 3 if size >= 0:
                return at + size
            case 4 | 5:
                left = size if kind == 4 else 2 * size
                while left > 0 or (size < 0 and self.data[at] != BREAK):
                    at = self.skip(at)
                    left -= 1
                return at + 1 if size < 0 else at
            case 6:
                return self.skip(at)
        return at

    def copy(self, at: int, inside: frozenset[bytes]) -> int:
        """Copy the item at this place, with what is to be cut left out; return where it ends."""
        kind, size, start = self.head(at)
        if kind not in (4, 5):
            end = self.skip(at)
            self.out.append(self.data[at:end])
            return end
        self.out.append(self.data[at:start])
        at, left = start, size
        while left > 0 or (size < 0 and self.data[at] != BREAK):
            left -= 1
            at = self.entry(at, inside) if kind == 5 else self.copy(at, inside)
        if size < 0:
            self.out.append(bytes([BREAK]))
            at += 1
        return at

    def entry(self, at: int, inside: frozenset[bytes]) -> int:
        """Copy a key with its value."""
        value = self.skip(at)
        key = self.data[at:value]
        self.out.append(key)
        if key == POSITIONS and FUNCTIONS in inside:
            self.out.append(NO_LIST)
            return self.skip(value)
        if key == self.source and SOURCES in inside:
            self.out.append(NO_TEXT)
            return self.skip(value)
        return self.copy(value, inside | {key})
