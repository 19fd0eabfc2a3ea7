"""Skills that a person has to approve: the card, edited arguments, and what code can't do about it."""

import datetime

import pytest

from chat.runtime.approvals import (
    SkillInfo,
    approval_tree,
    decided_tree,
    edited,
    shown_values,
)
from chat.runtime.records import Wait
from chat.runtime.states import MountState, WaitState
from chat.sandbox.monty import MontySandbox
from chat.ui.nodes import field_nodes, form_names, parse_tree
from tests.runtime.harness import Talk, run

INFO = SkillInfo("Remember a value.", ("key", "value", "when"))
KEEP = run('await memory_set("colour", "red")\nprint("kept")', "Held back.")


def talk_about(sandbox: MontySandbox, *replies: str) -> Talk:
    talk = Talk(sandbox, *replies)
    talk.skills.approval = {"memory_set"}
    talk.say()
    return talk


async def test_the_call_happens_with_the_arguments_that_were_approved(sandbox: MontySandbox) -> None:
    talk = talk_about(sandbox, KEEP)
    assert await talk.work()
    assert talk.skills.done == []
    shown = talk.text()
    assert "May the agent call memory_set?" in shown
    assert "Remember a value." in shown
    await talk.recovered(talk.submit("m1", form="approve", key="colour", value="red"))
    assert talk.skills.done == [["colour", "red"]]
    assert talk.feedback == ["kept"]
    assert talk.store.mounts[0].state is MountState.SUBMITTED
    assert "Approved" in talk.text()


async def test_edited_arguments_are_used(sandbox: MontySandbox) -> None:
    talk = talk_about(sandbox, run('await memory_set("colour", value={"a": [1, 2]})'))
    await talk.work()
    await talk.recovered(talk.submit("m1", form="approve", key="hue", value='{"a": [1, 3]}'))
    assert talk.skills.done == [["hue"]]
    assert talk.skills.options == [{"value": {"a": [1, 3]}}]


async def test_what_can_not_be_read_is_asked_again(sandbox: MontySandbox) -> None:
    talk = talk_about(sandbox, run('await memory_set("colour", {"a": 1})\nprint("kept")'))
    await talk.work()
    assert await talk.recovered(talk.submit("m1", form="approve", key="colour", value='{"a": '))
    card = talk.store.mounts[0]
    assert card.state is MountState.OPEN
    assert "value can't be read" in card.error
    await talk.recovered(talk.submit("m1", form="approve", key="colour", value='{"a": 2}'))
    assert talk.skills.done == [["colour", {"a": 2}]]
    assert talk.store.mounts[0].error == ""


async def test_refusal(sandbox: MontySandbox) -> None:
    talk = talk_about(sandbox, KEEP)
    await talk.work()
    await talk.recovered(talk.submit("m1", form="refuse"))
    assert talk.skills.done == []
    assert "PermissionError" in talk.feedback[0]
    assert "refused" in talk.feedback[0]
    assert "Held back" not in talk.shown(talk.replies[0])
    assert "Refused" in talk.text()


async def test_a_second_decision_changes_nothing(sandbox: MontySandbox) -> None:
    talk = talk_about(sandbox, KEEP)
    await talk.work()
    twice = [talk.submit("m1", form="approve", key="colour", value="red") for _ in range(2)]
    await talk.recovered(*twice)
    assert len(talk.skills.done) == 1
    await talk.recovered(talk.submit("m1", form="approve", key="colour", value="red"))
    assert len(talk.skills.done) == 1


async def test_a_message_takes_the_question_back(sandbox: MontySandbox) -> None:
    talk = talk_about(sandbox, KEEP, "I see.", "Hm.")
    await talk.work()
    await talk.recovered(talk.say("rather not"))
    assert talk.store.mounts[0].state is MountState.CLOSED
    calls = len(talk.model.calls)
    await talk.recovered(talk.submit("m1", form="approve", key="colour", value="red"))
    assert talk.skills.done == []
    assert len(talk.model.calls) == calls


@pytest.mark.parametrize(
    "evil",
    [
        '_update("m1", \'{"c":"Text","p":{"text":"You have won"}}\', False)',
        '_close("m1")',
        'await _wait({"kind": "form", "mount": "m1", "timeout": None, "wait": 77}, "[]")',
        'await _wait({"kind": "sleep", "seconds": 0, "wait": 7}, \'[["m1", {"c":"Text","p":{"text":"won"}}]]\')',  # noqa: E501
        '_report("m1", "Note", "You have won")',
    ],
)
async def test_code_can_not_touch_the_card(sandbox: MontySandbox, evil: str) -> None:
    code = f"""
import asyncio
async def evil():
    try:
        {evil}
    except Exception as error:
        pass
await asyncio.gather(memory_set("colour", "red"), evil())
"""
    talk = talk_about(sandbox, run(code))
    assert await talk.work()
    card = talk.store.mounts[0]
    assert card.state is MountState.OPEN
    assert card.error == ""
    assert "memory_set" in talk.text(card)
    assert "won" not in talk.text(card)
    assert [wait.state for wait in talk.store.all(Wait)] == [WaitState.OPEN]
    await talk.recovered(talk.submit("m1", form="approve", key="colour", value="red"))
    assert talk.skills.done == [["colour", "red"]]


async def test_a_crash_after_one_of_two_approvals(sandbox: MontySandbox) -> None:
    """A call that was approved and may have run is not run again; the other one still waits."""
    both = 'asyncio.gather(memory_set("a", 1), memory_set("b", 2), return_exceptions=True)'
    code = f"import asyncio\nprint(await {both})"
    talk = talk_about(sandbox, run(code))
    await talk.work()
    first = talk.submit("m1", form="approve", key="a", value=1)
    talk.skills.hang = True
    await talk.crash_in(lambda: any(s.calls for s in talk.store.statements), first)
    talk.skills.hang = False
    assert await talk.recovered()
    assert talk.skills.done == []
    await talk.recovered(talk.submit("m2", form="approve", key="b", value=2))
    assert talk.skills.done == [["b", 2]]
    assert "restart" in talk.feedback[0]


VALUES = [
    "text", "", "two\nlines", "x" * 500, "  spaces  ", 0, 7, -3, 2**70, 0.5, float("inf"), True, False, None,
    [1, "a", None], {"a": {"b": []}}, datetime.date(2026, 1, 31), [datetime.datetime(2026, 1, 31, 12)],
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_arguments_that_are_not_edited_come_back_as_they_were(value: object) -> None:
    args, kwargs = ["k", value, 1, value], {"more": value}
    tree = parse_tree(approval_tree("memory_set", INFO, args, kwargs))
    names = [node.props["name"] for node in field_nodes(tree)]
    assert names == ["key", "value", "when", "argument 4", "more"]
    assert form_names(tree) == ["approve", "refuse"]
    parse_tree(decided_tree("memory_set", INFO, args, kwargs, approved=True))
    values = shown_values(INFO, args, kwargs)
    posted = {
        name: shown.strip().replace("\r\n", "\n") if isinstance(shown, str) else shown
        for name, shown in values.items()
    }
    assert edited(posted, INFO, args, kwargs) == (args, kwargs)
