"""Programs that try to take the process down get a normal error, and the process keeps its memory."""

# ruff: noqa: E501 - code samples stay on one line

import asyncio
import gc
import time
from dataclasses import dataclass

import pytest

from chat.sandbox.base import LATER, Answer, CodeError, Failed, HostCall, Session, Suspended, Value
from chat.sandbox.limits import SandboxLimits
from chat.sandbox.monty import MontySandbox
from tests.sandbox.scripted import PRELUDE, ScriptedHost, own_memory, run

pytestmark = pytest.mark.asyncio(loop_scope="session")

LIMITS = SandboxLimits(
    turn_seconds=2, statement_seconds=8, ui_seconds=0.5, max_processes=4, memory_bytes=64 << 20
)
MEMORY_ALLOWED = 48 << 20
# How long a program may hold things up: its own limit, the watchdog's grace and a slow machine.
SECONDS_ALLOWED = 15.0


@dataclass(frozen=True)
class Hostile:
    code: str
    type: str
    says: str
    fatal: bool = False


PROGRAMS = {
    "endless loop": Hostile("while True: pass", "TimeoutError", "time limit", fatal=True),
    "endless loop that catches": Hostile(
        "while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass",
        "TimeoutError", "time limit", fatal=True,
    ),
    "endless async loop": Hostile(
        "async def f():\n    while True:\n        await g()\nasync def g(): pass\nawait f()",
        "TimeoutError", "time limit", fatal=True,
    ),
    "endless iterator": Hostile("import itertools\nsum(itertools.count())", "TimeoutError", "time limit", fatal=True),
    "huge sum": Hostile("sum(range(10**11))", "TimeoutError", "time limit", fatal=True),
    "huge list": Hostile("x = [0] * 10**10", "MemoryError", "memory limit"),
    "huge range": Hostile("x = list(range(10**9))", "MemoryError", "memory limit"),
    "doubling text": Hostile("x = 'a'\nwhile True: x += x", "MemoryError", "memory limit", fatal=True),
    "growing list": Hostile(
        "x = []\nwhile True: x.append('y' * 1000)", "MemoryError", "memory limit", fatal=True
    ),
    "recursion": Hostile("def f(n): return f(n + 1) + 1\nf(0)", "RecursionError", "recursion"),
    "mutual recursion": Hostile(
        "def f(n): return g(n)\ndef g(n): return [f(n) for _ in range(2)]\nf(0)", "RecursionError", "recursion"
    ),
    "huge power": Hostile("2**(10**9)", "MemoryError", "memory limit"),
    "huge shift": Hostile("x = 1 << 10**10", "MemoryError", "memory limit"),
    "print flood": Hostile(
        "for _ in range(10**7): print('x' * 1000)", "RuntimeError", "printed more than 200000 characters"
    ),
    "print flood in one": Hostile("print('x' * 10**7)", "RuntimeError", "printed more than"),
    "print flood that catches": Hostile(
        "while True:\n    try:\n        print('x' * 10**6)\n    except Exception:\n        pass",
        "TimeoutError", "time limit", fatal=True,
    ),
    "a million host calls": Hostile(
        "for i in range(10**6): StreamedData(f't{i}')", "RuntimeError", "more than 1000 host calls"
    ),
    "a million host calls that catch": Hostile(
        "for i in range(10**6):\n    try:\n        StreamedData('t')\n    except Exception:\n        pass",
        "RuntimeError", "more than 1000 host calls", fatal=True,
    ),
    "a million nodes": Hostile("mount(Stack(*[Text('x') for _ in range(10**6)]))", "", ""),
    "many nodes": Hostile("mount(Stack(*['x' for _ in range(20_500)]))", "ValueError", "at most 20000 nodes"),
    "much text": Hostile("mount(Text('x' * 5_000_000))", "ValueError", "at most 2000000"),
    "deep tree": Hostile(
        "n = Text('x')\nfor _ in range(500): n = Stack(n)\nmount(n)", "ValueError", "more than 60 levels"
    ),
    "tree in itself": Hostile("n = Stack(Text('x'))\nn.n.append(n)\nmount(n)", "ValueError", "contains itself"),
    "value in itself": Hostile("x = []\nx.append(x)\nmount(Json(x))", "ValueError", "contains itself"),
    "huge number on the page": Hostile("mount(Json([10 ** 5000]))", "ValueError", "more than 300 digits"),
    "dict in itself": Hostile("x = {}\nx['x'] = x\nmount(Table([x]))", "ValueError", "contains itself"),
    "list of children in itself": Hostile("x = []\nx.append(x)\nmount(Stack(x))", "RecursionError", "recursion"),
    "value in itself to a skill": Hostile(
        "x = []\nx.append(x)\nawait memory_set('x', x)", "ValueError", "contains itself"
    ),
    "value in itself among others to a skill": Hostile(
        "x = [datetime.date(2026, 1, 1)]\nx.append({'x': x})\nawait memory_set('x', x)", "ValueError", "contains itself"
    ),
    "deep value to a skill": Hostile(
        "x = 1\nfor _ in range(10**5): x = [x]\nawait memory_set('x', x)", "ValueError", "nested so deep"
    ),
    "large value to a skill": Hostile(
        "await memory_set('x', 'y' * 10_000_000)", "TypeError", "larger than 1000000 bytes"
    ),
    "many values to a skill": Hostile(
        "await memory_set('x', [None] * 10**6)", "MemoryError", "memory limit", fatal=True
    ),
    "huge number to a skill": Hostile("await memory_set('x', 1 << 40_000_000)", "TypeError", "larger than"),
    "function to a skill": Hostile("await memory_set('x', print)", "TypeError", "plain data"),
    "instance to a skill": Hostile("class A: pass\nawait memory_set('x', A())", "TypeError", "plain data"),
    "endless ui": Hostile(
        "def ui():\n    while True: pass\nmount(ui)", "TimeoutError", "took longer than 0.5 s", fatal=True
    ),
    "ui that calls the host": Hostile("mount(lambda: mount(Text('x')))", "RuntimeError", "a ui function can't call"),
    "ui that calls the host by its own name": Hostile(
        "mount(lambda: _mount('{}', False, False))", "RuntimeError", "a ui function can't call"
    ),
    "ui that prints": Hostile("mount(lambda: print('x'))", "RuntimeError", "a ui function can't call print"),
    "endless timers": Hostile(
        "while True: every(1, lambda: None)", "RuntimeError", "more than 1000 host calls"
    ),
    "files": Hostile("open('/etc/passwd').read()", "PermissionError", "Permission denied"),
    "folders": Hostile("import os\nos.listdir('/')", "PermissionError", "Permission denied"),
    "paths": Hostile("from pathlib import Path\nPath('/etc/passwd').read_text()", "PermissionError", "denied"),
    "environment": Hostile("import os\nos.environ", "RuntimeError", "not supported"),
    "environment by name": Hostile("import os\nos.getenv('SECRET_KEY')", "RuntimeError", "not supported"),
    "internals": Hostile("().__class__.__mro__", "AttributeError", "__class__"),
    "globals of a function": Hostile("mount.__globals__", "AttributeError", "__globals__"),
    "import in eval": Hostile("eval('__import__(\\'os\\')')", "NameError", "__import__"),
    "an unknown host function": Hostile("_system('ls')", "NameError", "'_system' is not defined"),
    "long source": Hostile("x = '" + "y" * 200_000 + "'", "SyntaxError", "too many"),
    "deeply nested source": Hostile("x = " + "(" * 5_000 + ")" * 5_000, "SyntaxError", "nested"),
    "deeply nested operators": Hostile("x = " + "-" * 20_000 + "1", "SyntaxError", "nested"),
    "not text": Hostile("x = '\0'", "SyntaxError", "null"),
}  # fmt: skip

