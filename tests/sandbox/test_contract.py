"""What every sandbox must do, as a class: another implementation subclasses it and gives its own `sandbox`."""

# ruff: noqa: E501 - code samples stay on one line

import asyncio
import datetime
import os
import signal
from typing import Any

import pytest

from chat.sandbox.base import (
    Failed,
    Finished,
    Raise,
    Sandbox,
    SandboxError,
    Session,
    SnapshotError,
    SnapshotTooLarge,
    Suspended,
    Value,
)
from chat.sandbox.limits import SandboxLimits
from chat.sandbox.monty import MontySandbox
from tests.sandbox.scripted import PRELUDE, ScriptedHost, error, run, value

pytestmark = pytest.mark.asyncio(loop_scope="session")

WAITING = 'before = "kept"\nanswer = await fetch("https://example.com")\nprint(before, answer)'


class SandboxContract:
    """The laws of sessions and snapshots."""

    async def test_a_program_gives_the_value_of_its_last_expression(self, session: Session) -> None:
        assert await session.run("x = 20\nx + 22") == Finished(42)
        assert await session.run("None") == Finished(None)
        assert session.pending == frozenset()

    async def test_only_plain_data_is_given_out(self, session: Session) -> None:
        assert await session.run("class A: pass\n[A()]") == Finished(None)
        assert await session.run("[1, (2, 3), {4}, {'a': None}, 1.5]") == Finished(
            [1, [2, 3], [4], {"a": None}, 1.5]
        )

    async def test_the_namespace_lasts_from_program_to_program(self, session: Session) -> None:
        await session.run("def double(n):\n    return 2 * n")
        assert await session.run("double(21)") == Finished(42)

    async def test_an_error_leaves_the_namespace_as_it_was(self, session: Session) -> None:
        await session.run("x = 1")
        failure = error(await session.run("x = 2\nboom()", label="block 1", line=10))
        assert (failure.type, failure.line, failure.source_line, failure.fatal) == (
            "NameError",
            11,
            "boom()",
            False,
        )
        assert await session.run("x") == Finished(2)

    async def test_inputs_are_names_with_native_values(self, session: Session) -> None:
        day = datetime.date(2026, 12, 24)
        assert value(await session.run("given['day'].year", {"given": {"day": day}})) == 2026
        assert value(await session.run("given['day']", {"given": {"day": day}})) == day

    async def test_output_comes_in_order_with_the_calls(self, session: Session, host: ScriptedHost) -> None:
        await session.run('print("a")\nmount(Text("x"))\nprint("b", end="")')
        assert host.output == "a\nb"

    async def test_a_waiting_program_goes_on_with_its_answer(
        self, session: Session, host: ScriptedHost
    ) -> None:
        outcome = await session.run(WAITING)
        assert isinstance(outcome, Suspended)
        (call,) = outcome.pending
        assert session.pending == outcome.pending == {host.calls[-1].id}
        assert await session.resume({call: Value("page")}) == Finished(None)
        assert host.output == "kept page\n"

    async def test_it_can_be_saved_and_go_on_elsewhere_again_and_again(
        self, sandbox: Sandbox, session: Session, host: ScriptedHost
    ) -> None:
        outcome = await session.run(WAITING)
        assert isinstance(outcome, Suspended)
        saved = await session.dump()
        await session.close()
        for _ in range(2):  # the bytes are not used up
            other = ScriptedHost()
            again = await sandbox.open(other, saved, suspended=True)
            assert again.pending == outcome.pending
            assert await again.resume({min(again.pending): Value("page")}) == Finished(None)
            assert other.output == "kept page\n"
            assert await again.run("before") == Finished("kept")
            await again.close()

    async def test_dumping_does_not_disturb(self, session: Session) -> None:
        await session.run("x = 1")
        await session.dump()
        outcome = await session.run("await fetch('https://example.com')")
        await session.dump()
        assert isinstance(outcome, Suspended)
        assert await session.resume({min(outcome.pending): Value("p")}) == Finished("p")
        assert await session.run("x") == Finished(1)

    async def test_calls_side_by_side_are_answered_one_by_one(
        self, sandbox: Sandbox, session: Session
    ) -> None:
        outcome = await session.run(
            "import asyncio\nawait asyncio.gather(fetch('https://a.example'), fetch('https://b.example'))"
        )
        assert isinstance(outcome, Suspended)
        first, second = sorted(outcome.pending)
        outcome = await session.resume({second: Value("b")})
        assert outcome == Suspended(frozenset({first}))
        saved = await session.dump()
        await session.close()
        again = await sandbox.open(ScriptedHost(), saved, suspended=True)
        assert await again.resume({first: Value("a")}) == Finished(["a", "b"])
        await again.close()

    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            (Raise("ValueError", "no"), "ValueError: no"),
            (Raise("TimeoutError", "late"), "TimeoutError: late"),
            (Raise("Dismissed", "bye"), "KeyboardInterrupt: bye"),
            (Raise("SkillError", "odd"), "RuntimeError: SkillError: odd"),
        ],
    )
    async def test_a_failed_call_raises_in_the_code(
        self, session: Session, answer: Raise, expected: str
    ) -> None:
        code = "try:\n    await fetch('https://a.example')\nexcept BaseException as e:\n"
        outcome = await session.run(
            code + "    print(f'{type(e).__name__}: {e}')\n    found = f'{type(e).__name__}: {e}'"
        )
        assert isinstance(outcome, Suspended)
        await session.resume({min(outcome.pending): answer})
        assert await session.run("found") == Finished(expected)

    async def test_an_error_after_the_wait_has_its_line(self, sandbox: Sandbox, session: Session) -> None:
        outcome = await session.run(
            "page = await fetch('https://a.example')\n\nint(page)", label="block 2", line=5
        )
        assert isinstance(outcome, Suspended)
        saved = await session.dump()
        await session.close()
        again = await sandbox.open(ScriptedHost(), saved, suspended=True)
        failure = error(await again.resume({min(again.pending): Value("x")}))
        assert (failure.line, failure.source_line, failure.frames[0].label) == (7, "int(page)", "block 2")
        await again.close()

    async def test_an_error_in_an_earlier_function_names_both_places(
        self, sandbox: Sandbox, session: Session
    ) -> None:
        await session.run("def inner(n):\n    return 1 / n", label="block 1", line=3)
        saved = await session.dump()
        await session.close()
        again = await sandbox.open(ScriptedHost(), saved)
        failure = error(await again.run("x = 1\ninner(0)", label="block 2"))
        assert failure.type == "ZeroDivisionError"
        assert [(f.label, f.line, f.function) for f in failure.frames] == [
            ("block 2", 2, ""),
            ("block 1", 4, "inner"),
        ]
        assert "block 1, line 4 in inner" in failure.text("block 2, statement 1")
        await again.close()

    async def test_what_the_host_may_ask_and_when(self, session: Session) -> None:
        with pytest.raises(SandboxError):
            await session.resume({1: Value(None)})
        await session.run("await fetch('https://a.example')")
        with pytest.raises(SandboxError):
            await session.run("1")

    async def test_closing_is_for_good_and_may_be_repeated(self, session: Session) -> None:
        await session.close()
        await session.close()
        for use in (session.run("1"), session.resume({}), session.dump()):
            with pytest.raises(SandboxError):
                await use

    @pytest.mark.parametrize("data", [b"", b"MS1", b"MS1xxxx", b"\0" * 100, b"PK\x03\x04"])
    async def test_other_bytes_are_no_snapshot(self, sandbox: Sandbox, data: bytes) -> None:
        for suspended in (False, True):
            with pytest.raises(SnapshotError):
                await sandbox.open(ScriptedHost(), data, suspended=suspended)

    async def test_cut_or_changed_bytes_are_no_snapshot(self, sandbox: Sandbox, session: Session) -> None:
        saved = await session.dump()
        for data in (saved[:-10], saved[: len(saved) // 2], saved[:50] + b"\0\0\0\0" + saved[54:]):
            with pytest.raises(SnapshotError):
                await sandbox.open(ScriptedHost(), data)

    async def test_idle_and_suspended_are_not_mixed_up(self, sandbox: Sandbox, session: Session) -> None:
        idle = await session.dump()
        await session.run("await fetch('https://a.example')")
        suspended = await session.dump()
        with pytest.raises(SnapshotError):
            await sandbox.open(ScriptedHost(), idle, suspended=True)
        with pytest.raises(SnapshotError):
            await sandbox.open(ScriptedHost(), suspended)

    async def test_answers_may_hold_anything(self, session: Session, host: ScriptedHost) -> None:
        odd: list[Any] = ["\ud800", {"a": {1, 2}}, object(), 10**400, float("nan"), b"x", datetime.time(1, 2)]
        for answer in odd:
            outcome = await session.run("x = await fetch('https://a.example')\nprint(type(x).__name__)")
            assert isinstance(outcome, Suspended)
            assert await session.resume({min(outcome.pending): Value(answer)}) == Finished(None)
        assert host.output.split() == ["str", "dict", "str", "int", "float", "bytes", "time"]

    async def test_conversations_know_nothing_of_each_other(self, sandbox: Sandbox) -> None:
        one, other = await sandbox.open(ScriptedHost()), await sandbox.open(ScriptedHost())
        await one.run("secret = 1\nimport json\njson = None")
        assert error(await other.run("secret")).type == "NameError"
        assert await other.run("json.dumps(1)") == Finished("1")
        await one.close()
        await other.close()

    async def test_it_says_its_version(self, sandbox: Sandbox) -> None:
        assert sandbox.version


class TestMonty(SandboxContract):
    """The sandbox on pydantic-monty keeps the contract."""


class HostThatFails(ScriptedHost):
    def printed(self, text: str) -> None:
        raise ZeroDivisionError("our own bug")

    def call(self, call: Any) -> Any:
        raise ZeroDivisionError("our own bug")


async def test_an_error_of_the_host_itself_is_raised_and_ends_the_session(sandbox: MontySandbox) -> None:
    session = await sandbox.open(HostThatFails())
    with pytest.raises(ZeroDivisionError):
        await session.run("mount(Text('x'))")
    with pytest.raises(SandboxError):
        await session.run("1")


async def test_a_namespace_that_is_too_large_is_not_saved() -> None:
    sandbox = MontySandbox(PRELUDE, SandboxLimits(snapshot_bytes=60_000, max_processes=2))
    session = await sandbox.open(host := ScriptedHost())
    assert await session.dump()
    await run(session, host, "data = [random.random() for _ in range(20_000)]")
    with pytest.raises(SnapshotTooLarge, match="at most 60000"):
        await session.dump()
    assert await session.run("data = None") == Finished(None)
    assert await session.dump()
    await session.close()
    await sandbox.close()


async def test_a_fresh_namespace_fits_in_few_bytes(session: Session) -> None:
    assert len(await session.dump()) < 32_000


async def test_the_checker_has_a_worker_of_its_own() -> None:
    sandbox = MontySandbox(PRELUDE, SandboxLimits(max_processes=1))
    session = await sandbox.open(ScriptedHost())
    assert "titel" in error(await session.run("Card(titel='x')", check=True)).message
    await session.close()
    await sandbox.close()


async def test_sessions_beyond_the_pool_wait_for_a_worker() -> None:
    sandbox = MontySandbox(PRELUDE, SandboxLimits(max_processes=1))
    first = await sandbox.open(ScriptedHost())
    other = await sandbox.open(ScriptedHost())
    waiting = asyncio.ensure_future(sandbox.open(ScriptedHost()))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    await first.close()
    second = await waiting
    assert await second.run("1") == Finished(1)
    await second.close()
    await other.close()
    await sandbox.close()


async def test_a_killed_worker_is_a_fatal_error(sandbox: MontySandbox) -> None:
    session = await sandbox.open(ScriptedHost())
    pid = session._worker.worker_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    outcome = await session.run("1")
    assert isinstance(outcome, Failed)
    assert outcome.error.fatal
    again = await sandbox.open(ScriptedHost())
    assert await again.run("1") == Finished(1)
    await again.close()
