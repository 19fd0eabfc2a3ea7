"""Runs one program, a statement or a callback, through everything it waits for, to its end.

Its start is saved before it runs; its outcome, output and the new namespace are saved with the next flush
after it. What it waits for is answered from the mailbox. A wait for a person, or a long sleep, is saved as a
suspended program that any process can go on with; it holds no worker.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from chat.runtime.answers import Answers
from chat.runtime.board import Board
from chat.runtime.host import RuntimeHost, Skills
from chat.runtime.limits import Limits
from chat.runtime.mailbox import Mailbox
from chat.runtime.namespace import Namespace
from chat.runtime.records import InboxItem, Statement, Wait
from chat.runtime.states import (
    ConversationState,
    InboxState,
    ProgramKind,
    StatementState,
    WaitKind,
    WaitState,
)
from chat.runtime.store import Store, enter
from chat.runtime.values import to_json, to_native
from chat.runtime.waits import Pending, Reaction, event
from chat.runtime.workspace import NamespaceLost, Workspace
from chat.sandbox.base import (
    CodeError,
    Failed,
    Outcome,
    Raise,
    Sandbox,
    SandboxError,
    Session,
    Settled,
    Suspended,
    Value,
)

INTERRUPTED = (
    "It was cut off by a restart of the server, and may or may not have taken effect. It was not repeated."
)


NOTICED_SECONDS = 0.3  # a callback that takes longer is shown as work; quicker ones would only flicker


class Stopped(Exception):
    """Somebody pressed Stop; nothing more of this interaction may happen."""


class Parked(Exception):
    """Everything is saved and only a person or a later time can go on; the runner may leave."""


def _gone() -> Outcome:
    return Failed(CodeError("RuntimeError", "The code that waited here can't go on.", fatal=True))


def _settled(answer: Settled) -> asyncio.Task[Settled]:
    async def settle() -> Settled:
        return answer

    return asyncio.ensure_future(settle())


class Programs:
    """Runs programs one at a time in the conversation's namespace."""

    def __init__(
        self, store: Store, mailbox: Mailbox, sandbox: Sandbox, board: Board, skills: Skills, limits: Limits
    ) -> None:
        self.store = store
        self.mailbox = mailbox
        self.board = board
        self.limits = limits
        self.host = RuntimeHost(store, board, skills, limits)
        self.workspace = Workspace(store, sandbox, self.host)
        self.namespace = Namespace(store, board, self.host, self.workspace, self._unless_stopped)
        # The agent says no while the model's stream still comes in.
        self.may_park: Callable[[], bool] = lambda: True
        self.answers = Answers(store, mailbox, board, self.host, limits)
        self._inside: list[InboxItem] = []  # callbacks that run inside a wait

    # Running

    async def run(
        self,
        program: Statement,
        source: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        place: tuple[UUID, UUID | None],
        label: str = "",
    ) -> None:
        """Run a program to its end; its record says what came of it. Raises Stopped, Parked."""
        self.host.begin(program, *place)
        self.answers.begin()
        session = await self.namespace.session(program)
        program.state = StatementState.RUNNING
        program.started = self.store.now()
        self.store.touch(program)
        await self.store.flush()
        check = program.kind is ProgramKind.STATEMENT
        outcome = await self._unless_stopped(
            session.run(source, inputs or {}, check=check, label=label, line=program.line)
        )
        await self._through_waits(program, outcome)

    async def resume(self, program: Statement, waits: list[Wait], *, place: tuple[UUID, UUID | None]) -> None:
        """Go on with a program that was suspended, perhaps long ago and in another process."""
        self.host.begin(program, *place)
        self.answers.begin()
        names = {mount.id: mount.name for mount in self.board.mounts.values()}
        for wait in waits:
            mount = names.get(wait.mount_id, "") if wait.mount_id else ""
            self.host.pending[wait.call] = Pending(wait.call, wait=wait, mount=mount)
            self.answers.known(wait)
            self.host.deadlines |= to_native(wait.arguments.get("outer", {}))
        session = await self._reopen()
        outcome: Outcome = _gone() if session is None else Suspended(session.pending)
        for call in session.pending if session else ():
            if call not in self.host.pending:  # a skill that was approved and ran when the process died
                self.host.pending[call] = Pending(call, task=_settled(Raise("RuntimeError", INTERRUPTED)))
        await self.workspace.discard()  # until somebody answers
        enter(self.store, ConversationState.WAITING)
        await self._through_waits(program, outcome)

    # Waiting

    async def _through_waits(self, program: Statement, outcome: Outcome) -> None:
        saved = program.state is StatementState.WAITING  # on resume(), the program is in the database already
        while isinstance(outcome, Suspended):
            self.host.rest(outcome.pending)
            if not self.host.resting:
                self._came_back()
            calls = [self.host.pending[call] for call in sorted(outcome.pending)]
            try:
                saved = saved or await self._suspend_if_long(program, calls)
                reaction = await self._reaction(program, calls, saved)
                session = await self.workspace.reopen_suspended()
            except SandboxError as error:
                outcome = Failed(CodeError("MemoryError", f"{error} Keep less in variables.", fatal=True))
                break
            except NamespaceLost as lost:
                self.namespace.lost(str(lost))
                outcome = _gone()
                break
            if saved:
                await self._record_resumption(program, reaction)
            if reaction.item is not None:
                self._inside.append(reaction.item)
            outcome = await self._resume(session, reaction, saved)
            saved = False
        self._came_back()
        await self._finish(program, outcome)

    def _came_back(self) -> None:
        """Note that the callbacks inside a wait are over: a crash does not cut them any more."""
        for item in self._inside:
            item.state = InboxState.DONE
            self.store.touch(item)
        self._inside = []

    async def _reopen(self) -> Session | None:
        try:
            return await self.workspace.reopen_suspended()
        except NamespaceLost as lost:
            self.namespace.lost(str(lost))
            return None

    async def _resume(self, session: Session, reaction: Reaction, saved: bool) -> Outcome:
        before = None
        if reaction.inside and not saved:
            with contextlib.suppress(SandboxError):  # too large: a killed callback takes all along
                before = await session.dump()
        if reaction.inside:
            self.host.rest(session.pending - reaction.answers.keys())
        outcome = await self._unless_stopped(session.resume(reaction.answers))
        if not reaction.inside or not isinstance(outcome, Failed) or not outcome.error.fatal:
            return outcome
        # A callback used up its time or memory. The code that waits is not to blame: it goes on as if the
        # callback had not been.
        await self.workspace.discard()
        data = before or await self.store.load_snapshot(suspended=True)
        if data is None:
            return outcome
        error = outcome.error.text()
        self.host.note(f"In a callback: {error}")
        self._stop_timers(reaction)
        session = await self.workspace.sandbox.open(self.host, data, suspended=True)
        self.workspace.session = session
        (call,) = reaction.answers
        outcome = await self._unless_stopped(session.resume({call: event("redraw")}))
        if reaction.item is not None:
            self.board.fail(reaction.item.payload["mount"], error)
        return outcome

    def _stop_timers(self, reaction: Reaction) -> None:
        for answer in reaction.answers.values():
            if isinstance(answer, Value) and answer.value.get("t") == "tick":
                self.host.stop_failing(str(answer.value["id"]))

    async def _suspend_if_long(self, program: Statement, calls: list[Pending]) -> bool:
        """Save the program and give its worker back when it may wait long; returns whether it was saved."""
        waits = [pending.wait for pending in calls if pending.wait is not None and pending.task is None]
        if not waits or len(waits) < len(calls) or not any(self._is_long(wait) for wait in waits):
            return False
        await self.workspace.suspend()
        self._leave_outer(waits[0])
        self._came_back()  # or wait themselves, as part of what is saved
        for wait in waits:
            self.answers.save(wait)
        program.state = StatementState.WAITING
        self.store.touch(program)
        enter(self.store, ConversationState.WAITING)
        await self.store.flush()
        return True

    def _leave_outer(self, inner: Wait) -> None:
        """Close the waits in which a callback runs that waits itself; the code comes back to them later."""
        for pending in self.host.resting.values():
            if pending.wait is not None:
                self.answers.close(pending.wait, WaitState.ANSWERED)
                if pending.deadline is not None:
                    self.host.deadlines[pending.wait.wait] = pending.deadline
        self.host.resting = {}
        if self.host.deadlines:
            outer = {wait: to_json(deadline) for wait, deadline in self.host.deadlines.items()}
            inner.arguments = {**inner.arguments, "outer": outer}

    def _is_long(self, wait: Wait) -> bool:
        if wait.kind is not WaitKind.SLEEP or self.workspace.sandbox.crowded:
            return True
        left = (wait.deadline or self.store.now()) - self.store.now()
        return left > timedelta(seconds=self.limits.hold_seconds)

    async def _record_resumption(self, program: Statement, reaction: Reaction) -> None:
        """Save that the program goes on, before it does: a crash from here on must not run anything twice."""
        if reaction.inside:  # a crash cuts the callback only: the wait stays as it was saved
            if reaction.item is None:
                return  # a timer's tick; the next one comes anyway
            self.store.touch(reaction.item)
        else:
            program.state = StatementState.RUNNING
            self.store.touch(program)
            self.store.snapshot(None, suspended=True)
            enter(self.store, ConversationState.RUNNING)
        await self.store.flush()

    async def _reaction(self, program: Statement, calls: list[Pending], saved: bool) -> Reaction:
        """Wait until something answers. Raises Stopped, Parked."""
        while True:
            self.mailbox.changed.clear()
            if self._is_due(calls):
                # Loaded before anything is taken, so that an answer and that code goes on are saved together.
                await self.workspace.reopen_suspended()
            if self.mailbox.stopped:
                return await self._stop(program, calls)
            done = {p.call: p.task.result() for p in calls if p.task is not None and p.task.done()}
            if done:
                return self.answers.settled(done)
            waits = [pending for pending in calls if pending.wait is not None and pending.task is None]
            if waits and (answer := self.answers.find(waits)):
                return answer
            if saved:
                await self.workspace.discard()  # it was nothing for this program
            if waits and len(waits) == len(calls) and self.mailbox.leaving:
                await self._park(program, calls, saved)
            await self._show_work()
            await self.store.flush()  # the page shows what led up to the wait
            if not await self._until(calls, self._nearest(waits)) and saved and self.may_park():
                raise Parked

    def _is_due(self, calls: list[Pending]) -> bool:
        """Whether there is something that may answer one of the calls."""
        now = self.store.now()
        if self.mailbox.items or self.mailbox.ticks or self.answers.redraw:
            return True
        return any(
            pending.task.done() if pending.task else pending.deadline is not None and pending.deadline <= now
            for pending in calls
        )

    async def _park(self, program: Statement, calls: list[Pending], saved: bool) -> None:
        if not saved:
            await self.workspace.suspend()
            for pending in calls:
                assert pending.wait is not None
                self.answers.save(pending.wait)
            program.state = StatementState.WAITING
            self.store.touch(program)
            enter(self.store, ConversationState.WAITING)
            await self.store.flush()
        raise Parked

    async def _stop(self, program: Statement, calls: list[Pending]) -> Reaction:
        """End the program: code that only waits gets Dismissed once, to tidy up; else it is killed."""
        waits = [pending for pending in calls if pending.task is None]
        if len(waits) == len(calls) and self.answers.dismissals == 0:
            return self.answers.dismiss(waits, "The user pressed Stop.")
        await self._kill(program)
        raise Stopped

    def _nearest(self, waits: list[Pending]) -> datetime | None:
        return min((p.deadline for p in waits if p.deadline is not None), default=None)

    async def _until(self, calls: list[Pending], deadline: datetime | None) -> bool:
        """Wait for a running skill, the mailbox or the deadline; returns False when nothing came for long."""
        linger = self.limits.linger_seconds
        seconds = linger if deadline is None else (deadline - self.store.now()).total_seconds()
        running = [pending.task for pending in calls if pending.task is not None]
        arrival = asyncio.ensure_future(self.mailbox.changed.wait())
        try:
            timeout = max(0.0, min(seconds, linger)) if not running else max(0.0, seconds)
            done, _ = await asyncio.wait(
                [*running, arrival], timeout=timeout, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            arrival.cancel()
        return bool(done) or (deadline is not None and seconds <= linger)

    # Ending

    async def _finish(self, program: Statement, outcome: Outcome) -> None:
        error, dismissed = "", False
        if isinstance(outcome, Failed):
            error, dismissed = outcome.error.text(), outcome.error.type == "Dismissed"
            if outcome.error.fatal:
                await self.workspace.discard()
        if self.workspace.session is not None:
            unsaved = await self.workspace.save()  # what a failed program did before it failed stays done
            error = error or unsaved
        program.error = error
        program.state = StatementState.FAILED if error else StatementState.DONE
        if dismissed:
            program.state = StatementState.CUT
        self._end(program)

    def _end(self, program: Statement) -> None:
        program.finished = self.store.now()
        for wait in self.host.waiting():
            if wait.state is WaitState.OPEN:
                self.answers.close(wait, WaitState.DISMISSED)
        self.host.release()
        self.store.snapshot(None, suspended=True)
        self.store.touch(program)
        enter(self.store, ConversationState.RUNNING)

    async def _kill(self, program: Statement) -> None:
        await self.workspace.discard()
        program.state = StatementState.CUT
        program.error = "It was stopped by the user."
        self._end(program)

    async def _unless_stopped(self, work: Awaitable[Outcome]) -> Outcome:
        """Return the outcome of sandbox work; on Stop the worker is killed and Stopped raised."""
        task = asyncio.ensure_future(work)
        try:
            while not task.done():
                self.mailbox.changed.clear()
                if self.mailbox.stopped:
                    await self._kill_work(task)
                arrival = asyncio.ensure_future(self.mailbox.changed.wait())
                idle = self.store.conversation.state is ConversationState.IDLE
                await asyncio.wait(
                    [task, arrival],
                    timeout=NOTICED_SECONDS if idle else None,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                arrival.cancel()
                if idle and not task.done():
                    await self._show_work()
            return task.result()
        except asyncio.CancelledError:
            task.cancel()
            await self.workspace.discard()
            raise

    async def _show_work(self) -> None:
        """Say that a callback takes its time, so that it can be stopped."""
        if self.store.conversation.state is ConversationState.IDLE:
            enter(self.store, ConversationState.RUNNING)
            await self.store.flush()

    async def _kill_work(self, task: asyncio.Future[Outcome]) -> None:
        if self.answers.dismissals:  # it got Dismissed by this Stop; let it tidy up, its time is limited
            await asyncio.wait([task], timeout=self.limits.tidy_seconds)
            if task.done():
                return
        await self.workspace.discard()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        if self.host.program is not None and not self.host.program.settled:
            await self._kill(self.host.program)
        raise Stopped
