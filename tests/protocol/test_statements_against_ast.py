"""The statements of real modules are those of `ast`: a sample, or all modules with PROTOCOL_WHOLE=1."""

import ast
import os
import random
import sysconfig
import tokenize
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from chat.protocol.statements import Statement, StatementSplitter
from tests.protocol.reading import cut, cut_at_random

WHOLE = os.environ.get("PROTOCOL_WHOLE") == "1"
SAMPLE_STEP = 1 if WHOLE else 60
LATENCY_STEP = 4 if WHOLE else 600
CLAUSES = ("elif", "else", "except", "finally")


def sources(step: int) -> Iterator[tuple[Path, str]]:
    """Every module, or each so many, that this version of Python can parse; with LF line ends."""
    roots = (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"))
    paths = sorted({path for root in roots for path in Path(root).rglob("*.py")})
    for path in paths[::step]:
        try:
            with tokenize.open(path) as file:
                source = file.read()
            ast.parse(source)
        except (SyntaxError, ValueError, RecursionError):
            continue
        yield path, source


def split(pieces: Iterator[str] | list[str]) -> list[Statement]:
    splitter = StatementSplitter()
    return [statement for piece in pieces for statement in splitter.feed(piece)] + splitter.close()


def lines_of(source: str) -> list[list[int]]:
    """First and last line of each statement; those that share a line together."""
    groups: list[list[int]] = []
    for node in ast.parse(source).body:
        first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])
        last = node.end_lineno or first
        if groups and first <= groups[-1][1]:
            groups[-1][1] = max(last, groups[-1][1])
        else:
            groups.append([first, last])
    return groups


def difference(source: str, found: list[Statement]) -> str | None:
    """What is not as `ast` has it, if anything."""
    lines = source.split("\n")
    expected = [
        Statement("\n".join(lines[first - 1 : last]).rstrip("\n"), first) for first, last in lines_of(source)
    ]
    stripped = [Statement(statement.source.rstrip("\n"), statement.line) for statement in found]
    for got, wanted in zip([*stripped, None], [*expected, None], strict=False):
        if got != wanted:
            return f"got {got}, expected {wanted}"
    return None


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.timeout(3600 if WHOLE else 120)
def test_statements_are_those_of_ast() -> None:
    rng = random.Random(3)
    wrong = []
    count = 0
    for path, source in sources(SAMPLE_STEP):
        count += 1
        cuts = ([source], cut(source, 4), list(cut_at_random(source, rng)))
        for pieces in cuts:
            problem = difference(source, split(pieces))
            if problem:
                wrong.append(f"{path}: {problem}")
                break
    assert count > 20
    assert wrong == []


@pytest.mark.timeout(3600 if WHOLE else 120)
def test_statements_come_as_early_as_they_are_certain() -> None:
    for path, source in sources(LATENCY_STEP):
        splitter = StatementSplitter()
        places = [
            (statement, number)
            for number, character in enumerate(source, start=1)
            for statement in splitter.feed(character)
        ]
        for statement, place in places:
            assert place <= latest_place(source, statement), f"{path}, line {statement.line}"


def latest_place(source: str, statement: Statement) -> int:
    """How many characters must suffice to give the statement."""
    lines = [line + "\n" for line in source.split("\n")]
    lines_read = statement.line - 1 + statement.source.count("\n")
    place = sum(len(line) for line in lines[:lines_read])
    node = ast.parse(statement.source).body[-1]
    if not hasattr(node, "body") and not hasattr(node, "cases"):
        return place
    for line in lines[lines_read:]:
        if line.strip() and not line.lstrip().startswith("#"):
            return place + max(common_length(line, clause) for clause in CLAUSES) + 1
        place += len(line)
    return place


def common_length(line: str, word: str) -> int:
    return next((at for at, letter in enumerate(word) if not line.startswith(letter, at)), len(word))
