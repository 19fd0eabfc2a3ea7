"""What agent code sees: constructors, mounts, slots, data, timers, and the entry points of the runtime."""

# ruff: noqa: E501 - code samples stay on one line

import json
from typing import Any

import pytest

from chat.sandbox.base import Finished, Session
from chat.sandbox.prelude import (
    entry_callback,
    entry_close,
    entry_render,
    entry_renders,
    entry_stream,
    entry_submit,
    entry_tick,
)
from tests.sandbox.scripted import ScriptedHost, error, nodes, play, run, settle, texts, value

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def drawn(session: Session, host: ScriptedHost) -> list[Any]:
    renders: list[Any] = json.loads(value(await session.run(*entry_renders())))
    host.rendered(json.dumps(renders))
    return renders


# --- constructors ---

WRONG = {
    "Card(titel='x')": "TypeError: Card() got an unexpected argument 'titel'; accepted: title, help, key; did you mean title?",
    "Text()": "TypeError: Text() lacks its argument 'text'",
    "Text('a', 'b')": "TypeError: Text() takes 1 positional: text; got 2",
    "Text('a', text='b')": "TypeError: Text() got text twice, by position and by name",
    "Spinner('a', 'b')": "TypeError: Spinner() takes",
    "Select('x', options=['a'], label=['b'])": "TypeError: Select() label must be text, not list",
    "Badge('x', kind='sucess')": "did you mean success?",
    "Badge('x', kind='sucess')  # choices": "Badge() kind must be one of 'neutral', 'info', 'success', 'warning', 'danger', not 'sucess'",
    "Heading('x', level='2')": "TypeError: Heading() level must be a number, not str '2'",
    "Heading('x', level=2.5)": "ValueError: Heading() level must be a whole number, not 2.5",
    "Progress('half')": "TypeError: Progress() value must be a number, not str 'half'",
    "Progress(float('nan'))": "ValueError: Progress() value must be a finite number, not nan",
    "Button('x', on_click='go')": "TypeError: Button() on_click must be a function, not str 'go'; write the name without a call",
    "Button('x', on_click=Text('a'))": "TypeError: Button() on_click must be a function, not a node (Text)",
    "Text(Text('a'))": "TypeError: Text() text must be text, not a node (Text)",
    "Text(now())": "TypeError: Text() text must be text, not a coroutine; write await before the call",
    "Card(now())": "TypeError: Card() child must be a node or text, not a coroutine; write await before the call",
    "Card(print)": "TypeError: Card() child must be a node or text, not a function",
    "Card({'a': 1})": "TypeError: Card() child must be a node or text, not a dict; show its values, or use Table",
    "Table('abc')": "TypeError: Table() rows must be a list, not str 'abc'",
    "Table(now())": "TypeError: Table() rows must be a list, not a coroutine; write await before the call",
    "DateField('d', value=3)": "TypeError: DateField() value must be a date or its ISO text, not int 3",
    "mount(3, on_submit=4)": "TypeError: mount() on_submit must be a function",
    "mount(lambda: Card(titel='x'))": "TypeError: Card() got an unexpected argument 'titel'",
    "mount(print_nothing)": "NameError: name 'print_nothing' is not defined",
    "every(1, 2)": "TypeError: every() needs a function",
    "every(-1, print)": "ValueError: every() must be a number of seconds, 0 or more, not -1",
    "await sleep('x')": "ValueError: sleep() must be a number of seconds, 0 or more, not x",
    "await choose('x', [])": "ValueError: choose() needs at least one option",
    "Data(a=1).b": "AttributeError: 'Data' object has no attribute 'b'",
    "fetch.name": "AttributeError",
}


@pytest.mark.parametrize("code", WRONG)
async def test_what_is_wrong_is_said_at_the_agents_own_line(
    session: Session, host: ScriptedHost, code: str
) -> None:
    failure = error(await run(session, host, f"x = 1\n{code}", check=False))
    assert WRONG[code] in f"{failure.type}: {failure.message}"
    assert (failure.line, failure.source_line) == (2, code)
    assert len(failure.frames) <= 2
    assert not host.trees


