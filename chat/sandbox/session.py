"""One conversation's namespace in a worker of pydantic-monty: runs programs and answers their host calls."""

import ast
import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Final, get_args

from pydantic_monty import (
    AsyncFunctionSnapshot,
    AsyncFutureSnapshot,
    AsyncMontySession,
    AsyncNameLookupSnapshot,
    ExcType,
    MontyComplete,
    MontyCrashedError,
    MontyError,
)

from chat.sandbox import modules, scope, typecheck
from chat.sandbox import prelude as names
from chat.sandbox.base import (
    LATER,
    CodeError,
    ErrorFrame,
    Failed,
    Finished,
    Host,
    HostCall,
    Outcome,
    Raise,
    SandboxError,
    Settled,
    SnapshotTooLarge,
    Suspended,
    Value,
)
from chat.sandbox.checker import Budget
from chat.sandbox.errors import LOST, MEMORY_LIMIT, Statement, plain_error, told
from chat.sandbox.limits import SandboxLimits
from chat.sandbox.snapshots import Notes, pack
from chat.sandbox.source import NotPythonError, Prepared, prepare
from chat.sandbox.values import NotPlainError, clean, given, plain

Snapshot = AsyncFunctionSnapshot | AsyncNameLookupSnapshot | AsyncFutureSnapshot | MontyComplete

HOST_FUNCTIONS: Final = frozenset(
    ("_mount", "_update", "_close", "_stream", "_every", "_stop_timer", "_report", "_wait", "_skill")
)
NO_LIMIT: Final = 10**9
# How often code may go on calling when it is over the limit; then it is ended.
CALLS_IN_VAIN: Final = 100
NAME_CHARS: Final = 40
# Needs about as much as an ordinary statement does.
NOTHING: Final = "_ = ['room' * 1000 for _ in range(100)]\n_ = None"


Check = Callable[
    [str, ast.Module, Mapping[str, str], Budget],
    Awaitable[tuple[tuple[int, str, str] | None, dict[str, str]]],
]


class FatalError(Exception):
    """The running program was ended from outside, and the session with it."""

    def __init__(self, error: CodeError) -> None:
        super().__init__(error.message)
        self.error = error


