"""Callbacks of mounts: in an idle conversation, while code waits, and what they may do."""

import asyncio

import pytest

from chat.runtime.limits import Limits
from chat.runtime.records import Statement, Wait
from chat.runtime.states import InboxKind, InboxState, MountState, WaitState
from chat.sandbox.limits import SandboxLimits
from chat.sandbox.monty import MontySandbox
from tests.runtime.harness import Talk, find, make_sandbox, run

FORM = 'form = mount(Card(TextField("name"), SubmitButton("Go")))\n'


async def idle(sandbox: MontySandbox, code: str, *replies: str, limits: Limits | None = None) -> Talk:
    """Return a conversation whose code has run and waits for nothing."""
    talk = Talk(sandbox, run(code), *replies, limits=limits)
    talk.say()
    assert not await talk.work()
    return talk


async def test_async_callbacks_call_skills(sandbox: MontySandbox) -> None:
    code = """
data = Data(time="never")
async def look():
    data.time = await now()
mount(lambda: Card(Text(data.time), Button("Look", on_click=look)))
"""
    talk = await idle(sandbox, code)
    await talk.recovered(talk.click("Look"))
    assert "2026-01-31" in talk.text()
    assert len(talk.model.calls) == 1
    assert all(s.block_id for s in talk.store.all(Statement))  # nothing to tell, so nothing is kept


async def test_what_a_callback_prints_starts_a_turn(sandbox: MontySandbox) -> None:
    code = 'mount(Button("Tell", on_click=lambda: print("pressed")))'
    talk = await idle(sandbox, code, "You pressed it.")
    await talk.recovered(talk.click("Tell"))
    assert talk.feedback == ["pressed"]
    assert talk.shown(talk.replies[-1]) == "You pressed it."


async def test_an_exception_is_a_notice_at_the_mount_and_feedback(sandbox: MontySandbox) -> None:
    code = """
data = Data(n=0)
def broken():
    data.n += 1
    return 1 / (data.n - 1)
mount(lambda: Card(Metric("N", data.n), Button("Break", on_click=broken)))
"""
    talk = await idle(sandbox, code, "Sorry.", "Hm.")
    await talk.recovered(talk.click("Break"))
    assert "ZeroDivisionError" in talk.store.mounts[0].error
    assert "ZeroDivisionError" in talk.feedback[0]
    assert "return 1 / (data.n - 1)" in talk.feedback[0]
    assert talk.store.mounts[0].state is MountState.OPEN
    await talk.recovered(talk.click("Break"))  # everything else goes on
    assert "2" in talk.text()
    assert talk.store.mounts[0].error == ""


async def test_only_callbacks_of_the_present_tree_are_called(sandbox: MontySandbox) -> None:
    code = """
data = Data(open=True, n=0)
def close():
    data.open = False
def secret():
    data.n += 1
mount(lambda: Card(Metric("N", data.n), Button("Close", on_click=close),
    Button("Secret", on_click=secret) if data.open else None))
"""
    talk = await idle(sandbox, code)
    mount = talk.store.mounts[0]
    old = find(mount.tree, lambda n: n["p"].get("label") == "Secret")["p"]["on_click"]
    await talk.recovered(talk.click("Close"))
    late = talk.put(InboxKind.CALLBACK, mount=mount.name, callback=old, args=[])
    await talk.recovered(late)
    assert late.state is InboxState.WITHDRAWN
    for forged in ("", "m1", "m1:0:on_click", "nothing:0.1:on_click"):
        item = talk.put(InboxKind.CALLBACK, mount=mount.name, callback=forged, args=[])
        await talk.recovered(item)
        assert item.state is InboxState.WITHDRAWN
    elsewhere = talk.put(InboxKind.CALLBACK, mount="m99", callback=old, args=[])
    await talk.recovered(elsewhere)
    assert elsewhere.state is InboxState.WITHDRAWN
    assert "N 0" in talk.text()


