"""The drivers of this process, and the look-out for conversations that nobody drives.

Whoever puts something into an inbox calls `wake`. Should that get lost, or a process die, the look-out finds
the conversation within a few seconds: the database alone says what is left to do.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextvars import Context
from datetime import datetime
from functools import partial
from uuid import UUID

from channels.layers import get_channel_layer
from django.db.models import F, Q
from django.utils import timezone

from chat.metrics import DRIVEN, ERRORS, INBOX, JOURNAL, WORKERS
from chat.models import Conversation, Inbox, Statement, Wait
from chat.runner import lease, loading
from chat.runner.database import in_thread
from chat.runner.driver import Driver
from chat.runner.groups import runner_group
from chat.runner.hub import Hub
from chat.runner.services import Services, warm
from chat.runtime.states import ConversationState, InboxState, StatementState, WaitState

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.5
TICK_SECONDS = 0.25
GRACE_SECONDS = 5.0  # what running replies get to reach a statement's end when the process is asked to stop
LONGEST_PAUSE = 60.0  # before a conversation that failed by a mistake of ours is tried again
MOST_AT_ONCE = 200  # conversations taken over in one look


class Supervisor:
    """All drivers of one process; one per event loop."""

    def __init__(self) -> None:
        self.services = Services()
        self.hub = Hub()
        self.drivers: dict[UUID, Driver] = {}
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self._rounds: list[asyncio.Task[None]] = []
        self._failures: dict[UUID, tuple[int, float]] = {}  # how often in a row, and when to try again
        self._stopping = False
        self._warming: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look for conversations that nobody drives, and to keep the leases of the others."""
        if not self._rounds:
            self._rounds = [
                asyncio.create_task(self._again_and_again(self._look, LOOK_SECONDS)),
                asyncio.create_task(self._again_and_again(self._tick, TICK_SECONDS)),
                asyncio.create_task(self._again_and_again(self._renew, lease.RENEW_SECONDS)),
            ]
            self._warming = asyncio.create_task(asyncio.to_thread(warm))
            watch(self)

    async def stop(self) -> None:
        """Let every driver reach a point where all is saved, then end what is left; browsers go elsewhere."""
        self._stopping = True
        *others, renew = self._rounds or (None,)
        for task in others:
            task.cancel()
        for driver in self.drivers.values():
            driver.leave()
        if tasks := list(self._tasks.values()):
            await asyncio.wait(tasks, timeout=GRACE_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if renew is not None:
            renew.cancel()
        await self.hub.close()
        await self.services.close()

    async def wake(self, conversation: UUID) -> None:
        """See to it that what is new in an inbox is handled, here or where the conversation is driven."""
        driver = self.drivers.get(conversation)
        if driver is not None and driver.token:
            await driver.refresh()
            return
        self._failures.pop(conversation, None)
        self.drive(conversation)
        await notify(conversation, "wake")

    def drive(self, conversation: UUID) -> None:
        """Drive a conversation here, unless somebody else does."""
        _, not_before = self._failures.get(conversation, (0, 0.0))
        if self._stopping or conversation in self.drivers or time.monotonic() < not_before:
            return
        self.drivers[conversation] = Driver(conversation, self.services, self.hub)
        # In a request's context its queries would be bound to the request's thread, which ends.
        self._tasks[conversation] = asyncio.create_task(self._run(conversation), context=Context())

    async def watched(self, conversation: UUID) -> None:
        """Tell the driver, if it is in another process, that a browser shows the conversation."""
        driver = self.drivers.get(conversation)
        if driver is None or not driver.token:
            await notify(conversation, "watched")

    async def _run(self, conversation: UUID) -> None:
        driver = self.drivers[conversation]
        try:
            await driver.run()
        except Exception:
            driver.failed = True
            ERRORS.labels("runner").inc()
            logger.exception("Conversation %s could not be driven", conversation)
        finally:
            del self.drivers[conversation]
            self._tasks.pop(conversation, None)
        if driver.failed:
            failures = self._failures.get(conversation, (0, 0.0))[0] + 1
            pause = min(LOOK_SECONDS * 2**failures, LONGEST_PAUSE)
            self._failures[conversation] = (failures, time.monotonic() + pause)
            return
        self._failures.pop(conversation, None)
        if driver.mailbox.items:  # something arrived while it left
            self.drive(conversation)

    async def _again_and_again(self, work: Callable[[], Awaitable[None]], seconds: float) -> None:
        while True:
            try:
                await work()
            except Exception:
                ERRORS.labels("supervisor").inc()
                logger.exception("The supervisor could not %s", work.__name__.strip("_"))
            await asyncio.sleep(seconds)

    async def _look(self) -> None:
        for conversation in await in_thread(left_alone):
            self.drive(conversation)

    async def _tick(self) -> None:
        for driver in tuple(self.drivers.values()):
            driver.tick()

    async def _renew(self) -> None:
        """Keep the leases, and look into the inboxes in case a notice got lost."""
        driven = {pk: driver for pk, driver in self.drivers.items() if driver.token}
        if not driven:
            return
        for conversation in await in_thread(lease.renew, {pk: d.token for pk, d in driven.items()}):
            driven[conversation].lost()
        waiting = await in_thread(loading.waiting, list(driven))
        for conversation, items in waiting.items():
            if items - driven[conversation].mailbox.items.keys():
                await driven[conversation].refresh()


def left_alone() -> list[UUID]:
    """Return conversations that have something to do and no runner. Touches the database."""
    now = timezone.now()
    # Each is found by an index of its own, so that the cost does not grow with the conversations that rest.
    inbox = Inbox.objects.filter(_free(now, "conversation__"), settled=None, state=InboxState.QUEUED)
    overdue = Wait.objects.filter(
        _free(now, "conversation__"), settled=None, state=WaitState.OPEN, deadline__lte=now
    )
    cut = Statement.objects.filter(_free(now, "conversation__"), state=StatementState.RUNNING)
    running = Conversation.objects.filter(_free(now), state=ConversationState.RUNNING)
    died = Conversation.objects.filter(lease_until__lt=now)
    conversations = (
        *(rows.values_list("conversation_id") for rows in (inbox, overdue, cut)),
        *(rows.values_list("pk") for rows in (running, died)),
    )
    found = {pk for rows in conversations for (pk,) in rows.order_by().distinct()[:MOST_AT_ONCE]}
    newest = Conversation.objects.filter(pk__in=found).order_by(F("updated").desc())
    return list(newest.values_list("pk", flat=True)[:MOST_AT_ONCE])


def _free(now: datetime, path: str = "") -> Q:
    """Return the condition that nobody holds a conversation's lease."""
    return (
        Q(**{f"{path}lease": ""}) | Q(**{f"{path}lease_until__lt": now}) | Q(**{f"{path}lease_until": None})
    )


async def notify(conversation: UUID, kind: str) -> None:
    """Send a notice to whoever drives a conversation."""
    layer = get_channel_layer()
    if layer is not None:
        await layer.group_send(runner_group(conversation), {"type": kind})


def watch(supervisor: Supervisor) -> None:
    """Let the metrics show what a supervisor has under way."""

    def in_state(state: ConversationState) -> int:
        agents = [driver.agent for driver in supervisor.drivers.values()]
        return sum(agent is not None and agent.store.conversation.state is state for agent in agents)

    for state in ConversationState:
        DRIVEN.labels(str(state)).set_function(partial(in_state, state))
    INBOX.set_function(lambda: sum(len(d.mailbox.items) for d in supervisor.drivers.values()))
    WORKERS.set_function(
        lambda: sum(
            d.agent is not None and d.agent.programs.workspace.session is not None
            for d in supervisor.drivers.values()
        )
    )
    JOURNAL.set_function(lambda: supervisor.services.journal.waiting)


_supervisors: dict[asyncio.AbstractEventLoop, Supervisor] = {}


async def start() -> None:
    """Begin to drive conversations in this process; harmless when repeated."""
    loop = asyncio.get_running_loop()
    if loop not in _supervisors:
        _supervisors[loop] = Supervisor()
    _supervisors[loop].start()


async def stop() -> None:
    """Give up all conversations of this process, saved, so that another one can go on."""
    supervisor = _supervisors.pop(asyncio.get_running_loop(), None)
    if supervisor is not None:
        await supervisor.stop()


def current() -> Supervisor | None:
    """Return the supervisor of the running loop; None where conversations are not driven."""
    return _supervisors.get(asyncio.get_running_loop())


async def wake(conversation: UUID) -> None:
    """See to it that what is new in an inbox is handled, by this process or another."""
    supervisor = current()
    if supervisor is not None:
        await supervisor.wake(conversation)
    else:
        await notify(conversation, "wake")
