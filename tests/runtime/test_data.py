"""Data that streams into what is shown: what somebody saw is there for the code, however the data ended."""

import asyncio

import pytest

from chat.runtime.records import Block
from chat.runtime.states import BlockState, InboxKind
from chat.sandbox.monty import MontySandbox
from tests.runtime.harness import Talk, run

FILMS = 'films = StreamedData("films")\nmount(lambda: Text(f"films: {films.value}"))'
BEFORE = '```json agent.data => "films"\n["Solaris", "Dune"'
SHOWN = "films: ['Solaris', 'Dune']"
ASK = run("print(films.value)")


async def cut_talk(sandbox: MontySandbox, rest: str, *replies: str) -> tuple[Talk, asyncio.Task[bool]]:
    """Return a conversation whose page shows data that is not complete; it goes on with the gate `rest`."""
    talk = Talk(sandbox, f"{run(FILMS)}{BEFORE}§rest§{rest}", *replies)
    talk.model.gates["rest"] = asyncio.Event()
    talk.say()
    working = asyncio.create_task(talk.work())
    await talk.until(lambda: bool(talk.store.mounts) and SHOWN in talk.text())
    return talk, working


def data_block(talk: Talk) -> Block:
    return next(block for block in talk.store.all(Block) if block.kind == "data")


async def test_data_that_a_death_cut_keeps_what_it_showed(sandbox: MontySandbox) -> None:
    talk, working = await cut_talk(sandbox, "]\n```\n", ASK, "Good.")
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    await talk.restart()
    assert SHOWN in talk.text()
    assert "was cut off" in talk.feedback[0]
    assert "['Solaris', 'Dune']" in talk.feedback[1]
    assert data_block(talk).state is BlockState.FAILED


@pytest.mark.parametrize("restarted", [False, True], ids=["goes on", "restarted"])
async def test_data_that_its_user_stopped_keeps_what_it_showed(
    sandbox: MontySandbox, restarted: bool
) -> None:
    talk, working = await cut_talk(sandbox, "]\n```\n", ASK, "Good.")
    talk.put(InboxKind.STOP)
    await working
    item = talk.say("What is there?")
    if restarted:
        await talk.recovered(item)
    else:
        await talk.work()
    assert "['Solaris', 'Dune']" in talk.feedback[0]
    assert SHOWN in talk.text()


@pytest.mark.parametrize("restarted", [False, True], ids=["goes on", "restarted"])
@pytest.mark.parametrize(
    ("rest", "told"), [(", oops]\n```\n", "line 1"), ("", "was cut off")], ids=["bad", "cut off"]
)
async def test_data_that_fails_keeps_what_it_showed(
    sandbox: MontySandbox, rest: str, told: str, restarted: bool
) -> None:
    talk, working = await cut_talk(sandbox, rest, "I see.")
    talk.model.gates["rest"].set()
    await working
    assert told in talk.feedback[0]
    talk.model.replies = [ASK, "Good."]
    item = talk.say("What is there?")
    if restarted:
        await talk.recovered(item)
    else:
        await talk.work()
    assert "['Solaris', 'Dune']" in talk.feedback[1]
    assert SHOWN in talk.text()


async def test_data_that_was_stopped_before_it_began_leaves_nothing(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, f'{run(FILMS)}```json agent.data => "films"\n§rest§[1]\n```\n', ASK, "Good.")
    talk.model.gates["rest"] = asyncio.Event()
    talk.say()
    working = asyncio.create_task(talk.work())
    await talk.until(lambda: any(b.kind == "data" and b.state == "running" for b in talk.store.all(Block)))
    talk.put(InboxKind.STOP)
    await working
    talk.say("What is there?")
    await talk.work()
    assert "None" in talk.feedback[0]