async def test_ids_are_stable_over_renders_and_restarts(sandbox: MontySandbox) -> None:
    code = """
data = Data(items=["a", "b"])
def drop(item):
    data.items = [kept for kept in data.items if kept != item]
def add():
    data.items = ["new", *data.items]
mount(lambda: Card(Button("Add", on_click=add),
    *[Button("Drop " + item, on_click=lambda item=item: drop(item), key=item) for item in data.items]))
"""
    talk = await idle(sandbox, code)

    def ids() -> dict[str, str]:
        found = talk.store.mounts[0].tree["n"]
        return {node["p"]["label"]: node["p"]["on_click"] for node in found}

    before = ids()
    await talk.recovered(talk.click("Add"))
    assert before.items() <= ids().items()
    late = talk.put(
        InboxKind.CALLBACK, mount="m1", callback=before["Drop b"], args=[]
    )  # of a page that has not seen the new tree yet
    await talk.recovered(late)
    assert list(ids()) == ["Add", "Drop new", "Drop a"]


async def test_a_callback_that_asks(sandbox: MontySandbox) -> None:
    code = """
data = Data(name="nobody")
async def rename():
    data.name = (await ask(Card(TextField("name"), SubmitButton("Save"))))["name"]
mount(lambda: Card(Text(data.name), Button("Rename", on_click=rename)))
"""
    talk = await idle(sandbox, code)
    assert await talk.recovered(talk.click("Rename", talk.store.mounts[0]))
    assert len(talk.store.mounts) == 2
    assert not await talk.recovered(talk.submit("m2", name="Ada"))
    assert "Ada" in talk.text(talk.store.mounts[0])
    assert len(talk.model.calls) == 1


async def test_a_callback_that_asks_inside_a_wait(sandbox: MontySandbox) -> None:
    code = """
data = Data(name="nobody")
async def rename():
    data.name = (await ask(Card(TextField("name"), SubmitButton("Save"))))["name"]
mount(lambda: Card(Text(data.name), Button("Rename", on_click=rename)))
"""
    talk = Talk(sandbox, run(code + FORM + "answer = await form.result()\nprint(answer['name'], data.name)"))
    talk.say()
    await talk.work()
    assert await talk.recovered(talk.click("Rename", talk.store.mounts[0]))
    outer = talk.submit("m2", name="outer")  # comes first, and is kept until the code is back
    assert await talk.recovered(outer)
    assert outer.state is InboxState.QUEUED
    await talk.recovered(outer, talk.submit("m3", name="inner"))
    assert talk.feedback == ["outer inner"]


async def test_the_deadline_of_a_wait_stays_while_a_callback_asks(sandbox: MontySandbox) -> None:
    code = """
async def rename():
    await ask(Card(TextField("name"), SubmitButton("Save")))
mount(Button("Rename", on_click=rename))
"""
    code += FORM + "await form.result(timeout=3600)"
    talk = Talk(sandbox, run(code))
    talk.say()
    await talk.work()
    deadline = talk.store.all(Wait)[0].deadline
    assert deadline is not None
    await talk.recovered(talk.click("Rename", talk.store.mounts[0]))
    await talk.recovered(talk.submit("m3", name="inner"))
    waits = [wait for wait in talk.store.all(Wait) if wait.state is WaitState.OPEN]
    assert [wait.deadline for wait in waits] == [deadline]


async def test_the_deadline_of_a_wait_stays_over_clicks(sandbox: MontySandbox) -> None:
    code = 'mount(Button("Nothing", on_click=lambda: None))\n' + FORM + "await form.result(timeout=3600)"
    talk = Talk(sandbox, run(code))
    talk.say()
    await talk.work()
    before = [(wait.id, wait.deadline) for wait in talk.store.all(Wait)]
    for _ in range(3):
        await talk.recovered(talk.click("Nothing", talk.store.mounts[0]))
    assert [(wait.id, wait.deadline) for wait in talk.store.all(Wait)] == before


async def test_a_user_message_ends_a_callback_that_asks_and_the_wait_around_it(sandbox: MontySandbox) -> None:
    code = """
async def rename():
    await ask(Card(TextField("name"), SubmitButton("Save")))
mount(Button("Rename", on_click=rename))
"""
    talk = Talk(sandbox, run(code + FORM + "await form.result()"), "I see.", "Yes.")
    talk.say()
    await talk.work()
    await talk.recovered(talk.click("Rename", talk.store.mounts[0]))
    assert not await talk.recovered(talk.say("something else"))
    assert [mount.state for mount in talk.store.mounts][1:] == [MountState.DISMISSED] * 2
    assert not [wait for wait in talk.store.all(Wait) if wait.state is WaitState.OPEN]
    assert "something else" in talk.feedback[0]


