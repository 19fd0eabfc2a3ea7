"""What running the agent's code costs. Run on demand: `pytest tests/bench/test_sandbox.py -s`.

Nothing is asserted: figures depend on the machine. What should be seen: 1 ms from a statement to its host
call, 2 ms more with the type check, the same after hundreds of statements; 3 ms to save a waiting program, 2
ms to go on with it; about 30 kB for a conversation that waits.
"""

# ruff: noqa: T201 - printing is what this is for

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from chat.sandbox.base import HostCall, Suspended, Value
from chat.sandbox.limits import SandboxLimits
from chat.sandbox.monty import MontySandbox
from chat.sandbox.prelude import entry_callback, entry_renders
from tests.sandbox.scripted import PRELUDE, ScriptedHost

FORM = """\
form = mount(Card(
    TextField("name", label="Your name"), NumberField("guests", min=1, max=12),
    Select("time", options=["18:00", "19:30"]), SubmitButton("Book"), title="Book a table",
))
booking = await form.result()
print("booked", booking)
"""
MANY = 10_000
MS = 1000


@pytest.fixture
async def sandbox() -> AsyncIterator[MontySandbox]:
    made = MontySandbox(PRELUDE, SandboxLimits(max_processes=4))
    yield made
    await made.close()


def shown(name: str, seconds: list[float]) -> None:
    ordered = sorted(seconds)
    p50, p99 = statistics.median(ordered), ordered[int(len(ordered) * 0.99)]
    print(f"{name}: p50 {p50 * MS:.2f} ms, p99 {p99 * MS:.2f} ms ({len(ordered)} times)")


async def timed(action: Callable[[], Awaitable[object]], times: int) -> list[float]:
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        await action()
        taken.append(time.perf_counter() - started)
    return taken


class Clock(ScriptedHost):
    """Notes when a host call arrives."""

    at = 0.0

    def answered(self, call: HostCall) -> Value:
        self.at = time.perf_counter()
        return Value("m1")


@pytest.mark.parametrize("check", [False, True])
async def test_from_a_statement_to_its_host_call(sandbox: MontySandbox, check: bool) -> None:
    session = await sandbox.open(host := Clock())
    await session.run("data = Data(n=0)", check=check)
    for statements in (0, 300):
        for number in range(statements):
            await session.run(f"x{number} = [n * 2 for n in range({number})]", check=check)
        taken = []
        for _ in range(300):
            started = time.perf_counter()
            await session.run('mount(Card(Text(f"{data.n} clicks"), title="Count"))', check=check)
            taken.append(host.at - started)
        shown(f"\nstatement to host call, check={check}, after {statements} statements", taken)
    await session.close()


async def test_starting_saving_and_going_on(sandbox: MontySandbox) -> None:
    started = time.perf_counter()
    first = await sandbox.open(ScriptedHost())
    print(f"\nthe first session of the process: {(time.perf_counter() - started) * MS:.0f} ms")
    fresh = await first.dump()
    await first.close()

    async def open_and_close() -> None:
        await (await sandbox.open(ScriptedHost(), fresh)).close()

    shown("open and close a session", await timed(open_and_close, 200))
    session = await sandbox.open(host := ScriptedHost())
    assert isinstance(await session.run(FORM, check=True), Suspended)
    shown("save a waiting program", await timed(session.dump, 200))
    saved = await session.dump()
    await session.close()
    print(f"a fresh namespace: {len(fresh)} bytes; one that waits for a form: {len(saved)} bytes")
    opened, resumed = [], []
    for _ in range(200):
        started = time.perf_counter()
        session = await sandbox.open(host, saved, suspended=True)
        opened.append(time.perf_counter() - started)
        (call,) = session.pending
        await session.resume({call: Value({"t": "value", "v": {"name": "Ada"}})})
        resumed.append(time.perf_counter() - started)
        await session.close()
    shown("load a waiting program", opened)
    shown("load a waiting program and run it to its end", resumed)


async def test_a_click_and_drawing(sandbox: MontySandbox) -> None:
    session = await sandbox.open(host := ScriptedHost())
    await session.run("data = Data(n=0)\ndef up():\n    data.n += 1")
    await session.run("mount(lambda: Card(Metric('n', data.n), Button('+', on_click=up)))")
    for _ in range(9):
        await session.run("mount(lambda: Card(*[Text(i) for i in range(20)]))")
    click = host.find("m1", "Button")["on_click"]
    shown("\na callback", await timed(lambda: session.run(*entry_callback(click)), 500))
    shown("drawing ten live mounts", await timed(lambda: session.run(*entry_renders()), 500))
    size = len(await session.dump())
    for _ in range(MANY):
        await session.run(*entry_callback(click))
    print(f"the snapshot after {MANY} callbacks: {len(await session.dump()) - size} bytes more")
    await session.close()


async def test_a_large_table(sandbox: MontySandbox) -> None:
    session = await sandbox.open(ScriptedHost())
    await session.run("rows = [{'id': i, 'name': f'n{i}', 'v': i / 3} for i in range(2000)]")
    shown("\na table of 2,000 rows", await timed(lambda: session.run("mount(Table(rows))"), 20))
    shown("1,000 nodes", await timed(lambda: session.run("mount(Stack(*map(Text, range(1000))))"), 20))
    await session.close()


def workers() -> int:
    """Return how many child processes this process has."""
    return sum(len(path.read_text().split()) for path in Path("/proc/self/task").glob("*/children"))


async def test_many_waiting_conversations(sandbox: MontySandbox) -> None:
    host = ScriptedHost()
    stored = []
    started = time.perf_counter()

    async def begin(number: int) -> None:
        session = await sandbox.open(ScriptedHost())
        await session.run(f"me = {number}\n{FORM}")
        stored.append(await session.dump())
        await session.close()

    for first in range(0, MANY, 4):
        await asyncio.gather(*(begin(number) for number in range(first, first + 4)))
    spent = time.perf_counter() - started
    print(f"\n{MANY} conversations brought to their wait in {spent:.0f} s, {spent / MANY * MS:.1f} ms each")
    print(f"{sum(map(len, stored)) / MANY / 1000:.1f} kB each; {workers()} idle workers in all")
    taken = []
    for number in range(0, MANY, MANY // 200):
        before = time.perf_counter()
        session = await sandbox.open(host, stored[number], suspended=True)
        (call,) = session.pending
        await session.resume({call: Value({"t": "value", "v": {"name": "Ada"}})})
        taken.append(time.perf_counter() - before)
        await session.close()
    shown("one submit among them", taken)
