"""The messages of a conversation, as they are added."""

from chat.runtime.records import Message
from chat.runtime.states import InboxKind, MessageState, Role
from chat.runtime.store import Store


class Messages:
    """The newest message, from which positions and turns are counted, and the newest `reply`."""

    def __init__(self, store: Store, last: Message | None) -> None:
        self.store = store
        self.last = last
        self.reply = last if last and last.role is Role.ASSISTANT else None

    def add(self, role: Role, *, text: str = "", state: MessageState = MessageState.DONE) -> Message:
        """Return a new message behind all others, of the same interaction and turn as the last one."""
        last = self.last
        message = Message(
            conversation_id=self.store.conversation.id,
            position=last.position + 1 if last else 1,
            role=role,
            created=self.store.now(),
            state=state,
            text=text,
            interaction=last.interaction if last else 0,
            turn=last.turn if last else 0,
        )
        self.store.add(message)
        self.last = message
        return message

    def offer(self, kind: InboxKind) -> bool:
        """Whether the page offers Retry or Continue after the newest message."""
        last = self.last
        if last is None:
            return False
        if kind is InboxKind.CONTINUE:
            return last.role is Role.FEEDBACK and bool(last.note)
        return last.role is Role.ASSISTANT and last.state in (MessageState.INCOMPLETE, MessageState.FAILED)
