"""The type check: what is certainly wrong is refused before it runs, and nothing else is."""

import os
import signal

import pytest

from chat.sandbox.base import Failed, Finished, Session
from chat.sandbox.limits import SandboxLimits
from chat.sandbox.monty import MontySandbox
from chat.sandbox.typecheck import NOT_RUN
from tests.sandbox.scripted import PRELUDE, ScriptedHost, error, play, run

pytestmark = pytest.mark.asyncio(loop_scope="session")

# Earlier statements, a line with a mistake, and what the model must read about it.
MISTAKES: list[tuple[str, str, str]] = [
    ("", "page = fetch('https://a.example')\nprint(page[:20])", "write await before the call"),
    ("", "page = fetch('https://a.example')\nfor line in page.splitlines(): print(line)", "await"),
    ("page = fetch('https://a.example')", "title = page.split('x')", "write await before the call"),
    ("page = fetch('https://a.example')", "page[0]", "write await before the call"),
    ("", "print(fetch('https://a.example'))", "fetch() needs await here"),
    ("", "print(f'It is {now()}')", "now() needs await here"),
    ("", "if fetch('https://a.example') == '': print('x')", "fetch() needs await here"),
    ("", "len(fetch('https://a.example'))", "await"),
    ("", "data = fetch_json('https://a.example')['items']", "await"),
    ("", "rows = [r for r in file_rows('x.csv')]", "await"),
    ("", "for row in file_rows('x.csv'):\n    print(row)", "await"),
    ("", "total = 1 + fetch_json('https://a.example')", "await"),
    ("", "Text(now())", "await"),
    ("", "mount(Card(Text(fetch('https://a.example'))))", "await"),
    ("", "sleep(1)", "was called without await"),
    ("", "memory_set('a', 1)", "was called without await"),
    ("", "for i in range(3):\n    sleep(1)", "was called without await"),
    ("", "async def f():\n    sleep(1)\nawait f()", "was called without await"),
    ("", "ask(Card(TextField('x'), SubmitButton()))['x']", "await"),
    ("", "size = choose('?', ['a'])\nsize.upper()", "await"),
    ("m = mount(Card(TextField('x'), SubmitButton()))", "m.result()['x']", "await"),
    ("m = mount(Card(TextField('x'), SubmitButton()))", "answer = m.result()\nprint(answer['x'])", "await"),
    ("m = mount(Card(TextField('x'), SubmitButton()))\nanswer = m.result()", "answer['x']", "await"),
    ("m = mount(Card(TextField('x'), SubmitButton()))", "m.result()", "was called without await"),
    ("async def load(url):\n    return await fetch(url)", "load('https://a.example').upper()", "await"),
    ("async def load(url):\n    return await fetch(url)", "load('https://a.example')", "without await"),
    ("async def load(url):\n    return await fetch(url)", "x = load('https://a.example')\nx[0]", "await"),
    ("", "async def load(): return 1\nload() + 1", "await"),
    ("", "Card(titel='x')", "accepted: title, help, key; did you mean title?"),
    (
        "",
        "mount(Card(Text('a'), colour='red'))",
        "Card() got an unexpected argument 'colour'; accepted: title",
    ),
    ("", "mount(lambda: Card(Text('a', bold=True)))", "Text() got an unexpected argument 'bold'"),
    ("", "def ui():\n    return Card(Text('x'), titel='y')", "did you mean title?"),
    ("", "def ui():\n    return Button('x', onclick=print)", "did you mean on_click?"),
    ("", "Text()", "Text() lacks 'text'; it is called Text(text, kind=…"),
    ("", "Table()", "Table() lacks 'rows'"),
    ("", "Select('x', label='y')", "Select() lacks 'options'"),
    ("", "Tab(Text('x'))", "Tab() lacks 'title'"),
    ("", "TextField()", "TextField() lacks 'name'"),
    ("", "Text('a', 'b')", "Text() takes at most 1 positional, got 2"),
    ("", "Heading('a', 2, 3)", "Heading() takes at most"),
    ("", "Text('a', text='b')", "Text() got 'text' twice"),
    ("", "mount()", "mount() lacks 'ui'"),
    ("", "mount(Text('a'), Text('b'), Text('c'))", "mount() takes at most 2 positional, got 3"),
    ("", "mount(Text('a'), onsubmit=print)", "did you mean on_submit?"),
    ("m = mount(Card(Slot('a')))", "m.slot('a')", "Mount.slot() lacks 'ui'"),
    (
        "m = mount(Card(Slot('a')))",
        "m.slot('a', Text('b'), 3)",
        "Mount.slot() takes at most 2 positional, got 3",
    ),
    ("m = mount(Card(Slot('a')))", "await m.result(timout=3)", "did you mean timeout?"),
    ("", "await fetch()", "fetch() lacks 'url'"),
    ("", "await fetch('https://a.example', 5)", "fetch() takes at most 1 positional, got 2"),
    ("", "await fetch('https://a.example', headers={})", "fetch() got an unexpected argument 'headers'"),
    ("", "await now('UTC', 'x')", "now() takes at most 1 positional, got 2"),
    ("", "await choose('Size?')", "choose() lacks 'options'"),
    ("", "await ask()", "ask() lacks 'ui'"),
    ("", "await sleep(1, 2, 3)", "sleep() takes at most 2 positional"),
    ("", "every(1)", "every() lacks 'fn'"),
    ("", "StreamedData()", "StreamedData() lacks 'target'"),
    ("", "Txt('a')", "name 'Txt' is not defined; did you mean Text?"),
    ("", "mout(Text('a'))", "name 'mout' is not defined; did you mean mount?"),
    ("", "mount(Card(Textfield('a')))", "did you mean TextField?"),
    ("total = 3", "print(totl)", "name 'totl' is not defined; did you mean total?"),
    ("", "prin('x')", "name 'prin' is not defined"),
    ("", "x = undefined_thing + 1", "name 'undefined_thing' is not defined"),
    ("", "rows = [r for r in records]", "name 'records' is not defined"),
    ("", "for item in itms:\n    pass", "name 'itms' is not defined"),
    ("", "if ready:\n    print(1)", "name 'ready' is not defined"),
    ("", "é = 'ü'; print(é, nirgends)", "name 'nirgends' is not defined"),
    ("", "class A:\n    x = nothing", "name 'nothing' is not defined"),
    ("", "def f(x=nothing): pass", "name 'nothing' is not defined"),
    ("", "@nothing\ndef f(): pass", "name 'nothing' is not defined"),
]

