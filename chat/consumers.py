"""The socket of a page: brings it up to date, then sends the frames of its conversation.

The browser says the number of the last frame it has, when it connects and now and then afterwards. What it
lacks comes from the database, so it does not matter what was missed, or why.
"""

import asyncio
import json
import logging
from collections import deque
from typing import Any
from uuid import UUID

from autobahn.exception import Disconnected  # a browser that went away a moment ago; Daphne will say so, too
from channels.consumer import get_handler_name
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from django.template.loader import render_to_string

from chat.fragments import page
from chat.fragments.catch_up import catch_up
from chat.fragments.live import MORPH, partial
from chat.guard import Guard
from chat.metrics import ERRORS, RESYNCS, SENT, SOCKETS
from chat.models import Conversation
from chat.runner import supervisor
from chat.runner.database import in_thread
from chat.runner.groups import frame_group, user_group

logger = logging.getLogger(__name__)

# Daphne sends no codes between 1001 and 2999. On these browsers come back:
RESTART = 4012
MISTAKE = 4011
# and on these they do not:
LOGIN_NEEDED = 4401
GONE = 4404
LATE_SECONDS = 1.0  # a saved frame that has not come within this is lost
AGAIN_SECONDS = 0.25  # between two looks into the database, when frames go missing
# Characters sent and not yet confirmed; beyond, the browser gets the latest state later instead.
WINDOW = 512 * 1024


