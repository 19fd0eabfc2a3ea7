"""The drivers of this process, and the look-out for conversations that nobody drives.

Whoever puts something into an inbox calls `wake`. Should that get lost, or a process die, the look-out finds
the conversation within a few seconds: the database alone says what is left to do.
"""

import asyncio
import logging
from contextvars import Context
from uuid import UUID

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from channels.layers import get_channel_layer
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from chat.models import Conversation, Inbox, Statement, Wait
from chat.runner.driver import Driver
from chat.runner.groups import runner_group
from chat.runner.services import Services
from chat.runtime.states import ConversationState, InboxState, StatementState, WaitState

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.5
GRACE_SECONDS = 5.0  # what running replies get to reach a statement's end when the process is asked to stop
MOST_AT_ONCE = 200  # conversations taken over in one look


class Supervisor:
    """All drivers of one process; one per event loop."""

    def __init__(self) -> None:
        self.services = Services()
        self.drivers: dict[UUID, Driver] = {}
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self._look_out: asyncio.Task[None] | None = None
        self._stopping = False

    def start(self) -> None:
        """Begin to look for conversations that nobody drives."""
        if self._look_out is None:
            self._look_out = asyncio.create_task(self._look())

    async def stop(self) -> None:
        """Let every driver reach a point where all is saved, then end what is left."""
        self._stopping = True
        if self._look_out is not None:
            self._look_out.cancel()
        for driver in self.drivers.values():
            driver.leave()
        tasks = list(self._tasks.values())
        if tasks:
            await asyncio.wait(tasks, timeout=GRACE_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.services.close()

    async def wake(self, conversation: UUID) -> None:
        """See to it that what is new in an inbox is handled, here or where the conversation is driven."""
        if driver := self.drivers.get(conversation):
            await driver.refresh()
            return
        self.drive(conversation)
        await notify(conversation, "wake")

    def drive(self, conversation: UUID, *, watched: bool = False) -> None:
        """Drive a conversation here, unless somebody else does."""
        if self._stopping or conversation in self.drivers:
            return
        driver = self.drivers[conversation] = Driver(conversation, self.services)
        if watched:
            driver.watched()
        # In a request's context its queries would be bound to the request's thread, which ends.
        self._tasks[conversation] = asyncio.create_task(self._run(driver), context=Context())

    async def watched(self, conversation: UUID) -> None:
        """Tell the driver, wherever it is, that a browser shows the conversation."""
        if driver := self.drivers.get(conversation):
            driver.watched()
        else:
            await notify(conversation, "watched")

    async def _run(self, driver: Driver) -> None:
        try:
            await driver.run()
        except Exception:
            logger.exception("Conversation %s could not be driven", driver.conversation)
        finally:
            del self.drivers[driver.conversation]
            self._tasks.pop(driver.conversation, None)
        if not self._stopping and driver.mailbox.items:
            # Something arrived while it left, or it failed: not in a tight loop.
            await asyncio.sleep(LOOK_SECONDS)
            self.drive(driver.conversation)

    async def _look(self) -> None:
        while True:
            try:
                async with ThreadSensitiveContext():
                    for conversation in await sync_to_async(left_alone)():
                        self.drive(conversation)
            except Exception:
                logger.exception("Could not look for conversations that nobody drives")
            await asyncio.sleep(LOOK_SECONDS)


def left_alone() -> list[UUID]:
    """Return conversations that have something to do and no runner. Touches the database."""
    now = timezone.now()
    conversation = OuterRef("pk")
    queued = Inbox.objects.filter(conversation=conversation, state=InboxState.QUEUED)
    overdue = Wait.objects.filter(conversation=conversation, state=WaitState.OPEN, deadline__lte=now)
    running = Statement.objects.filter(conversation=conversation, state=StatementState.RUNNING)
    free = Q(lease="") | Q(lease_until__lt=now) | Q(lease_until=None)
    to_do = (
        Exists(queued) | Exists(overdue) | Exists(running) | Q(state=ConversationState.RUNNING) | ~Q(lease="")
    )
    found = Conversation.objects.filter(free).filter(to_do).order_by(F("updated").desc())
    return list(found.values_list("pk", flat=True)[:MOST_AT_ONCE])


async def notify(conversation: UUID, kind: str) -> None:
    """Send a notice to whoever drives a conversation."""
    layer = get_channel_layer()
    if layer is not None:
        await layer.group_send(runner_group(conversation), {"type": kind})


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
