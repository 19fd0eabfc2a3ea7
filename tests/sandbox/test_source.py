"""What is said in other words before it runs keeps its lines and its meaning."""

import ast
from pathlib import Path

import pytest

from chat.sandbox import scope
from chat.sandbox.source import NotPythonError, parse, prepare, shown
from tests.sandbox.test_ordinary import SNIPPETS

OURS = [path for path in sorted(Path(__file__).parents[2].glob("chat/**/*.py")) if path.stat().st_size]


def lines(source: str) -> list[tuple[int, int | None]]:
    return [(node.lineno, node.end_lineno) for node in ast.parse(source).body]


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_every_line_stays_where_it_is(path: Path) -> None:
    source = path.read_text()
    prepared = prepare(source)
    assert prepared.source.count("\n") == source.count("\n")
    before, after = lines(source), dict(lines(prepared.source))
    assert {start for start, _ in before} <= set(after)
    assert before[-1][1] == max(end or 0 for end in after.values())


@pytest.mark.parametrize("code", SNIPPETS)
def test_ordinary_code_stays_python(code: str) -> None:
    assert prepare(code).source.count("\n") == code.count("\n")
    ast.parse(prepare(code).source)


SAID: list[tuple[str, str]] = [
    ("import json", "json = _import('json')"),
    ("import math", "import math"),
    ("import math, json as j; x = 1", "import math; j = _import('json'); x = 1"),
    ("import urllib.parse", "urllib = _import('urllib')"),
    ("import urllib.parse as p", "p = _import('urllib.parse')"),
    ("import os.path", "import os.path"),
    (
        "from json import dumps as d, loads",
        "[d, loads] = [_import_from('json', 'dumps'), _import_from('json', 'loads')]",
    ),
    ("from math import pi", "from math import pi"),
    ("from json import *", "from json import *"),
    ("if 1: import re", "if 1: re = _import('re')"),
    ("del d['a']", "_delete(d, ('a'))"),
    ("del d[1], e.f[2:]", "_delete(d, (1)); _delete(e.f, (slice(2, None, None)))"),
    ("del x", "del x"),
    ("del x.y", "del x.y"),
    ("max(d, key=d.get)", "max(d, key=_method(d, 'get'))"),
    ("d.get('a')", "d.get('a')"),
    ("f = names.append", "f = _method(names, 'append')"),
    ("f(data.count)", "f(data.count)"),
    ("map(str.upper, x)", "map(_method(str, 'upper'), x)"),
    ("next(x for x in y)", "next(iter(x for x in y))"),
    ("next((x for x in y), None)", "next((iter(x for x in y)), None)"),
    ("g = (x for x in y)", "g = (iter(x for x in y))"),
    ("sum(x for x in y)", "sum(x for x in y)"),
    ("class A(object): pass", "class A(): pass"),
    ("class A(B): pass", "class A(B): pass"),
    ("'import json'", "'import json'"),
    ("é = 'ü'; import json", "é = 'ü'; json = _import('json')"),
    ("del d[max(e, key=e.get)]", "_delete(d, (max(e, key=_method(e, 'get'))))"),
    ("f(g(a.get).get)", "f(_method(g(_method(a, 'get')), 'get'))"),
    ("f(a.get(b.get))", "f(a.get(_method(b, 'get')))"),
    ("next(x for x in map(s.get, y))", "next(iter(x for x in map(_method(s, 'get'), y)))"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "said"), SAID)
def test_what_is_said_instead(code: str, said: str) -> None:
    assert prepare(code).source == said


def test_lines_inside_of_what_is_replaced_are_made_up_for() -> None:
    code = "from json import (\n    dumps,\n    loads,\n)\ndel d[\n    0\n]\nend = 1"
    assert lines(prepare(code).source)[-1] == lines(code)[-1] == (8, 8)


def test_modules_that_are_mentioned_or_imported() -> None:
    prepared = prepare(
        "import statistics\nfrom urllib.parse import quote\nx = math.pi\nf = lambda: textwrap.wrap('')"
    )
    assert prepared.modules == ("statistics", "urllib_parse")
    assert prepared.mentioned == ("math", "textwrap")


def test_rewritten_methods_are_shown_as_they_were() -> None:
    line = "    return max(d, key=d.get), sorted(x, key=str.lower)"
    assert shown(prepare(f"def f():\n{line}").source.split("\n")[1]) == line


@pytest.mark.parametrize(
    "code", ["x = (", "x = '\0'", "x = " + "(" * 1000, "x = " + "-" * 50_000 + "1", "\ud800"]
)
def test_what_is_no_python_says_so(code: str) -> None:
    with pytest.raises(NotPythonError) as raised:
        prepare(code)
    assert raised.value.message


def test_the_names_that_a_statement_defines() -> None:
    code = """
import a.b, c as d
from e import f as g, h
i = j, *k = m[0] = n.o = 1
for p, (q, r) in s: pass
with t as u, v as (w, x): pass
try: pass
except E as y: pass
def z(aa=(bb := 1)): cc = 1; global dd
class ee: ff = 1
match gg:
    case {"a": hh, **ii} | [hh, *ii]: pass
    case jj if (kk := 1): pass
[ll for ll in mm]
nn: int = 1
oo += 1
lambda: (pp := 1)
"""
    names = scope.bound(parse(code))
    assert names >= {"a", "d", "g", "h", "i", "j", "k", "p", "q", "r", "u", "w", "x", "y", "z"}
    assert names >= {"bb", "dd", "ee", "hh", "ii", "jj", "kk", "nn", "oo"}
    assert not names & {"b", "c", "e", "f", "m", "n", "o", "s", "t", "v", "aa", "cc", "gg", "mm", "pp"}
