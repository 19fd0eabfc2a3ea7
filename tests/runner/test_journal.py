"""The one writer of a process: what waits together is saved together, and nobody's mistake harms others."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.utils import timezone

from chat.models import Conversation, Message
from chat.runner import journal, lease
from chat.runner.journal import Batch, Journal
from chat.runtime.store import LeaseLost


@pytest.fixture
async def writer(transactional_db: None) -> Any:
    made = Journal()
    yield made
    made.close()


async def held(count: int) -> list[tuple[UUID, str]]:
    """Return so many conversations with their leases."""

    def make() -> list[tuple[UUID, str]]:
        owner = User.objects.create_user("ada")
        rows = [Conversation.objects.create(owner=owner) for _ in range(count)]
        return [(row.pk, lease.acquire(row.pk) or "") for row in rows]

    return await sync_to_async(make)()


def batch(conversation: UUID, token: str, number: int = 1, position: int = 1) -> Batch:
    message = Message(
        pk=uuid4(), conversation_id=conversation, position=position, role="user", created=timezone.now()
    )
    return Batch(conversation, token, number=number, rows=[message])


async def test_what_waits_together_is_saved_together(writer: Journal, monkeypatch: Any) -> None:
    sizes = []
    commit = journal.commit
    monkeypatch.setattr(journal, "commit", lambda batches: sizes.append(len(batches)) or commit(batches))
    conversations = await held(20)
    await asyncio.gather(*(writer.save(batch(*conversation)) for conversation in conversations))
    assert sum(sizes) == 20
    assert len(sizes) <= 2  # one under way, and all the others
    assert await Message.objects.acount() == 20
    assert await Conversation.objects.filter(seq=1).acount() == 20


async def test_a_batch_that_fails_harms_no_other(writer: Journal) -> None:
    first, second, third = await held(3)
    twice = batch(*second)
    twice.rows += batch(*second).rows  # the same position again: the database refuses
    results = await asyncio.gather(
        writer.save(batch(*first)), writer.save(twice), writer.save(batch(*third)), return_exceptions=True
    )
    assert [type(result).__name__ for result in results] == ["NoneType", "IntegrityError", "NoneType"]
    saved = {row.conversation_id async for row in Message.objects.all()}
    assert saved == {first[0], third[0]}
    assert (await Conversation.objects.aget(pk=second[0])).seq == 0


async def test_a_lost_lease_is_reported_and_nothing_is_saved(writer: Journal) -> None:
    (mine, token), (lost, _) = await held(2)
    results = await asyncio.gather(
        writer.save(batch(lost, "of another")), writer.save(batch(mine, token)), return_exceptions=True
    )
    assert [type(result) for result in results] == [LeaseLost, type(None)]
    assert [row.conversation_id async for row in Message.objects.all()] == [mine]


async def test_a_deleted_conversation_is_a_lost_lease(writer: Journal) -> None:
    ((conversation, token),) = await held(1)
    await Conversation.objects.all().adelete()
    with pytest.raises(LeaseLost):
        await writer.save(batch(conversation, token))


async def test_batches_are_saved_in_their_order(writer: Journal) -> None:
    ((conversation, token),) = await held(1)
    saving = [writer.save(batch(conversation, token, number, number)) for number in range(1, 30)]
    await asyncio.gather(*saving)
    assert (await Conversation.objects.aget()).seq == 29
