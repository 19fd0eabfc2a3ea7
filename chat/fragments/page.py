"""The timeline from the database: for a page load, and for a browser that catches up."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db.models import Prefetch, QuerySet

from chat.fragments.shapes import (
    MessageShape,
    MountShape,
    NoticeShape,
    is_shown,
    message_shape,
    mount_shape,
    notice_for,
    part_shape,
)
from chat.models import Block, Conversation, Inbox, Message, Mount, Piece, Statement, Upload
from chat.runtime.states import BlockKind, InboxKind, InboxState, Role
from chat.ui.markdown import MarkdownStream


def timeline(conversation: UUID) -> list[MessageShape]:
    """Return all messages that the page shows, in order. Touches the database."""
    return shapes(_messages(conversation), conversation)


def changed_since(conversation: UUID, number: int) -> tuple[list[tuple[MessageShape, int]], list[MountShape]]:
    """Return what changed after a frame: messages, each with the frame it appeared in, and other mounts."""
    messages = list(_messages(conversation).filter(changed__gt=number))
    seen = {message.pk for message in messages}
    appeared = {message.pk: message.appeared for message in messages}
    mounts = Mount.objects.filter(conversation=conversation, changed__gt=number).exclude(message__in=seen)
    names = _names(mounts)
    changed = [(shape, appeared[shape.pk]) for shape in shapes(messages, conversation)]
    return changed, [_mount(conversation, mount, names) for mount in mounts]


def shapes(messages: Iterable[Message], conversation: UUID) -> list[MessageShape]:
    """Return messages, loaded with all their parts, as the templates get them."""
    messages = list(messages)
    names = _names(mount for message in messages for mount in message.mounts.all())
    return [shape for message in messages if (shape := _message(conversation, message, names))]


def notice(conversation: Conversation) -> NoticeShape | None:
    """Return what the page says below the timeline."""
    last = Message.objects.filter(conversation=conversation).order_by("-position").first()
    return notice_for(last, conversation.state)


def queue(conversation: UUID) -> list[dict[str, Any]]:
    """Return the user's messages that wait for the agent, in order."""
    items = Inbox.objects.filter(conversation=conversation, kind=InboxKind.MESSAGE, state=InboxState.QUEUED)
    return [{"pk": item.pk, "text": item.payload["text"]} for item in items.order_by("pk")]


def files(conversation: UUID) -> "QuerySet[Upload]":
    """Return the conversation's files, oldest first."""
    return Upload.objects.filter(conversation=conversation).order_by("created")


def _messages(conversation: UUID) -> "QuerySet[Message]":
    return (
        Message.objects.filter(conversation=conversation)
        .order_by("position")
        .prefetch_related(
            Prefetch("blocks", Block.objects.order_by("position")),
            Prefetch("blocks__statements", Statement.objects.order_by("position")),
            Prefetch("blocks__pieces", Piece.objects.order_by("pk")),
            Prefetch("mounts", Mount.objects.order_by("number")),
        )
    )


def _message(conversation: UUID, message: Message, names: dict[int, str]) -> MessageShape | None:
    if message.role == Role.FEEDBACK:
        return None
    by_block: dict[UUID | None, list[MountShape]] = defaultdict(list)
    for mount in message.mounts.all():
        by_block[mount.block_id].append(_mount(conversation, mount, names))
    parts = [
        part_shape(block, list(block.statements.all()), by_block[block.pk], stream_of(block))
        for block in message.blocks.all()
    ]
    return message_shape(message, parts, by_block[None])


def stream_of(block: Block) -> MarkdownStream | None:
    """Return a text that is shown, read in the portions in which it came: so open pages cut it, too."""
    if block.kind != BlockKind.TEXT or not is_shown(block):
        return None
    stream = MarkdownStream()
    for portion in [block.source] if block.closed else [piece.text for piece in block.pieces.all()]:
        stream.feed(portion)
    if block.closed:
        stream.close()
    return stream


def _mount(conversation: UUID, mount: Mount, names: dict[int, str]) -> MountShape:
    return mount_shape(conversation, mount, answered_by=names.get(mount.answered_by_id or 0, ""))


def _names(mounts: Iterable[Mount]) -> dict[int, str]:
    people = {mount.answered_by_id for mount in mounts if mount.answered_by_id}
    if not people:  # mostly; to ask the database for nobody takes Django a while, too
        return {}
    return {user.pk: user.get_username() for user in get_user_model().objects.filter(pk__in=people)}
