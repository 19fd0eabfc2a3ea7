"""What a person does is a row before it is answered, handled once, and in order."""

import asyncio
from uuid import uuid4

from django.test import AsyncClient

from chat.models import Conversation, Inbox, Message
from chat.runtime.states import ConversationState, InboxState, Role
from tests.runner.conftest import Site

HTMX = {"HX-Request": "true"}


async def client_of(site: Site) -> AsyncClient:
    client = AsyncClient()
    await client.aforce_login(site.owner)
    return client


async def said(conversation: Conversation) -> list[str]:
    return [
        m.text
        async for m in Message.objects.filter(conversation=conversation, role=Role.USER).order_by("position")
    ]


async def busy(site: Site, *replies: str) -> Conversation:
    """Return a conversation whose agent is in the middle of a reply."""
    site.model.gates["wait"] = asyncio.Event()
    conversation = await site.start("A §wait§ b", *replies)
    await site.until(lambda: conversation.messages.filter(blocks__pieces__isnull=False).exists())
    return conversation


def idle(conversation: Conversation, replies: int) -> bool:
    conversation.refresh_from_db()
    answers = conversation.messages.filter(role=Role.ASSISTANT)
    queued = conversation.inbox.filter(state=InboxState.QUEUED)
    return (
        conversation.state == ConversationState.IDLE
        and answers.exclude(state="streaming").count() == replies
        and not queued.exists()
    )


async def test_a_repeat_changes_nothing(running: Site) -> None:
    conversation = await running.start("One.", "Two.", "Three.")
    client, key = await client_of(running), uuid4()
    for _ in range(3):
        response = await client.post(
            f"/c/{conversation.pk}/message/", {"key": key, "text": "again"}, headers=HTMX
        )
        assert response.status_code == 204
    await running.until(lambda: idle(conversation, 2))
    response = await client.post(
        f"/c/{conversation.pk}/message/", {"key": key, "text": "again"}, headers=HTMX
    )
    assert response.status_code == 204  # even when it was handled long ago
    assert await said(conversation) == ["hello", "again"]
    assert len(running.model.calls) == 2


async def test_messages_queue_in_order_and_can_be_edited_and_withdrawn(running: Site) -> None:
    conversation = await busy(running, "1", "2", "3")
    client = await client_of(running)
    for text in ("first", "second", "third"):
        await client.post(f"/c/{conversation.pk}/message/", {"key": uuid4(), "text": text}, headers=HTMX)
    rows = [row async for row in Inbox.objects.filter(conversation=conversation, state=InboxState.QUEUED)]
    await client.post(f"/c/{conversation.pk}/inbox/{rows[0].pk}/", {"text": "first, edited"}, headers=HTMX)
    await client.post(f"/c/{conversation.pk}/inbox/{rows[1].pk}/", {"withdraw": "1"}, headers=HTMX)
    running.model.gates["wait"].set()
    await running.until(lambda: idle(conversation, 3))
    assert await said(conversation) == ["hello", "first, edited", "third"]
    response = await client.post(f"/c/{conversation.pk}/inbox/{rows[2].pk}/", {"text": "late"}, headers=HTMX)
    assert (response.status_code, response.content) == (200, b"")
    assert await said(conversation) == ["hello", "first, edited", "third"]


async def test_stop_sends_what_is_queued_now(running: Site) -> None:
    conversation = await busy(running, "Now you.")
    client = await client_of(running)
    await client.post(f"/c/{conversation.pk}/message/", {"key": uuid4(), "text": "wait!"}, headers=HTMX)
    await client.post(f"/c/{conversation.pk}/stop/", {"key": uuid4()}, headers=HTMX)
    await running.until(lambda: idle(conversation, 2))
    states = [m.state async for m in conversation.messages.filter(role=Role.ASSISTANT).order_by("position")]
    assert states == ["stopped", "done"]
    assert running.model.open == 0
    assert await said(conversation) == ["hello", "wait!"]


async def test_a_row_that_nobody_was_told_of_is_found(running: Site) -> None:
    """As if the process died right after it had stored it."""
    running.model.replies.append("Found.")
    conversation = await Conversation.objects.acreate(owner=running.owner)
    await conversation.inbox.acreate(key=uuid4(), kind="message", payload={"text": "hello"})
    await running.until(lambda: idle(conversation, 1))


async def test_a_row_is_found_while_its_conversation_is_driven(running: Site) -> None:
    conversation = await busy(running, "Then.")
    await conversation.inbox.acreate(key=uuid4(), kind="stop", payload={})
    await running.until(lambda: idle(conversation, 1))
    assert running.model.open == 0
