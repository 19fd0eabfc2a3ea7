import random
import re

import pytest
from hypothesis import given, settings

from chat.protocol import statements
from chat.protocol.statements import Statement, StatementSplitter
from tests.protocol.reading import cut, cut_at_random, cuts_of, texts_of


def split(pieces: list[str]) -> list[Statement]:
    splitter = StatementSplitter()
    return [statement for piece in pieces for statement in splitter.feed(piece)] + splitter.close()


def timed(marked: str) -> tuple[str, list[int]]:
    """The code without its marks, and after how many of its characters a statement is to come."""
    code, places = "", []
    for part in marked.split("¶")[:-1]:
        code += part
        places.append(len(code))
    return code + marked.split("¶")[-1], places


# A statement must come with the character before each ¶, and one more at the close unless nothing is left.
TIMED = {
    "simple": "x = 1\n¶y = 2\n¶",
    "no newline at the end": "x = 1\n¶y = 2",
    "semicolons": "x = 1; y = 2\n¶",
    "blank lines and comments": "\n# a\n\nx = 1  # b\n¶\n  # c\ny = 2\n¶# d\n",
    "brackets": "x = [\n1,\n\n# a ]\n2]\n¶y = 1\n¶",
    "backslash": "x = 1 + \\\n2\n¶",
    "triple quotes": 'x = """\na\n"""\n¶"""b"""\n¶',
    "definition": "def f():\n    return 1\n\n\nx¶ = 1\n¶",
    "definition before else": "def f():\n    return 1\ne¶lse_ = 1\n¶",
    "definition on one line": "def f(): return 1\n¶x = 1\n¶",
    "class on one line": "class A: pass\n¶class B: x: int\n¶",
    "annotations": "x: int\n¶y: list[int] = [1]\n¶def f(a: int = 1, *, b: str) -> None:\n    pass\nz¶\n¶",
    "if": "if a:\n    b\nc¶\n¶",
    "if else": "if a:\n    b\nelse:\n    c\nd¶\n¶",
    "if elif else": "if a:\n    b\nelif c:\n    d\nelse:\n    e\ne¶lif_ = 1\n¶",
    "if before a name like else": "if a:\n    b\nelse_¶ = 1\n¶",
    "if before a name like elif": "if a:\n    b\nelx¶ = 1\n¶",
    "if before other first letters": "if a:\n    b\nf¶inally_ = 1\n¶",
    "if before a non-ASCII name": "if a:\n    b\nelse\u00e9¶ = 1\n¶",
    "if before a name with a combining mark": "if a:\n    b\nelse\u0301¶ = 1\n¶",
    "if before a bracket": "if a:\n    b\n(¶c)\n¶",
    "if before a string": "if a:\n    b\n'¶c'\n¶",
    "if before a decorator": "if a:\n    b\n@¶c\ndef d(): pass\n¶",
    "comments between clauses": "if a:\n    b\n# c\n\n  # d\nelse:\n    e\n# f\ng¶\n¶",
    "if on one line": "if a: b\nc¶\n¶",
    "if else on one line each": "if a: b\nelif c: d\nelse: e\n¶f\n¶",
    "if expression": "x = a if b else c\n¶",
    "if then if": "if a:\n    b\ni¶f c:\n    d\nx¶\n¶",
    "for else": "for a in b:\n    c\nelse:\n    d\ne¶\n¶",
    "for before except": "for a in b:\n    c\nex¶cept_ = 1\n¶",
    "while": "while a:\n    b\nw¶hile c:\n    d\nelse: e\n¶",
    "try": "try:\n    a\nexcept A:\n    b\nexcept (B, C) as d:\n    e\nelse:\n    f\nfinally:\n    g\nh¶\n¶",
    "try else": "try:\n    a\nexcept A:\n    b\nelse:\n    c\ne¶xcept_\n¶",
    "try finally": "try:\n    a\nfinally:\n    b\nf¶inal = 1\n¶",
    "try star": "try:\n    a\nexcept* A:\n    b\nfix¶ = 1\n¶",
    "try on one line each": "try: a\nexcept: b\nelse: c\nfinally: d\n¶e\n¶",
    "with": "with a as b, (\n    c\n) as d:\n    e\ne¶lse_ = 1\n¶",
    "async def": "async def f():\n    await a\ne¶lse_\n¶",
    "async with": "async with a:\n    b\ne¶lse_\n¶",
    "async for": "async for a in b:\n    c\nelse:\n    d\ne¶\n¶",
    "await": "x = await f()\n¶await g()\n¶",
    "match": "match a:\n    case 1:\n        b\n    case _:\n        c\nd¶\n¶",
    "match as a name": "match = 1\n¶match(x)\n¶match[x]: int = 1\n¶case = 2\n¶type X = int\n¶",
    "match with brackets": "match (a,\n  b):\n    case _: c\nd¶\n¶",
    "lambda": "f = lambda: 1\n¶g = lambda x: (\nx)\n¶",
    "walrus": "if (a := b):\n    c\nd¶\n¶(x := 1)\n¶",
    "slices": "x = a[1:]\n¶y = a[:]\n¶",
    "decorators": "@a\n@b(1,\n2)\n\n# c\nclass D:\n    e\nf¶\n¶",
    "decorated async": "@a\nasync def b():\n    c\nd¶\n¶",
    "decorated one-liner": "@a\ndef b(): c\n¶d\n¶",
    "star imports and such": "from a import (\n  b,\n)\n¶import c\n¶del d\n¶global e\n¶",
    "string statement with prefix": "f'''{\na}'''\n¶rb'\\''\n¶",
    "keywords glued to strings": "if'a':\n    b\nelse:\n    c\nd¶\n¶",
    "tabs": "if a:\n\tb\n\tc\nd¶\n¶",
    "form feed": "def a():\n    b\n\f\nc¶\n¶",
    "code after a form feed": "def a():\n    b\n  \fc\n¶¶d\n¶",
    "indented form feed": "if a:\n\f    b\n\f  c\nd¶\n¶",
    "lines of blanks": "if a:\n    b\n      \n \n    c\nd¶\n¶",
    "string with lines at the margin": 'def a():\n    """b\nelse\nc\n"""\n    d\ne¶\n¶',
    "brackets with lines at the margin": "def a():\n    b = [\n1,\n]\n    return b\nc¶\n¶",
    "comment in a header": "if a:  # b:\n    c\nd¶\n¶",
    "header over a backslash": "if a and \\\nb:\n    c\nelse: \\\n    d\n¶",
    "backslash between clauses": "if a:\n    b\n\\\nelse:\n    c\nd¶\n¶",
    "backslash at the margin": "if a:\n    b\n\\\nc\n¶¶",
    "backslash before a block's line": "if a:\n    b\n\\\n    c\nd¶\n¶",
    "non-ASCII names": "\u540d\u524d = 1\n¶def \u00e9t\u00e9():\n    \u00e5\n\u00e5¶\n¶",
    "carriage returns": "x = 1\r¶\nif a:\r\n  b\r\nc¶\r¶\n",
    "lone carriage returns": "x = 1\r¶y = '''\r'''\r¶",
    # Code that is none
    "indented": "  x = 1\n¶  y = 2\n¶",
    "else alone": "else:\n    a\nb¶\n¶",
    "second else": "if a:\n  b\nelse:\n  c\ne¶lse:\n  d\n",
    "block behind a simple statement": "x = 1\n¶  y = 2\n¶",
    "block behind a one-liner": "if a: b\n  c\n¶¶d\n¶",
    "decorator of nothing": "@a\nb = 1\n¶",
    "decorator at the end": "@a\n",
    "unclosed bracket": "f(1\nx = 2\n",
    "closing bracket": ")\n¶x\n¶",
    "unclosed string": "x = 'a\n¶y\n¶",
    "unclosed triple quotes": "x = '''a\ny\n",
    "unknown header": "foo x:\n    a\nb¶\n¶",
    "backslash at the end": "x = 1 + \\",
    "only a backslash": "\\\n",
    "cut in a word": "if a:\n    b\nels",
    "cut in a clause": "if a:\n    b\nelse",
    "semicolon header": "x = 1; if y:\n    z\nw¶\n¶",
}