async def test_callbacks_queue_while_code_waits_for_a_skill(sandbox: MontySandbox) -> None:
    code = """
data = Data(n=0)
def more():
    data.n += 1
mount(lambda: Button("More", on_click=more))
"""
    talk = Talk(sandbox, run(code + "await now()\nprint(data.n)"))
    talk.skills.gate = asyncio.Event()
    talk.say()
    work = asyncio.create_task(talk.work())
    await talk.until(lambda: any(s.calls for s in talk.store.statements))
    click = talk.click("More", talk.store.mounts[0])
    await asyncio.sleep(0)
    assert click.state is InboxState.QUEUED
    talk.skills.gate.set()
    await work
    assert click.state is InboxState.DONE


async def test_a_callback_without_end_is_a_notice(sandbox: MontySandbox) -> None:
    tight = make_sandbox(SandboxLimits(turn_seconds=0.5))
    code = """
data = Data(n=0)
def hang():
    while True: pass
def more():
    data.n += 1
mount(lambda: Card(Metric("N", data.n), Button("Hang", on_click=hang), Button("More", on_click=more)))
"""
    talk = await idle(tight, code, "Sorry.")
    await talk.recovered(talk.click("Hang"))
    assert "Timeout" in talk.store.mounts[0].error
    assert "Timeout" in talk.feedback[0]
    await talk.recovered(talk.click("More"))
    assert "N 1" in talk.text()
    talk.model.replies = [run(FORM + "answer = await form.result()\nprint(answer)"), "Good."]
    talk.say()
    await talk.work()
    await talk.recovered(talk.click("Hang", talk.store.mounts[0]))
    assert "Timeout" in talk.store.mounts[0].error
    await talk.recovered(talk.submit("m2", name="Ada"))
    assert "{'name': 'Ada'}" in talk.feedback[-1]
    await tight.close()


async def test_a_callback_that_was_cut_is_not_run_again(sandbox: MontySandbox) -> None:
    code = """
data = Data(n=0)
async def more():
    data.n += 1
    await memory_set("n", data.n)
mount(lambda: Card(Metric("N", data.n), Button("More", on_click=more)))
"""
    talk = await idle(sandbox, code, "Sorry.")
    talk.skills.hang = True
    await talk.crash_in(lambda: any(s.calls for s in talk.store.all(Statement)), talk.click("More"))
    talk.skills.hang = False
    await talk.recovered()
    assert "callback was cut off" in talk.feedback[0]
    assert "memory_set() started" in talk.feedback[0]
    assert "N 0" in talk.text()
    assert talk.skills.done == []


async def test_a_callback_that_was_cut_inside_a_wait_leaves_the_wait(sandbox: MontySandbox) -> None:
    code = """
data = Data(n=0)
async def more():
    data.n += 1
    await memory_set("n", data.n)
mount(lambda: Card(Metric("N", data.n), Button("More", on_click=more)))
"""
    talk = Talk(sandbox, run(code + FORM + "answer = await form.result()\nprint(answer, data.n)"))
    talk.say()
    await talk.work()
    click = talk.click("More", talk.store.mounts[0])
    talk.skills.hang = True
    await talk.crash_in(lambda: any(s.calls for s in talk.store.all(Statement)), click)
    talk.skills.hang = False
    assert await talk.recovered()
    await talk.recovered(talk.submit("m2", name="Ada"))
    assert "callback was cut off" in talk.feedback[0]
    assert "memory_set() started" in talk.feedback[0]
    assert "{'name': 'Ada'} 0" in talk.feedback[0]
    assert talk.skills.done == []


@pytest.mark.parametrize("body", ["while True:\n        pass", "while True:\n        await sleep(0.2)"])
async def test_stop_ends_a_callback(sandbox: MontySandbox, body: str) -> None:
    code = f'async def hang():\n    {body}\nmount(Button("Hang", on_click=hang))\nx = 1'
    talk = Talk(sandbox, f"```python agent.run\n{code}\n```\n", "```python agent.run\nprint(x)\n```\n", "")
    talk.say()
    await talk.work()
    talk.click("Hang")
    work = asyncio.create_task(talk.work())
    await talk.until(lambda: talk.store.conversation.state == "running")
    talk.put(InboxKind.STOP)
    await work
    assert talk.store.conversation.state == "idle"
    assert talk.feedback == []
    talk.say()
    await talk.work()
    assert talk.feedback == ["1"]
