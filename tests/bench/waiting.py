"""Makes many waiting conversations out of one; run inside of the site: `manage.py shell -c …`."""

# ruff: noqa: T201 - printing is what this is for

import time
from uuid import UUID, uuid4

from django.db import transaction

from chat.models import Block, Conversation, Message, Mount, Snapshot, Statement, Wait
from chat.runner import snapshots
from chat.runner.supervisor import left_alone

BATCH = 200


def clone(identity: str, times: int) -> None:
    """Copy a waiting conversation with all that belongs to it; prints the ids."""
    original = UUID(identity)
    for start in range(0, times, BATCH):
        with transaction.atomic():
            for _ in range(min(BATCH, times - start)):
                print(_cloned(original))


def _cloned(original: UUID) -> UUID:
    new: dict[UUID, UUID] = {original: uuid4()}
    for model in (Conversation, Message, Block, Statement, Mount, Wait):
        key = "pk" if model is Conversation else "message__conversation" if model is Block else "conversation"
        rows = list(model._default_manager.filter(**{key: original}))
        for row in rows:
            new.setdefault(row.pk, uuid4())
            for field in model._meta.concrete_fields:
                value = getattr(row, field.attname)
                if isinstance(value, UUID) and value in new:
                    setattr(row, field.attname, new[value])
        model._default_manager.bulk_create(rows)
    copies = []
    for row in Snapshot.objects.filter(conversation=original):
        copy = snapshots.signed(new[original], row.suspended, row.version, bytes(row.data))
        assert copy is not None
        copies.append(copy)
    Snapshot.objects.bulk_create(copies)
    return new[original]


def look() -> None:
    """Print how many conversations the look-out finds, and the milliseconds that it takes."""
    left_alone()
    started = time.perf_counter()
    found = left_alone()
    print(len(found), (time.perf_counter() - started) * 1000)