TREES: dict[str, Any] = {
    "Text('a')": {"c": "Text", "p": {"text": "a"}},
    "Text(3.5)": {"c": "Text", "p": {"text": "3.5"}},
    "Text(None)": {"c": "Text", "p": {"text": ""}},
    "'a'": {"c": "Text", "p": {"text": "a"}},
    "Card('a', 1, None, True, [Text('b'), ['c']], key=7)": {
        "c": "Card", "k": "7",
        "n": [{"c": "Text", "p": {"text": t}} for t in ("a", "1", "b", "c")],
    },
    "Card(title=None)": {"c": "Card"},
    "[Text('a'), 'b']": {"c": "Stack", "n": [{"c": "Text", "p": {"text": t}} for t in "ab"]},
    "Card(x for x in 'ab')": {"c": "Card", "n": [{"c": "Text", "p": {"text": t}} for t in "ab"]},
    "Slot('a', fallback=Skeleton())": {"c": "Slot", "p": {"name": "a", "fallback": {"$n": {"c": "Skeleton"}}}},
    "Json({'$n': 1, 'd': datetime.date(2026, 1, 2)})": {
        "c": "Json", "p": {"value": {"$d": {"$n": 1, "d": {"$date": "2026-01-02"}}}},
    },
    "Json([datetime.datetime(2026, 1, 2, 3), datetime.time(4), {5}, (6,), 7.0, math.nan])": {
        "c": "Json", "p": {"value": [{"$datetime": "2026-01-02T03:00:00"}, {"$time": "04:00:00"}, [5], [6], 7.0, None]},
    },
    "Table([{'n': Text('x'), 1: 2}])": {
        "c": "Table", "p": {"rows": [{"n": {"$n": {"c": "Text", "p": {"text": "x"}}}, "1": 2}]},
    },
    "Button('x', disabled=[])": {"c": "Button", "p": {"label": "x", "disabled": False}},
    "Progress(True)": {"c": "Progress", "p": {"value": 1}},
    "DateField('d', min=datetime.datetime(2026, 1, 2, 3))": {
        "c": "DateField", "p": {"name": "d", "min": {"$date": "2026-01-02"}},
    },
}  # fmt: skip


@pytest.mark.parametrize("code", TREES)
async def test_trees(session: Session, host: ScriptedHost, code: str) -> None:
    await run(session, host, f"mount({code})")
    assert host.trees["m1"] == TREES[code]


async def test_agent_code_may_give_any_name_another_meaning(session: Session, host: ScriptedHost) -> None:
    code = "\n".join(
        f"{name} = None"
        for name in [
            "len",
            "str",
            "list",
            "dict",
            "isinstance",
            "type",
            "json",
            "datetime",
            "enumerate",
            "range",
            "print_",
            "Node",
            "min",
            "repr",
        ]
    )
    assert await play(session, host, code) is None
    await run(session, host, "mount(lambda: Table([{'a': {1}}], title='x'))", check=False)
    assert host.trees["m1"]["p"]["rows"] == [{"a": [1]}]
    await run(session, host, "import statistics\nx = statistics.mean([1, 2])", check=False)
    assert await session.run("x") == Finished(1.5)


# --- mounts ---


async def test_only_what_changed_is_drawn_again(session: Session, host: ScriptedHost) -> None:
    await play(
        session,
        host,
        "a = Data(n=0)\nb = Data(n=0)\nmount(lambda: Text(a.n))\nmount(lambda: Text(b.n))\nmount(Text('c'))",
    )
    assert await drawn(session, host) == []
    await run(session, host, "a.n = 1")
    assert [render[0] for render in await drawn(session, host)] == ["m1"]
    assert await drawn(session, host) == []
    await run(session, host, "b.n = 2")
    assert json.loads(value(await session.run(*entry_render("m2"))))["p"]["text"] == "2"
    for name in ("m2", "m3", "nothing"):
        assert await session.run(*entry_render(name)) == Finished(None)


async def test_a_failing_ui_is_told_once_and_recovers(session: Session, host: ScriptedHost) -> None:
    await play(session, host, "d = Data(n=1)\nmount(lambda: Text(1 / d.n))\nmount(lambda: Text(d.n))")
    await run(session, host, "d.n = 0")
    assert await drawn(session, host) == [
        ["m1", None, "ZeroDivisionError: division by zero"], ["m2", {"c": "Text", "p": {"text": "0"}}],
    ]  # fmt: skip
    assert await drawn(session, host) == []
    failure = error(await session.run(*entry_render("m1")))
    assert (failure.type, failure.source_line) == ("ZeroDivisionError", "mount(lambda: Text(1 / d.n))")
    await run(session, host, "d.n = 2")
    assert [render[0] for render in await drawn(session, host)] == ["m1", "m2"]


async def test_slots_take_nodes_and_functions_and_are_replaced(session: Session, host: ScriptedHost) -> None:
    await play(session, host, "d = Data(n=1)\nm = mount(Card(Slot('a'), Slot('b', fallback=Text('wait'))))")
    await play(session, host, "m.slot('a', lambda: Text(d.n))\nm.slot('b', 'here')")
    assert texts(host.trees["m1"]) == ["1", "wait", "here"]
    await run(session, host, "d.n = 2")
    await drawn(session, host)
    assert texts(host.trees["m1"])[0] == "2"
    await run(session, host, "m.slot('a', Text('fixed'))")
    assert texts(host.trees["m1"])[0] == "fixed"
    failure = error(await run(session, host, "m.slot('c', 'x')"))
    assert failure.message == "no Slot named 'c' in m1; it has: a, b"
    failure = error(await run(session, host, "m.slot('a', lambda: 1 / 0)"))
    assert failure.type == "ZeroDivisionError"
    assert await drawn(session, host) == []


