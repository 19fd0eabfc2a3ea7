"""Over a limit is a problem, at the same character however the reply is cut."""

import pytest

from chat.protocol import fences
from chat.protocol.limits import MAX_FENCE_LINE_CHARS
from tests.protocol.reading import many_cuts, read

LONG = "a" * MAX_FENCE_LINE_CHARS


def assert_read(reply: str, expected: list[list[object]], rounds: int = 5) -> None:
    for pieces in many_cuts(reply, rounds):
        assert read(pieces) == expected


def test_reply_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fences, "MAX_REPLY_CHARS", 10)
    assert_read("0123456789", [["text", "0123456789"]])
    assert_read("0123456789a\nb", [["text", "0123456789"], ["problem", "reply_too_long"]])
    assert_read("01234\n```xyz", [["text", "01234\n```x"], ["problem", "reply_too_long"]])


def test_open_block_of_a_cut_reply_is_incomplete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fences, "MAX_REPLY_CHARS", 20)
    assert_read("```agent.run\nabcdefgh\n```\n", [["run", "abcdefg", False], ["problem", "reply_too_long"]])


def test_blocks_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fences, "MAX_BLOCKS", 2)
    block = "```agent.run\nx\n```\n"
    run = ["run", "x\n", True]
    assert_read(block * 3 + "end", [run, run, ["problem", "too_many_blocks"], ["text", "end"]])


def test_opening_line_over_the_limit_opens_a_fence_in_which_nothing_acts() -> None:
    reply = f"```python agent.run {LONG}\nx\n```\n```agent.run\ny\n```\n"
    shown = f"```python agent.run {LONG}\nx\n```\n"
    assert_read(reply, [["problem", "fence_line_too_long"], ["text", shown], ["run", "y\n", True]])


def test_opening_line_at_the_limit_acts() -> None:
    line = "```agent.run ".ljust(MAX_FENCE_LINE_CHARS, "a")
    assert_read(f"{line}\nx\n```", [["run", "x\n", True]])
    assert_read(f"{line}a\nx\n```", [["problem", "fence_line_too_long"], ["text", f"{line}a\nx\n```"]])


def test_long_line_of_prose_with_inline_code_is_no_problem() -> None:
    assert_read(f"```a``` {LONG}\n", [["text", f"```a``` {LONG}\n"]])
    assert_read(f"a{LONG}\n", [["text", f"a{LONG}\n"]])


def test_closing_line_over_the_limit_is_content() -> None:
    line = "```".ljust(MAX_FENCE_LINE_CHARS)
    assert_read(f"```agent.run\nx\n{line}\n", [["run", "x\n", True]])
    assert_read(f"```agent.run\nx\n{line} \n```\n", [["run", f"x\n{line} \n", True]])


def test_very_long_list_markers_are_text() -> None:
    line = "- " * MAX_FENCE_LINE_CHARS + "```\n"
    assert_read(line + "```agent.run\nx\n```", [["text", line], ["run", "x\n", True]], rounds=2)
