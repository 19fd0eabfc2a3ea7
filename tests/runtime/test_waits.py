"""What code waits for: people, times, skills and approvals; and what happens meanwhile."""

import asyncio

from chat.runtime.limits import Limits
from chat.runtime.records import Statement, Wait
from chat.runtime.states import InboxKind, InboxState, MountState, StatementState, WaitState
from chat.sandbox.monty import MontySandbox
from tests.runtime.harness import Talk, run

FORM = 'form = mount(Card(TextField("name"), SubmitButton("Go")))\n'
COUNTER = """
data = Data(count=0)
def more():
    data.count += 1
mount(lambda: Card(Metric("Count", data.count), Button("More", on_click=more)))
"""


async def test_callbacks_run_while_code_waits_for_a_person(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, run(COUNTER + FORM + "answer = await form.result()\nprint(answer, data.count)"))
    talk.say()
    assert await talk.work()
    counter = talk.store.mounts[0]
    for number in range(1, 4):
        assert await talk.recovered(talk.click("More", counter))
        assert str(number) in talk.text(talk.store.mounts[0])
    await talk.recovered(talk.submit("m2", name="Ada"))
    assert talk.feedback == ["{'name': 'Ada'} 3"]


async def test_a_wait_that_another_runner_takes_over_is_still_one(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, run(FORM + "await form.result()"))
    talk.say()
    assert await talk.work()
    assert talk.store.conversation.state == "waiting"
    assert await talk.recovered()
    assert talk.store.conversation.state == "waiting"


async def test_a_callback_that_waits_and_is_taken_over_is_still_one(sandbox: MontySandbox) -> None:
    code = 'async def more():\n    await ask(Card(TextField("a"), SubmitButton("Go")))\n'
    talk = Talk(sandbox, run(code + 'mount(Button("More", on_click=more))'))
    talk.say()
    await talk.work()
    assert await talk.recovered(talk.click("More"))
    assert talk.store.conversation.state == "waiting"
    assert await talk.recovered()
    assert talk.store.conversation.state == "waiting"


async def test_a_callback_that_fails_in_a_wait_leaves_the_wait(sandbox: MontySandbox) -> None:
    code = 'def broken():\n    return 1 / 0\nmount(Button("Break", on_click=broken))\n' + FORM
    talk = Talk(sandbox, run(code + "answer = await form.result()\nprint(answer)"))
    talk.say()
    await talk.work()
    assert await talk.recovered(talk.click("Break", talk.store.mounts[0]))
    assert "ZeroDivisionError" in talk.store.mounts[0].error
    await talk.recovered(talk.submit("m2", name="Ada"))
    assert "ZeroDivisionError" in talk.feedback[0]
    assert "{'name': 'Ada'}" in talk.feedback[0]


async def test_a_callback_that_never_ends_leaves_the_wait(sandbox: MontySandbox) -> None:
    code = 'def hang():\n    while True:\n        pass\nmount(Button("Hang", on_click=hang))\n' + FORM
    talk = Talk(sandbox, run(code + "answer = await form.result()\nprint(answer)"))
    talk.say()
    await talk.work()
    assert await talk.recovered(talk.click("Hang", talk.store.mounts[0]))
    await talk.recovered(talk.submit("m2", name="Ada"))
    assert "In a callback" in talk.feedback[0]
    assert "{'name': 'Ada'}" in talk.feedback[0]


async def test_a_user_message_dismisses_the_wait(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, run(FORM + "answer = await form.result()\nprint('never')", "Held back."), "I see.")
    talk.say()
    await talk.work()
    assert not await talk.recovered(talk.say("something else"))
    assert talk.store.mounts[0].state is MountState.DISMISSED
    assert StatementState.CUT in talk.states  # it did not fail
    assert "Dismissed" in talk.feedback[0]
    assert "something else" in talk.feedback[0]
    assert "Held back" not in talk.shown(talk.replies[0])
    assert [message.role for message in talk.store.messages[2:]] == ["feedback", "user", "assistant"]
    assert len(talk.model.calls) == 2  # the model gets both at once
    assert [wait.state for wait in talk.store.all(Wait)] == [WaitState.DISMISSED]


async def test_a_late_submit_starts_a_turn(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, run(FORM + "answer = await form.result()"), "I see.", "And so on.", "Thanks.")
    talk.say()
    await talk.work()
    await talk.recovered(talk.say("something else"))
    await talk.recovered(talk.submit("m1", name="Ada"))
    assert "m1" in talk.feedback[-1]
    assert "Ada" in talk.feedback[-1]
    assert talk.store.mounts[0].state is MountState.SUBMITTED


async def test_result_may_be_awaited_again_and_again(sandbox: MontySandbox) -> None:
    code = (
        FORM
        + "names = []\nwhile len(names) < 3:\n    names.append((await form.result())['name'])\nprint(names)"
    )
    talk = Talk(sandbox, run(code))
    talk.say()
    await talk.work()
    for name in ("a", "b"):
        assert await talk.recovered(talk.submit("m1", name=name))
        assert talk.store.mounts[0].state is MountState.OPEN
    await talk.recovered(talk.submit("m1", name="c"))
    assert talk.feedback == ["['a', 'b', 'c']"]
    assert talk.store.mounts[0].state is MountState.SUBMITTED


async def test_on_submit_keeps_the_form(sandbox: MontySandbox) -> None:
    code = """
todos = []
def add(values):
    todos.append(values["task"])
mount(lambda: Card(List(todos), TextField("task"), SubmitButton("Add")), on_submit=add)
"""
    talk = Talk(sandbox, run(code))
    talk.say()
    await talk.work()
    for task in ("milk", "bread"):
        await talk.recovered(talk.submit("m1", task=task))
    assert "['milk', 'bread']" in talk.text()
    assert talk.store.mounts[0].state is MountState.OPEN
    assert len(talk.model.calls) == 1