# What looks wrong to a strict checker and is not, or not certainly.
FINE: list[str] = [
    "def ui():\n    return Text(defined_later)\ndefined_later = 1\nmount(ui)",
    "show = lambda: helper()\ndef helper(): return 1\nshow()",
    "x = None\nfor i in range(3):\n    x = i if x is None else x + i",
    "d = {'a': 1, 'b': 'x', 'c': None}\nd['a'] + 1\nd['b'].upper()",
    "import re\nm = re.search('a', 'a')\nm.group(0)",
    "def f(a: int) -> str:\n    return a\nf('not an int')",
    "x: int = 'text'\nx = 3.5",
    "rows = [{'n': 1}, {'n': None}]\nsum(r['n'] for r in rows if r['n'])",
    "if False:\n    y = nothing_here\ny = 1",
    "exec('made_here = 1')\nprint(made_here)",
    "def setup():\n    global made\n    made = 1\nsetup()\nprint(made)",
    "pending = fetch('https://a.example')\npage = await pending",
    "calls = [now(), now()]\nimport asyncio\nawait asyncio.gather(*calls)",
    "maybe = now() if False else None\nmaybe is None",
    "x = now() if False else 'text'\nx.upper()",
    "def Card2(*a, **k): return Card(*a)\nCard2(titel='x')",
    "def Text2(a, b, c): return Text(a)\nText2(1, 2, 3)",
    "original = Text\ndef Text(text, bold=False): return original(text)\nmount(Text('a', bold=True))",
    "Badge = lambda text, tone='x': Row(text)\nBadge('a', tone='b')",
    "class Mount:\n    def slot(self, a): return a\nMount().slot(3)",
    "props = {'title': 'x'}\nCard(**props)\nText(*['a'])",
    "[print(name) for name in ['a']]\n{k: v for k, v in {}.items()}",
    "for i in []:\n    pass\nelse:\n    i = 0\nprint(i)",
    "import json as j, math\nj.dumps(1)\nmath.pi",
    "match {'a': 1}:\n    case {'a': value}:\n        pass\nprint(value)",
    "while (n := 3) > 5:\n    pass\nprint(n)",
    "lst = [1, 'a', None]\nlst[0] + 1\nlst[1].upper()",
    "len([]) or print(*[], sep='')\nround(2.5)\nsorted([3, 1], key=lambda v: -v)",
    "x = [1]\nx.foo if False else x",
    "async def tick():\n    await sleep(0)\nevery(1, tick)",
    "Button('x', on_click=lambda: sleep(1))",
]


