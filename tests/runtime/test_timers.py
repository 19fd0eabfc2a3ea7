"""Timers: they tick while somebody looks, at most once a second, and make up for no tick that was missed."""

import asyncio

from chat.runtime.records import Statement
from chat.runtime.states import InboxState
from chat.sandbox.monty import MontySandbox
from tests.runtime.harness import Talk, run

CLOCK = """
data = Data(ticks=0)
def tick():
    data.ticks += 1
timer = every({seconds}, tick)
mount(lambda: Card(Metric("Ticks", data.ticks), Button("Stop", on_click=lambda: timer.stop())))
"""
FORM = 'form = mount(Card(TextField("name"), SubmitButton("Go")))\n'


def timers(talk: Talk) -> dict[str, float]:
    found: dict[str, float] = talk.store.conversation.namespace.get("timers", {})
    return found


async def clock(sandbox: MontySandbox, seconds: float = 1) -> Talk:
    talk = Talk(sandbox, run(CLOCK.format(seconds=seconds)))
    talk.say()
    await talk.work()
    return talk


async def test_a_tick_calls_the_function(sandbox: MontySandbox) -> None:
    talk = await clock(sandbox)
    (timer,) = timers(talk)
    for _ in range(3):
        talk.mailbox.tick(timer)
        await talk.work()
    assert "Ticks 3" in talk.text()
    assert all(s.block_id for s in talk.store.all(Statement))
    assert len(talk.model.calls) == 1


async def test_ticks_that_were_missed_are_not_made_up_for(sandbox: MontySandbox) -> None:
    talk = await clock(sandbox)
    (timer,) = timers(talk)
    for _ in range(5):
        talk.mailbox.tick(timer)
    await talk.work()
    assert "Ticks 1" in talk.text()


async def test_at_most_once_a_second(sandbox: MontySandbox) -> None:
    talk = await clock(sandbox, seconds=0.01)
    assert list(timers(talk).values()) == [1.0]


async def test_stop(sandbox: MontySandbox) -> None:
    talk = await clock(sandbox)
    (timer,) = timers(talk)
    click = talk.click("Stop")
    await talk.work()
    assert click.state is InboxState.DONE
    assert timers(talk) == {}
    talk.mailbox.tick(timer)  # was due at that very moment
    await talk.work()
    assert "Ticks 0" in talk.text()


async def test_ticks_inside_a_wait(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, run(CLOCK.format(seconds=1) + FORM + "await form.result()\nprint(data.ticks)"))
    talk.agent.watched = True
    talk.say()
    work = asyncio.create_task(talk.work())
    await talk.until(lambda: talk.store.conversation.state == "waiting")
    (timer,) = timers(talk)
    for number in (1, 2):
        talk.mailbox.tick(timer)
        await talk.until(lambda number=number: f"Ticks {number}" in talk.text(talk.store.mounts[0]))
    assert not work.done()  # somebody looks, so the timers go on
    talk.submit("m2", name="Ada")
    await work
    assert talk.feedback == ["2"]


async def test_a_wait_with_timers_is_left_when_nobody_looks(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, run(CLOCK.format(seconds=1) + FORM + "await form.result()"))
    talk.say()
    assert await talk.work()


async def test_a_tick_that_fails_tells_the_model_once(sandbox: MontySandbox) -> None:
    code = 'mount(Text("x"))\ndef tick():\n    raise ValueError("no clock")\ntimer = every(1, tick)'
    talk = Talk(sandbox, run(code), "Oh.", "Again?")
    talk.say()
    await talk.work()
    (timer,) = timers(talk)
    for _ in range(3):
        talk.mailbox.tick(timer)
        await talk.work()
    assert len(talk.feedback) == 1
    assert "no clock" in talk.feedback[0]
    assert timers(talk) == {}


async def test_there_are_not_more_timers_than_is_good(sandbox: MontySandbox) -> None:
    code = "def f():\n    pass\nfor _ in range(10):\n    timer = every(1, f)\n"
    talk = Talk(
        sandbox, run(code + "every(1, f)"), run("timer.stop()\nlast = every(1, f)\nprint('again')"), "Good."
    )
    talk.say()
    await talk.work()
    assert "10 timers run in this conversation" in talk.feedback[0]
    assert talk.feedback[1] == "again"
    assert len(timers(talk)) == 10
