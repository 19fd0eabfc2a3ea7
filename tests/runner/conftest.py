"""A supervisor in the test's own event loop, with scripted replies in place of a model."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from chat.models import Conversation, Inbox
from chat.runner import lease, supervisor
from chat.runner.database import in_thread
from chat.runner.driver import Driver
from chat.runner.store import DjangoStore
from chat.runner.supervisor import Supervisor
from chat.runtime.states import InboxKind
from tests.runtime.harness import ScriptedModel


class Site:
    """Conversations driven in this process."""

    def __init__(self, running: Supervisor, owner: User) -> None:
        self.running = running
        self.owner = owner
        self.model = ScriptedModel([], size=1_000)  # all that has come, as a stream gives it
        running.services.__dict__["model"] = self.model

    async def start(self, *replies: str) -> Conversation:
        """Return a conversation in which the user said something; replies come in turn."""
        self.model.replies += replies
        conversation = await Conversation.objects.acreate(owner=self.owner, title="A test")
        await self.put(conversation, InboxKind.MESSAGE, text="hello")
        return conversation

    async def put(self, conversation: Conversation, kind: InboxKind, **payload: Any) -> Inbox:
        """Put something into an inbox."""
        item = await Inbox.objects.acreate(
            conversation=conversation, key=uuid4(), kind=kind, payload=payload, user=self.owner
        )
        await supervisor.wake(conversation.pk)
        return item

    async def driver(self) -> tuple[Driver, DjangoStore]:
        """Return the driver of a new conversation, which holds its lease but does nothing by itself."""
        conversation = await Conversation.objects.acreate(owner=self.owner)
        driver = Driver(conversation.pk, self.running.services, self.running.hub)
        token = await in_thread(lease.acquire, conversation.pk)
        assert token
        _, store, _ = await driver._prepare(token)
        return driver, store

    async def until(self, happened: Callable[[], bool], seconds: float = 20) -> None:
        """Wait until something is so in the database."""
        async with asyncio.timeout(seconds):
            while not await sync_to_async(happened)():  # noqa: ASYNC110 - a database sends no events
                await asyncio.sleep(0.02)


@pytest.fixture
async def running(transactional_db: None) -> AsyncIterator[Site]:
    owner = await sync_to_async(User.objects.create_user)("ada", password="x")
    await supervisor.start()
    current = supervisor.current()
    assert current is not None
    site = Site(current, owner)
    yield site
    for gate in site.model.gates.values():  # a reply that waits would have the supervisor wait for it
        gate.set()
    await supervisor.stop()
