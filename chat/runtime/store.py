"""What the runtime needs from whoever keeps its records."""

from datetime import datetime
from typing import Protocol

from chat.runtime.records import Block, Conversation, Message, Record
from chat.runtime.states import ConversationState


class Store(Protocol):
    """Keeps the records of one conversation and shows what changed, which is always saved before."""

    conversation: Conversation

    def now(self) -> datetime:
        """Return the time, with its zone."""

    def add(self, record: Record) -> None:
        """Take a new record; the next flush saves and shows it."""

    def touch(self, record: Record) -> None:
        """Note that a record changed; the next flush saves and shows it."""

    def forget(self, record: Record) -> None:
        """Remove a record that nobody will miss."""

    def append(self, block: Block, text: str) -> None:
        """Take text that was appended to an open block."""

    def snapshot(self, data: bytes | None, *, suspended: bool) -> None:
        """Keep sandbox state with the next flush, in place of the last of its kind; None removes it."""

    async def load_snapshot(self, *, suspended: bool) -> bytes | None:
        """Return sandbox state as it was saved; raises SnapshotError when it was tampered with."""

    async def history(self) -> list[tuple[Message, list[Block]]]:
        """Return all messages in order, replies with their blocks."""

    async def pace(self) -> None:
        """Return when more text is wanted: what was appended is shown, and it is time to show the next."""

    async def flush(self) -> None:
        """Save all changes in one transaction, then show them; LeaseLost when another runner took over."""


class LeaseLost(Exception):
    """Another runner drives this conversation now; stop at once and save nothing."""


def enter(store: Store, state: ConversationState) -> None:
    """Change what the page says that the agent is doing."""
    if store.conversation.state is not state:
        store.conversation.state = state
        store.touch(store.conversation)
