"""Rows become records again. Everything here touches the database."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Any
from uuid import UUID

from django.db.models import Q

from chat import models as rows
from chat.runtime.records import (
    Block,
    Conversation,
    InboxItem,
    Message,
    Mount,
    Statement,
    Wait,
)
from chat.runtime.recovery import Unfinished
from chat.runtime.states import (
    BlockKind,
    BlockState,
    ConversationState,
    InboxKind,
    InboxState,
    MessageState,
    MountState,
    ProgramKind,
    Role,
    StatementState,
    WaitKind,
    WaitState,
)

ENUMS: dict[type, dict[str, type]] = {
    Conversation: {"state": ConversationState},
    Message: {"role": Role, "state": MessageState},
    Block: {"kind": BlockKind, "state": BlockState},
    Statement: {"kind": ProgramKind, "state": StatementState},
    Mount: {"state": MountState},
    Wait: {"kind": WaitKind, "state": WaitState},
    InboxItem: {"kind": InboxKind, "state": InboxState},
}


@dataclass
class Loaded:
    """A conversation as a runner takes it over."""

    conversation: Conversation
    answered_by: str
    last: Message | None
    mounts: list[Mount]
    left: Unfinished


def record[R](kind: type[R], row: Any) -> R:
    """Return the record of a row: the same values, with the states as enums."""
    enums = ENUMS[kind]
    values = {f.name: getattr(row, f.name) for f in fields(kind) if f.name != "parts"}  # type: ignore[arg-type]
    return kind(**{name: enums[name](value) if name in enums else value for name, value in values.items()})


def load(conversation: UUID) -> Loaded:
    """Return everything that is needed to go on with a conversation."""
    row = rows.Conversation.objects.select_related("owner").get(pk=conversation)
    last = rows.Message.objects.filter(conversation=row).order_by("-position").first()
    mounts = rows.Mount.objects.filter(conversation=row).exclude(state=MountState.CLOSED)
    return Loaded(
        conversation=record(Conversation, row),
        answered_by=row.owner.get_username(),
        last=record(Message, last) if last else None,
        mounts=[record(Mount, mount) for mount in mounts],
        left=_unfinished(row),
    )


def _unfinished(conversation: rows.Conversation) -> Unfinished:
    message = rows.Message.objects.filter(
        conversation=conversation, role=Role.ASSISTANT, state=MessageState.STREAMING
    ).last()
    blocks = list(message.blocks.prefetch_related("pieces")) if message else []
    ended = (StatementState.DONE, StatementState.FAILED, StatementState.CUT, StatementState.DROPPED)
    statements = rows.Statement.objects.filter(conversation=conversation).filter(
        Q(block__in=[block.pk for block in blocks])
        | Q(block=None) & (~Q(state__in=ended) | Q(reported=False))
    )
    waits = rows.Wait.objects.filter(conversation=conversation, state=WaitState.OPEN)
    started = rows.Inbox.objects.filter(conversation=conversation, state=InboxState.STARTED)
    return Unfinished(
        message=record(Message, message) if message else None,
        blocks=[_block(block) for block in blocks],
        statements=[record(Statement, statement) for statement in statements],
        waits=[record(Wait, wait) for wait in waits],
        started=[record(InboxItem, item) for item in started],
        suspended=rows.Snapshot.objects.filter(conversation=conversation, suspended=True).exists(),
    )


def _block(row: rows.Block) -> Block:
    block = record(Block, row)
    if not block.closed:
        block.parts = [piece.text for piece in row.pieces.all()]
    return block


def queued(conversation: UUID) -> list[InboxItem]:
    """Return what waits to be handled, in order."""
    items = rows.Inbox.objects.filter(conversation=conversation, state=InboxState.QUEUED).order_by("pk")
    return [record(InboxItem, item) for item in items]


def waiting(conversations: Collection[UUID]) -> dict[UUID, set[int]]:
    """Return the queued items of each conversation that has some."""
    found: dict[UUID, set[int]] = defaultdict(set)
    items = rows.Inbox.objects.filter(conversation__in=conversations, state=InboxState.QUEUED)
    for conversation, identity in items.order_by().values_list("conversation", "pk"):
        found[conversation].add(identity)
    return found


def history(conversation: UUID) -> list[tuple[Message, list[Block]]]:
    """Return all messages, and the blocks of those replies that did not take effect as a whole."""
    messages = list(rows.Message.objects.filter(conversation=conversation).order_by("position"))
    partial = rows.Message.objects.filter(conversation=conversation, role=Role.ASSISTANT).filter(
        Q(blocks__state__in=[BlockState.DROPPED, BlockState.FAILED])
        | Q(state__in=[MessageState.INCOMPLETE, MessageState.FAILED])
        | Q(text="")
    )
    blocks: dict[UUID, list[Block]] = defaultdict(list)
    for block in (
        rows.Block.objects.filter(message__in=partial.values("pk"))
        .order_by("position")
        .prefetch_related("pieces")
    ):
        blocks[block.message_id].append(_block(block))
    return [(record(Message, message), blocks[message.pk]) for message in messages]
