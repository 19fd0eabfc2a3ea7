"""Drives one conversation while there is something to do, holding its lease."""

import asyncio
import contextlib
import logging
import time
from uuid import UUID

from channels.layers import get_channel_layer

from chat.metrics import ERRORS
from chat.runner import lease, loading
from chat.runner.database import in_thread
from chat.runner.groups import frame_group, runner_group
from chat.runner.hub import Audience, Hub
from chat.runner.services import Services
from chat.runner.skills import ConversationSkills
from chat.runner.store import DjangoStore
from chat.runtime.agent import Agent
from chat.runtime.mailbox import Mailbox
from chat.runtime.programs import Parked, Stopped
from chat.runtime.recovery import Unfinished, recover
from chat.runtime.store import LeaseLost

logger = logging.getLogger(__name__)

FRAME_SECONDS = 0.05  # from a frame's end to the next one, at least
# From one frame's beginning to the next one's, when only text grows: more often reads no smoother, and is
# mostly envelopes. Counted from the beginning, so that conversations do not fall into step with each other.
TEXT_SECONDS = 0.15
# How many times longer than the last transaction the interval is at least, so that others get a turn.
BUSY = 1.5
# Of the event loop: what a reader that is told to go on needs to take in what is there already.
READING_TURNS = 6


class Driver:
    """One conversation in this process. `run` returns when somebody else may drive it."""

    def __init__(self, conversation: UUID, services: Services, hub: Hub) -> None:
        self.conversation = conversation
        self.services = services
        self.audience = Audience(hub, conversation)
        self.mailbox = Mailbox()
        self.agent: Agent | None = None
        self.token = ""
        self.failed = False  # by a mistake of this site: not to be tried again at once
        self._lost = asyncio.Event()
        self._refreshing = asyncio.Lock()
        self._due: dict[str, float] = {}  # timers, and when they are due

    async def run(self) -> bool:
        """Drive the conversation if its lease is free; returns whether it was."""
        token = await in_thread(lease.acquire, self.conversation)
        if token is None:
            return False
        self.token = token
        helpers: list[asyncio.Task[None]] = []
        try:
            agent, store, left = await self._prepare(token)
            beside = (self._keep(), self._listen(), self._show(store))
            helpers = [asyncio.create_task(work) for work in beside]
            driving = asyncio.create_task(self._drive(agent, store, left))
            try:
                await asyncio.wait([driving, *helpers], return_when=asyncio.FIRST_COMPLETED)
            finally:
                driving.cancel()
            await self._end(driving)
        finally:
            for helper in helpers:
                helper.cancel()
            await asyncio.gather(*helpers, return_exceptions=True)
            if self.agent is not None:
                await self.agent.close()
            await in_thread(lease.release, self.conversation, token)
            self.token = ""
        return True

    async def refresh(self) -> None:
        """Look into the inbox."""
        async with self._refreshing:
            self.mailbox.refresh(await in_thread(loading.queued, self.conversation))

    def tick(self) -> None:
        """Let timers be due, at most once a second each, while a browser shows the conversation."""
        if (agent := self.agent) is None:
            return
        agent.watched = self.audience.present
        timers = agent.store.conversation.namespace.get("timers", {}) if agent.watched else {}
        now = time.monotonic()
        self._due = {timer: self._due.get(timer, now + seconds) for timer, seconds in timers.items()}
        for timer, at in self._due.items():
            if at <= now:
                self._due[timer] = now + timers[timer]
                self.mailbox.tick(timer)

    def leave(self) -> None:
        """Leave at the next point where everything is saved."""
        self.mailbox.leave()

    def lost(self) -> None:
        """Stop at once: somebody else has the lease."""
        self._lost.set()

    async def _prepare(self, token: str) -> tuple[Agent, DjangoStore, Unfinished]:
        loaded = await in_thread(loading.load, self.conversation)
        services = self.services
        store = DjangoStore(
            loaded.conversation,
            token,
            services.journal,
            self.audience,
            loaded.answered_by,
            services.sandbox.version,
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
        self.agent.watched = self.audience.present
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
        limits = self.services.limits
        seconds = limits.hold_seconds  # the worker is kept for another click, then given back
        while not self.mailbox.items and not self.mailbox.ticks and not self.mailbox.leaving:
            self.mailbox.changed.clear()
            try:
                async with asyncio.timeout(seconds):
                    await self.mailbox.changed.wait()
            except TimeoutError:
                timers = agent.watched and agent.store.conversation.namespace.get("timers")
                if seconds == limits.linger_seconds and not timers:
                    return False
                await agent.programs.workspace.discard()
                seconds = limits.linger_seconds
        return not self.mailbox.leaving

    async def _end(self, driving: "asyncio.Task[None]") -> None:
        try:
            await driving
        except (asyncio.CancelledError, Parked, Stopped):
            pass
        except LeaseLost:
            logger.warning("Conversation %s is driven by another process now", self.conversation)
        except Exception:
            self.failed = True
            ERRORS.labels("runner").inc()
            logger.exception("Conversation %s stopped because of a mistake of this site", self.conversation)

    # Beside the work

    async def _keep(self) -> None:
        """End when the lease is lost; the supervisor renews those of all conversations together."""
        await self._lost.wait()

    async def _listen(self) -> None:
        """Take notices from other processes."""
        layer = get_channel_layer()
        assert layer is not None
        channel = await layer.new_channel()
        group = runner_group(self.conversation)
        await layer.group_add(group, channel)
        try:
            await layer.group_send(frame_group(self.conversation), {"type": "driven"})  # who watches?
            while True:
                message = await layer.receive(channel)
                if message["type"] == "watched":
                    await self.audience.noted()
                else:
                    await self.refresh()
        finally:
            await layer.group_discard(group, channel)

    async def _show(self, store: DjangoStore) -> None:
        """Save and show what changes while code runs or text streams in."""
        journal = self.services.journal
        loop = asyncio.get_running_loop()
        while True:
            await store.dirty.wait()
            store.dirty.clear()  # here alone: a reader that found it set waits for the end of a round
            began = loop.time()
            try:
                await store.flush()
            except LeaseLost:
                return
            await asyncio.sleep(max(FRAME_SECONDS, BUSY * journal.seconds))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(began + TEXT_SECONDS):
                    await store.urgent.wait()
            store.wanted.set()
            for _ in range(READING_TURNS):
                if not store.wanted.is_set():
                    break  # the reader has taken in what has come, so that it is in the next frame
                await asyncio.sleep(0)
