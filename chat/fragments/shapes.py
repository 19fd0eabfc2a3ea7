"""What the templates of the timeline get: plain objects, made from records and from rows alike."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from django.urls import reverse
from django.utils.safestring import SafeString

from chat.runtime.states import BlockKind, BlockState, Role, StatementState
from chat.ui.context import MountContext
from chat.ui.forms import MountForm
from chat.ui.highlight import highlighted
from chat.ui.markdown import MarkdownStream
from chat.ui.nodes import Node, stored_tree
from chat.ui.render import render_error, render_mount_body


class PieceShape(NamedTuple):
    """A top-level Markdown block of a text, as HTML."""

    dom: str
    html: SafeString


@dataclass(frozen=True)
class StatementShape:
    """A statement with its state, output and error."""

    dom: str
    line: int
    code_html: SafeString
    state: str
    output: str
    error: str
    notes: str


@dataclass(frozen=True)
class MountShape:
    """A mount with its body."""

    name: str
    state: str
    body_html: SafeString
    error_html: SafeString


@dataclass(frozen=True)
class PartShape:
    """A block of a reply; `shown` is false for text that is held back."""

    dom: str
    kind: str
    state: str
    shown: bool = True
    pieces: Sequence[PieceShape] = ()
    statements: Sequence[StatementShape] = ()
    mounts: Sequence[MountShape] = ()
    target: str = ""
    error: str = ""


@dataclass(frozen=True)
class MessageShape:
    """A message as the timeline shows it."""

    id: str
    pk: UUID
    role: str
    state: str
    created: datetime
    note: str = ""
    turn: int = 0
    reasoning_html: SafeString = field(default_factory=SafeString)
    parts: Sequence[PartShape] = ()
    tail_mounts: Sequence[MountShape] = ()


class MountLike(Protocol):
    """A mount's record or row."""

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def token(self) -> str: ...  # noqa: D102

    tree: Any
    state: Any
    answers: Any
    answered_at: Any
    error: str


def message_dom(pk: UUID) -> str:
    """Return the element id of a message."""
    return f"message-{pk.hex}"


def block_dom(pk: UUID) -> str:
    """Return the element id of a block."""
    return f"b{pk.hex[:12]}"  # enough for one page, and in each frame of growing text


def statement_dom(pk: UUID) -> str:
    """Return the element id of a statement."""
    return f"s{pk.hex}"


def whole_text(text: str) -> MarkdownStream:
    """Return a text of which no more will come."""
    stream = MarkdownStream()
    stream.feed(text)
    stream.close()
    return stream


def pieces_of(dom: str, stream: MarkdownStream, start: int = 0) -> list[PieceShape]:
    """Return the pieces of a text from number `start` on; the last one may still grow."""
    htmls = [*stream.finished[start:], *([stream.open] if stream.open else [])]
    return [PieceShape(f"{dom}-{start + number}", SafeString(html)) for number, html in enumerate(htmls)]


def statement_shape(statement: Any) -> StatementShape:
    """Return a statement for its partial."""
    return StatementShape(
        dom=statement_dom(statement.id),
        line=statement.line,
        code_html=SafeString(highlighted(statement.source, "python")),
        state=statement.state,
        output=statement.output,
        error=statement.error,
        notes=statement.notes,
    )


def mount_context(conversation: UUID, mount: MountLike, answered_by: str = "") -> MountContext:
    """Return what the components of a mount need to know of their place."""
    return MountContext(
        mount=mount.name,
        url=f"{reverse('conversation', args=[conversation])}m/{mount.name}/",
        state=str(mount.state),
        answers=mount.answers,
        answered_by=answered_by,
        answered_at=mount.answered_at,
        token=mount.token,
    )


def invalid_form(conversation: UUID, mount: MountLike, tree: Node, form: MountForm, name: str) -> SafeString:
    """Return the body of a mount with what was entered and what is wrong with it."""
    context = replace(
        mount_context(conversation, mount),
        errors=form.field_errors(),
        values=form.raw_values(),
        form=name,
    )
    return render_mount_body(tree, context)


def mount_shape(
    conversation: UUID, mount: MountLike, tree: Node | None = None, answered_by: str = ""
) -> MountShape:
    """Return a mount for its partial."""
    context = mount_context(conversation, mount, answered_by)
    body = render_mount_body(tree or stored_tree(mount.tree), context)
    return MountShape(mount.name, str(mount.state), body, error_card(mount))


def error_card(mount: MountLike) -> SafeString:
    """Return what stands below an interface that failed; nothing when it works."""
    message, _, details = mount.error.partition("\n")
    return (
        render_error(message, ident=f"mount-{mount.name}-error", details=details) if message else SafeString()
    )


def run_state(block: Any, statements: Iterable[Any]) -> str:
    """Return the state of a run block as the page shows it: it waits, or was cut, when a statement is."""
    states = {statement.state for statement in statements}
    if block.state == BlockState.RUNNING and StatementState.WAITING in states:
        return str(BlockState.WAITING)
    if block.state == BlockState.FAILED and StatementState.CUT in states:
        return str(StatementState.CUT)
    return str(block.state)


def is_shown(block: Any) -> bool:
    """Whether a text has appeared: all that stands before it has happened."""
    return block.state in (BlockState.RUNNING, BlockState.DONE)


def part_shape(
    block: Any,
    statements: Sequence[Any] = (),
    mounts: Sequence[MountShape] = (),
    stream: MarkdownStream | None = None,
) -> PartShape:
    """Return a block for its partial; `stream` has read what is to be shown of a text."""
    dom = block_dom(block.id)
    return PartShape(
        dom=dom,
        kind=str(block.kind),
        state=run_state(block, statements),
        shown=block.kind != BlockKind.TEXT or is_shown(block),
        pieces=pieces_of(dom, stream) if stream else [],
        statements=[statement_shape(statement) for statement in statements],
        mounts=mounts,
        target=block.target,
        error=block.error,
    )


def message_shape(
    message: Any,
    parts: Sequence[PartShape] = (),
    tail_mounts: Sequence[MountShape] = (),
) -> MessageShape:
    """Return a message for its partial. A user's text is Markdown too."""
    if message.role == Role.USER:
        stream = whole_text(message.text)
        dom = f"{message_dom(message.id)}-text"
        parts = [PartShape(dom, "text", "done", pieces=pieces_of(dom, stream))]
    reasoning = whole_text(message.reasoning)
    return MessageShape(
        id=message_dom(message.id),
        pk=message.id,
        role=str(message.role),
        state=str(message.state),
        created=message.created,
        note=message.note,
        turn=message.turn,
        reasoning_html=SafeString("".join(reasoning.finished)),
        parts=parts,
        tail_mounts=tail_mounts,
    )


@dataclass(frozen=True)
class NoticeShape:
    """What the page says below the timeline; `kind` is retry or continue, the button that it offers."""

    kind: str
    text: str


def notice_for(last: Any, conversation_state: Any) -> NoticeShape | None:
    """Return the notice that the newest message calls for."""
    if last is None or conversation_state != "idle":
        return None
    if last.role == Role.FEEDBACK and last.note:
        return NoticeShape("continue", last.note)
    if last.role == Role.ASSISTANT and last.state in ("incomplete", "failed"):
        return NoticeShape("retry", "The reply is not complete.")  # why not stands at the message
    return None