class PageConsumer(AsyncWebsocketConsumer):
    """One open page of a conversation."""

    conversation: UUID
    have = 0  # the last frame that was sent
    newest = 0  # the last frame that was heard of
    greeted = False  # the browser has said what it has
    lagging = False  # it does not read fast enough; nothing is sent before it has read what was
    catching_up = False
    closed = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._hub = None if (running := supervisor.current()) is None else running.hub
        self._guard = Guard.here()
        self._sent: deque[tuple[int, int]] = deque()  # numbers and sizes of frames that are not confirmed
        self._unconfirmed = 0
        self._held: dict[int, str] = {}  # frames that came while older ones are fetched from the database
        self._tasks: set[asyncio.Task[None]] = set()

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Handle what came. No database connection is used in here, so none has to be looked after."""
        try:
            await getattr(self, get_handler_name(message))(message)
        except StopConsumer:
            raise
        except Disconnected:
            self.closed = True
        except Exception:
            ERRORS.labels("socket").inc()
            logger.exception("A socket of conversation %s failed", getattr(self, "conversation", "?"))
            await self._close(MISTAKE)

    async def connect(self) -> None:
        """Accept the owner; tell everybody else why not."""
        SOCKETS.inc()
        await self.accept()
        self.conversation = self.scope["url_route"]["kwargs"]["conversation"]
        user = self.scope["user"]
        if not user.is_authenticated:
            await self._refuse("You are logged out. Log in to go on.", LOGIN_NEEDED)
        elif not await in_thread(is_own, self.conversation, user.pk):
            await self._refuse("This conversation does not exist.", GONE)
        else:
            if self._hub is not None:
                self._hub.join(self.conversation, self)
            await self._join()
            self._guard.look_after(self)

    async def disconnect(self, code: int) -> None:
        """Forget the page."""
        self.closed = True
        self._guard.forget(self)
        SOCKETS.dec()
        for task in self._tasks:
            task.cancel()
        if self._hub is not None:
            self._hub.leave(self.conversation, self)
        await self.channel_layer.group_discard(frame_group(self.conversation), self.channel_name)
        if self.scope["user"].is_authenticated:
            await self.channel_layer.group_discard(user_group(self.scope["user"].pk), self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take the number that the browser has; the first one says that it is ready for what it lacks."""
        number = _number(text_data)
        if number is None or self.closed:
            return
        if not self.greeted:
            self.greeted = True
            self.have = number
            await self.queue({})
            await self.files({})
            self._spawn(self._catch_up("connect"))
            await self._wake()
            return
        while self._sent and self._sent[0][0] <= number:
            self._unconfirmed -= self._sent.popleft()[1]
        if self.lagging and not self._sent:
            self.lagging = False
            self._spawn(self._catch_up("slow"))

    # Frames, from this process or by the channel layer

    async def show(self, number: int, text: str | None) -> None:
        """Send a frame, or everything since the last one when frames were missed."""
        self.newest = max(self.newest, number)
        if not self.greeted or number <= self.have or self.lagging or self.closed:
            return
        if self.catching_up:
            self._hold(number, text)
        elif text is None or number > self.have + 1:
            self._spawn(self._catch_up("gap"))
        elif self._unconfirmed > WINDOW:
            self.lagging = True
        else:
            await self._send(number, text)

    async def frame(self, event: dict[str, Any]) -> None:
        """Take a frame of another process."""
        await self.show(event["n"], event["text"])

    # Notices of the channel layer

    async def driven(self, event: dict[str, Any]) -> None:
        """Tell a runner that has begun, wherever it is, that somebody watches."""
        if (running := supervisor.current()) is not None:
            await running.watched(self.conversation)

    async def queue(self, event: dict[str, Any]) -> None:
        """Show the messages that wait for the agent."""
        if self.greeted and not self.closed:
            queue = await in_thread(page.queue, self.conversation)
            context = {"queue": queue, "conversation": {"pk": self.conversation}}
            await self._say(partial("queue", MORPH, render_to_string("chat/_queue.html", context)))

    async def files(self, event: dict[str, Any]) -> None:
        """Show the files of the conversation."""
        if self.greeted and not self.closed:
            await self._say(await in_thread(files_fragment, self.conversation))

    async def account(self, event: dict[str, Any]) -> None:
        """Something about the user's account changed."""
        await self._guard.check([self])

    async def restart(self) -> None:
        """This process ends; the browser comes back, to another one or to the next."""
        await self._close(RESTART)

    # Parts

    async def _catch_up(self, why: str) -> None:
        if self.catching_up:
            return
        self.catching_up = True
        RESYNCS.labels(why).inc()
        try:
            while not self.closed:
                html, now = await in_thread(catch_up, self.conversation, self.have)
                if now != self.have:
                    await self._send(now, json.dumps({"n": now, "content": html}, ensure_ascii=False))
                await self._send_held()
                if self.newest <= self.have or self.lagging:
                    return
                await asyncio.sleep(AGAIN_SECONDS)
        except Conversation.DoesNotExist:
            await self._refuse("This conversation was deleted.", GONE)
        finally:
            self.catching_up = False
            self._held.clear()

    def _hold(self, number: int, text: str | None) -> None:
        """Keep a frame for when those before it were fetched; not more than a browser may be behind."""
        if text is None or sum(map(len, self._held.values())) > WINDOW:
            self._held.clear()
        else:
            self._held[number] = text

    async def _send_held(self) -> None:
        """Send the frames that follow what was fetched, so that one look into the database is enough."""
        while (text := self._held.pop(self.have + 1, None)) is not None and not self.closed:
            if self._unconfirmed > WINDOW:
                self.lagging = True
                return
            await self._send(self.have + 1, text)

    async def _send(self, number: int, text: str) -> None:
        self.have = number
        self._sent.append((number, len(text)))
        self._unconfirmed += len(text)
        SENT.inc(len(text))
        await self.send(text)

    async def _say(self, html: str, **more: Any) -> None:
        """Send what has no number: it is not part of the timeline."""
        await self.send(json.dumps({"content": html, **more}))

    async def _join(self) -> None:
        await self.channel_layer.group_add(frame_group(self.conversation), self.channel_name)
        await self.channel_layer.group_add(user_group(self.scope["user"].pk), self.channel_name)

    async def _wake(self) -> None:
        """Let timers run, now that somebody looks."""
        running = supervisor.current()
        if running is None:
            return
        await running.watched(self.conversation)
        if self.conversation not in running.drivers and await in_thread(has_timers, self.conversation):
            running.drive(self.conversation)

    async def checked(self, logged_in: bool, number: int | None) -> None:
        """Take what the database says now: whether the page may still be shown, and its newest frame."""
        if not logged_in:
            await self._refuse("You are logged out. Log in to go on.", LOGIN_NEEDED)
        elif number is None:
            await self._refuse("This conversation was deleted.", GONE)
        elif not self.closed:
            await self._join()
            await self.driven({})
            if number > self.have and self.greeted and not self._is_driven_here():
                self._spawn(self._make_up_for(number))

    def _is_driven_here(self) -> bool:
        """Whether frames come without the channel layer, so that none gets lost."""
        running = supervisor.current()
        return running is not None and self.conversation in running.drivers

    async def _make_up_for(self, number: int) -> None:
        await asyncio.sleep(LATE_SECONDS)
        if number > self.have and not self.lagging:
            await self._catch_up("lost")

    async def _refuse(self, text: str, code: int) -> None:
        notice = {"notice": {"kind": "gone", "text": text}}
        html = partial("notice", MORPH, render_to_string("chat/_notice.html", notice))
        if not self.closed:
            await self._say(html, final=code)
            await self._close(code)

    async def _close(self, code: int) -> None:
        if not self.closed:
            self.closed = True
            await self.close(code)

    def _spawn(self, work: Any) -> None:
        """Run something beside the handling of what comes; a failure lets the browser connect anew."""

        async def guarded() -> None:
            try:
                await work
            except Disconnected:
                self.closed = True
            except Exception:
                ERRORS.labels("socket").inc()
                logger.exception("A socket of conversation %s failed", self.conversation)
                await self._close(MISTAKE)

        task = asyncio.create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def is_own(conversation: UUID, user_id: int) -> bool:
    """Return whether a user has such a conversation."""
    return Conversation.objects.filter(pk=conversation, owner=user_id).exists()


def has_timers(conversation: UUID) -> bool:
    """Return whether code of a conversation has timers that run while somebody looks."""
    namespace = Conversation.objects.filter(pk=conversation).values_list("namespace", flat=True).first()
    return bool(namespace and namespace.get("timers"))


def files_fragment(conversation: UUID) -> str:
    """Return what shows the files of a conversation."""
    context = {"conversation": {"pk": conversation}, "files": page.files(conversation)}
    return partial("files", MORPH, render_to_string("chat/_files.html", context))


def _number(text: str | None) -> int | None:
    try:
        have = json.loads(text or "")["have"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return have if isinstance(have, int) and have >= 0 else None
