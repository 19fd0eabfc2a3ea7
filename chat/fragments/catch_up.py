"""What a browser lacks that has everything up to some frame."""

from uuid import UUID

from django.template.loader import render_to_string

from chat.fragments import page
from chat.fragments.consistent import consistent
from chat.fragments.live import APPEND, MORPH, partial, status_fragments
from chat.models import Conversation


def catch_up(conversation: UUID, number: int) -> tuple[str, int]:
    """Return the fragments, and the frame that the browser has with them. Touches the database."""
    with consistent():
        row = Conversation.objects.get(pk=conversation)
        messages, mounts = page.changed_since(conversation, number)
        notice = page.notice(row)
    html = []
    for message, appeared in messages:
        rendered = render_to_string("chat/_message.html", {"message": message})
        html.append(
            partial("timeline", APPEND, rendered)
            if appeared > number
            else partial(message.id, MORPH, rendered)
        )
    for mount in mounts:
        html.append(
            partial(f"mount-{mount.name}", MORPH, render_to_string("chat/_mount.html", {"mount": mount}))
        )
    html += status_fragments(conversation, row.state, notice)
    return "".join(html), row.seq
