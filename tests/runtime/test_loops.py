"""Loops that wait, poll or are clicked for hours: nothing grows, neither rows nor snapshots nor memory."""

import asyncio

from chat.runtime.limits import Limits
from chat.runtime.records import InboxItem, Statement, Wait
from chat.runtime.states import WaitState
from chat.sandbox.monty import MontySandbox
from tests.runtime.harness import Talk, run
from tests.runtime.test_hostile import memory

ROUNDS = 60
SNAPSHOT_BYTES = 300  # that a snapshot may differ by: numbers get longer
PROGRAM_BYTES = 40  # what the interpreter keeps of each callback that it ran
MEMORY_BYTES = 20_000_000


def rows(talk: Talk) -> int:
    """Return the number of rows, without those that are what people did."""
    return sum(not isinstance(record, InboxItem) for record in talk.store.records.values())


async def test_a_form_that_is_awaited_again_and_again(sandbox: MontySandbox) -> None:
    code = """
count = 0
last = ""
form = mount(Card(TextField("name"), SubmitButton("Go")))
while True:
    last = (await form.result())["name"]
    count += 1
"""
    talk = Talk(sandbox, run(code))
    talk.say()
    assert await talk.work()
    await talk.recovered(talk.submit("m1", name="Ada"))
    before = rows(talk), len(talk.store.snapshots[True]), memory()
    for number in range(ROUNDS):
        assert await talk.recovered(talk.submit("m1", name=f"Ada {number}"))
    assert rows(talk) == before[0]
    assert abs(len(talk.store.snapshots[True]) - before[1]) < SNAPSHOT_BYTES
    assert memory() - before[2] < MEMORY_BYTES
    assert sum(wait.state is WaitState.OPEN for wait in talk.store.all(Wait)) == 1


async def test_a_poll(sandbox: MontySandbox) -> None:
    code = f"""
data = Data(n=0)
mount(lambda: Metric("N", data.n))
while data.n < {ROUNDS * 3}:
    data.n += 1
    await sleep(0.001)
print("done", data.n)
"""
    talk = Talk(sandbox, run(code), limits=Limits(linger_seconds=30))
    talk.say()
    await talk.work()
    assert talk.feedback == [f"done {ROUNDS * 3}"]
    assert talk.store.all(Wait) == []
    assert len(talk.store.all(Statement)) == len(talk.store.statements)


async def test_a_poll_of_long_sleeps(sandbox: MontySandbox) -> None:
    """Sleeps that are saved, each in the place of the last."""
    code = "n = 0\nwhile n < 20:\n    n += 1\n    await sleep(0.02)\nprint(n)"
    talk = Talk(sandbox, run(code), limits=Limits(linger_seconds=30, hold_seconds=0.001))
    talk.say()
    await talk.work()
    assert talk.feedback == ["20"]
    assert len(talk.store.all(Wait)) == 1


async def test_clicks_in_an_idle_conversation(sandbox: MontySandbox) -> None:
    code = """
data = Data(n=0)
def more():
    data.n += 1
mount(lambda: Card(Metric("N", data.n), Button("More", on_click=more)))
"""
    talk = Talk(sandbox, run(code))
    talk.say()
    await talk.work()
    for _ in range(5):
        await talk.recovered(talk.click("More"))
    before = rows(talk), len(talk.store.snapshots[False]), memory()
    for _ in range(ROUNDS):
        await talk.recovered(talk.click("More"))
    assert f"N {ROUNDS + 5}" in talk.text()
    assert rows(talk) == before[0]
    assert abs(len(talk.store.snapshots[False]) - before[1]) < PROGRAM_BYTES * ROUNDS
    assert memory() - before[2] < MEMORY_BYTES


async def test_clicks_without_a_pause(sandbox: MontySandbox) -> None:
    """The runner stays, the namespace with it: it does not grow either."""
    code = """
data = Data(n=0)
def more():
    data.n += 1
mount(lambda: Card(Metric("N", data.n), Button("More", on_click=more)))
"""
    talk = Talk(sandbox, run(code))
    talk.say()
    await talk.work()
    for _ in range(5):
        talk.click("More")
        await talk.work()
    before = rows(talk), len(talk.store.snapshots[False])
    for _ in range(ROUNDS * 5):
        talk.click("More")
        await talk.work()
    assert rows(talk) == before[0]
    assert abs(len(talk.store.snapshots[False]) - before[1]) < PROGRAM_BYTES * ROUNDS * 5


async def test_clicks_in_a_wait(sandbox: MontySandbox) -> None:
    code = """
data = Data(n=0)
def more():
    data.n += 1
mount(lambda: Card(Metric("N", data.n), Button("More", on_click=more)))
await ask(Card(TextField("name"), SubmitButton("Go")))
"""
    talk = Talk(sandbox, run(code))
    talk.say()
    await talk.work()
    counter = talk.store.mounts[0]
    for _ in range(5):
        await talk.recovered(talk.click("More", counter))
    before = rows(talk), len(talk.store.snapshots[True])
    for _ in range(ROUNDS):
        await talk.recovered(talk.click("More", counter))
    assert f"N {ROUNDS + 5}" in talk.text(counter)
    assert rows(talk) == before[0]
    assert abs(len(talk.store.snapshots[True]) - before[1]) < SNAPSHOT_BYTES


async def test_no_worker_is_held_while_code_waits_for_a_person(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, run('await ask(Card(TextField("name"), SubmitButton("Go")))'))
    talk.limits = Limits(linger_seconds=30)
    talk.agent = talk._agent()
    talk.say()
    work = asyncio.create_task(talk.work())
    await talk.until(lambda: talk.store.conversation.state == "waiting")
    await talk.until(lambda: talk.agent.programs.workspace.session is None)
    assert not work.done()  # the runner is still there, for a quick answer
    talk.submit("m1", name="Ada")
    await work
