"""Replies, their effects in order, feedback and turns."""

import re
from pathlib import Path

import pytest

from chat.runtime.states import MessageState, MountState, StatementState
from chat.sandbox.monty import MontySandbox
from tests.runtime.harness import Talk

REPLIES = Path(__file__).parent.parent / "replies"


def golden(name: str) -> str:
    """Return a golden reply without its first comment."""
    return re.sub(r"\A<!--.*?-->\n", "", (REPLIES / f"{name}.md").read_text(), flags=re.S)


@pytest.mark.parametrize("size", [1, 3, 1000])
async def test_text_only(sandbox: MontySandbox, size: int) -> None:
    talk = Talk(sandbox, golden("01-text"), size=size)
    talk.say()
    await talk.work()
    assert talk.shown(talk.replies[0]) == golden("01-text")
    assert [m.state for m in talk.replies] == [MessageState.DONE]


@pytest.mark.parametrize("size", [1, 3, 1000])
async def test_form_waits_and_goes_on(sandbox: MontySandbox, size: int) -> None:
    talk = Talk(sandbox, golden("02-form"), golden("02-form.2"), size=size)
    talk.say()
    assert await talk.work()
    assert talk.store.mounts[0].state is MountState.OPEN
    assert "Thank you" not in talk.shown(talk.replies[0])
    answer = {"name": "Ada", "guests": 2, "time": "19:30", "terrace": False}
    assert not await talk.recovered(talk.submit("m1", **answer))
    assert "Thank you" in talk.shown(talk.replies[0])
    assert talk.feedback == [f"booked {answer}"]
    assert talk.store.mounts[0].state is MountState.SUBMITTED
    assert "reserved" in talk.shown(talk.replies[1])


async def test_streamed_data(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, golden("03-data"))
    talk.say()
    await talk.work()
    assert "Films (4)" in talk.text()
    assert "complete" in talk.text()
    assert talk.feedback == []


async def test_callbacks(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, golden("04-callback"), "Let us talk.")
    talk.say()
    await talk.work()
    for _ in range(3):
        talk.click("+1")
        await talk.work()
    assert "3" in talk.text()
    assert len(talk.model.calls) == 1
    talk.click("Ask the agent")
    await talk.work()
    assert talk.feedback == ["the user wants to talk about 3"]


async def test_slots(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, golden("05-slots"))
    talk.say()
    await talk.work()
    assert talk.feedback == [], talk.feedback
    assert "62" in talk.text()


async def test_a_slot_with_a_function_follows_the_state(sandbox: MontySandbox) -> None:
    code = (
        'd = Data(n=1)\nshell = mount(Card(Slot("a"), Button("More", on_click=lambda: setattr(d, "n", 2))))\n'
    )
    code += 'shell.slot("a", lambda: Text(f"n is {d.n}"))'
    talk = Talk(sandbox, f"```python agent.run\n{code}\n```\n")
    talk.say()
    await talk.work()
    assert "n is 1" in talk.text()
    talk.click("More")
    await talk.work()
    assert "n is 2" in talk.text()


async def test_error_drops_the_rest(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, golden("06-error"), golden("06-error.2"))
    talk.say()
    await talk.work()
    assert talk.states[:2] == [StatementState.DONE, StatementState.FAILED]
    assert "Done, it is sent" not in talk.shown(talk.replies[0])
    assert len(talk.store.mounts) == 2
    assert "titel" in talk.feedback[0]
    assert "line 2" in talk.feedback[0]
    assert "never runs" not in str(talk.feedback)


async def test_wizard(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, golden("07-wizard"), golden("07-wizard.2"))
    talk.say()
    assert await talk.work()
    for mount, answer in [("m1", {"name": "Ada"}), ("m2", {"n": 3}), ("m3", {"n": 7})]:
        assert await talk.recovered(talk.submit(mount, **answer))
    assert not await talk.recovered(talk.submit("m4", colours=["red"]))
    assert talk.feedback == ["{'name': 'Ada', 'tries': 2, 'colours': ['red']}"]
    assert all(mount.state is MountState.SUBMITTED for mount in talk.store.mounts)


async def test_markdown_in_code(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, golden("08-markdown-in-code"))
    talk.say()
    await talk.work()
    assert "```js" in talk.text()
    assert talk.feedback == []


async def test_progress(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, golden("09-progress"), golden("09-progress.2"))
    talk.say()
    await talk.work()
    assert talk.feedback == ["3 times"]
