"""The states that conversations and their parts go through; stored, and shown on the page as they are."""

from enum import StrEnum


class ConversationState(StrEnum):
    """What the agent of a conversation is doing."""

    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting"  # code waits for a person, a time or an approval


class Role(StrEnum):
    """Who a message is from."""

    USER = "user"
    ASSISTANT = "assistant"
    FEEDBACK = "feedback"  # outputs and errors, as the model gets them; the page shows them at the statements


class MessageState(StrEnum):
    """How far a message is."""

    STREAMING = "streaming"
    DONE = "done"
    STOPPED = "stopped"
    INCOMPLETE = "incomplete"  # the stream broke off; what came is kept
    FAILED = "failed"


class BlockKind(StrEnum):
    """What a part of a reply is."""

    TEXT = "text"
    RUN = "run"
    DATA = "data"
    PROBLEM = "problem"  # a near miss: neither run nor shown, told to the model


class BlockState(StrEnum):
    """How far a block's effect is; a text block is done when it is shown."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    DROPPED = "dropped"  # something before it failed, or it was stopped


class ProgramKind(StrEnum):
    """Why code runs."""

    STATEMENT = "statement"
    CALLBACK = "callback"
    SUBMIT = "submit"
    TICK = "tick"


class StatementState(StrEnum):
    """How far a statement is."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    CUT = "cut"  # the process died, or a person stopped it or what it waited for, in the middle of it
    DROPPED = "dropped"


class MountState(StrEnum):
    """Whether a mount can still be answered."""

    OPEN = "open"
    SUBMITTED = "submitted"  # a read-only summary
    DISMISSED = "dismissed"  # nobody waits for it any more, a submit starts a turn
    CLOSED = "closed"


class WaitKind(StrEnum):
    """What a program waits for."""

    FORM = "form"
    SLEEP = "sleep"
    APPROVAL = "approval"


class WaitState(StrEnum):
    """How a wait ended."""

    OPEN = "open"
    ANSWERED = "answered"
    DISMISSED = "dismissed"
    EXPIRED = "expired"


class InboxKind(StrEnum):
    """What reached the conversation."""

    MESSAGE = "message"
    SUBMIT = "submit"
    CALLBACK = "callback"
    STOP = "stop"
    RETRY = "retry"
    CONTINUE = "continue"


class InboxState(StrEnum):
    """What became of an inbox row."""

    QUEUED = "queued"
    STARTED = "started"  # a callback that runs; found after a crash, it was cut
    DONE = "done"
    WITHDRAWN = "withdrawn"  # the user took it back, or it came too late to have an effect
