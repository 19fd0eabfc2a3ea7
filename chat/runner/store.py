"""The store of one driven conversation: gathers changes, saves them through the journal, then shows them."""

import asyncio
from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.db import models
from django.utils import timezone

from chat import models as rows
from chat.fragments.live import Publisher
from chat.runner import loading, snapshots
from chat.runner.groups import frame_group
from chat.runner.journal import Batch, Journal
from chat.runtime.records import (
    Block,
    Conversation,
    InboxItem,
    Message,
    Mount,
    Record,
    Statement,
    Wait,
)
from chat.runtime.states import Role

MODELS: dict[type, type[models.Model]] = {
    Message: rows.Message,
    Block: rows.Block,
    Statement: rows.Statement,
    Mount: rows.Mount,
    Wait: rows.Wait,
}


def row_of(record: Record) -> models.Model:
    """Return the row that a record stands for, with its values of this moment."""
    values = {name: value for name, value in vars(record).items() if name != "parts"}
    return MODELS[type(record)](**values)


class DjangoStore:
    """Implements `chat.runtime.store.Store` with Django's models and a channel layer."""

    def __init__(
        self, conversation: Conversation, token: str, journal: Journal, answered_by: str, version: str
    ) -> None:
        self.conversation = conversation
        self.token = token
        self.journal = journal
        self.version = version
        self.publisher = Publisher(conversation, answered_by)
        self.dirty = asyncio.Event()
        self.last: Message | None = None
        self.frames = 0
        self._changed: dict[int, Record] = {}
        self._pieces: list[rows.Piece] = []
        self._snapshots: dict[bool, bytes | None] = {}
        self._forgotten: list[models.Model] = []
        self._blocks: dict[UUID, list[Block]] = {}
        self._block_message: dict[UUID, UUID] = {}
        self._statements: dict[UUID, list[Statement]] = {}
        self._mounts: dict[UUID, Mount] = {}
        self._messages: dict[UUID, Message] = {}
        self._saved: dict[UUID, tuple[Any, ...]] = {}  # what of a block, besides its text, is in the database
        self._lock = asyncio.Lock()

    # What chat.runtime.store.Store promises

    def now(self) -> datetime:
        """Return the time, with its zone."""
        return timezone.now()

    def add(self, record: Record) -> None:
        """Take a new record; the next flush saves and shows it."""
        self.know(record)
        self.touch(record)

    def touch(self, record: Record) -> None:
        """Note that a record changed; the next flush saves and shows it."""
        self._changed[id(record)] = record
        self.dirty.set()

    def forget(self, record: Record) -> None:
        """Remove a record with the next flush."""
        self._changed.pop(id(record), None)
        self._forgotten.append(row_of(record))
        self.dirty.set()

    def append(self, block: Block, text: str) -> None:
        """Take text that was appended to an open block."""
        self._pieces.append(rows.Piece(block_id=block.id, text=text))
        self.touch(block)

    def snapshot(self, data: bytes | None, *, suspended: bool) -> None:
        """Keep sandbox state with the next flush; None removes it."""
        self._snapshots[suspended] = data

    async def load_snapshot(self, *, suspended: bool) -> bytes | None:
        """Return sandbox state, saved or about to be; raises SnapshotError when it can't be used."""
        if suspended in self._snapshots:
            return self._snapshots[suspended]
        return await sync_to_async(snapshots.load)(self.conversation.id, suspended, self.version)

    async def history(self) -> list[tuple[Message, list[Block]]]:
        """Return all messages in order, with the blocks of those that took effect in part."""
        await self.flush()
        return await sync_to_async(loading.history)(self.conversation.id)

    async def flush(self) -> None:
        """Save all changes in one transaction, then send them as a frame; raises LeaseLost."""
        async with self._lock:
            self.dirty.clear()
            if not (self._changed or self._pieces or self._snapshots or self._forgotten):
                return
            changed = list(self._changed.values())
            batch = self._batch(changed)
            await self.journal.save(batch)
            await self._show(changed)

    # What the runner uses

    def know(self, record: Record) -> None:
        """Keep a record at hand, so that what belongs together can be rendered together."""
        match record:
            case Message():
                self._messages[record.id] = record
                self.last = record
            case Block():
                self._blocks.setdefault(record.message_id, []).append(record)
                self._block_message[record.id] = record.message_id
            case Statement() if record.block_id is not None:
                self._statements.setdefault(record.block_id, []).append(record)
            case Mount():
                self._mounts[record.id] = record

    def known(self, records: Iterable[Record]) -> None:
        """Take records that were loaded; browsers have them as they are."""
        loaded = list(records)
        for record in loaded:
            self.know(record)
        self.publisher.loaded(loaded)

    def trim(self) -> None:
        """Let go of everything but the newest message: finished replies don't change any more."""
        keep = self.last.id if self.last else None
        self._messages = {pk: message for pk, message in self._messages.items() if pk == keep}
        for message in [pk for pk in self._blocks if pk != keep]:
            for block in self._blocks.pop(message):
                self._statements.pop(block.id, None)
                self._block_message.pop(block.id, None)
                self.publisher.drop(block.id)

    def _batch(self, changed: list[Record]) -> Batch:
        self.conversation.seq += 1
        number = self.conversation.seq
        self._mark(changed, number)
        batch = Batch(
            conversation=self.conversation.id,
            token=self.token,
            values={
                "seq": number,
                "state": str(self.conversation.state),
                "namespace": self.conversation.namespace,
            },
            pieces=_joined(self._pieces),
            forgotten=self._forgotten,
            snapshots={
                suspended: snapshots.signed(self.conversation.id, suspended, self.version, data)
                for suspended, data in self._snapshots.items()
            },
        )
        if any(isinstance(r, Message) and r.role is not Role.FEEDBACK for r in changed):
            batch.values["updated"] = self.now()
        for record in changed:
            if isinstance(record, InboxItem):
                settled = {"state": str(record.state), "settled": self.now()}
                batch.inbox.append((record.id, settled))
            elif not isinstance(record, Conversation) and not self._still_grows(record):
                batch.rows.append(row_of(record))
                if isinstance(record, Block) and record.closed:
                    batch.joined.append(record.id)
                    batch.pieces = [piece for piece in batch.pieces if piece.block_id != record.id]
        self._changed, self._pieces, self._snapshots, self._forgotten = {}, [], {}, []
        return batch

    def _mark(self, changed: list[Record], number: int) -> None:
        """Note the frame's number at every message and mount that a browser would have to render again."""
        for record in list(changed):
            message = self._message_of(record)
            if message is not None and message.changed != number:
                message.changed = number
                message.appeared = message.appeared or number
                if message not in changed:
                    changed.append(message)
            if isinstance(record, Mount):
                record.changed = number

    def _message_of(self, record: Record) -> Message | None:
        match record:
            case Message():
                return record
            case Block():
                return self._messages.get(record.message_id)
            case Statement() if record.block_id is not None:
                message = self._block_message.get(record.block_id)
                return self._messages.get(message) if message else None
        return None

    def _still_grows(self, record: Record) -> bool:
        """Whether only the text of a block grew, which is saved as pieces."""
        if not isinstance(record, Block):
            return False
        saved = (record.state, record.closed, record.error)
        if self._saved.get(record.id) == saved:
            return True
        self._saved[record.id] = saved
        return False

    async def _show(self, changed: list[Record]) -> None:
        html = self.publisher.fragments(
            changed, self._blocks, self._statements, self._mounts.values(), self.last
        )
        self.frames += 1
        layer = get_channel_layer()
        if layer is not None:
            frame = {"type": "frame", "n": self.conversation.seq, "html": html}
            await layer.group_send(frame_group(self.conversation.id), frame)


def _joined(pieces: list[rows.Piece]) -> list[rows.Piece]:
    """Return pieces with neighbours of the same block made one: a row per frame, not per token."""
    texts: dict[UUID, list[str]] = {}
    for piece in pieces:
        texts.setdefault(piece.block_id, []).append(piece.text)
    return [rows.Piece(block_id=block, text="".join(parts)) for block, parts in texts.items()]
