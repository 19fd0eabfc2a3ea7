"""Drives one conversation while there is something to do, holding its lease."""

import asyncio
import logging
import time
from uuid import UUID

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from channels.layers import get_channel_layer

from chat.runner import lease, loading
from chat.runner.groups import runner_group
from chat.runner.services import Services
from chat.runner.skills import ConversationSkills
from chat.runner.store import DjangoStore
from chat.runtime.agent import Agent
from chat.runtime.mailbox import Mailbox
from chat.runtime.programs import Parked, Stopped
from chat.runtime.recovery import Unfinished, recover
from chat.runtime.store import LeaseLost

logger = logging.getLogger(__name__)

FRAME_SECONDS = 0.05  # between frames of growing text; a page that changes more often looks no smoother
VIEWER_SECONDS = 15.0  # a browser says that it watches at least this often


class Driver:
    """One conversation in this process. `run` returns when somebody else may drive it."""

    def __init__(self, conversation: UUID, services: Services) -> None:
        self.conversation = conversation
        self.services = services
        self.mailbox = Mailbox()
        self.agent: Agent | None = None
        self._token = ""
        self._seen = 0.0
        self._refreshing = asyncio.Lock()

    async def run(self) -> bool:
        """Drive the conversation if its lease is free; returns whether it was."""
        async with ThreadSensitiveContext():  # its database work must not queue behind everybody else's
            token = await sync_to_async(lease.acquire)(self.conversation)
            if token is None:
                return False
            self._token = token
            helpers: list[asyncio.Task[None]] = []
            try:
                agent, store, left = await self._prepare(token)
                helpers = [
                    asyncio.create_task(work)
                    for work in (self._renew(), self._listen(), self._show(store), self._tick(agent))
                ]
                work = asyncio.create_task(self._drive(agent, store, left))
                await asyncio.wait([work, *helpers], return_when=asyncio.FIRST_COMPLETED)
                work.cancel()
                await self._end(work)
            finally:
                for helper in helpers:
                    helper.cancel()
                await asyncio.gather(*helpers, return_exceptions=True)
                if self.agent is not None:
                    await self.agent.close()
                await sync_to_async(lease.release)(self.conversation, token)
        return True

    async def refresh(self) -> None:
        """Look into the inbox."""
        async with self._refreshing:
            self.mailbox.refresh(await sync_to_async(loading.queued)(self.conversation))

    def watched(self) -> None:
        """Note that a browser shows the conversation."""
        self._seen = time.monotonic()
        if self.agent is not None:
            self.agent.watched = True

    def leave(self) -> None:
        """Leave at the next point where everything is saved."""
        self.mailbox.leave()

    async def _prepare(self, token: str) -> tuple[Agent, DjangoStore, Unfinished]:
        loaded = await sync_to_async(loading.load)(self.conversation)
        services = self.services
        store = DjangoStore(
            loaded.conversation, token, services.journal, loaded.answered_by, services.sandbox.version
        )
        messages = [m for m in (loaded.left.message, loaded.last) if m is not None]
        store.known([*loaded.left.blocks, *loaded.left.statements, *messages, *loaded.mounts])
        last = loaded.last
        if last is not None and loaded.left.message is not None and last.id == loaded.left.message.id:
            last = loaded.left.message
        self.agent = Agent(
            store=store,
            mailbox=self.mailbox,
            model=services.model,
            sandbox=services.sandbox,
            skills=ConversationSkills(loaded.conversation),
            mounts=loaded.mounts,
            last=last,
            prompt=services.prompt,
            limits=services.limits,
        )
        self.agent.watched = time.monotonic() - self._seen < VIEWER_SECONDS
        await self.refresh()
        return self.agent, store, loaded.left

    async def _drive(self, agent: Agent, store: DjangoStore, left: Unfinished) -> None:
        await recover(agent, store, left)
        while not self.mailbox.leaving:
            await agent.work()
            store.trim()
            if not await self._something(agent):
                return

    async def _something(self, agent: Agent) -> bool:
        """Wait for something to arrive; returns False when nothing came and nobody needs this runner."""
        while not self.mailbox.items and not self.mailbox.ticks and not self.mailbox.leaving:
            self.mailbox.changed.clear()
            try:
                async with asyncio.timeout(self.services.limits.linger_seconds):
                    await self.mailbox.changed.wait()
            except TimeoutError:
                if not (agent.watched and agent.store.conversation.namespace.get("timers")):
                    return False
                await agent.programs.workspace.discard()
        return not self.mailbox.leaving

    async def _end(self, work: "asyncio.Task[None]") -> None:
        try:
            await work
        except (asyncio.CancelledError, Parked, Stopped):
            pass
        except LeaseLost:
            logger.warning("Conversation %s is driven by another process now", self.conversation)
        except Exception:
            logger.exception("Conversation %s stopped because of a mistake of this site", self.conversation)

    # Beside the work

    async def _renew(self) -> None:
        """Keep the lease, and look into the inbox in case a notice got lost; ends when the lease is lost."""
        while True:
            await asyncio.sleep(lease.RENEW_SECONDS)
            if not await sync_to_async(lease.renew)(self.conversation, self._token):
                return
            await self.refresh()

    async def _listen(self) -> None:
        """Take notices from other processes."""
        layer = get_channel_layer()
        assert layer is not None
        channel = await layer.new_channel()
        group = runner_group(self.conversation)
        await layer.group_add(group, channel)
        try:
            while True:
                message = await layer.receive(channel)
                if message["type"] == "watched":
                    self.watched()
                else:
                    await self.refresh()
        finally:
            await layer.group_discard(group, channel)

    async def _show(self, store: DjangoStore) -> None:
        """Save and show what changes while code runs or text streams in."""
        while True:
            await store.dirty.wait()
            try:
                await store.flush()
            except LeaseLost:
                return
            await asyncio.sleep(FRAME_SECONDS)

    async def _tick(self, agent: Agent) -> None:
        """Let timers be due, at most once a second each, while a browser shows the conversation."""
        due: dict[str, float] = {}
        while True:
            await asyncio.sleep(0.25)
            now = time.monotonic()
            agent.watched = now - self._seen < VIEWER_SECONDS
            timers = agent.store.conversation.namespace.get("timers", {}) if agent.watched else {}
            due = {timer: due.get(timer, now + seconds) for timer, seconds in timers.items()}
            for timer, at in due.items():
                if at <= now:
                    due[timer] = now + timers[timer]
                    self.mailbox.tick(timer)
