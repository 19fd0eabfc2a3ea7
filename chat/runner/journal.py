"""The one writer of this process: what all its conversations changed is saved together, in one transaction.

While it is under way the next changes gather, so that the number of transactions does not grow with that of
conversations. A batch whose runner lost its lease is left out.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import close_old_connections, models, transaction

from chat.models import Block, Conversation, Inbox, Message, Mount, Piece, Snapshot, Statement, Wait
from chat.runtime.store import LeaseLost

logger = logging.getLogger(__name__)

# Parents first, so that foreign keys hold at every moment.
ORDER: tuple[type[models.Model], ...] = (Message, Block, Statement, Mount, Wait)
ROWS_PER_STATEMENT = 100


@dataclass
class Batch:
    """The changes of one conversation up to one frame."""

    conversation: UUID
    token: str
    values: dict[str, Any]  # of the conversation itself
    rows: list[models.Model] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    joined: list[UUID] = field(default_factory=list)  # blocks whose pieces are no longer needed
    forgotten: list[models.Model] = field(default_factory=list)
    snapshots: dict[bool, Snapshot | None] = field(default_factory=dict)
    inbox: list[tuple[int, dict[str, Any]]] = field(default_factory=list)


class Journal:
    """Saves batches in the order in which they come."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")
        self._queue: list[tuple[Batch, asyncio.Future[None]]] = []
        self._task: asyncio.Task[None] | None = None

    async def save(self, batch: Batch) -> None:
        """Return when the batch is committed. Raises LeaseLost, or what the database raised."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append((batch, done))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._drain())
        await done

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        while self._queue:
            queued, self._queue = self._queue, []
            batches = [batch for batch, _ in queued]
            errors = await loop.run_in_executor(self._thread, commit, batches)
            for (_, done), error in zip(queued, errors, strict=True):
                if done.cancelled():
                    continue
                if error is None:
                    done.set_result(None)
                else:
                    done.set_exception(error)


def commit(batches: Sequence[Batch]) -> list[BaseException | None]:
    """Save batches in one transaction; returns for each what went wrong. Touches the database."""
    close_old_connections()
    try:
        return _together(batches)
    except Exception as error:
        if len(batches) == 1:
            logger.exception("Conversation %s could not be saved", batches[0].conversation)
            return [error]
    return [result for batch in batches for result in commit([batch])]  # so that one can't harm the others


def _together(batches: Sequence[Batch]) -> list[BaseException | None]:
    results: list[BaseException | None] = []
    held = []
    with transaction.atomic():
        for batch in batches:
            mine = Conversation.objects.filter(pk=batch.conversation, lease=batch.token)
            if mine.update(**batch.values):
                held.append(batch)
                results.append(None)
            else:
                results.append(LeaseLost(f"Another runner drives conversation {batch.conversation}."))
        _write(held)
    return results


def _write(batches: Sequence[Batch]) -> None:
    rows: dict[type[models.Model], dict[Any, models.Model]] = defaultdict(dict)
    for batch in batches:
        for row in batch.rows:
            rows[type(row)][row.pk] = row
    for model in ORDER:
        _upsert(model, rows[model].values())
    Piece.objects.bulk_create([piece for batch in batches for piece in batch.pieces])
    if joined := [pk for batch in batches for pk in batch.joined]:
        Piece.objects.filter(block__in=joined).delete()
    for batch in batches:
        for row in batch.forgotten:
            row.delete()
        for identity, values in batch.inbox:
            Inbox.objects.filter(pk=identity).update(**values)
        for suspended, snapshot in batch.snapshots.items():
            _keep_snapshot(batch.conversation, suspended, snapshot)


def _upsert(model: type[models.Model], rows: Iterable[models.Model]) -> None:
    fields = [f.name for f in model._meta.concrete_fields if not f.primary_key]
    model._default_manager.bulk_create(
        list(rows),
        batch_size=ROWS_PER_STATEMENT,
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=fields,
    )


def _keep_snapshot(conversation: UUID, suspended: bool, snapshot: Snapshot | None) -> None:
    kept = Snapshot.objects.filter(conversation=conversation, suspended=suspended)
    if snapshot is None:
        kept.delete()
    else:
        Snapshot.objects.bulk_create(
            [snapshot],
            update_conflicts=True,
            unique_fields=["conversation", "suspended"],
            update_fields=["version", "data", "signature", "saved"],
        )
