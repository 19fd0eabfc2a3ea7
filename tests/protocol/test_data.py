import json
import random
from typing import Any

import jiter
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.protocol import data
from chat.protocol.data import CHARS_PER_SECOND, JSON, MIN_INTERVAL_SECONDS, NOTHING, PartialJSON
from chat.protocol.events import Problem
from chat.protocol.problems import unknown_target
from tests.protocol.reading import cut, cut_at_random, cuts_of, texts_of


def values_while_typed(text: str) -> list[Any]:
    partial = PartialJSON()
    values = []
    for character in text:
        partial.feed(character)
        values.append(partial.value())
    return values


def closed(text: str) -> JSON | Problem:
    partial = PartialJSON()
    partial.feed(text)
    return partial.close()


def test_nothing_before_the_first_value() -> None:
    assert PartialJSON().value() is NOTHING
    assert values_while_typed(" \n") == [NOTHING, NOTHING]
    assert values_while_typed("null") == [NOTHING, NOTHING, NOTHING, None]


def test_value_so_far_grows() -> None:
    text = '[{"name": "Du", "year": 1982}, {}]'
    distinct: list[Any] = []
    for value in values_while_typed(text):
        if not distinct or distinct[-1] != value:
            distinct.append(value)
    assert distinct == [
        [],
        [{}],
        [{"name": ""}],
        [{"name": "D"}],
        [{"name": "Du"}],
        [{"name": "Du", "year": 1982}],
        [{"name": "Du", "year": 1982}, {}],
    ]


def test_number_is_shown_once_it_is_whole() -> None:
    assert values_while_typed("[12, -3.5e2]") == [[], [], [], [12]] + [[12]] * 7 + [[12, -350.0]]
    assert values_while_typed('["12"')[-2:] == [["12"], ["12"]]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('"\\n', ["", "", "\n"]),
        ('"\\\\"', ["", "", "\\", "\\"]),
        ('"\\u00e9"', ["", "", "", "", "", "", "é", "é"]),
        ('"a\\ud83c\\udfac"', ["", "a", *["a"] * 11, "a🎬", "a🎬"]),
    ],
)
def test_half_an_escape_is_never_shown(text: str, shown: list[str]) -> None:
    assert values_while_typed(text) == shown


def test_surrogate_pair_cut_between_pieces_is_joined() -> None:
    partial = PartialJSON()
    partial.feed('["\ud83c')
    assert partial.value() == [""]
    partial.feed('\udfac"]')
    assert partial.value() == partial.close() == ["🎬"]


def test_broken_text_keeps_the_last_value() -> None:
    assert values_while_typed('[1, 2, x, "')[-3:] == [[1, 2]] * 3


def test_value_is_replaced_not_merged() -> None:
    assert closed('{"a": 1, "a": 2}') == {"a": 2}


BAD = {
    "": (1, 1),
    "{": (1, 1),
    "[1, 2": (1, 5),
    "[1,]": (1, 4),
    "{'a': 1}": (1, 2),
    '["é🎬", x]': (1, 8),
    '{\n  "a": 1,\n  "b": True\n}': (3, 8),
    "[1]\n// done": (2, 1),
    "[NaN]": (1, 2),
    "[Infinity]": (1, 2),
    '["1e999", 1e999]': (1, 11),
    "[\n\n -1e999]": (3, 2),
    "1e999-": (1, 1),
    '["\\ud83c"]': (1, 9),
    '["\\udfac"]': (1, 8),
    '["a\tb"]': (1, 4),
    "[" * 1000: (1, 202),
    "1" * 5000: (1, 1),
    "x": (1, 1),
    '"a" "b"': (1, 5),
}


@pytest.mark.parametrize("text", BAD, ids=[text[:20] for text in BAD])
def test_bad_json_is_a_problem_with_its_place(text: str) -> None:
    line, column = BAD[text]
    for pieces in (cut(text, 1), cut(text, 7)):
        partial = PartialJSON()
        for piece in pieces:
            partial.feed(piece)
            partial.value()
        problem = partial.close()
        assert isinstance(problem, Problem)
        assert problem.code == "bad_json"
        assert f"at line {line}, column {column} " in problem.message


def test_problem_quotes_what_surrounds_the_place() -> None:
    problem = closed("[" + "1, " * 500 + "oops, " + "2, " * 500 + "3]")
    assert isinstance(problem, Problem)
    assert "oops" in problem.message
    assert len(problem.message) < 400


def test_nul_is_left_out() -> None:
    assert closed('{"a\\u0000": ["b\\u0000c", 1]}') == {"a": ["bc", 1]}
    assert closed('["\\\\u0000"]') == ["\\u0000"]


def test_lone_halves_are_left_out() -> None:
    assert closed('["a\ud83cb"]') == ["ab"]