class MontySession:
    """One conversation's namespace in a worker; made by `MontySandbox.open`."""

    def __init__(
        self, worker: AsyncMontySession, host: Host, limits: SandboxLimits, notes: Notes, check: Check
    ) -> None:
        self._worker = worker
        self._check = check
        self._budget = Budget(limits)
        self._host = host
        self._limits = limits
        self._notes = notes
        self._at: AsyncFutureSnapshot | None = None
        self._turn: asyncio.Future[Snapshot] | None = None
        self._statement: Statement | None = None
        self._closed = False
        self._drawing = ""
        self._used = 0.0
        self._calls = 0
        self._printed = 0

    @property
    def pending(self) -> frozenset[int]:
        """The host calls that the suspended program waits for."""
        return frozenset(self._at.pending_call_ids) if self._at else frozenset()

    async def run(
        self,
        source: str,
        inputs: Mapping[str, Any] = {},
        *,
        check: bool = False,
        label: str = "",
        line: int = 1,
    ) -> Outcome:
        """Run a program to its end or its next wait."""
        self._must_be_open()
        if self._at is not None:
            raise SandboxError("The session waits for host calls: resume it before running something else.")
        if len(source) > self._limits.source_chars:
            return Failed(
                plain_error("SyntaxError", f"{len(source)} characters in one statement are too many")
            )
        self._used, self._calls, self._printed = 0.0, 0, 0
        self._statement = None
        if names.is_entry(source):
            return await self._feed(source, inputs)
        try:
            prepared = prepare(source)
        except NotPythonError as error:
            where = ErrorFrame(label, error.line + line - 1, error.source_line, "")
            return Failed(
                plain_error(
                    "SyntaxError",
                    error.message,
                    line=where.line,
                    source_line=where.source_line,
                    frames=(where,),
                )
            )
        kinds: dict[str, str] = {}
        if check:
            mistake, kinds = await self._check(source, prepared.tree, self._notes.names, self._budget)
            if mistake:
                return Failed(typecheck.refusal(mistake, source, label, line))
        for program in self._missing(prepared):
            outcome = await self._feed(program, {})
            if not isinstance(outcome, Finished):
                return outcome
        self._remember(prepared, kinds)
        feed = self._notes.feeds
        self._notes.places[feed] = (label, line)
        self._statement = Statement(feed, label, line, tuple(source.split("\n")))
        outcome = await self._feed(prepared.source, inputs)
        if not isinstance(outcome, Suspended) and not keeps_code(source):
            self._notes.places.pop(feed, None)
        return outcome

    def _remember(self, prepared: Prepared, kinds: Mapping[str, str]) -> None:
        """Note the names that the statement may define; also when it fails half-way they may be there."""
        changed = scope.global_names(prepared.tree)
        for name in scope.bound(prepared.tree):
            self._notes.names[name] = "" if name in changed else kinds.get(name, "")
        if scope.builds_names(prepared.tree):
            self._notes.names[typecheck.ANYTHING] = ""

    async def _feed(self, source: str, inputs: Mapping[str, Any]) -> Outcome:
        self._notes.feeds += 1
        return await self._drive(
            self._worker.feed_start(
                source, inputs={**given(dict(inputs)), "_printed": 0}, print_callback=self._print
            )
        )

    def _missing(self, prepared: Prepared) -> Iterator[str]:
        """Programs that put the modules a statement needs into the namespace."""
        needed = [file for name in prepared.mentioned for file in modules.PROVIDED.get(name, ())]
        for file in dict.fromkeys([*prepared.modules, *needed]):
            if file not in self._notes.helpers:
                self._notes.helpers.append(file)
                yield modules.loading(file)
        for name in prepared.mentioned:
            if name not in self._notes.names:
                self._notes.names[name] = ""
                yield modules.binding(name)

    async def resume(self, answers: Mapping[int, Settled]) -> Outcome:
        """Go on with the suspended program."""
        self._must_be_open()
        at, self._at = self._at, None
        if at is None:
            raise SandboxError("Nothing is suspended here.")
        self._used, self._calls = 0.0, 0
        return await self._drive(at.resume({call: external(answer) for call, answer in answers.items()}))

    async def dump(self) -> bytes:
        """Return the state as bytes; raises SnapshotTooLarge."""
        self._must_be_open()
        self._notes.suspended = self._at is not None
        try:
            state = self._at.dump() if self._at is not None else await self._worker.dump()
        except MontyError as error:
            await self.close()
            if MEMORY_LIMIT.search(str(error)) or LOST.search(str(error)):
                raise SnapshotTooLarge("The code's variables take too much memory to be saved.") from error
            raise SandboxError(f"The session can't be saved: {error}.") from error
        data = pack(self._notes, state)
        if len(data) > self._limits.snapshot_bytes:
            raise SnapshotTooLarge(
                f"The code's variables take {len(data)} bytes when saved, "
                f"at most {self._limits.snapshot_bytes}."
            )
        return data

    async def close(self) -> None:
        """Give the worker back; kills what runs."""
        if self._closed:
            return
        self._closed = True
        self._at = None
        turn, self._turn = self._turn, None
        if turn is not None and not turn.done():
            turn.cancel()  # kills the worker; leaving a session with a turn in flight would wait for it
            with contextlib.suppress(asyncio.CancelledError, MontyError):
                await turn
        with contextlib.suppress(MontyError):
            await self._worker.__aexit__(None, None, None)

    # --- driving ---

    def _must_be_open(self) -> None:
        if self._closed:
            raise SandboxError("The session is closed.")

    async def _drive(self, turn: Awaitable[Snapshot]) -> Outcome:
        """Answer host calls until the program ends or waits."""
        try:
            while True:
                at = await self._took(turn)
                if isinstance(at, MontyComplete):
                    return Finished(plain_or_none(at))
                if isinstance(at, AsyncFutureSnapshot):
                    self._at = at
                    return Suspended(self.pending)
                turn = self._answered(at)
        except FatalError as error:
            await self.close()
            return Failed(error.error)
        except MontyError as error:
            return await self._failed(error)
        except asyncio.CancelledError:
            stopped = self._closed and not current_task_is_cancelled()
            await self.close()
            if stopped:
                return Failed(plain_error("RuntimeError", "the code was stopped", fatal=True))
            raise
        except BaseException:
            await self.close()  # the host's own error: the program can't be answered any more
            raise

    async def _failed(self, error: MontyError) -> Failed:
        """Return the program's error, and give the session up when it can't go on."""
        fatal = isinstance(error, MontyCrashedError) or bool(LOST.search(str(error)))
        if not fatal and MEMORY_LIMIT.search(str(error)):
            fatal = not await self._has_room()
        if fatal:
            await self.close()
        return Failed(told(error, self._notes.places, self._statement, fatal=fatal))

    async def _has_room(self) -> bool:
        """Whether the namespace, after an error about memory, can be saved and go on."""
        self._notes.feeds += 1
        try:
            await self._worker.feed_run(NOTHING)
            await self._worker.dump()
        except MontyError:
            return False
        return True

    async def _took(self, turn: Awaitable[Snapshot]) -> Snapshot:
        """Return the program's next stop, within the limits of time."""
        limit = self._limits.ui_seconds if self._drawing else None
        self._turn = asyncio.ensure_future(turn)
        started = time.monotonic()
        try:
            async with asyncio.timeout(limit):
                at = await self._turn
        except TimeoutError as error:
            what = self._drawing
            raise FatalError(
                plain_error(
                    "TimeoutError", f"the ui of {what} took longer than {limit} s to draw", fatal=True
                )
            ) from error
        finally:
            self._used += time.monotonic() - started
            if self._turn is not None and self._turn.done():
                self._turn = None
        if self._used > self._limits.statement_seconds:
            allowed = self._limits.statement_seconds
            raise FatalError(
                plain_error("TimeoutError", f"the code ran for more than {allowed} s", fatal=True)
            )
        return at

    def _answered(self, at: AsyncFunctionSnapshot | AsyncNameLookupSnapshot) -> Awaitable[Snapshot]:
        """Answer one host call and return the turn that follows."""
        if isinstance(at, AsyncNameLookupSnapshot):
            return at.resume()
        name = str(at.function_name)
        if name == "_ui":
            self._drawing = str(at.args[0])[:NAME_CHARS] if at.args else ""
            return at.resume({"return_value": None})
        self._calls += 1
        if self._calls > self._limits.host_calls:
            told = f"more than {self._limits.host_calls} host calls in one statement"
            if self._calls > self._limits.host_calls + CALLS_IN_VAIN:
                raise FatalError(plain_error("RuntimeError", told, fatal=True))
            return at.resume({"exc_type": "RuntimeError", "message": told})
        if at.is_os_function:
            return at.resume_not_handled()
        if name not in HOST_FUNCTIONS:
            return at.resume({"exc_type": "NameError", "message": f"name '{name}' is not defined"})
        if self._drawing:
            return at.resume({"exc_type": "RuntimeError", "message": "a ui function can't call the host"})
        try:
            args = plain(list(at.args), self._limits.value_bytes)
            kwargs = plain(dict(at.kwargs), self._limits.value_bytes)
        except NotPlainError as error:
            return at.resume({"exc_type": "TypeError", "message": str(error)})
        answer = self._host.call(HostCall(at.call_id, name, tuple(args), kwargs))
        if answer is LATER:
            return at.resume({"future": ...})
        return at.resume(external(answer))

    def _print(self, stream: str, text: str) -> None:
        self._printed += len(text)
        # Cut again here: the prelude's own limit can be avoided by code that tries to.
        if self._printed <= 2 * self._limits.output_chars:
            self._host.printed(clean(text))


def external(answer: Settled) -> Any:
    """Return an answer as the interpreter takes it."""
    match answer:
        case Value(value):
            return {"return_value": given(value)}
        case Raise("Dismissed", message):
            return {"exc_type": "KeyboardInterrupt", "message": given(message)}
        case Raise(type, message) if type in get_args(ExcType):
            return {"exc_type": type, "message": given(message)}
        case Raise(type, message):
            return {"exc_type": "RuntimeError", "message": given(f"{type}: {message}")}


def current_task_is_cancelled() -> bool:
    """Whether somebody cancelled this task, not only what it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def keeps_code(source: str) -> bool:
    """Whether functions of this source can be called after it has run."""
    return "def " in source or "lambda" in source or "class " in source


def plain_or_none(done: MontyComplete) -> Any:
    """Return a program's value if it is plain data."""
    try:
        return plain(done.output, NO_LIMIT)
    except (NotPlainError, MontyError):
        return None
