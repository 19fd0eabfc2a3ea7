"""Saved sessions as bytes: what this side knows about the session, and the interpreter's own dump."""

import json
import zlib
from dataclasses import asdict, dataclass, field
from typing import Final

from chat.sandbox.base import SnapshotError

MAGIC: Final = b"MS1"
# Two milliseconds for a usual dump; higher levels gain nothing.
LEVEL: Final = 6
MAX_BYTES: Final = 256 * 1024 * 1024
"""Of what is unpacked: a few times what a session may hold."""


@dataclass
class Notes:
    """What the host remembers about a session besides its dump; saved with it."""

    feeds: int = 0
    """How many programs it ran: the interpreter names the places of errors by this number."""

    places: dict[int, tuple[str, int]] = field(default_factory=dict)
    """Label and first line of each program whose functions may still be called."""

    suspended: bool = False

    names: dict[str, str] = field(default_factory=dict)
    """The namespace's names, with their types as far as the checker may rely on them."""

    helpers: list[str] = field(default_factory=list)
    """Helper modules that were loaded."""


def pack(notes: Notes, dump: bytes) -> bytes:
    """Return notes and dump as one value."""
    head = json.dumps(asdict(notes), separators=(",", ":")).encode()
    return MAGIC + zlib.compress(len(head).to_bytes(4, "big") + head + dump, LEVEL)


def unpack(data: bytes, *, most: int = MAX_BYTES) -> tuple[Notes, bytes]:
    """Return notes and dump; raises SnapshotError for anything else."""
    try:
        if not data.startswith(MAGIC):
            raise ValueError("it has another format")
        unzip = zlib.decompressobj()
        plain = unzip.decompress(data[len(MAGIC) :], most)
        if not unzip.eof:
            raise ValueError("it is cut or too large")
        size = int.from_bytes(plain[:4], "big")
        notes = Notes(**json.loads(plain[4 : 4 + size]))
        notes.places = {int(feed): (place[0], place[1]) for feed, place in notes.places.items()}
        return notes, plain[4 + size :]
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError, zlib.error) as error:
        raise SnapshotError(f"This snapshot can't be loaded: {error}.") from error
