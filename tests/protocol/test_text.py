import pytest
from hypothesis import given, settings

from chat.protocol.text import TextGuard, guarded
from tests.protocol.reading import cut, cuts_of, texts_of


def guard(pieces: list[str]) -> tuple[str, int]:
    text_guard = TextGuard()
    text = "".join(text_guard.feed(piece) for piece in pieces)
    problem = text_guard.close()
    assert (problem is None) == (text_guard.dropped == 0)
    return text, text_guard.dropped


CASES = {
    "": ("", 0),
    "plain": ("plain", 0),
    "né 👩‍👩‍👧 末": ("né 👩‍👩‍👧 末", 0),
    "a\ud83c\udfacb": ("a🎬b", 0),
    "\ud83c\udfac\ud83c\udfac": ("🎬🎬", 0),
    "a\ud83c": ("a", 1),
    "a\ud83cb": ("ab", 1),
    "\udfacb": ("b", 1),
    "\udfac\ud83c": ("", 2),
    "\ud83c\ud83c\udfac": ("🎬", 1),
    "a\0b\0": ("ab", 2),
    "\ud83c\0\udfac": ("", 3),
    "\ufffd stays: the model wrote it": ("\ufffd stays: the model wrote it", 0),
}


@pytest.mark.parametrize("text", CASES, ids=[ascii(text) for text in CASES])
def test_cases(text: str) -> None:
    assert guard([text]) == guard(cut(text, 1)) == CASES[text]


def test_pieces_come_at_once_unless_they_end_in_half_a_character() -> None:
    text_guard = TextGuard()
    assert [text_guard.feed(piece) for piece in ("é", "a\ud83c", "", "\udfacb")] == ["é", "a", "", "🎬b"]


def test_what_was_left_out_is_reported() -> None:
    text_guard = TextGuard()
    text_guard.feed("\ud83c \0")
    problem = text_guard.close()
    assert problem is not None
    assert problem.code == "broken_character"
    assert problem.message.startswith("2 ")


def test_whole_text() -> None:
    assert guarded("a\ud83c\udfac\0\ud83c") == "a🎬"


@settings(max_examples=300, deadline=None)
@given(cuts_of(texts_of(("\ud83c", "\udfac", "\0", "\ufffd", "a", "é", "🎬"))))
def test_any_cuts_give_the_same_and_it_can_be_encoded(text_and_pieces: tuple[str, list[str]]) -> None:
    text, pieces = text_and_pieces
    cleaned, dropped = guard(pieces)
    assert (cleaned, dropped) == guard([text])
    assert "\0" not in cleaned
    assert cleaned.encode().decode() == cleaned
    assert cleaned.count("\ufffd") == text.count("\ufffd")