@pytest.mark.parametrize("name", TIMED)
def test_each_statement_comes_at_its_earliest_character(name: str) -> None:
    code, expected = timed(TIMED[name])
    splitter = StatementSplitter()
    places = [number for number, character in enumerate(code, start=1) for _ in splitter.feed(character)]
    assert places == expected


@pytest.mark.parametrize("name", TIMED)
def test_any_pieces_give_the_same_statements(name: str) -> None:
    code, _ = timed(TIMED[name])
    expected = split([code])
    assert split(cut(code, 1)) == expected
    for seed in range(20):
        assert split(list(cut_at_random(code, random.Random(seed)))) == expected


def test_source_and_line() -> None:
    code = "\n# a\nx = 1  # b\n\n@c\ndef d():\n    e\n\n    # f\n# g\ny; z"
    assert split([code]) == [
        Statement("x = 1  # b\n", 3),
        Statement("@c\ndef d():\n    e\n", 5),
        Statement("y; z", 11),
    ]


def test_line_behind_a_backslash_is_that_of_the_code() -> None:
    assert split(["\n\\\n\\\nx\n"]) == [Statement("x\n", 4)]
    assert split([" \\\nx\n"]) == [Statement(" \\\nx\n", 1)]


def test_nothing_comes_from_nothing() -> None:
    assert split([]) == split([""]) == split(["\n", " ", "# a\n", "\t"]) == []


