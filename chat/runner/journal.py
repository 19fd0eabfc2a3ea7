"""The one writer of this process: what all its conversations changed is saved together, in one transaction.

While it is under way the next changes gather, so that the number of transactions does not grow with that of
conversations. A batch whose runner lost its lease is left out.
"""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import batched
from typing import Any
from uuid import UUID

from django.db import connection, models, transaction

from chat.metrics import ERRORS, SAVE
from chat.models import Block, Conversation, Inbox, Message, Mount, Piece, Snapshot, Statement, Wait
from chat.runner.database import with_connection
from chat.runtime.store import LeaseLost

logger = logging.getLogger(__name__)

# Parents first, so that foreign keys hold at every moment.
ORDER: tuple[type[models.Model], ...] = (Message, Block, Statement, Mount, Wait)
ROWS_PER_STATEMENT = 400


@dataclass
class Batch:
    """The changes of one conversation up to one frame."""

    conversation: UUID
    token: str
    number: int  # the frame
    values: dict[str, Any] = field(default_factory=dict)  # of the conversation itself
    rows: list[models.Model] = field(default_factory=list)
    marked: list[UUID] = field(default_factory=list)  # messages of which only the frame's number is new
    grown: dict[UUID, str] = field(default_factory=dict)  # text that came to open blocks
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
        self.seconds = 0.0  # what the last transaction took: how busy the database is

    async def save(self, batch: Batch) -> None:
        """Return when the batch is committed. Raises LeaseLost, or what the database raised."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append((batch, done))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._drain())
        await done

    @property
    def waiting(self) -> int:
        """The number of batches that are not under way yet."""
        return len(self._queue)

    def close(self) -> None:
        """End the thread; what is under way is saved first."""
        self._thread.shutdown(wait=False)

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        while self._queue:
            queued, self._queue = self._queue, []
            began = time.perf_counter()
            errors: list[BaseException | None]
            try:
                errors = await loop.run_in_executor(self._thread, commit, [batch for batch, _ in queued])
            except Exception as failure:  # noqa: BLE001 - whoever waits for a batch must hear of it
                errors = [failure] * len(queued)
            self.seconds = time.perf_counter() - began
            SAVE.observe(self.seconds)
            for (_, done), error in zip(queued, errors, strict=True):
                if done.cancelled():
                    continue
                if error is None:
                    done.set_result(None)
                else:
                    done.set_exception(error)


def commit(batches: Sequence[Batch]) -> list[BaseException | None]:
    """Save batches in one transaction; returns for each what went wrong. Touches the database."""
    try:
        return with_connection(_together, batches)
    except Exception as error:
        if len(batches) == 1:
            ERRORS.labels("journal").inc()
            logger.exception("Conversation %s could not be saved", batches[0].conversation)
            return [error]
    return [result for batch in batches for result in commit([batch])]  # so that one can't harm the others


def _together(batches: Sequence[Batch]) -> list[BaseException | None]:
    with transaction.atomic():
        lost = _lost(batches)
        _write([batch for batch in batches if batch.conversation not in lost])
    return [
        LeaseLost(f"Another runner drives conversation {batch.conversation}.")
        if batch.conversation in lost
        else None
        for batch in batches
    ]


def _lost(batches: Sequence[Batch]) -> set[UUID]:
    """Return the conversations whose lease is another's; nobody can take those of the rest until the end."""
    tokens = {batch.conversation: batch.token for batch in batches}
    rows = Conversation.objects.filter(pk__in=tokens, lease__in=tokens.values())
    held = rows.order_by("pk").select_for_update().values_list("pk", flat=True)
    # Counted first: each row that is fetched costs a turn of the interpreter, and mostly all are held.
    sql, parameters = held.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM ({sql}) AS held", parameters)  # noqa: S608 - the ORM's
        (count,) = cursor.fetchone()
    return set() if count == len(tokens) else tokens.keys() - set(held)


def _write(batches: Sequence[Batch]) -> None:
    _set(Conversation, "seq", [(batch.number, batch.conversation) for batch in batches])
    rows: dict[type[models.Model], dict[Any, models.Model]] = defaultdict(dict)
    for batch in batches:
        if batch.values:
            Conversation.objects.filter(pk=batch.conversation).update(**batch.values)
        for row in batch.rows:
            rows[type(row)][row.pk] = row
    for model in ORDER:
        _upsert(model, rows[model].values())
    _set(Message, "changed", [(batch.number, message) for batch in batches for message in batch.marked])
    _add_pieces(batches)
    for batch in batches:
        for row in batch.forgotten:
            row.delete()
        for identity, values in batch.inbox:
            Inbox.objects.filter(pk=identity).update(**values)
        for suspended, snapshot in batch.snapshots.items():
            _keep_snapshot(batch.conversation, suspended, snapshot)


# These two run for each frame of growing text, hundreds of times a second, so they are plain SQL. Each is one
# statement for many rows: the thread gives the interpreter away at each statement, and waits to get it back.


def _set(model: type[models.Model], column: str, values: Sequence[tuple[int, UUID]]) -> None:
    table = connection.ops.quote_name(model._meta.db_table)
    row = "(%s::bigint, %s::uuid)" if connection.vendor == "postgresql" else "(%s, %s)"
    for some in batched(values, ROWS_PER_STATEMENT):
        rows = ", ".join([row] * len(some))
        parameters = [part for value, key in some for part in (value, _uuid_for_database(key))]
        with connection.cursor() as cursor:
            cursor.execute(
                f"WITH new (value, id) AS (VALUES {rows}) "  # noqa: S608 - names of our own
                f"UPDATE {table} SET {column} = new.value FROM new WHERE {table}.id = new.id",
                parameters,
            )


def _add_pieces(batches: Sequence[Batch]) -> None:
    joined = {block for batch in batches for block in batch.joined}
    grown = [part for batch in batches for part in batch.grown.items() if part[0] not in joined]
    for some in batched(grown, ROWS_PER_STATEMENT):
        rows = ", ".join(["(%s, %s)"] * len(some))
        parameters = [part for block, text in some for part in (_uuid_for_database(block), text)]
        with connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO chat_piece (block_id, text) VALUES {rows}",  # noqa: S608
                parameters,
            )
    if joined:
        Piece.objects.filter(block__in=joined)._raw_delete(using=connection.alias)


def _uuid_for_database(value: UUID) -> Any:
    return Conversation._meta.pk.get_db_prep_value(value, connection)


def _upsert(model: type[models.Model], rows: Collection[models.Model]) -> None:
    if not rows:
        return
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
