"""What parsing costs. Run on demand: `pytest tests/bench/test_protocol.py -s`.

Nothing is asserted: figures depend on the machine. What should be seen: at least 2.5 MB/s for parser and
splitter in pieces of 4 characters; about 10 times as long for 10 times the text; less time to split than to
compile.
"""

# ruff: noqa: T201 - printing is what this is for

import ast
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from chat.protocol import fences
from chat.protocol.data import PartialJSON
from chat.protocol.fences import FenceParser
from chat.protocol.statements import StatementSplitter
from chat.protocol.text import TextGuard

PIECE = 4  # characters, about a token
SIZE = 300_000
REPLIES = Path(__file__).parent.parent / "replies"
MEGA = 1e6


def golden_text() -> str:
    paths = sorted(path for path in REPLIES.glob("*.md") if path.name != "README.md")
    return "\n".join(path.read_text().split("-->\n", 1)[1] for path in paths)


def prose() -> str:
    return "Some words about **this** and `that`, in a line as models write it.\n- an item of a list\n\n" * 20


def module_code() -> str:
    return Path(ast.__file__).read_text()


def repeated(text: str, size: int) -> str:
    return (text * (size // len(text) + 1))[:size]


def in_run_blocks(code: str, size: int) -> str:
    """Code of a real module in run blocks of some hundred lines, without strings that could span them."""
    lines = code.replace('"""', '"').replace("'''", "'").split("\n")
    blocks = ["\n".join(lines[start : start + 300]) for start in range(0, len(lines), 300)]
    return repeated("".join(f"Text.\n\n```python agent.run\n{block}\n```\n\n" for block in blocks), size)


def pieces(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def seconds(work: Callable[[], object], rounds: int = 3) -> float:
    """The best of some rounds: the others measure what else the machine does."""

    def once() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return min(once() for _ in range(rounds))


def feeding(kind: type[FenceParser | StatementSplitter], parts: list[str]) -> Callable[[], None]:
    def work() -> None:
        reader = kind()
        feed = reader.feed
        for part in parts:
            feed(part)
        reader.close()

    return work


@pytest.fixture(autouse=True)
def _own_lines() -> None:
    print()


def show(name: str, kind: type[FenceParser | StatementSplitter], text: str) -> float:
    taken = seconds(feeding(kind, pieces(text)))
    print(f"{name:42} {len(text) / MEGA:6.2f} MB {taken * 1000:9.1f} ms {len(text) / MEGA / taken:7.2f} MB/s")
    return taken


def show_growth(name: str, kind: type[FenceParser | StatementSplitter], make: Callable[[int], str]) -> None:
    small = show(name, kind, make(SIZE))
    large = show(f"{name}, 10 times as long", kind, make(10 * SIZE))
    print(f"{'':42} 10 times the text takes {large / small:.1f} times as long")


def test_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fences, "MAX_BLOCKS", 1_000_000)  # so many short replies in one have too many blocks
    show_growth("parser: golden replies", FenceParser, lambda size: repeated(golden_text(), size))
    show_growth("parser: prose", FenceParser, lambda size: repeated(prose(), size))
    show_growth("parser: code in run blocks", FenceParser, lambda size: in_run_blocks(module_code(), size))


def test_splitter() -> None:
    show_growth("splitter: a real module", StatementSplitter, lambda size: repeated(module_code(), size))


def test_long_function_and_long_line() -> None:
    function = "def f(x):\n" + "".join(
        f'    x[{number}] = g("item {number}", [x, {number}])  # step\n' for number in range(2_000)
    )
    line = "x = [" + ", ".join(f'"item {number}"' for number in range(75_000)) + "]\n"
    for name, code in (("one function of 2,000 lines", function), ("one line of 1 MB", line)):
        show(f"splitter: {name}", StatementSplitter, code)
        show(f"parser: {name}", FenceParser, f"```python agent.run\n{code}```\n")


def test_splitter_beside_compile() -> None:
    code = module_code()
    splitter = StatementSplitter()
    statements = [*splitter.feed(code), *splitter.close()]
    split = seconds(feeding(StatementSplitter, pieces(code)))
    compiled = seconds(lambda: [compile(statement.source, "block", "exec") for statement in statements])
    count = len(statements)
    length = len(code) / count
    print(f"splitter per statement {split / count * MEGA:8.1f} µs ({count} of {length:.0f} characters)")
    print(f"compile() per statement {compiled / count * MEGA:7.1f} µs, {compiled / split:.1f} times as long")


def test_hostile_text() -> None:
    hostile = {
        "lines of backticks in a string": '```agent.run\nx = """\n{}',
        "open brackets": "```agent.run\n{}",
        "marks of lists": "{}",
    }
    parts = {"lines of backticks in a string": "```\n", "open brackets": "((", "marks of lists": "- "}
    for name, frame in hostile.items():
        show_growth(
            f"parser: {name}", FenceParser, lambda size, f=frame, p=parts[name]: f.format(repeated(p, size))
        )
    show_growth("splitter: joined lines", StatementSplitter, lambda size: repeated("\\\n", size))


def test_streamed_data() -> None:
    text = json.dumps([{"name": f"row {number}", "value": number / 8} for number in range(28_000)])

    def stream(size: int, pieces_per_second: float) -> tuple[float, int]:
        partial, spent, evaluations, now = PartialJSON(), 0.0, 0, 0.0
        for part in pieces(text[:size]):
            now += 1 / pieces_per_second
            start = time.perf_counter()
            partial.feed(part)
            if partial.due(now):
                partial.value()
                evaluations += 1
            spent += time.perf_counter() - start
        return spent, evaluations

    for pieces_per_second in (2_000, 20_000):
        spent = {
            size: min(stream(size, pieces_per_second) for _ in range(3))
            for size in (len(text) // 10, len(text))
        }
        for size, (taken, evaluations) in spent.items():
            print(
                f"data at {pieces_per_second:6} pieces/s {size / MEGA:6.2f} MB {taken * 1000:9.1f} ms, "
                f"{evaluations} evaluations, {taken / (size / PIECE / pieces_per_second):.1%} of the time"
            )
        (small, _), (large, _) = spent.values()
        print(f"{'':25} 10 times the text takes {large / small:.1f} times as long")


def test_guard() -> None:
    parts = pieces(repeated(golden_text(), SIZE))
    guard = TextGuard()
    taken = seconds(lambda: [guard.feed(part) for part in parts])
    print(f"guard: golden replies {SIZE / MEGA / taken:7.1f} MB/s")