def test_statement_over_the_limit_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "MAX_STATEMENT_CHARS", 10)
    for length in (1, 4, 100):
        splitter = StatementSplitter()
        found = [
            statement
            for piece in cut("x = 1\n\ny = '67890'\nz = 1\n", length)
            for statement in splitter.feed(piece)
        ]
        assert [*found, *splitter.close()] == [Statement("x = 1\n", 1)]
        assert splitter.problem is not None
        assert splitter.problem.code == "statement_too_long"
        assert "line 3" in splitter.problem.message


FRAGMENTS = (
    *("if a:\n", "else:\n", "elif b:\n", "else", "try:\n", "except A:\n", "finally:\n", "for a in b:\n"),
    *("def f():\n", "class A:\n", "async ", "@a\n", "match a:\n", "while a: b\n", "else: c\n"),
    *(
        "    x = 1\n",
        "    ",
        "\t",
        "\f",
        "x = 1\n",
        "x",
        "\n",
        "\n",
        "# a\n",
        "\\\n",
        "\\",
        ";",
        ":",
        "\r",
        "\r\n",
    ),
    *("'", '"', "'''", '"""', "f'''", "(", ")", "[", "]", "{", "}", "\ud83d", "\0", "\u00e9"),
)


@settings(max_examples=500, deadline=None)
@given(cuts_of(texts_of(FRAGMENTS)))
def test_any_cuts_give_the_same_and_no_code_is_lost(text_and_pieces: tuple[str, list[str]]) -> None:
    code, pieces = text_and_pieces
    found = split(pieces)
    assert found == split([code]) == split(cut(code, 1))
    code = code.replace("\r\n", "\n").replace("\r", "\n")
    starts = [0]
    for line in code.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    position = 0
    for statement in found:
        start = starts[statement.line - 1]
        assert_without_code(code[position:start])
        assert code.startswith(statement.source, start)
        position = start + len(statement.source)
    assert_without_code(code[position:])


def assert_without_code(gap: str) -> None:
    assert all(re.fullmatch(r"[ \t\f]*(#.*|\\)?", line) for line in gap.split("\n"))