async def test_callback_ids_stay_the_same_and_stale_ones_are_refused(
    session: Session, host: ScriptedHost
) -> None:
    await play(
        session, host,
        "d = Data(items=['a', 'b', 'c'], hint=True)\nlog = []\n"
        "mount(lambda: Card(Text('hint') if d.hint else None,"
        " *[Button(i, key=i, on_click=lambda i=i: log.append(i)) for i in d.items], Button('last', on_click=lambda: log.append('last'))))",
    )  # fmt: skip

    def ids() -> dict[str, str]:
        return {n["p"]["label"]: n["p"]["on_click"] for n in nodes(host.trees["m1"]) if n["c"] == "Button"}

    before = ids()
    assert len(set(before.values())) == 4
    await run(session, host, "d.hint = False\nd.items = ['c', 'a']")
    await drawn(session, host)
    after = ids()
    assert (after["a"], after["c"]) == (before["a"], before["c"])
    assert await session.run(*entry_callback(after["a"])) == Finished("done")
    assert await session.run(*entry_callback(before["b"])) == Finished("gone")
    assert await session.run(*entry_callback("nonsense")) == Finished("gone")
    assert await session.run("log") == Finished(["a"])


async def test_callbacks_get_values_may_be_async_and_fail_with_their_line(
    session: Session, host: ScriptedHost
) -> None:
    await play(
        session, host,
        "d = Data(v=None)\nasync def change(value):\n    await sleep(0)\n    d.v = value\ndef broken():\n    return [][1]\n"
        "mount(lambda: Card(Slider('s', value=d.v, on_change=change), Button('x', on_click=broken)))",
    )  # fmt: skip
    change = host.find("m1", "Slider")["on_change"]
    assert await settle(session, host, await session.run(*entry_callback(change, [42]))) == Finished("done")
    assert await session.run("d.v") == Finished(42)
    failure = error(await session.run(*entry_callback(host.find("m1", "Button")["on_click"])))
    assert (failure.type, failure.line, failure.source_line) == ("IndexError", 6, "    return [][1]")


async def test_submits_timers_and_streams(session: Session, host: ScriptedHost) -> None:
    await play(
        session, host,
        "log = []\nm = mount(Card(TextField('t'), SubmitButton()), on_submit=log.append)\n"
        "t = every(5, lambda: log.append('tick'))\ns = StreamedData('films')",
    )  # fmt: skip
    assert host.calls[0].args[1:] == (False, True)
    (timer,) = host.timers
    assert host.timers[timer] == 5
    assert await session.run(*entry_submit("m1", {"t": "x"})) == Finished("done")
    assert await session.run(*entry_tick(timer)) == Finished("done")
    assert await session.run("log") == Finished([{"t": "x"}, "tick"])
    await run(session, host, "t.stop()\nt.stop()")
    assert not host.timers
    assert await session.run(*entry_tick(timer)) == Finished("gone")
    assert await session.run("s.value, s.complete") == Finished([None, False])
    assert await session.run(*entry_stream("films", "[1]", complete=False)) == Finished("done")
    assert await session.run(*entry_stream("films", "[1, 2]", complete=True)) == Finished("done")
    assert await session.run("s.value, s.complete") == Finished([[1, 2], True])
    assert await session.run(*entry_stream("other", "1", complete=True)) == Finished("gone")
    assert await session.run(*entry_submit("m9", {})) == Finished("gone")


async def test_closed_mounts_are_forgotten(session: Session, host: ScriptedHost) -> None:
    await play(
        session,
        host,
        "d = Data(n=0)\na = mount(lambda: Button(str(d.n), on_click=print))\nb = mount(lambda: Text(d.n))",
    )
    click = host.find("m1", "Button")["on_click"]
    assert await session.run(*entry_close("m1")) == Finished(None)
    await run(session, host, "b.close()\nb.close()\nd.n = 1")
    assert host.closed == ["m2"]
    assert await drawn(session, host) == []
    assert await session.run(*entry_callback(click)) == Finished("gone")


async def test_data_is_free_and_can_be_read_like_a_dict(session: Session) -> None:
    assert value(await session.run("d = Data({'a': 1}, b=2)\nd.c = 3\nd['e'] = 5\n[d.a, d['b'], 'c' in d, 'x' in d, d.e]")) == [
        1, 2, True, False, 5,
    ]  # fmt: skip
    assert error(await session.run("d['x']")).type == "KeyError"


async def test_output_is_counted_per_statement(session: Session, host: ScriptedHost) -> None:
    for _ in range(3):
        assert await run(session, host, "print('x' * 150_000)") == Finished(None)
    assert error(await run(session, host, "for _ in range(3): print('x' * 150_000)")).type == "RuntimeError"
    assert await run(session, host, "print('fine', 1, sep='-', end='.')") == Finished(None)
    assert host.output.endswith("fine-1.")


async def test_thousands_of_callbacks_leave_little_in_the_snapshot(
    session: Session, host: ScriptedHost
) -> None:
    await play(
        session, host, "d = Data(n=0)\ndef up():\n    d.n += 1\nmount(lambda: Button(str(d.n), on_click=up))"
    )
    click = host.find("m1", "Button")["on_click"]
    before = len(await session.dump())
    for _ in range(2_000):
        await session.run(*entry_callback(click))
    assert await session.run("d.n") == Finished(2_000)
    assert len(await session.dump()) - before < 20_000