def test_data_over_the_limit_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "MAX_DATA_CHARS", 10)
    for length in (1, 4, 100):
        partial = PartialJSON()
        for piece in cut('["12345"]     ', length):
            partial.feed(piece)
        problem = partial.close()
        assert isinstance(problem, Problem)
        assert problem.code == "data_too_long"


def test_unknown_target_names_the_known_ones() -> None:
    problem = unknown_target("film", ["films", "people"])
    assert problem.code == "unknown_target"
    assert all(f'"{name}"' in problem.message for name in ("film", "films", "people"))
    assert "no target yet" in unknown_target("film", []).message


# Laws

TREES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def is_so_far(part: Any, whole: Any) -> bool:
    """True if a value so far can grow into the whole one without taking anything back."""
    match part, whole:
        case str(), str():
            return whole.startswith(part)
        case list(), list():
            *certain, last = part or [None]
            return not part or (
                len(part) <= len(whole)
                and certain == whole[: len(certain)]
                and is_so_far(last, whole[len(certain)])
            )
        case dict(), dict():
            keys = list(part)
            return keys == list(whole)[: len(keys)] and all(is_so_far(part[key], whole[key]) for key in keys)
    return type(part) is type(whole) and part == whole


@settings(max_examples=200, deadline=None)
@given(TREES, st.booleans(), st.sampled_from([None, 2]))
def test_every_prefix_of_json_has_a_part_of_its_value(
    tree: Any, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(tree, ensure_ascii=ascii_only, indent=indent)
    for value in values_while_typed(text):
        assert value is NOTHING or is_so_far(value, tree)
    assert closed(text) == tree


FRAGMENTS = (
    *(
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        '"',
        '"',
        "\\",
        "\\u",
        "\\ud83c",
        "\\udfac",
        "\\u00",
        "\\u0000",
        "\ud83c",
    ),
    *(
        "1",
        "-",
        "1e999",
        "0.5",
        "true",
        "nul",
        "NaN",
        " ",
        "\n",
        "\r",
        "\0",
        "a",
        "é",
        "🎬",
        "{'a': 1}",
        "9" * 250,
    ),
)


@settings(max_examples=300, deadline=None)
@given(cuts_of(texts_of(FRAGMENTS, max_size=20)))
def test_never_raises_and_any_cuts_give_the_same(text_and_pieces: tuple[str, list[str]]) -> None:
    text, pieces = text_and_pieces
    partial = PartialJSON()
    for piece in pieces:
        partial.feed(piece)
        value = partial.value()
        assert_can_be_sent(value)
    result = partial.close()
    assert result == closed(text)
    assert_can_be_sent(result)


def assert_can_be_sent(value: Any) -> None:
    if value is NOTHING:
        return
    if isinstance(value, Problem):
        value.message.encode()
        return
    sent = json.dumps(value, ensure_ascii=False, allow_nan=False)
    sent.encode()
    assert "\\u0000" not in sent.replace("\\\\", "")


# Cost


def test_evaluations_are_due_at_most_twenty_times_a_second() -> None:
    partial = PartialJSON()
    assert not partial.due(0)
    partial.feed("[1")
    assert partial.due(0)
    partial.value()
    assert not partial.due(1)  # nothing new
    partial.feed(",")
    assert partial.due(1)
    partial.value()
    partial.feed("2")
    assert not partial.due(1 + MIN_INTERVAL_SECONDS / 2)
    assert partial.due(1 + MIN_INTERVAL_SECONDS)


def test_cost_of_a_long_stream_is_linear(monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0
    from_json = jiter.from_json

    def counting(raw: bytes, **options: Any) -> Any:
        nonlocal read
        read += len(raw)
        return from_json(raw, **options)

    monkeypatch.setattr(data.jiter, "from_json", counting)
    text = json.dumps([{"name": f"row {number}", "value": number} for number in range(28_000)])
    assert len(text) > 1_000_000
    for pieces_per_second in (100, 5_000, 100_000):
        read, now, partial = 0, 0.0, PartialJSON()
        for piece in cut(text, 4 * max(1, 5_000 // pieces_per_second)):
            now += 1 / pieces_per_second
            partial.feed(piece)
            if partial.due(now):
                partial.value()
        assert read <= CHARS_PER_SECOND * now + 2 * len(text)


def test_random_cuts_of_real_data_give_its_value() -> None:
    rows = [
        {"name": f"Müller 🎬 {number}", "value": number / 7, "tags": ["a", None, True]}
        for number in range(50)
    ]
    text = json.dumps(rows)
    for seed in range(5):
        partial = PartialJSON()
        for piece in cut_at_random(text, random.Random(seed)):
            partial.feed(piece)
            value = partial.value()
            assert value is NOTHING or is_so_far(value, rows)
        assert partial.close() == rows
