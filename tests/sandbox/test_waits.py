"""Waiting code: callbacks run meanwhile, timeouts and dismissals raise, and all of it survives being saved."""

# ruff: noqa: E501 - code samples stay on one line

from typing import Any

import pytest

from chat.sandbox.base import Finished, Sandbox, Session, Suspended, Value
from tests.sandbox.scripted import ScriptedHost, error, nodes, play, run, settle, texts

pytestmark = pytest.mark.asyncio(loop_scope="session")

FORM = "m = mount(Card(TextField('name'), SubmitButton()))\n"


async def waiting(session: Session, host: ScriptedHost, code: str) -> dict[str, Any]:
    """Run code to its wait; return the request."""
    outcome = await session.run(code)
    assert isinstance(outcome, Suspended), outcome
    request: dict[str, Any] = host.waiting[min(outcome.pending)].args[0]
    return request


async def go_on(session: Session, host: ScriptedHost, event: dict[str, Any]) -> Any:
    (call,) = session.pending
    return await session.resume({call: Value(event)})


async def test_the_request_says_what_is_waited_for(session: Session, host: ScriptedHost) -> None:
    assert await waiting(session, host, FORM + "await m.result(timeout=60)") == {
        "kind": "form", "mount": "m1", "timeout": 60, "wait": 1,
    }  # fmt: skip
    assert await go_on(session, host, {"t": "value", "v": {"name": "A"}}) == Finished({"name": "A"})
    assert await waiting(session, host, "await sleep(2)") == {"kind": "sleep", "seconds": 2, "wait": 2}


async def test_timeouts_and_dismissals_raise_in_the_code(session: Session, host: ScriptedHost) -> None:
    await waiting(session, host, FORM + "await m.result(timeout=5)")
    failure = error(await go_on(session, host, {"t": "timeout"}))
    assert (failure.type, failure.message, failure.line) == ("TimeoutError", "no answer within 5 seconds", 2)
    await waiting(session, host, "await m.result()")
    failure = error(await go_on(session, host, {"t": "dismissed", "text": "never mind"}))
    assert (failure.type, failure.message) == ("Dismissed", "never mind")
    await waiting(
        session, host,
        "try:\n    await m.result()\nexcept Exception:\n    found = 'as an exception'\n"
        "except Dismissed as d:\n    found = f'dismissed: {d}'",
    )  # fmt: skip
    await go_on(session, host, {"t": "dismissed", "text": "later"})
    assert await session.run("found") == Finished("dismissed: later")


async def test_callbacks_run_while_code_waits(session: Session, host: ScriptedHost) -> None:
    await play(
        session, host, "d = Data(n=0)\ndef up():\n    d.n += 1\nmount(lambda: Button(str(d.n), on_click=up))"
    )
    click = host.find("m1", "Button")["on_click"]
    first = await waiting(session, host, "answer = await ask(Card(TextField('x'), SubmitButton()))")
    for number in range(1, 4):
        outcome = await go_on(session, host, {"t": "callback", "id": click, "args": []})
        assert isinstance(outcome, Suspended)
        request = host.waiting[min(outcome.pending)].args[0]
        assert request == {**first, "again": True}
        assert host.find("m1", "Button")["label"] == str(number)
    await go_on(session, host, {"t": "callback", "id": "gone", "args": []})
    assert await go_on(session, host, {"t": "value", "v": {"x": "y"}}) == Finished(None)
    assert await session.run("answer['x'], d.n") == Finished(["y", 3])


async def test_submits_and_ticks_run_while_code_waits(session: Session, host: ScriptedHost) -> None:
    await play(
        session, host,
        "log = []\nmount(Card(TextField('t'), SubmitButton()), on_submit=lambda v: log.append(v['t']))\n"
        "every(1, lambda: log.append('tick'))",
    )  # fmt: skip
    await waiting(session, host, "await sleep(60)")
    await go_on(session, host, {"t": "submit", "mount": "m1", "values": {"t": "hello"}})
    await go_on(session, host, {"t": "tick", "id": next(iter(host.timers))})
    assert await go_on(session, host, {"t": "value", "v": None}) == Finished(None)
    assert await session.run("log") == Finished(["hello", "tick"])


async def test_a_failing_callback_is_reported_and_the_wait_goes_on(
    session: Session, host: ScriptedHost
) -> None:
    await play(
        session,
        host,
        "d = Data(n=1)\nmount(lambda: Card(Text(1 / d.n), Button('x', on_click=lambda: [][1]), Button('y', on_click=lambda: setattr(d, 'n', 0))))",
    )
    x, y = (node["p"]["on_click"] for node in nodes(host.trees["m1"]) if node["c"] == "Button")
    await waiting(session, host, "await sleep(60)")
    await go_on(session, host, {"t": "callback", "id": x, "args": []})
    assert host.reports == [(x, "IndexError", "list index out of range")]
    await go_on(session, host, {"t": "callback", "id": y, "args": []})
    assert host.reports[1:] == [("m1", "render", "ZeroDivisionError: division by zero")]
    assert await go_on(session, host, {"t": "value", "v": None}) == Finished(None)


