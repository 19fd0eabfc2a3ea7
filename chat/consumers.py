"""The socket of a page: brings it up to date, then sends the frames of its conversation.

The browser says the number of the last frame it has, when it connects and now and then afterwards. What it
lacks comes from the database, so it does not matter what was missed, or why.
"""

import asyncio
import contextlib
import json
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.template.loader import render_to_string

from chat.access import session_user
from chat.fragments import page
from chat.fragments.catch_up import catch_up
from chat.fragments.live import MORPH, partial
from chat.models import Conversation
from chat.runner import supervisor
from chat.runner.groups import frame_group, user_group

LOGIN_NEEDED = 4401
GONE = 4404
RECHECK_SECONDS = 5.0  # a logout that no notice told of reaches sockets within this
# Characters sent and not yet confirmed; beyond, the browser gets the latest state later instead.
WINDOW = 512 * 1024


class PageConsumer(AsyncWebsocketConsumer):
    """One open page of a conversation."""

    conversation: UUID
    have = 0  # the last frame that was sent
    confirmed = 0  # the last frame that the browser has
    unconfirmed = 0  # characters between the two
    lagging = False
    greeted = False
    _checks: "asyncio.Task[None] | None" = None

    async def connect(self) -> None:
        """Accept the owner; tell everybody else why not."""
        await self.accept()
        self.conversation = self.scope["url_route"]["kwargs"]["conversation"]
        user = self.scope["user"]
        if not user.is_authenticated:
            await self._refuse("You are logged out. Log in to go on.", LOGIN_NEEDED)
            return
        if not await self._is_there(user.pk):
            await self._refuse("This conversation does not exist.", GONE)
            return
        await self._join(user.pk)
        self._checks = asyncio.create_task(self._keep_checking(user.pk))

    async def disconnect(self, code: int) -> None:
        """Forget the page."""
        if self._checks is not None:
            self._checks.cancel()
        if hasattr(self, "conversation"):
            await self.channel_layer.group_discard(frame_group(self.conversation), self.channel_name)
        if self.scope["user"].is_authenticated:
            await self.channel_layer.group_discard(user_group(self.scope["user"].pk), self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take the number that the browser has; the first one says that it is ready for what it lacks."""
        number = _number(text_data)
        if number is None or self._checks is None:
            return
        self.confirmed = number
        first, self.greeted = not self.greeted, True
        if first:
            self.have = number
            await self._resynchronise(number)
            await self.queue({})
            await self._wake()
        elif self.lagging or (number < self.have and self.unconfirmed == 0):
            await self._resynchronise(number)
        elif number >= self.have:
            self.unconfirmed = 0

    # Notices of the channel layer

    async def frame(self, event: dict[str, Any]) -> None:
        """Send a frame, or everything since the last one when frames were missed."""
        if not self.greeted or event["n"] <= self.have or self.lagging:
            return
        if event["n"] > self.have + 1:
            await self._resynchronise(self.have)
        elif self.unconfirmed > WINDOW:
            self.lagging = True
        else:
            await self._send(event["n"], event["html"])

    async def queue(self, event: dict[str, Any]) -> None:
        """Show the messages that wait for the agent."""
        if not self.greeted:
            return
        queue = await sync_to_async(page.queue)(self.conversation)
        context = {"queue": queue, "conversation": {"pk": self.conversation}}
        html = partial("queue", MORPH, render_to_string("chat/_queue.html", context))
        await self.send(json.dumps({"content": html}))

    async def account(self, event: dict[str, Any]) -> None:
        """Something about the user's account changed."""
        await self._check(self.scope["user"].pk)

    async def restart(self, event: dict[str, Any]) -> None:
        """This process ends; the browser comes back, to another one or to the next."""
        await self.close(1012)

    # Parts

    async def _resynchronise(self, number: int) -> None:
        html, now = await sync_to_async(catch_up)(self.conversation, number)
        self.lagging = False
        self.unconfirmed = 0
        await self._send(now, html)

    async def _send(self, number: int, html: str) -> None:
        self.have = number
        self.unconfirmed += len(html)
        await self.send(json.dumps({"n": number, "content": html}))

    async def _join(self, user_id: int) -> None:
        await self.channel_layer.group_add(frame_group(self.conversation), self.channel_name)
        await self.channel_layer.group_add(user_group(user_id), self.channel_name)

    async def _is_there(self, user_id: int) -> bool:
        return await Conversation.objects.filter(pk=self.conversation, owner=user_id).aexists()

    async def _wake(self) -> None:
        """Let timers run, and what is queued be handled, now that somebody looks."""
        running = supervisor.current()
        if running is None:
            return
        await running.watched(self.conversation)
        timers = (
            await Conversation.objects.filter(pk=self.conversation).values_list("namespace", flat=True).aget()
        )
        if timers.get("timers") and self.conversation not in running.drivers:
            running.drive(self.conversation, watched=True)

    async def _keep_checking(self, user_id: int) -> None:
        """Notice a logout or a deleted conversation; stay in the groups; keep timers going."""
        with contextlib.suppress(asyncio.CancelledError):
            while True:
                await asyncio.sleep(RECHECK_SECONDS)
                await self._check(user_id)
                await self._join(user_id)
                if (running := supervisor.current()) is not None:
                    await running.watched(self.conversation)

    async def _check(self, user_id: int) -> None:
        user = await sync_to_async(session_user)(self.scope["session_key"])
        if user is None or user.pk != user_id:
            await self._refuse("You are logged out. Log in to go on.", LOGIN_NEEDED)
        elif not await self._is_there(user_id):
            await self._refuse("This conversation was deleted.", GONE)

    async def _refuse(self, text: str, code: int) -> None:
        notice = {"notice": {"kind": "gone", "text": text}}
        html = partial("notice", MORPH, render_to_string("chat/_notice.html", notice))
        await self.send(json.dumps({"content": html, "final": code}))
        await self.close(code)


def _number(text: str | None) -> int | None:
    try:
        have = json.loads(text or "")["have"]
    except (ValueError, TypeError, KeyError):
        return None
    return have if isinstance(have, int) and have >= 0 else None
