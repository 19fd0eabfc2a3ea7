"""What waits to be handled by the agent of a conversation, in the order in which it came."""

import asyncio
from collections.abc import Callable, Iterable

from chat.runtime.records import InboxItem
from chat.runtime.states import InboxKind, InboxState


class Mailbox:
    """Queued inbox items and due timers. `changed` is set whenever something arrives."""

    def __init__(self) -> None:
        self.items: dict[int, InboxItem] = {}
        self.ticks: dict[str, None] = {}  # an ordered set: a timer that is due twice ticks once
        self.changed = asyncio.Event()
        self.leaving = False
        self._taken: set[int] = set()  # settled here, perhaps not yet in the database

    def refresh(self, items: Iterable[InboxItem]) -> None:
        """Take the rows that are queued now; those that were withdrawn disappear."""
        rows = {item.id: item for item in items}
        self._taken &= rows.keys()
        queued = {pk: self.items.get(pk, row) for pk, row in rows.items() if pk not in self._taken}
        for pk, item in queued.items():
            item.payload = rows[pk].payload  # the user may have edited it
        if queued.keys() - self.items.keys():
            self.changed.set()
        self.items = queued

    def tick(self, timer: str) -> None:
        """Note that a timer is due."""
        self.ticks[timer] = None
        self.changed.set()

    def leave(self) -> None:
        """Ask the agent to leave at the next point where everything is saved."""
        self.leaving = True
        self.changed.set()

    @property
    def stopped(self) -> InboxItem | None:
        """The oldest Stop that is not handled yet."""
        return self.find(lambda item: item.kind is InboxKind.STOP)

    def find(self, wanted: Callable[[InboxItem], bool]) -> InboxItem | None:
        """Return the oldest queued item of that sort, which stays."""
        return next(filter(wanted, self.items.values()), None)

    def settle(self, item: InboxItem, state: InboxState = InboxState.DONE) -> InboxItem:
        """Take an item out, to be saved in its new state."""
        self.items.pop(item.id, None)
        self._taken.add(item.id)
        item.state = state
        return item