async def test_an_async_callback_may_wait_itself(session: Session, host: ScriptedHost) -> None:
    await play(
        session,
        host,
        "async def more():\n    log.append((await ask(Card(TextField('b'), SubmitButton())))['b'])\nlog = []\nmount(Button('x', on_click=more))",
    )
    click = host.find("m1", "Button")["on_click"]
    outer = await waiting(session, host, "await ask(Card(TextField('a'), SubmitButton()))")
    await go_on(session, host, {"t": "callback", "id": click, "args": []})
    (call,) = session.pending
    assert host.waiting[call].args[0]["mount"] == "m3"
    await go_on(session, host, {"t": "value", "v": {"b": "inner"}})
    (call,) = session.pending
    assert host.waiting[call].args[0] == {**outer, "again": True}
    assert await go_on(session, host, {"t": "value", "v": {"a": 1}}) == Finished({"a": 1})
    assert await session.run("log") == Finished(["inner"])


async def test_one_click_answers_a_choice(session: Session, host: ScriptedHost) -> None:
    await waiting(session, host, "size = await choose('Size?', [('s', 'Small'), ('l', 'Large')])")
    buttons = [node["p"] for node in nodes(host.trees["m1"]) if node["c"] == "Button"]
    assert [button["label"] for button in buttons] == ["Small", "Large"]
    outcome = await go_on(session, host, {"t": "callback", "id": buttons[1]["on_click"], "args": []})
    assert outcome == Finished(None)
    assert await session.run("size") == Finished("l")
    assert host.closed == ["m1"]
    assert not [node for node in nodes(host.trees["m1"]) if node["c"] == "Button"]
    assert "Large" in str(host.trees["m1"])


@pytest.mark.parametrize(
    "code",
    ["import asyncio\nx = await asyncio.sleep(3, 'slept')", "import time\ntime.sleep(3)\nx = 'slept'",
     "from asyncio import sleep as pause\nawait pause(3)\nx = 'slept'"],
)  # fmt: skip
async def test_every_way_to_sleep_is_the_same_wait(session: Session, host: ScriptedHost, code: str) -> None:
    assert await waiting(session, host, code) == {"kind": "sleep", "seconds": 3, "wait": 1}
    assert await go_on(session, host, {"t": "value", "v": None}) == Finished(None)
    assert await session.run("x") == Finished("slept")


async def test_the_poll_loop_runs_long_without_growing(session: Session, host: ScriptedHost) -> None:
    await play(
        session,
        host,
        "d = Data(go=False, n=0)\ndef go():\n    d.go = True\nmount(lambda: Button('go', on_click=go))",
    )
    await waiting(session, host, "while not d.go:\n    d.n += 1\n    await sleep(0.3)")
    early = len(await session.dump())
    for _ in range(3_000):
        await go_on(session, host, {"t": "value", "v": None})
    assert len(await session.dump()) - early < 500
    await go_on(session, host, {"t": "callback", "id": host.find("m1", "Button")["on_click"], "args": []})
    assert await go_on(session, host, {"t": "value", "v": None}) == Finished(None)
    assert await session.run("d.n") == Finished(3_001)


async def test_everything_survives_being_saved_at_every_wait(
    sandbox: Sandbox, session: Session, host: ScriptedHost
) -> None:
    await play(
        session,
        host,
        "d = Data(n=0)\ndef up():\n    d.n += 1\npanel = mount(lambda: Card(Text(d.n), Button('+', on_click=up)))",
    )
    outcome = await session.run(
        "total = 0\nfor i in range(3):\n    answer = await ask(Card(NumberField('n', label=f'{i}'), SubmitButton()))\n"
        "    total += answer['n']\n    up()\nprint(total, d.n)",
    )
    click = host.find("m1", "Button")["on_click"]
    for event in (
        {"t": "value", "v": {"n": 1}}, {"t": "callback", "id": click, "args": []}, {"t": "value", "v": {"n": 2}},
        {"t": "callback", "id": click, "args": []}, {"t": "value", "v": {"n": 3}},
    ):  # fmt: skip
        assert isinstance(outcome, Suspended)
        saved = await session.dump()
        await session.close()
        session = await sandbox.open(host, saved, suspended=True)
        outcome = await go_on(session, host, event)
    assert outcome == Finished(None)
    assert host.output == "6 5\n"
    saved = await session.dump()
    await session.close()
    session = await sandbox.open(host, saved)
    assert await play(session, host, "d.n = 100") is None
    assert texts(host.trees["m1"]) == ["100"]
    await session.close()


async def test_a_skill_gets_its_arguments_and_what_must_be_shown(
    session: Session, host: ScriptedHost
) -> None:
    await play(session, host, "d = Data(s='idle')\nmount(lambda: Text(d.s))")
    outcome = await session.run("d.s = 'loading'\npage = await fetch('https://example.com', timeout=3)")
    assert host.calls[-1].args[:3] == ("fetch", ["https://example.com"], {"timeout": 3})
    assert texts(host.trees["m1"]) == ["loading"]
    await settle(session, host, outcome)
    assert await run(session, host, "len(page) > 0") == Finished(True)


async def test_a_wait_that_lost_its_race_leaves_the_session_usable(
    session: Session, host: ScriptedHost
) -> None:
    outcome = await session.run(
        FORM
        + "import asyncio\nasync def fail():\n    await sleep(1)\n    raise ValueError('x')\nawait asyncio.gather(m.result(), fail())"
    )
    assert isinstance(outcome, Suspended)
    sleeper = next(call for call in outcome.pending if host.waiting[call].args[0]["kind"] == "sleep")
    assert error(await session.resume({sleeper: Value({"t": "value", "v": None})})).type == "ValueError"
    assert await session.run("1") == Finished(1)
    assert await session.dump()
    await waiting(session, host, "again = await m.result()")
    assert await go_on(session, host, {"t": "value", "v": {"name": "B"}}) == Finished(None)
    assert await session.run("again") == Finished({"name": "B"})
