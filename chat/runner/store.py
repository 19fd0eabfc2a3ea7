"""The store of one driven conversation: gathers changes, saves them through the journal, then shows them."""

import asyncio
from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import models
from django.utils import timezone

from chat import models as rows
from chat.fragments.live import Publisher
from chat.runner import loading, snapshots
from chat.runner.accounts import Accounts
from chat.runner.database import in_thread
from chat.runner.hub import Audience
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
from chat.runtime.states import BlockKind, InboxKind, Role

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
    """Implements `chat.runtime.store.Store` with Django's models; what is saved goes to the audience."""

    def __init__(
        self,
        conversation: Conversation,
        token: str,
        journal: Journal,
        audience: Audience,
        answered_by: str,
        version: str,
    ) -> None:
        self.conversation = conversation
        self.token = token
        self.journal = journal
        self.audience = audience
        self.version = version
        self.publisher = Publisher(conversation, answered_by)
        self.accounts = Accounts()
        self.dirty = asyncio.Event()  # until whoever shows changes takes it as seen, even if all was flushed
        self.urgent = asyncio.Event()  # more than text that grows
        self.wanted = asyncio.Event()  # more text, by whoever shows it; see `pace`
        self.last: Message | None = None
        self._values: dict[str, Any] = {}  # of the conversation's row, as they were saved last
        self._changed: dict[int, Record] = {}
        self._grown: dict[UUID, list[str]] = {}  # what open blocks have more of than is saved
        self._snapshots: dict[bool, bytes | None] = {}
        self._saving: dict[bool, bytes | None] = {}  # snapshots that are on their way into the database
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
        self.urgent.set()
        self.dirty.set()

    def forget(self, record: Record) -> None:
        """Remove a record with the next flush."""
        self._changed.pop(id(record), None)
        self._forgotten.append(row_of(record))
        self.dirty.set()

    def append(self, block: Block, text: str) -> None:
        """Take text that was appended to an open block."""
        self._grown.setdefault(block.id, []).append(text)
        self._changed[id(block)] = block
        self.dirty.set()

    def snapshot(self, data: bytes | None, *, suspended: bool) -> None:
        """Keep sandbox state with the next flush; None removes it."""
        self._snapshots[suspended] = data

    async def load_snapshot(self, *, suspended: bool) -> bytes | None:
        """Return sandbox state, saved or about to be; raises SnapshotError when it can't be used."""
        for unsaved in (self._snapshots, self._saving):
            if suspended in unsaved:
                return unsaved[suspended]
        return await in_thread(snapshots.load, self.conversation.id, suspended, self.version)

    async def history(self) -> list[tuple[Message, list[Block]]]:
        """Return all messages in order, with the blocks of those that took effect in part."""
        await self.flush()
        return await in_thread(loading.history, self.conversation.id)

    async def pace(self) -> None:
        """Return when more text is wanted, so that what comes meanwhile is read, saved and shown at once."""
        if self.dirty.is_set():
            self.wanted.clear()
            await self.wanted.wait()

    async def flush(self) -> None:
        """Save all changes in one transaction, then send them as a frame; raises LeaseLost."""
        async with self._lock:
            self.urgent.clear()
            if not (self._changed or self._snapshots or self._forgotten):
                return
            changed = list(self._changed.values())
            batch = self._batch(changed)
            # Made now, of exactly what is saved: while it is being saved the records change on.
            html = self._html(changed, batch)
            await self.journal.save(batch)
            self._saving = {}
            self.accounts.saved(changed)
            await self.audience.show(batch.number, html)
            if any(isinstance(r, InboxItem) and r.kind is InboxKind.MESSAGE for r in changed):
                await self.audience.tell("queue")

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
        self.publisher.loaded(loaded, self._statements)
        self.accounts.known(loaded)

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
        batch = Batch(
            conversation=self.conversation.id,
            token=self.token,
            number=number,
            values=self._new_values(),
            marked=self._mark(changed, number),
            grown={block: "".join(parts) for block, parts in self._grown.items()},
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
            elif not isinstance(record, Conversation) and not self._only_grew(record, batch):
                batch.rows.append(row_of(record))
        self._saving = self._snapshots
        self._changed, self._grown, self._snapshots, self._forgotten = {}, {}, {}, []
        return batch

    def _mark(self, changed: list[Record], number: int) -> list[UUID]:
        """Note the frame's number at every message and mount that a browser would have to render again.

        Returns the messages that changed only in what belongs to them.
        """
        marked: dict[UUID, None] = {}
        for record in changed:
            message = self._message_of(record)
            if isinstance(record, Mount):
                if not record.changed:  # new: a page that catches up has no place for it by its own
                    marked[record.message_id] = None
                    message = self._messages.get(record.message_id)
                record.changed = number
            if message is not None and message.changed != number:
                message.changed = number
                message.appeared = message.appeared or number
                marked[message.id] = None
        own = {record.id for record in changed if isinstance(record, Message)}
        return [message for message in marked if message not in own]

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

    def _only_grew(self, record: Record, batch: Batch) -> bool:
        """Whether only the text of a block grew, which is saved as pieces until the block is closed."""
        if not isinstance(record, Block):
            return False
        now, before = (record.state, record.error, record.closed), self._saved.get(record.id)
        self._saved[record.id] = now
        if record.closed and not (before and before[-1]):
            batch.joined.append(record.id)
        return now == before

    def _new_values(self) -> dict[str, Any]:
        """Return what of the conversation's row, besides the frame's number, has changed."""
        now = {
            "state": str(self.conversation.state),
            "namespace": self.conversation.namespace,  # never changed in place
        }
        new = {name: value for name, value in now.items() if self._values.get(name) != value}
        self._values = now
        return new

    def _html(self, changed: list[Record], batch: Batch) -> str | None:
        """Return the frame for a batch; None when nobody watches, or not everything before it was shown."""
        for record in changed:
            if isinstance(record, Block) and record.kind is BlockKind.TEXT and record.id in batch.grown:
                self.publisher.grow(record.id, batch.grown[record.id])
        if not self.audience.present:
            self.publisher.spare(changed)
            return None
        return self.publisher.fragments(
            changed, self._blocks, self._statements, self._mounts.values(), self.last
        )