async def test_a_submit_of_a_form_that_is_not_awaited_yet_is_kept(sandbox: MontySandbox) -> None:
    code = FORM + 'second = mount(Card(TextField("city"), SubmitButton("Go")))\n'
    code += "a = await form.result()\nb = await second.result()\nprint(a, b)"
    talk = Talk(sandbox, run(code))
    talk.say()
    await talk.work()
    early = talk.submit("m2", city="Bern")
    assert await talk.recovered(early)
    assert early.state is InboxState.QUEUED
    assert not await talk.recovered(early, talk.submit("m1", name="Ada"))
    assert talk.feedback == ["{'name': 'Ada'} {'city': 'Bern'}"]


async def test_deadline_of_a_result(sandbox: MontySandbox) -> None:
    code = FORM + "try:\n    await form.result(timeout=0.1)\nexcept TimeoutError:\n    print('too late')"
    talk = Talk(sandbox, run(code))
    talk.say()
    if await talk.work():
        await asyncio.sleep(0.1)  # the deadline itself
        await talk.recovered()
    assert talk.feedback == ["too late"]


async def test_gather_of_two_forms(sandbox: MontySandbox) -> None:
    code = FORM + 'second = mount(Card(TextField("city"), SubmitButton("Go")))\n'
    code += "import asyncio\na, b = await asyncio.gather(form.result(), second.result())\nprint(a, b)"
    talk = Talk(sandbox, run(code))
    talk.say()
    await talk.work()
    assert await talk.recovered(talk.submit("m2", city="Bern"))
    assert not await talk.recovered(talk.submit("m1", name="Ada"))
    assert talk.feedback == ["{'name': 'Ada'} {'city': 'Bern'}"]


async def test_a_poll_sees_what_buttons_change(sandbox: MontySandbox) -> None:
    code = COUNTER + "while data.count < 2:\n    await sleep(0.05)\nprint('enough')"
    talk = Talk(sandbox, run(code), limits=Limits(linger_seconds=30))
    talk.say()
    work = asyncio.create_task(talk.work())
    await talk.until(lambda: bool(talk.store.mounts))
    for _ in range(2):
        item = talk.click("More", talk.store.mounts[0])
        await talk.until(lambda item=item: item.state is InboxState.DONE)
    await work
    assert talk.feedback == ["enough"]


async def test_stop_while_code_waits(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, run(FORM + "await form.result()\nprint('never')", "Held back."), "never")
    talk.say()
    await talk.work()
    assert not await talk.recovered(talk.put(InboxKind.STOP))
    assert talk.replies[-1].state == "stopped"
    assert talk.replies[-1].note == "You stopped this reply."
    assert StatementState.CUT in talk.states
    assert len(talk.replies) == 1
    assert StatementState.DROPPED in talk.states


async def test_stop_while_code_runs(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, run("x = 1\nwhile True:\n    pass"))
    talk.say()
    work = asyncio.create_task(talk.work())
    await talk.until(lambda: StatementState.RUNNING in talk.states and StatementState.DONE in talk.states)
    talk.put(InboxKind.STOP)
    await work
    assert talk.states == [StatementState.DONE, StatementState.CUT]
    assert talk.replies[0].state == "stopped"
    talk.model.replies = [run("print(x)"), ""]
    talk.say()
    await talk.work()
    assert talk.feedback == ["1"]


async def test_stop_while_a_skill_hangs(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, run("await now()"))
    talk.skills.gate = asyncio.Event()
    talk.say()
    work = asyncio.create_task(talk.work())
    await talk.until(lambda: any(s.calls for s in talk.store.all(Statement)))
    talk.put(InboxKind.STOP)
    await work
    assert talk.states == [StatementState.CUT]


async def test_stop_in_the_middle_of_a_stream(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, "The beginning §gate§ and the end")
    talk.model.gates["gate"] = asyncio.Event()
    talk.say()
    work = asyncio.create_task(talk.work())
    await talk.until(lambda: bool(talk.replies) and "beginning" in talk.shown(talk.replies[0]))
    talk.put(InboxKind.STOP)
    await work
    assert talk.model.open == 0
    assert talk.replies[0].text == "The beginning "
    assert talk.replies[0].state == "stopped"


async def test_an_error_closes_the_stream_at_once(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, run("1 / 0", "§gate§ more text"), "Sorry.")
    talk.model.gates["gate"] = asyncio.Event()
    talk.say()
    await talk.work()  # would hang if it read on
    assert "ZeroDivisionError" in talk.feedback[0]
    assert "more text" not in talk.shown(talk.replies[0])


async def test_a_statement_that_was_cut_is_not_run_again(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, run("x = 1\nawait now()\nprint(x)"), "Sorry.")
    talk.skills.gate = asyncio.Event()
    talk.say()
    work = asyncio.create_task(talk.work())
    await talk.until(lambda: any(s.calls for s in talk.store.all(Statement)))
    work.cancel()  # the process dies
    await asyncio.gather(work, return_exceptions=True)
    talk.skills.gate = None
    await talk.recovered()
    assert talk.states == [StatementState.DONE, StatementState.CUT, StatementState.DROPPED]
    assert "now() started" in talk.feedback[0]


async def test_turns_are_limited(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, *[run("print('again')")] * 20, limits=Limits(turns=3))
    talk.say()
    await talk.work()
    assert len(talk.replies) == 3
    assert "3 turns" in talk.store.messages[-1].note
    talk.put(InboxKind.CONTINUE)
    await talk.work()
    assert len(talk.replies) == 6
