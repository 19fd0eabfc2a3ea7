"""The host calls of agent code: mounts, streamed data, timers, waits and skills."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any, Protocol
from uuid import UUID

from chat.runtime import calls
from chat.runtime.approvals import SkillInfo, approval_tree
from chat.runtime.board import Board
from chat.runtime.limits import Limits
from chat.runtime.records import Mount, Statement, Wait
from chat.runtime.states import MountState, WaitKind
from chat.runtime.store import Store
from chat.runtime.values import to_json
from chat.runtime.waits import Pending
from chat.sandbox.base import LATER, Answer, HostCall, Raise, Settled, Value
from chat.ui.nodes import InvalidTree

LONGEST_WAIT = 1e8  # seconds, about three years; what is longer could not be written as a date
CUT_NOTE = "\n[… the rest of the output was cut …]\n"


class Skills(Protocol):
    """Runs skills by name."""

    def needs_approval(self, name: str) -> bool:
        """Return whether a person decides about each call."""
        ...

    def describe(self, name: str) -> SkillInfo:
        """Return what a person is told about it."""
        ...

    def changes_world(self, name: str) -> bool:
        """Return whether a call must be known of after a crash."""
        ...

    async def run(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Settled:
        """Return the result or the failure; never raises but for cancellation."""
        ...


class RuntimeHost:
    """Answers the host calls of the program that runs now, and keeps what it waits for in `pending`."""

    def __init__(self, store: Store, board: Board, skills: Skills, limits: Limits) -> None:
        self.store = store
        self.board = board
        self.skills = skills
        self.limits = limits
        self.pending: dict[int, Pending] = {}
        # Waits in which something runs now, by the code's names for them.
        self.resting: dict[str, Pending] = {}
        # Of waits that code will come back to after a callback which waits itself.
        self.deadlines: dict[str, datetime] = {}
        self.program: Statement | None = None
        self.place: tuple[UUID, UUID | None] | None = None  # message and block where new mounts go
        self._calls: dict[str, Callable[..., Answer]] = {
            "_mount": self._mount,
            "_update": self._update,
            "_close": self._close,
            "_stream": self._stream,
            "_every": self._every,
            "_stop_timer": self._stop_timer,
            "_report": self._report,
        }

    def begin(self, program: Statement, message_id: UUID, block_id: UUID | None) -> None:
        """Take calls for this program from now on."""
        self.program = program
        self.place = (message_id, block_id)
        self.pending = {}
        self.resting = {}
        self.deadlines = {}

    def printed(self, text: str) -> None:
        """Take what the program printed; it is cut at the limit, with a note."""
        program = self._running()
        room = self.limits.output_chars - len(program.output)
        if room <= 0:
            return
        program.output += text if len(text) <= room else text[:room] + CUT_NOTE
        self.store.touch(program)

    def note(self, text: str) -> None:
        """Tell the model something beside the program's own output."""
        program = self._running()
        if text and len(program.notes) < self.limits.output_chars:
            program.notes = f"{program.notes}\n{text}".strip()
            self.store.touch(program)

    def call(self, call: HostCall) -> Answer:
        """Answer a host call; what can't be answered at once is kept in `pending`."""
        try:
            if call.name == "_wait":
                return self._wait(call.id, *call.args)
            if call.name == "_skill":
                return self._skill(call.id, *call.args)
            return self._calls[call.name](*call.args)
        except InvalidTree as error:
            return Raise("ValueError", str(error))
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            # The prelude makes these calls as they must be; code may reach them too, with anything.
            return Raise("TypeError", f"{call.name}() can't be called like that: {error}")

    def waiting(self) -> list[Wait]:
        """Return all waits that have not ended, those in which something runs included."""
        return [p.wait for p in (*self.pending.values(), *self.resting.values()) if p.wait is not None]

    def rest(self, still: frozenset[int]) -> None:
        """Set aside the waits that are not pending any more: what runs inside them may come back to them."""
        for call, pending in list(self.pending.items()):
            if call not in still and pending.wait is not None and pending.task is None:
                del self.pending[call]
                self.resting[pending.wait.wait] = pending

    def stop_failing(self, timer: str) -> bool:
        """End a timer whose function failed, or the model would hear of it every second; tells it so."""
        timers = self._namespace("timers", {})
        if timer not in timers:
            return False
        self._declare("timers", {name: every for name, every in timers.items() if name != timer})
        self.note("The timer was stopped, because its function failed.")
        return True

    def release(self) -> None:
        """Forget what is pending; skills that run are cancelled."""
        for pending in self.pending.values():
            if pending.task is not None:
                pending.task.cancel()
        self.pending = {}

    def run_skill(self, pending: Pending, name: str, args: list[Any], kwargs: dict[str, Any]) -> None:
        """Start a skill as the answer to a pending call, and record it with the program."""
        program = self._running()
        entry = calls.entry(name, args, kwargs)
        program.calls = calls.with_entry(program.calls, entry, self.limits.calls_kept)
        pending.task = asyncio.ensure_future(
            self._recorded(program, entry, self.skills.run(name, args, kwargs))
        )
        self.store.touch(program)

    async def _recorded(self, program: Statement, entry: dict[str, Any], call: Awaitable[Settled]) -> Settled:
        if self.skills.changes_world(entry["name"]):
            await self.store.flush()  # it must be known after a crash that this may have happened
        try:
            async with asyncio.timeout(self.limits.skill_seconds):
                result = await call
        except TimeoutError:
            seconds = self.limits.skill_seconds
            result = Raise(
                "TimeoutError", f"{entry['name']}() took longer than {seconds:g} seconds and was given up."
            )
        entry["state"] = "done" if isinstance(result, Value) else "failed"
        program.calls = list(program.calls)
        self.store.touch(program)
        return result

    def _running(self) -> Statement:
        assert self.program is not None, "host calls come from programs only"
        return self.program

    def _mount(self, tree_json: str, live: bool, keeps: bool) -> Answer:
        assert self.place is not None
        message_id, block_id = self.place
        tree = self.board.parse(tree_json)
        mount = self.board.create(tree, message_id=message_id, block_id=block_id, live=live, keeps=keeps)
        return Value(mount.name)

    def _update(self, name: str, tree_json: str, live: bool) -> Answer:
        self.board.update(name, self.board.parse(tree_json))
        mount = self.board.get(name)
        if mount.live is not live:  # a slot of it was filled with a function, say
            mount.live = live
            self.store.touch(mount)
        return Value()

    def _close(self, name: str) -> Answer:
        self.board.set_state(self.board.get(name), MountState.CLOSED)
        return Value()

    def _stream(self, target: str) -> Answer:
        targets = self._namespace("targets", [])
        if target not in targets:
            self._declare("targets", [*targets, target])
        return Value()

    def _every(self, timer: str, seconds: float) -> Answer:
        timers = self._namespace("timers", {})
        if len(timers) >= self.limits.timers:
            return Raise(
                "ValueError",
                f"{len(timers)} timers run in this conversation, the most that are allowed. "
                "Stop one with timer.stop(), or let one function do the work of several.",
            )
        self._declare("timers", {**timers, timer: max(1.0, float(seconds))})
        return Value()

    def _stop_timer(self, timer: str) -> Answer:
        timers = self._namespace("timers", {})
        self._declare("timers", {name: every for name, every in timers.items() if name != timer})
        return Value()

    def _report(self, where: str, kind: str, message: str) -> Answer:
        error = f"{kind}: {message}" if message else kind
        if where in self._namespace("timers", {}):
            self.note(f"In a timer: {error}")
            self.stop_failing(where)
            return Value()
        self.note(f"In {where}: {error}")
        if (mount := self.board.behind(where)) is not None:
            self.board.fail(mount.name, error)
        return Value()

    def _namespace(self, name: str, default: Any) -> Any:
        return self.store.conversation.namespace.get(name, default)

    def _declare(self, name: str, value: Any) -> None:
        conversation = self.store.conversation
        conversation.namespace = {**conversation.namespace, name: value}
        self.store.touch(conversation)

    def _wait(self, call: int, request: dict[str, Any], renders_json: str = "") -> Answer:
        self._take_renders(renders_json)
        resting = self.resting.pop(str(request["wait"]), None)
        if resting is not None:  # something ran inside the wait, which goes on with its old deadline
            assert resting.wait is not None
            resting.call = resting.wait.call = call
            self.pending[call] = resting
            return LATER
        name = str(request["wait"])
        kind = WaitKind(request["kind"])
        mount = self.board.get(request["mount"]) if kind is WaitKind.FORM else None
        seconds = request.get("timeout") if mount else request.get("seconds")
        wait = Wait(
            conversation_id=self.store.conversation.id,
            statement_id=self._running().id,
            call=call,
            kind=kind,
            wait=name,
            created=self.store.now(),
            mount_id=mount.id if mount else None,
            deadline=self.deadlines.pop(name, None) or self._deadline(seconds),
        )
        if mount:
            self._await_answer(mount)
        self.pending[call] = Pending(call, wait=wait, mount=mount.name if mount else "")
        return LATER

    def _deadline(self, seconds: float | None) -> datetime | None:
        if seconds is None:
            return None
        return self.store.now() + timedelta(seconds=min(float(seconds), LONGEST_WAIT))

    def _await_answer(self, mount: Mount) -> None:
        if mount.state is MountState.CLOSED:
            raise InvalidTree(f"Mount {mount.name} is closed, nobody can answer it. Mount the form again.")
        self.board.set_state(mount, MountState.OPEN)

    def _skill(
        self, call: int, name: str, args: list[Any], kwargs: dict[str, Any], renders_json: str = ""
    ) -> Answer:
        self._take_renders(renders_json)
        pending = Pending(call)
        if self.skills.needs_approval(name):
            self._ask_approval(pending, name, args, kwargs)
        else:
            self.run_skill(pending, name, args, kwargs)
        self.pending[call] = pending
        return LATER

    def _ask_approval(self, pending: Pending, name: str, args: list[Any], kwargs: dict[str, Any]) -> None:
        assert self.place is not None
        message_id, block_id = self.place
        tree = self.board.read(approval_tree(name, self.skills.describe(name), args, kwargs))
        mount = self.board.ask(tree, message_id=message_id, block_id=block_id)
        pending.mount = mount.name
        pending.wait = Wait(
            conversation_id=self.store.conversation.id,
            statement_id=self._running().id,
            call=pending.call,
            kind=WaitKind.APPROVAL,
            wait=f"approval-{pending.call}",
            created=self.store.now(),
            mount_id=mount.id,
            arguments={"skill": name, "args": to_json(args), "kwargs": to_json(kwargs)},
        )

    def _take_renders(self, renders_json: str) -> None:
        for error in self.board.take_renders(renders_json):
            self.note(error)
