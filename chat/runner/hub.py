"""Where the frames of a conversation go: to this process's pages directly, to others by the channel layer.

Frames are only made while somebody watches. Whoever begins to watch brings itself up to date from the
database, and a frame that was not made is announced by its number, so that everybody notices what is missing.
"""

import asyncio
import json
import logging
import time
from typing import Protocol
from uuid import UUID

from channels.layers import get_channel_layer

from chat.metrics import FRAMES
from chat.runner.groups import frame_group

logger = logging.getLogger(__name__)

VIEWER_SECONDS = 15.0  # a page of another process says that it watches at least three times in this time
CLOSING_SECONDS = 1.0  # what browsers get to answer the closing of their sockets


class Watcher(Protocol):
    """A page of this process."""

    async def show(self, number: int, text: str | None) -> None:
        """Take a frame; without its text only the number is known."""

    async def restart(self) -> None:
        """Go away: this process ends."""


class Hub:
    """The pages of this process, by conversation."""

    def __init__(self) -> None:
        self._watchers: dict[UUID, set[Watcher]] = {}
        self._empty = asyncio.Event()

    def join(self, conversation: UUID, watcher: Watcher) -> None:
        """Let a page have the frames of a conversation from now on."""
        self._watchers.setdefault(conversation, set()).add(watcher)

    def leave(self, conversation: UUID, watcher: Watcher) -> None:
        """Forget a page."""
        watchers = self._watchers.get(conversation, set())
        watchers.discard(watcher)
        if not watchers:
            self._watchers.pop(conversation, None)
        if not self._watchers:
            self._empty.set()

    def watches(self, conversation: UUID) -> bool:
        """Return whether a page of this process shows the conversation."""
        return conversation in self._watchers

    async def show(self, conversation: UUID, number: int, text: str | None) -> None:
        """Hand a frame to the pages of this process."""
        for watcher in tuple(self._watchers.get(conversation, ())):
            await watcher.show(number, text)

    async def close(self) -> None:
        """Let all browsers come back, to another process or the next; waits a little until they have gone."""
        self._empty.clear()
        for watchers in list(self._watchers.values()):
            for watcher in tuple(watchers):
                try:
                    await watcher.restart()
                except Exception:  # the others must hear of it all the same
                    logger.exception("A socket could not be closed")
        if self._watchers:
            try:
                async with asyncio.timeout(CLOSING_SECONDS):
                    await self._empty.wait()
            except TimeoutError:
                pass  # they notice that the connection is gone


class Audience:
    """Who watches one conversation that is driven here."""

    def __init__(self, hub: Hub, conversation: UUID) -> None:
        self.hub = hub
        self.conversation = conversation
        self._elsewhere = 0.0  # when a page of another process last said that it watches
        self._last = 0

    @property
    def elsewhere(self) -> bool:
        """Whether a page of another process watches."""
        return time.monotonic() - self._elsewhere < VIEWER_SECONDS

    @property
    def present(self) -> bool:
        """Whether anybody watches, so that frames are worth making."""
        return self.hub.watches(self.conversation) or self.elsewhere

    async def noted(self) -> None:
        """Take the notice that a page of another process watches; it hears of what was not sent until now."""
        began = not self.elsewhere
        self._elsewhere = time.monotonic()
        if began and self._last:
            await self._send(self._last, None)

    async def show(self, number: int, html: str | None) -> None:
        """Send a saved frame to everybody; None when it was not made."""
        self._last = number
        text = (
            None
            if html is None
            else json.dumps({"n": number, "content": html}, ensure_ascii=False, separators=(",", ":"))
        )
        FRAMES.labels("made" if text is not None else "spared").inc()
        await self.hub.show(self.conversation, number, text)
        if self.elsewhere:
            await self._send(number, text)

    async def tell(self, kind: str) -> None:
        """Let all pages look for themselves what is new, such as the `queue`."""
        layer = get_channel_layer()
        if layer is not None:
            await layer.group_send(frame_group(self.conversation), {"type": kind})

    async def _send(self, number: int, text: str | None) -> None:
        layer = get_channel_layer()
        if layer is not None:
            frame = {"type": "frame", "n": number, "text": text}
            await layer.group_send(frame_group(self.conversation), frame)
