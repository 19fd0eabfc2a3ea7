"""Sandbox state as rows: signed, because loading it means trusting it."""

import hashlib
import hmac
from uuid import UUID

from django.conf import settings
from django.utils.encoding import force_str

from chat.models import Snapshot
from chat.sandbox.base import SnapshotError

SALT = b"chat.snapshot"


def signature(key: str, conversation: UUID, suspended: bool, version: str, data: bytes) -> str:
    """Return the signature of state that belongs to one conversation and one purpose."""
    secret = hashlib.sha256(SALT + key.encode()).digest()
    head = f"{conversation.hex}:{int(suspended)}:{version}:".encode()
    return hmac.new(secret, head + data, hashlib.sha256).hexdigest()


def signed(conversation: UUID, suspended: bool, version: str, data: bytes | None) -> Snapshot | None:
    """Return the row for some state."""
    if data is None:
        return None
    mac = signature(settings.SECRET_KEY, conversation, suspended, version, data)
    return Snapshot(
        conversation_id=conversation, suspended=suspended, version=version, data=data, signature=mac
    )


def load(conversation: UUID, suspended: bool, version: str) -> bytes | None:
    """Return saved state, None when there is none; raises SnapshotError when it can't be used."""
    row = Snapshot.objects.filter(conversation=conversation, suspended=suspended).first()
    if row is None:
        return None
    data = bytes(row.data)
    keys = [settings.SECRET_KEY, *map(force_str, settings.SECRET_KEY_FALLBACKS)]
    expected = (signature(key, conversation, suspended, row.version, data) for key in keys)
    if not any(hmac.compare_digest(mac, row.signature) for mac in expected):
        raise SnapshotError("it was changed outside of this site, or signed with another secret key")
    if row.version != version:
        raise SnapshotError(f"it was saved by version {row.version}, this is version {version}")
    return data
