"""Looks after all open sockets of a process together: that costs a few queries, however many there are."""

import asyncio
import logging
from collections.abc import Sequence
from contextvars import Context
from itertools import batched
from typing import Any, Protocol
from uuid import UUID

from chat.access import session_user
from chat.metrics import ERRORS
from chat.models import Conversation
from chat.runner.database import in_thread

logger = logging.getLogger(__name__)

RECHECK_SECONDS = 5.0  # a logout reaches sockets within this
CHECKED_AT_ONCE = 25  # sockets; a check must not keep others from the database for long


class Socket(Protocol):
    """A page's socket."""

    scope: dict[str, Any]
    conversation: UUID

    async def checked(self, logged_in: bool, number: int | None) -> None:
        """Take what the database says now: the last frame's number, None when there is no conversation."""


class Guard:
    """Checks sockets now and then, as long as they are open; one per event loop."""

    _all: "dict[asyncio.AbstractEventLoop, Guard]" = {}

    def __init__(self) -> None:
        self._sockets: set[Socket] = set()
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def here(cls) -> "Guard":
        """Return the guard of the running loop."""
        loop = asyncio.get_running_loop()
        if loop not in cls._all:
            cls._all = {other: guard for other, guard in cls._all.items() if not other.is_closed()}
            cls._all[loop] = cls()
        return cls._all[loop]

    def look_after(self, socket: Socket) -> None:
        """Check a socket from now on."""
        self._sockets.add(socket)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._again_and_again(), context=Context())

    def forget(self, socket: Socket) -> None:
        """Leave a socket alone."""
        self._sockets.discard(socket)

    async def check(self, sockets: Sequence[Socket]) -> None:
        """Tell sockets what the database says of their users and conversations."""
        asked = [(s.scope["session_key"], s.scope["user"].pk, s.conversation) for s in sockets]
        for socket, (logged_in, number) in zip(sockets, await in_thread(standings, asked), strict=True):
            await socket.checked(logged_in, number)

    async def _again_and_again(self) -> None:
        while self._sockets:
            await asyncio.sleep(RECHECK_SECONDS)
            for some in batched(list(self._sockets), CHECKED_AT_ONCE):
                try:
                    await self.check(some)
                except Exception:
                    ERRORS.labels("socket").inc()
                    logger.exception("Sockets could not be checked")


def standings(asked: Sequence[tuple[str, int, UUID]]) -> list[tuple[bool, int | None]]:
    """Return for each session, user and conversation whether they are still logged in, and the last frame."""
    users = {key: session_user(key) for key in {key for key, _, _ in asked}}
    rows = Conversation.objects.filter(pk__in={conversation for _, _, conversation in asked})
    known = {pk: (owner, seq) for pk, owner, seq in rows.values_list("pk", "owner", "seq")}
    found: list[tuple[bool, int | None]] = []
    for key, user_id, conversation in asked:
        user = users[key]
        owner, seq = known.get(conversation, (None, 0))
        found.append((user is not None and user.pk == user_id, seq if owner == user_id else None))
    return found
