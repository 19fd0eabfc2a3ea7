"""The code in the demo's scripts, in the real sandbox."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from chat.llm import FEEDBACK_MARK, ModelMessage
from chat.llm.demo import choose_reply
from chat.llm.demo_script import DemoScript, load_scripts
from chat.sandbox.monty import MontySandbox
from tests.player import Player, make_sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

# The wizard's riddle: three would be asked for ever.
ANSWERS = {"wizard": {"n": 7}}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[MontySandbox]:
    made = make_sandbox()
    yield made
    await made.close()


@pytest.mark.parametrize("script", load_scripts(), ids=lambda script: script.name)
async def test_scripts_run_to_a_quiet_end(script: DemoScript, sandbox: MontySandbox) -> None:
    player = Player(answers=ANSWERS.get(script.name, {}))
    session = await sandbox.open(player)
    history = [ModelMessage("user", script.prompt)]
    text = script.replies[0].text
    for turn in range(len(script.replies)):
        await player.play(session, text)
        happened = player.output + "\n".join(player.errors)
        player.output = ""
        if not happened:
            break
        if turn == 0:
            assert bool(player.errors) == (script.name == "error"), player.errors
        player.errors.clear()
        history += [ModelMessage("assistant", text), ModelMessage("user", f"{FEEDBACK_MARK}\n{happened}")]
        text = choose_reply(history)
        assert any(other.wrote(text) for other in script.replies)
    else:
        assert not player.errors
    await player.touch_everything(session)
    assert player.errors == []
    assert player.reports == []
    await session.close()


async def test_the_wrong_argument_is_refused_before_the_statement_runs(sandbox: MontySandbox) -> None:
    script = next(script for script in load_scripts() if script.name == "error")
    player = Player()
    session = await sandbox.open(player)
    await player.play(session, script.replies[0].text)
    assert len(player.trees) == 1
    assert "titel" in player.errors[0]
    assert "before it ran" in player.errors[0]
    await session.close()


async def test_buttons_of_the_counter(sandbox: MontySandbox) -> None:
    script = next(script for script in load_scripts() if script.name == "counter")
    player = Player()
    session = await sandbox.open(player)
    await player.play(session, script.replies[0].text)
    assert await player.touch_everything(session) == 3  # one less, one more, and the question
    assert player.output == "the user wants to talk about 0\n"
    await session.close()
