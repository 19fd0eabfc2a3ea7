"""The parts of a conversation while it is driven; each has a row with the same fields in `chat.models`."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from chat.runtime.states import (
    BlockKind,
    BlockState,
    ConversationState,
    InboxKind,
    InboxState,
    MessageState,
    MountState,
    ProgramKind,
    Role,
    StatementState,
    WaitKind,
    WaitState,
)


@dataclass(eq=False)
class Conversation:
    """The conversation itself; `namespace` is what its code declared: targets, timers, counters."""

    id: UUID
    owner_id: int
    title: str = ""
    state: ConversationState = ConversationState.IDLE
    seq: int = 0
    namespace: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Message:
    """A user message, a reply, or feedback."""

    conversation_id: UUID
    position: int
    role: Role
    created: datetime
    state: MessageState = MessageState.DONE
    text: str = ""
    reasoning: str = ""
    note: str = ""
    interaction: int = 0
    turn: int = 0
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    first_token: datetime | None = None
    finished: datetime | None = None  # the stream's end; effects may still be under way
    appeared: int = 0
    changed: int = 0
    id: UUID = field(default_factory=uuid4)


@dataclass(eq=False)
class Block:
    """A part of a reply. `parts` holds what streamed in so far, `source` the whole once it is closed."""

    message_id: UUID
    position: int
    kind: BlockKind
    index: int | None = None
    state: BlockState = BlockState.QUEUED
    source: str = ""
    target: str = ""
    error: str = ""
    closed: bool = False
    complete: bool = False
    id: UUID = field(default_factory=uuid4)
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Return everything that has arrived."""
        return self.source if self.closed else "".join(self.parts)

    @property
    def settled(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state in (BlockState.DONE, BlockState.FAILED, BlockState.DROPPED)


@dataclass(eq=False)
class Statement:
    """A program: one statement of a run block, or one run of a callback (then without a block)."""

    conversation_id: UUID
    position: int
    block_id: UUID | None = None
    kind: ProgramKind = ProgramKind.STATEMENT
    line: int = 1
    source: str = ""
    state: StatementState = StatementState.QUEUED
    output: str = ""
    error: str = ""
    notes: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    started: datetime | None = None
    finished: datetime | None = None
    reported: bool = False
    id: UUID = field(default_factory=uuid4)

    @property
    def settled(self) -> bool:
        """Whether it will not go on."""
        return self.state in (
            StatementState.DONE,
            StatementState.FAILED,
            StatementState.CUT,
            StatementState.DROPPED,
        )

    @property
    def quiet(self) -> bool:
        """Whether there is nothing to tell the model about it."""
        return not (self.output or self.error or self.notes)


@dataclass(eq=False)
class Mount:
    """A user interface in the chat; `tree` is the node tree as JSON."""

    conversation_id: UUID
    number: int
    message_id: UUID
    created: datetime
    tree: dict[str, Any]
    block_id: UUID | None = None
    state: MountState = MountState.OPEN
    live: bool = False
    keeps: bool = False
    answers: dict[str, Any] | None = None
    answered_by_id: int | None = None
    answered_at: datetime | None = None
    error: str = ""
    changed: int = 0
    id: UUID = field(default_factory=uuid4)

    @property
    def name(self) -> str:
        """The id that code and page know it by, such as `m3`."""
        return f"m{self.number}"

    @property
    def token(self) -> str:
        """Changes with each answer, so that a submit of an older state can be told."""
        return self.answered_at.isoformat() if self.answered_at else ""


@dataclass(eq=False)
class Wait:
    """A suspended program's wait; `call` is the host call to answer, `wait` the code's own name for it."""

    conversation_id: UUID
    statement_id: UUID
    call: int
    kind: WaitKind
    wait: str
    created: datetime
    mount_id: UUID | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
    state: WaitState = WaitState.OPEN
    deadline: datetime | None = None
    settled: datetime | None = None
    id: UUID = field(default_factory=uuid4)


@dataclass(eq=False)
class InboxItem:
    """Something that reached the conversation from outside."""

    id: int
    kind: InboxKind
    payload: dict[str, Any]
    user_id: int | None = None
    state: InboxState = InboxState.QUEUED
    settled: datetime | None = None


Record = Conversation | Message | Block | Statement | Mount | Wait | InboxItem