QUIET = {
    "catastrophic expression": "import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')",
    "catastrophic expression with a look-ahead": "import re\nre.match(r'(?=(a+)+$)b', 'a' * 40 + 'b')",
    "catastrophic words": "import re\nre.match(r'^(\\w+\\s?)*$', 'word ' * 30 + '!')",
    "broken characters": "mount(Text('\\ud800 \\x00'))\nprint('\\ud800')",
    "numbers that are none": "mount(Json([float('nan'), float('inf'), -float('inf')]))",
    "large numbers on the page": "mount(Json(10 ** 200))\nmount(Text(10 ** 400))\nmount(Metric('n', 2 ** 100))",
    "data that looks like nodes": "mount(Json({'$n': {'c': 'Card'}, '$d': {'$date': 'x'}}))",
}


@pytest.fixture(scope="module")
def limited() -> MontySandbox:
    return MontySandbox(PRELUDE, LIMITS)


async def attempt(limited: MontySandbox, code: str) -> tuple[CodeError | None, int, Session]:
    """Return the error, how much memory of this process it cost, and the session."""
    session = await limited.open(host := ScriptedHost())
    gc.collect()
    before = own_memory()
    outcome = await run(session, host, code, check=False)
    assert len(host.output) <= 2 * LIMITS.output_chars
    return outcome.error if isinstance(outcome, Failed) else None, own_memory() - before, session


