"""What the subset lacks fails with what to write instead, at its line."""

import pytest

from chat.sandbox.base import Session
from tests.sandbox.scripted import ScriptedHost, error, run

pytestmark = pytest.mark.asyncio(loop_scope="session")

LACKS = {
    "class Dog(Animal):\n    pass": "write a class without a base",
    "class MyError(Exception):\n    pass": "raise ValueError or RuntimeError with a message",
    "class A:\n    @property\n    def x(self):\n        return 1": "write a property as a method",
    "class A:\n    @staticmethod\n    def x():\n        return 1": "write a property as a method",
    "x = 1\ndel x": "only items can be deleted",
    "class A: pass\na = A()\ndel a.x": "only items can be deleted",
    "def g():\n    yield 1": "build a list and return it",
    "async def f():\n    async with x:\n        pass": "try/finally",
    "async def f():\n    async for i in x:\n        pass": "use a plain for loop",
    "try:\n    pass\nexcept* ValueError:\n    pass": "use except instead of except*",
    "type X = int": "X = int",
    "ages = {'a': 1}\nread = {'f': ages.get}": "write lambda k: d.get(k)",
    "words = []\nadd = (words.append, 1)": "lambda x: value.append(x)",
    "names = ['b']\nnames.sort(key=[str.title][0])": "lambda s: s.title()",
    "{'a': 1}.name": "read a dict's entries with d['name']",
    "Data(a=1).total": "set it first: Data(total=None), or data.total = …",
    "import requests": "use the skill fetch(url)",
    "from bs4 import BeautifulSoup": "no module bs4",
    "import pandas as pd": "use lists of dicts",
    "import matplotlib.pyplot as plt": "use the component Chart",
    "from zoneinfo import ZoneInfo": "the skill now(tz)",
    "from enum import Enum": "plain constants",
    "import nonsense": "write what you need of it yourself",
    "import asyncio\nasyncio.create_task(sleep(1))": "asyncio.gather",
    "import asyncio\nasyncio.wait_for(sleep(1), 3)": "result(timeout=60)",
    "import asyncio\nasyncio.Queue()": "a plain list or variable does",
    "import datetime\ndatetime.now()": "write datetime.datetime.now(…)",
    "import functools\nfunctools.cmp_to_key(print)": "sort with a key function",
    "import collections\ncollections.ChainMap()": "only the parts of this module",
    "open('x.txt')": "there are no files here",
    "name = input('name?')": "await ask(Card(",
    "globals()": "globals() does not exist here",
    "vars(Data())": "list the attributes you need",
    "def f(): pass\nf.__name__": "functions have no names here",
    "class A:\n    def __len__(self): return 1\nlen(A())": "give the class a method",
    "class A:\n    def __lt__(self, o): return True\nsorted([A(), A()])": "sort with a key",
    "import re\nre.compile('a').sub(lambda m: 'b', 'a')": "re.sub(pattern, function, text)",
    "g = [x for x in [1]]\nnext(g)": "next(iter(values))",
    "Counter('abc')": "write collections.Counter",
    "timedelta(days=1)": "write datetime.timedelta",
    "2.0.is_integer()": "write x == int(x)",
    "'abc'.translate({})": "use f-strings",
    "x = [0] * 10**10": "keep less at once",
    "def f(n): return f(n)\nf(1)": "write a loop",
    "issubclass(bool, int)": "classes have no bases here",
    "from dataclasses import fields": "",
}


@pytest.mark.parametrize("code", LACKS)
async def test_the_error_says_what_to_write_instead(session: Session, host: ScriptedHost, code: str) -> None:
    failure = error(await run(session, host, f"first = 1\n{code}", check=False))
    assert LACKS[code] in failure.hint, failure.text()
    assert failure.line is not None
    assert failure.line >= 1
    assert failure.source_line
    assert failure.text("block 1, statement 2").startswith(f"In block 1, statement 2, line {failure.line}:\n")


async def test_an_ordinary_error_needs_no_hint(session: Session, host: ScriptedHost) -> None:
    for code in (
        "1 / 0",
        "{}['a']",
        "[][1]",
        "int('x')",
        "raise ValueError('x')",
        "None.x",
        "len(None)",
        "'a' + 1",
    ):
        failure = error(await run(session, host, code, check=False))
        assert failure.hint == "", failure.text()


SYNTAX = {
    "x = (1,\n     2": ("'(' was never closed", 1),
    "for i in range(3)\n    pass": ("expected ':'", 1),
    "if x = 1:\n    pass": ("invalid syntax", 1),
    "def f():\nreturn 1": ("expected an indented block", 2),
    "print('a": ("unterminated string literal", 1),
    "a = 1\n  b = 2": ("unexpected indent", 2),
}


@pytest.mark.parametrize("code", SYNTAX)
async def test_syntax_errors_are_pythons_own(session: Session, host: ScriptedHost, code: str) -> None:
    failure = error(await session.run(code, label="block 1", line=11))
    says, line = SYNTAX[code]
    assert (failure.type, failure.line) == ("SyntaxError", line + 10)
    assert says in failure.message


async def test_rewritten_lines_are_shown_as_they_were(session: Session, host: ScriptedHost) -> None:
    await run(session, host, "def best(d):\n    return max(d, key=d.get) + 1")
    failure = error(await run(session, host, "best({'a': 1})"))
    assert [frame.source_line.strip() for frame in failure.frames] == [
        "best({'a': 1})", "return max(d, key=d.get) + 1",
    ]  # fmt: skip
    failure = error(
        await run(session, host, "from statistics import (\n    mean,\n    nothing,\n)", check=False)
    )
    assert (failure.type, failure.source_line) == ("ImportError", "from statistics import (")


async def test_deep_tracebacks_are_cut_in_the_middle(session: Session, host: ScriptedHost) -> None:
    failure = error(await run(session, host, "def f(n):\n    return f(n - 1) if n else 1 / 0\nf(50)"))
    assert failure.type == "ZeroDivisionError"
    assert len(failure.frames) == 6


async def test_a_long_message_is_cut(session: Session, host: ScriptedHost) -> None:
    failure = error(await run(session, host, "raise ValueError('x' * 100_000)"))
    assert len(failure.message) < 2_100
    assert failure.message.endswith("(98000 more characters)")
