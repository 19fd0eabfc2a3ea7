"""What a browser lacks that has everything up to some frame."""

from uuid import UUID

from django.template.loader import render_to_string

from chat.fragments import page
from chat.fragments.consistent import consistent
from chat.fragments.live import APPEND, INNER_MORPH, MORPH, message_head, partial, status_fragments
from chat.fragments.shapes import MessageShape
from chat.models import Conversation


def catch_up(conversation: UUID, number: int) -> tuple[str, int]:
    """Return the fragments, and the frame that the browser has with them. Touches the database."""
    with consistent():
        row = Conversation.objects.get(pk=conversation)
        ahead = number > row.seq  # the database was set back; nothing of the page can be relied on
        messages, mounts = page.changed_since(conversation, 0 if ahead else number)
        notice = page.notice(row)
    html: list[str] = []
    if ahead:
        whole = "".join(_rendered("message", message) for message, _ in messages)
        return "".join(
            [partial("timeline", INNER_MORPH, whole), *status_fragments(conversation, row.state, notice)]
        ), row.seq
    for message, appeared in messages:
        html += _whole(message) if appeared > number else _again(message)
    html += [partial(f"mount-{mount.name}", MORPH, _rendered("mount", mount)) for mount in mounts]
    html += status_fragments(conversation, row.state, notice)
    return "".join(html), row.seq


def _whole(message: MessageShape) -> list[str]:
    return [partial("timeline", APPEND, _rendered("message", message))]


def _again(message: MessageShape) -> list[str]:
    """Return the fragments for a message that the browser has, in whatever state."""
    parts = "".join(_rendered("part", part) for part in message.parts)
    mounts = "".join(_rendered("mount", mount) for mount in message.tail_mounts)
    return [
        message_head(message),
        partial(f"{message.id}-parts", INNER_MORPH, parts),
        partial(f"{message.id}-mounts", INNER_MORPH, mounts),
    ]


def _rendered(kind: str, shape: object) -> str:
    return render_to_string(f"chat/_{kind}.html", {kind: shape})
