"""Hostile programs through the whole runtime: the model gets a normal error, and the next turn works."""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from chat.runtime.limits import Limits
from chat.runtime.states import StatementState
from chat.sandbox.limits import SandboxLimits
from chat.sandbox.monty import MontySandbox
from tests.runtime.harness import Talk, make_sandbox, run

TIGHT = SandboxLimits(turn_seconds=0.5, statement_seconds=2, ui_seconds=0.3)
MEMORY_BYTES = 60_000_000  # that the process may gain by a hostile program; the programs ask for gigabytes


@dataclass(frozen=True)
class Hostile:
    """A program, what the model is told about it, and whether the namespace survives."""

    code: str
    told: str
    skill: str = ""


PROGRAMS = {
    "an endless loop": Hostile("while True: pass", "Timeout"),
    "a huge list": Hostile("x = [0] * 10**10", "MemoryError"),
    "a string that doubles": Hostile('s = "ab"\nwhile True:\n    s = s + s', "MemoryError"),
    "deep recursion": Hostile("def f(n):\n    return f(n + 1) + 1\nf(0)", "RecursionError"),
    "a huge power": Hostile("x = 2**(10**9)", "MemoryError"),
    "a slow regular expression": Hostile('import re\nprint(re.match("(a+)+$", "a" * 40 + "b"))', ""),
    "endless output": Hostile('for _ in range(10**7): print("x" * 1000)', "printed more than"),
    "a million host calls": Hostile(
        'panel = mount(Text("0"))\nfor i in range(10**6): panel.update(Text(str(i)))', "host calls"
    ),
    "a skill that never returns": Hostile("await now()", "TimeoutError", skill="hangs"),
    "a million nodes": Hostile("mount(Stack(*[Text(str(i)) for i in range(10**6)]))", "Error"),
    "a list in itself": Hostile("x = []\nx.append(x)\nmount(Json(x))", "Error"),
    "a list in itself for a skill": Hostile('x = []\nx.append(x)\nawait memory_set("x", x)', "Error"),
    "a ui function without end": Hostile("def ui():\n    while True: pass\nmount(ui)", "TimeoutError"),
    "a callback storm": Hostile(
        "import asyncio\nawait asyncio.gather(*[now() for _ in range(5000)])", "host calls"
    ),
}


@pytest.fixture
async def tight() -> AsyncIterator[MontySandbox]:
    made = make_sandbox(TIGHT)
    yield made
    await made.close()


@pytest.mark.parametrize("name", PROGRAMS)
async def test_the_model_gets_an_error_and_goes_on(tight: MontySandbox, name: str) -> None:
    program = PROGRAMS[name]
    talk = Talk(
        tight,
        run("kept = 'still here'"),
        run(program.code, "Not shown."),
        "I see.",
        run("print(kept)"),
        "Good.",
        limits=Limits(linger_seconds=0.05, skill_seconds=0.3),
    )
    talk.say()
    await talk.work()
    if program.skill:
        talk.skills.gate = asyncio.Event()
    before = memory()
    talk.say()
    await talk.work()
    grown = memory() - before
    talk.skills.gate = None
    assert talk.states[1:][-1] in (StatementState.FAILED, StatementState.DONE)
    assert len(talk.feedback) == 1
    assert program.told in talk.feedback[0]
    assert len(talk.feedback[0]) <= talk.limits.feedback_chars * 1.1
    if talk.states[-1] is StatementState.FAILED:
        assert "Not shown" not in talk.shown(talk.replies[1])
    talk.say()
    await talk.work()
    assert talk.feedback[-1] == "still here"
    assert grown < MEMORY_BYTES


@pytest.mark.parametrize(
    "call",
    [
        "_update()", '_update("m1")', '_mount("{", 1, 2)', "_mount(None, None, None)", '_every("t", "often")',
        'await _wait({"kind": "soon"}, "[]")', 'await _wait(5, "[]")',
        'await _wait({"kind":"form","wait":1,"mount":"m9"}, "[")',
        '_close("m9")', '_stream({})', '_report(1, 2, 3)', "await _skill(1, 2, 3, 4)", '_stop_timer([])',
    ],
)  # fmt: skip
async def test_host_calls_made_by_hand(sandbox: MontySandbox, call: str) -> None:
    talk = Talk(sandbox, run(call), "I see.", run("print('alive')"), "Good.")
    for _ in range(2):
        talk.say()
        await talk.work()
    assert talk.feedback[-1] == "alive"


async def test_output_of_a_statement_is_cut_for_page_and_model(sandbox: MontySandbox) -> None:
    code = 'for i in range(150): print("x" * 1000)\nprint("end")'
    talk = Talk(sandbox, run(code), limits=replace(Limits(), output_chars=5_000, feedback_chars=3_000))
    talk.say()
    await talk.work()
    flood = talk.store.statements[0]
    assert len(flood.output) < 5_200
    assert "cut" in flood.output
    assert len(talk.feedback[0]) < 3_300
    assert "cut out" in talk.feedback[0]
    assert talk.feedback[0].endswith("end")


async def test_mounts_of_a_conversation_are_limited(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, run("for i in range(20): mount(Text(str(i)))"), limits=Limits(mounts=10))
    talk.say()
    await talk.work()
    assert len(talk.store.mounts) == 10
    assert "the most that are allowed" in talk.feedback[0]


async def test_many_host_calls_over_a_life_end_nothing(sandbox: MontySandbox) -> None:
    """A conversation with 10,000 host calls goes on."""
    code = 'panel = mount(Text("0"))'
    more = "for i in range(500): panel.update(Text(str(i)))"
    talk = Talk(sandbox, run(code), *[run(more)] * 20, run("print('alive')"), "")
    for _ in range(22):
        talk.say()
        await talk.work()
    assert talk.feedback == ["alive"]


def memory() -> int:
    """Return the bytes of memory that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