@pytest.mark.parametrize(("before", "code", "says"), MISTAKES)
async def test_it_is_refused_before_it_runs(
    session: Session, host: ScriptedHost, before: str, code: str, says: str
) -> None:
    if before:
        assert await play(session, host, before) is None
    calls, output = len(host.calls), host.output
    failure = error(await session.run(f"witness = 1\n{code}", check=True, label="block 2", line=7))
    assert failure.hint == NOT_RUN, failure.text()
    assert says in failure.message
    assert failure.line is not None
    assert failure.line >= 8
    assert failure.source_line
    assert not failure.fatal
    assert (len(host.calls), host.output) == (calls, output)
    assert error(await session.run("witness")).type == "NameError"


@pytest.mark.parametrize("code", FINE)
async def test_what_is_not_certain_is_not_refused(session: Session, host: ScriptedHost, code: str) -> None:
    whole = await run(session, host, code)
    assert not (isinstance(whole, Failed) and whole.error.hint == NOT_RUN), whole
    failure = await play(session, host, code)
    assert failure is None or failure.hint != NOT_RUN, failure.text()


async def test_a_refused_statement_defines_nothing(session: Session) -> None:
    error(await session.run("x = Card(titel='a')", check=True))
    assert error(await session.run("print(x)", check=True)).hint == NOT_RUN


async def test_names_are_remembered_in_snapshots(
    sandbox: MontySandbox, session: Session, host: ScriptedHost
) -> None:
    await play(session, host, "m = mount(Card(Slot('a')))\nasync def load(): return 1\ntotal = 3")
    saved = await session.dump()
    await session.close()
    again = await sandbox.open(host, saved)
    assert "Mount.slot()" in error(await again.run("m.slot('a')", check=True)).message
    assert "await" in error(await again.run("load() + 1", check=True)).message
    assert await again.run("total", check=True) == Finished(3)
    await again.close()


async def test_a_name_that_functions_change_is_not_relied_on(session: Session, host: ScriptedHost) -> None:
    code = "m = mount(Card(Slot('a')))\ndef swap():\n    global m\n    m = []\nswap()\nm.append(1)"
    assert await play(session, host, code) is None


async def test_the_setting_turns_it_off() -> None:
    sandbox = MontySandbox(PRELUDE, SandboxLimits(check=False, max_processes=1))
    session = await sandbox.open(ScriptedHost())
    failure = error(await session.run("x = 1\nCard(titel='a')", check=True))
    assert failure.hint != NOT_RUN
    assert await session.run("x") == Finished(1)
    await session.close()
    await sandbox.close()


async def test_it_goes_off_when_it_costs_too_much() -> None:
    sandbox = MontySandbox(PRELUDE, SandboxLimits(check_seconds=0, max_processes=2))
    session = await sandbox.open(ScriptedHost())
    for _ in range(20):
        await session.run("x = 1", check=True)
    assert error(await session.run("Card(titel='a')", check=True)).hint != NOT_RUN
    await session.close()
    await sandbox.close()


async def test_the_checker_never_runs_what_it_checks(sandbox: MontySandbox, host: ScriptedHost) -> None:
    session = await sandbox.open(host)
    await session.run("print('once')", check=True)
    assert host.output == "once\n"
    await session.close()


async def test_a_lost_checker_is_replaced(sandbox: MontySandbox, session: Session) -> None:
    await session.run("1", check=True)
    worker = sandbox._checker._worker
    assert worker is not None
    assert worker.worker_pid is not None
    os.kill(worker.worker_pid, signal.SIGKILL)
    await session.run("x = 1", check=True)
    assert error(await session.run("Card(titel='a')", check=True)).hint == NOT_RUN