@pytest.mark.parametrize("name", PROGRAMS)
async def test_it_ends_with_a_normal_error(limited: MontySandbox, name: str) -> None:
    program = PROGRAMS[name]
    started = time.monotonic()
    error, memory, session = await attempt(limited, program.code)
    if program.type:
        assert error is not None
        assert (error.type, error.fatal) == (program.type, program.fatal), error.text()
        assert program.says in error.message
        assert error.text()
    assert memory < MEMORY_ALLOWED
    assert time.monotonic() - started < SECONDS_ALLOWED
    if error is None or not error.fatal:
        assert await session.run("1 + 1") == (await session.run("2"))
    await session.close()
    await still_works(limited)


@pytest.mark.parametrize("name", QUIET)
async def test_it_does_no_harm(limited: MontySandbox, name: str) -> None:
    error, memory, session = await attempt(limited, QUIET[name])
    assert error is None or error.type in ("TimeoutError", "RuntimeError"), error.text()
    assert memory < MEMORY_ALLOWED
    await session.close()
    await still_works(limited)


async def still_works(limited: MontySandbox) -> None:
    session = await limited.open(ScriptedHost())
    outcome = await session.run("'fine'", check=True)
    assert outcome == type(outcome)("fine")
    await session.close()


class Silent(ScriptedHost):
    """A host whose calls never come back."""

    def call(self, call: HostCall) -> Answer:
        return LATER


async def test_a_host_call_that_never_returns_holds_nothing(limited: MontySandbox) -> None:
    session = await limited.open(Silent())
    outcome = await session.run("await fetch('https://example.com')")
    assert isinstance(outcome, Suspended)
    saved = await session.dump()
    await session.close()
    again = await limited.open(Silent(), saved, suspended=True)
    assert again.pending == outcome.pending
    await again.close()


async def test_a_running_program_can_be_killed(limited: MontySandbox) -> None:
    session = await limited.open(ScriptedHost())
    running = asyncio.ensure_future(session.run("while True: pass"))
    await asyncio.sleep(0.05)
    started = time.monotonic()
    await session.close()
    assert time.monotonic() - started < LIMITS.turn_seconds / 2
    outcome = await running
    assert isinstance(outcome, Failed)
    assert outcome.error.fatal
    await session.close()
    await still_works(limited)


async def test_a_cancelled_program_is_killed(limited: MontySandbox) -> None:
    session = await limited.open(ScriptedHost())
    running = asyncio.ensure_future(session.run("while True: pass"))
    await asyncio.sleep(0.05)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await still_works(limited)


async def test_many_conversations_in_turn_leave_no_memory(limited: MontySandbox) -> None:
    async def one(number: int) -> None:
        session = await limited.open(ScriptedHost())
        await session.run(f"data = Data(n={number}, text='x' * 100_000)")
        await session.dump()
        await session.close()

    for number in range(20):
        await one(number)
    gc.collect()
    before = own_memory()
    for number in range(200):
        await one(number)
    gc.collect()
    assert own_memory() - before < MEMORY_ALLOWED / 4


async def test_ten_thousand_host_calls_in_a_life_are_no_matter(limited: MontySandbox) -> None:
    host = ScriptedHost()
    session = await limited.open(host)
    for _ in range(10):
        assert await session.run("for i in range(999): StreamedData('t')") == await session.run("None")
    outcome = await session.run("for i in range(1200): await sleep(0.3)")
    while isinstance(outcome, Suspended):
        outcome = await session.resume({call: Value({"t": "value", "v": None}) for call in outcome.pending})
    assert not isinstance(outcome, Failed)
    assert len(host.calls) > 10_000
    await session.close()
