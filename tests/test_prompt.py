import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from chat.llm.base import FEEDBACK_MARK
from chat.prompt import system_prompt
from chat.sandbox.base import Failed
from chat.sandbox.monty import MontySandbox
from chat.sandbox.prelude import NAMES
from chat.skills import SKILLS
from chat.ui.components import CATALOGUE
from tests.player import Player, make_sandbox

MAX_TOKENS = 6000
CHARACTERS_PER_TOKEN = 4

PROMPT = system_prompt()
BODY, _, EXAMPLES = PROMPT.partition("# Examples\n")
EXAMPLE = {section.partition("\n")[0]: section.partition("\n")[2] for section in EXAMPLES.split("\n## ")[1:]}
CODE = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)

# What the prompt calls missing, with code that shows it. What starts to work can leave the prompt.
MISSING = {
    "class B(A)": "class A:\n    pass\nclass B(A):\n    pass",
    "class E(Exception)": "class E(Exception):\n    pass",
    "Enum": "from enum import Enum",
    "@property": "class A:\n    @property\n    def x(self):\n        return 1",
    "@staticmethod": "class A:\n    @staticmethod\n    def x():\n        return 1",
    "@classmethod": "class A:\n    @classmethod\n    def x(cls):\n        return 1",
    "__getattr__": "class A:\n    def __getattr__(self, name):\n        return 1\nA().x",
    "__lt__": "class A:\n    def __lt__(self, other):\n        return True\nsorted([A(), A()])",
    "yield": "def f():\n    yield 1",
    "del name": "x = 1\ndel x",
    "open": "open('x')",
    "with open(…)": "with open('x') as f:\n    pass",
    "os": "import os\nos.listdir('.')",
    "sys": "import sys\nsys.exit()",
    "requests": "import requests",
    "urllib.request": "import urllib.request",
    "zoneinfo": "import zoneinfo",
    "numpy": "import numpy",
    "pandas": "import pandas",
    "asyncio.create_task": "import asyncio\nasync def f():\n    pass\nawait asyncio.create_task(f())",
    "async with": "async with x as y:\n    pass",
    "async for": "async for x in y:\n    pass",
    "input()": "input('?')",
    "match.group": "import re\nlist(map(re.match('a', 'a').group, [0]))",
}


# One pool of workers for all tests of the module.
on_shared_loop = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[MontySandbox]:
    made = make_sandbox()
    yield made
    await made.close()


def missing_column() -> set[str]:
    rows = BODY.partition("| --- | --- |\n")[2].partition("\n\n")[0].splitlines()
    return {name for row in rows for name in CODE.findall(row.split("|")[1])}


def test_is_lean() -> None:
    assert len(PROMPT) / CHARACTERS_PER_TOKEN < MAX_TOKENS


def test_is_the_same_in_every_call() -> None:
    assert system_prompt() is PROMPT
    system_prompt.cache_clear()
    assert system_prompt() == PROMPT


def test_is_plain_text() -> None:
    assert not re.search(r"&(lt|gt|amp|quot|#39);|\{%|\{\{|%\}", PROMPT)
    assert "\n\n\n" not in PROMPT


def test_has_everything_that_code_may_call() -> None:
    for name in [*CATALOGUE, *SKILLS, *(set(NAMES) - {"print"}), "Dismissed"]:
        assert re.search(rf"(?<!\w){name}(?!\w)", PROMPT), name
    assert FEEDBACK_MARK in PROMPT


def test_has_every_prop() -> None:
    lines = {
        line.partition("(")[0].removeprefix("- `"): line
        for line in BODY.splitlines()
        if line.startswith("- `")
    }
    shared = next(line for line in BODY.splitlines() if line.startswith("All fields also take"))
    for component in CATALOGUE.values():
        for prop in component.props:
            assert prop.name in lines[component.name] or (component.field and prop.name in shared)


def test_names_nothing_else() -> None:
    known = {*CATALOGUE, *SKILLS, *NAMES, "Dismissed", "None", "RuntimeError", "ValueError", "TimeoutError"}
    known |= {"sum", "sorted", "result", "gather", "dict", "list"}
    told = BODY.partition("| --- | --- |")[0]
    called = {
        name
        for code in CODE.findall(FENCE.sub("", told))
        for name in re.findall(r"(?:^|[^\w.])([A-Za-z_]\w*)\(", code)
    }
    assert called <= known
    # Capitalised words in code are components, too, where they are not called.
    assert {name for code in CODE.findall(told) for name in re.findall(r"^([A-Z][a-z]\w*)$", code)} <= known


@pytest.mark.parametrize("title", EXAMPLE)
@on_shared_loop
async def test_examples_run(title: str, sandbox: MontySandbox) -> None:
    player = Player()
    session = await sandbox.open(player)
    await player.play(session, EXAMPLE[title])
    assert player.errors == []
    assert player.trees
    await player.touch_everything(session)
    assert player.errors == []
    assert player.reports == []
    await session.close()


@on_shared_loop
async def test_the_reference_of_calls_runs(sandbox: MontySandbox) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", BODY, re.MULTILINE | re.DOTALL)
    player = Player()
    session = await sandbox.open(player)
    await player.play(session, f"```python agent.run\n{code}```\n")
    assert player.errors == []
    assert player.asked == 3
    assert player.timers == []
    await player.touch_everything(session)
    assert player.output == "Ada\n"
    await session.close()


def test_all_that_is_called_missing_is_shown() -> None:
    assert missing_column() == set(MISSING)


@pytest.mark.parametrize("name", MISSING)
@on_shared_loop
async def test_what_is_called_missing_is(name: str, sandbox: MontySandbox) -> None:
    session = await sandbox.open(Player())
    outcome = await session.run(MISSING[name], check=True)
    assert isinstance(outcome, Failed)
    await session.close()


@on_shared_loop
async def test_modules_need_no_import(sandbox: MontySandbox) -> None:
    names = re.search(r"Usable without import: ([^\n]+?)\. ", PROMPT)
    assert names
    player = Player()
    session = await sandbox.open(player)
    for name in names[1].split(", "):
        await player.run(session, f"{name}\n")
    assert player.errors == []
    await session.close()


@pytest.mark.parametrize(
    "code",
    [
        "d = {'a': 1, 'b': 2}\ndel d['a']\nprint(max(d, key=lambda k: d.get(k)))",
        "import asyncio\nprint(len(await asyncio.gather(now(), now('Europe/Berlin'))))",
        "@dataclasses.dataclass\nclass P:\n    x: int\nprint(P(1).x)",
        "class P:\n    pass\na = P()\na.x = 1\nprint(sorted([a], key=lambda p: p.x)[0].x)",
        "print(statistics.mean([1, 2, 3]))",
        "page = await fetch('https://example.com')\nprint(page['status'], page['text'][:3])",
    ],
)
@on_shared_loop
async def test_what_to_write_instead_works(code: str, sandbox: MontySandbox) -> None:
    player = Player()
    session = await sandbox.open(player)
    await player.play(session, f"```python agent.run\n{code}\n```\n")
    assert player.errors == []
    assert player.output
    await session.close()
