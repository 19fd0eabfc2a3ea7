from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.llm.base import ReasoningPiece, TextPiece
from chat.llm.thinking import ThinkTags

CASES = [
    ("Hello", "", "Hello"),
    ("", "", ""),
    ("<think>why</think>\n\nBecause.", "why", "Because."),
    (" \n<think>\nwhy\n</think>Because.", "\nwhy\n", "Because."),
    ("<think></think>Because.", "", "Because."),
    ("<think>cut off", "cut off", ""),
    ("<think>cut off </thi", "cut off </thi", ""),
    ("<think>a</b></think>c", "a</b>", "c"),
    ("<thin", "", "<thin"),
    ("<thing>x", "", "<thing>x"),
    ("  indented", "", "  indented"),
    ("Use <think>…</think> like this", "", "Use <think>…</think> like this"),
    ("<think>a</think>b<think>c</think>", "a", "b<think>c</think>"),
]


def split(parts: list[str]) -> tuple[str, str]:
    tags = ThinkTags()
    pieces = [piece for part in parts for piece in tags.feed(part)] + tags.close()
    assert all(piece.text for piece in pieces if isinstance(piece, TextPiece | ReasoningPiece))
    thought = "".join(piece.text for piece in pieces if isinstance(piece, ReasoningPiece))
    return thought, "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))


@pytest.mark.parametrize(("text", "thought", "rest"), CASES)
def test_whole_and_by_character(text: str, thought: str, rest: str) -> None:
    assert split([text] if text else []) == (thought, rest)
    assert split(list(text)) == (thought, rest)


@given(st.sampled_from(CASES), st.lists(st.integers(0, 40), max_size=6))
def test_any_split_gives_the_same(case: tuple[str, str, str], cuts: list[int]) -> None:
    text, thought, rest = case
    edges = [0, *sorted(cuts), len(text)]
    parts = [text[start:end] for start, end in pairwise(edges) if text[start:end]]
    assert split(parts) == (thought, rest)


def test_ordinary_text_is_not_withheld() -> None:
    assert ThinkTags().feed("H") == [TextPiece("H")]
