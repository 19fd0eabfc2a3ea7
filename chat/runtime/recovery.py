"""Takes a conversation over: from a runner that parked, or from one that died in the middle of something.

What was saved tells how far it came. A program that waits goes on waiting. A statement that was running is
cut: it does not run again, and the model hears of it. A stream that broke off leaves its reply incomplete.
"""

import contextlib
from dataclasses import dataclass, field
from typing import Any

from chat.runtime.agent import Agent
from chat.runtime.calls import summary
from chat.runtime.programs import Stopped
from chat.runtime.records import Block, InboxItem, Message, Statement, Wait
from chat.runtime.reply import Reply
from chat.runtime.states import (
    BlockKind,
    BlockState,
    InboxState,
    MessageState,
    ProgramKind,
    Role,
    StatementState,
    WaitState,
)
from chat.runtime.store import Store

RESTARTED = "The server was restarted while the reply came in."


@dataclass
class Unfinished:
    """What was under way when the last runner left: a reply with blocks and statements, callbacks, waits."""

    message: Message | None = None
    blocks: list[Block] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    started: list[InboxItem] = field(default_factory=list)  # callbacks that ran inside a wait
    suspended: bool = False  # the program that waits is saved


async def recover(agent: Agent, store: Store, left: Unfinished) -> None:
    """Bring everything to a state that is true now, and go on with it. Raises Parked."""
    waiting = _waiting(left)
    _cut(store, left, waiting)
    if waiting is not None:
        agent.programs.answers.redraw = bool(left.started)
    elif any(s.state is StatementState.CUT for s in left.statements):
        with contextlib.suppress(Stopped):  # the page shows what was undone
            await agent.programs.namespace.render()
    callbacks = [s for s in left.statements if s.block_id is None and s is not waiting]
    if left.message is not None and left.message.state is MessageState.STREAMING:
        why = "" if left.message.finished else RESTARTED
        reply = _reply(store, left)
        agent.unreported += callbacks
        await agent.go_on(reply, _waits(left, waiting), why)
    elif waiting is not None:
        await agent.resume_callback(waiting, _waits(left, waiting))
    elif callbacks:
        await agent.report(callbacks)
    elif _unanswered(agent.messages.last):
        await agent.interact()


def _waiting(left: Unfinished) -> Statement | None:
    if not left.suspended or not left.waits:
        return None
    program = left.waits[-1].statement_id
    return next((s for s in left.statements if s.id == program and s.state is StatementState.WAITING), None)


def _waits(left: Unfinished, waiting: Statement | None) -> list[Wait]:
    return [wait for wait in left.waits if waiting is not None and wait.statement_id == waiting.id]


def _cut(store: Store, left: Unfinished, waiting: Statement | None) -> None:
    for item in left.started:
        item.state = InboxState.DONE
        store.touch(item)
        if waiting is not None:
            known = _known_calls([call for call in waiting.calls if call["state"] == "started"])
            told = f"A callback was cut off by a restart of the server; it was not run again.{known}"
            waiting.notes = f"{waiting.notes}\n{told}".strip()
            store.touch(waiting)
    for statement in left.statements:
        if statement is waiting or statement.state not in (StatementState.RUNNING, StatementState.WAITING):
            continue
        statement.state = StatementState.CUT
        statement.finished = store.now()
        statement.error = _what_is_known(statement)
        store.touch(statement)
    for wait in left.waits:  # of programs that can't go on: nobody must look for their ends any more
        if waiting is None or wait.statement_id != waiting.id:
            wait.state = WaitState.DISMISSED
            wait.settled = store.now()
            store.touch(wait)


def _what_is_known(statement: Statement) -> str:
    what = "statement" if statement.kind is ProgramKind.STATEMENT else "callback"
    known = _known_calls(statement.calls) or " It had called no skills."
    return (
        f"This {what} was cut off in the middle by a restart of the server. It was not run again, and its "
        f"changes to variables are undone.{known}"
    )


def _known_calls(calls: list[dict[str, Any]]) -> str:
    told = summary(calls)
    return f" Skills it had called: {told}." if told else ""


def _reply(store: Store, left: Unfinished) -> Reply:
    assert left.message is not None
    reply = Reply(store, left.message, left.blocks)
    for statement in sorted(left.statements, key=lambda s: s.position):
        if statement.block_id in reply.statements:
            reply.statements[statement.block_id].append(statement)
    if not left.message.finished:
        reply.end_where_it_broke()
    reply.ended = True
    for block in left.blocks:
        if any(s.state is StatementState.CUT for s in reply.statements[block.id]):
            block.state = BlockState.FAILED
            store.touch(block)
            reply.drop()
        elif block.kind is BlockKind.DATA and block.state is BlockState.RUNNING:
            block.state = BlockState.QUEUED  # data replaces, so that showing it again is harmless
    return reply


def _unanswered(last: Message | None) -> bool:
    """Whether the model has still to be called; a message with a note waits for the user instead."""
    return last is not None and last.role is not Role.ASSISTANT and not last.note
