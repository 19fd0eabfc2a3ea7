"""Frames: what changed, as the smallest fragments that bring a page up to date.

Every fragment is an `<hx-partial>`: those keep their order within a frame and may hold any element. A frame
never fills an element that it creates, so whatever is new is rendered whole, with everything in it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from chat.fragments.growing import Growing, addition
from chat.fragments.shapes import (
    MessageShape,
    MountShape,
    NoticeShape,
    PieceShape,
    block_dom,
    is_shown,
    message_dom,
    message_shape,
    mount_context,
    mount_shape,
    notice_for,
    part_shape,
    pieces_of,
    run_state,
    statement_dom,
    statement_shape,
)
from chat.runtime.records import Block, Conversation, InboxItem, Message, Mount, Record, Statement
from chat.runtime.states import BlockKind, BlockState, Role
from chat.ui.nodes import Node, stored_tree
from chat.ui.render import render_changes

APPEND = "beforeend"
MORPH = "outerMorph"
INNER_MORPH = "innerMorph"
REPLACE = "outerHTML"


def partial(target: str, swap: str, html: str) -> SafeString:
    """Return one fragment: HTML for the element with the id `target`."""
    # Both are names of ours, and the HTML is what a template or a renderer made.
    return mark_safe(f'<hx-partial hx-target="#{target}" hx-swap="{swap}">{html}</hx-partial>')  # noqa: S308


def message_head(shape: MessageShape) -> SafeString:
    """Return a message without its parts, which stay as they are: the template keeps them from the morph."""
    bare = replace(shape, parts=(), tail_mounts=())
    return partial(shape.id, MORPH, render_to_string("chat/_message.html", {"message": bare}))


def status_fragments(conversation: UUID, state: str, notice: NoticeShape | None) -> list[str]:
    """Return what the page says about the conversation as a whole."""
    context = {"conversation": {"pk": conversation, "state": str(state)}, "notice": notice}
    return [
        partial("conversation", MORPH, render_to_string("chat/_status.html", context)),
        partial("notice", MORPH, render_to_string("chat/_notice.html", context)),
    ]


@dataclass
class Known:
    """What browsers have of the parts that still change."""

    messages: dict[UUID, tuple[Any, ...]] = field(default_factory=dict)
    runs: dict[UUID, str] = field(default_factory=dict)
    texts: dict[UUID, Growing] = field(default_factory=dict)
    statements: set[UUID] = field(default_factory=set)
    mounts: dict[UUID, tuple[Node, tuple[Any, ...]]] = field(default_factory=dict)
    status: tuple[str, NoticeShape | None] | None = None


class Publisher:
    """Turns changed records into fragments, remembering what was shown before."""

    def __init__(self, conversation: Conversation, answered_by: str) -> None:
        self.conversation = conversation
        self.answered_by = answered_by
        self.known = Known()
        self._spared: dict[UUID, Record] = {}

    def loaded(self, records: Iterable[Record], statements: Mapping[UUID, Sequence[Statement]]) -> None:
        """Take records that browsers have already, as they are; `statements` by block."""
        for record in records:
            match record:
                case Message():
                    self.known.messages[record.id] = _head(record)
                case Block():
                    self.known.runs[record.id] = run_state(record, statements.get(record.id, ()))
                    if record.kind is BlockKind.TEXT:
                        self._text(record)
                case Statement():
                    self.known.statements.add(record.id)
                case Mount():
                    self.known.mounts[record.id] = (stored_tree(record.tree), _mount_head(record))

    def grow(self, block: UUID, text: str) -> None:
        """Take what a frame adds to a text, as it is saved: who reads it from there gets the same pieces."""
        self.known.texts.setdefault(block, Growing()).waiting.append(text)

    def spare(self, changed: Iterable[Record]) -> None:
        """Note changes that nobody sees."""
        self._spared.update((record.id, record) for record in changed if not isinstance(record, InboxItem))

    def fragments(
        self,
        changed: Sequence[Record],
        blocks: dict[UUID, list[Block]],
        statements: dict[UUID, list[Statement]],
        mounts: Iterable[Mount],
        last: Message | None,
    ) -> str | None:
        """Return the fragments for changed records; `blocks` by message, `statements` by block.

        None after changes were spared: from here on the next frames can be made, but this one is not.
        """
        if self._spared:
            missed = {**self._spared, **{r.id: r for r in changed if not isinstance(r, InboxItem)}}
            self._spared = {}
            self.known.status = None
            self.loaded(missed.values(), statements)
            return None
        self._parts = (blocks, statements, mounts)
        self._whole_runs: set[UUID] = set()  # run blocks whose code is rendered whole, their mounts aside
        running = {
            r.block_id for r in changed if isinstance(r, Statement)
        }  # its state shows at the block too
        if running:
            by_id = {block.id: block for own in blocks.values() for block in own}
            changed = [*changed, *(by_id[pk] for pk in running if pk in by_id and by_id[pk] not in changed)]
        whole: set[UUID] = set()  # messages and blocks that are rendered with all that is in them
        html: list[str] = []
        for kind in (Message, Block, Statement, Mount):
            for record in changed:
                if isinstance(record, kind):
                    html += self._fragment(record, whole)
        if any(isinstance(record, Conversation | Message) for record in changed):
            html += self._status(last)
        return "".join(html)

    def drop(self, block: UUID) -> None:
        """Let go of a block that will not change any more."""
        self.known.texts.pop(block, None)
        self.known.runs.pop(block, None)
        self._spared.pop(block, None)

    def _status(self, last: Message | None) -> list[str]:
        state = self.conversation.state
        notice = notice_for(last, state)
        if (state, notice) == self.known.status:
            return []
        self.known.status = (state, notice)
        return status_fragments(self.conversation.id, state, notice)

    def _fragment(self, record: Record, whole: set[UUID]) -> list[str]:
        match record:
            case Message():
                return self._message(record, whole)
            case Block() if record.message_id not in whole:
                return self._block(record, whole)
            case Statement() if record.block_id is not None and record.block_id not in whole:
                return self._statement(record)
            case Mount() if not {record.message_id, record.block_id} & whole:
                return self._mount(record)
        return []

    def _message(self, message: Message, whole: set[UUID]) -> list[str]:
        if message.role is Role.FEEDBACK:
            return []
        head, old = _head(message), self.known.messages.get(message.id)
        if head == old:
            return []
        self.known.messages[message.id] = head
        if old is not None:
            return [message_head(message_shape(message))]
        own = self._parts[0].get(message.id, [])
        whole.add(message.id)
        whole.update(block.id for block in own)
        parts = [self._part(block) for block in own]
        shape = message_shape(message, parts, self._mounts_at(message.id))
        return [partial("timeline", APPEND, render_to_string("chat/_message.html", {"message": shape}))]

    def _part(self, block: Block) -> Any:
        statements = self._parts[1].get(block.id, [])
        self.known.statements.update(statement.id for statement in statements)
        self.known.runs[block.id] = run_state(block, statements)
        stream = None
        if block.kind is BlockKind.TEXT and is_shown(block):
            stream = self._text(block).stream
        return part_shape(block, statements, self._mounts_at(block.id), stream)

    def _mounts_at(self, place: UUID) -> list[MountShape]:
        mounts = [mount for mount in self._parts[2] if (mount.block_id or mount.message_id) == place]
        return [self._mount_shape(mount) for mount in mounts]

    def _block(self, block: Block, whole: set[UUID]) -> list[str]:
        if block.kind not in (BlockKind.TEXT, BlockKind.RUN):
            return []
        dom = block_dom(block.id)
        if block.id not in self.known.runs:
            whole.add(block.id)
            html = render_to_string("chat/_part.html", {"part": self._part(block)})
            return [partial(f"{message_dom(block.message_id)}-parts", APPEND, html)]
        if block.kind is BlockKind.TEXT:
            if not is_shown(block):
                return []
            if self.known.runs[block.id] == BlockState.QUEUED:  # it was held back until now
                return [
                    partial(dom, REPLACE, render_to_string("chat/_part.html", {"part": self._part(block)}))
                ]
            return self._grown(block)
        statements = self._parts[1].get(block.id, [])
        state = run_state(block, statements)
        if self.known.runs[block.id] == state:
            return []
        self.known.runs[block.id] = state
        self._whole_runs.add(block.id)
        self.known.statements.update(statement.id for statement in statements)
        html = render_to_string("chat/_run.html", {"part": part_shape(block, statements)})
        return [partial(f"{dom}-run", MORPH, html)]

    def _text(self, block: Block) -> Growing:
        text = self.known.texts.get(block.id)
        if text is None:  # of an earlier process; closed, it has its source only
            text = self.known.texts[block.id] = Growing(waiting=list(block.parts or [block.source]))
        text.take(closed=block.closed)
        return text

    def _grown(self, block: Block) -> list[str]:
        dom = block_dom(block.id)
        text = self.known.texts.setdefault(block.id, Growing())
        start, old, had_open = text.start, text.shown, text.open is not None
        self._text(block)
        fragments: list[str] = []
        for number, piece in enumerate(pieces_of(dom, text.stream, start)):
            if number or not had_open:
                fragments.append(partial(dom, APPEND, render_to_string("chat/_piece.html", {"piece": piece})))
            elif piece.html != old:
                fragments.append(_changed_piece(piece, old))
        return fragments

    def _statement(self, statement: Statement) -> list[str]:
        assert statement.block_id is not None
        if statement.block_id in self._whole_runs:
            return []
        fragments: list[str] = []
        html = render_to_string("chat/_statement.html", {"statement": statement_shape(statement)})
        if statement.id in self.known.statements:
            fragments.append(partial(statement_dom(statement.id), MORPH, html))
        else:
            self.known.statements.add(statement.id)
            fragments.append(partial(f"{block_dom(statement.block_id)}-statements", APPEND, html))
        return fragments

    def _mount(self, mount: Mount) -> list[str]:
        old = self.known.mounts.get(mount.id)
        if old is None:
            place = block_dom(mount.block_id) if mount.block_id else message_dom(mount.message_id)
            return [partial(f"{place}-mounts", APPEND, self._mount_html(mount))]
        tree, head = stored_tree(mount.tree), _mount_head(mount)
        if head != old[1]:
            # Another state, an answer or an error: all of it. The new token of an answered form makes the
            # page clear its fields; open tabs, details and other forms of the mount stay as they are.
            return [partial(f"mount-{mount.name}", MORPH, self._mount_html(mount))]
        self.known.mounts[mount.id] = (tree, head)
        context = mount_context(self.conversation.id, mount, self.answered_by)
        changes = render_changes(old[0], tree, context)
        return [partial(change.target, change.swap, change.html) for change in changes]

    def _mount_html(self, mount: Mount) -> str:
        return render_to_string("chat/_mount.html", {"mount": self._mount_shape(mount)})

    def _mount_shape(self, mount: Mount) -> MountShape:
        tree = stored_tree(mount.tree)
        self.known.mounts[mount.id] = (tree, _mount_head(mount))
        return mount_shape(self.conversation.id, mount, tree, self.answered_by)


def _changed_piece(piece: PieceShape, old: str) -> SafeString:
    """Return what makes a piece of what it was: mostly the few words that were added at its end."""
    grown = addition(old, piece.html)
    if grown is None:
        return partial(piece.dom, REPLACE, render_to_string("chat/_piece.html", {"piece": piece}))
    depth, added = grown
    return partial(f"{piece.dom}{' > :last-child' * depth}", APPEND, added)


def _head(message: Message) -> tuple[Any, ...]:
    """What of a message stands outside of its blocks."""
    return (message.state, message.note, message.reasoning, message.role)


def _mount_head(mount: Mount) -> tuple[Any, ...]:
    return (mount.state, mount.answered_at, mount.error)
