from hypothesis import assume, given
from hypothesis import strategies as st

from chat.ui.diff import EditChildren, EditItems, SetProps, apply, diff
from chat.ui.identity import dom_id, segments
from chat.ui.nodes import InvalidTree, Node, parse_tree
from chat.ui.sequences import Insert, Move, Remove, Set, apply_edits, sequence_edits
from tests.ui.trees import json_trees

idents = st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=10)


@given(json_trees, json_trees)
def test_applying_the_difference_gives_the_new_tree(one, other):
    try:
        old, new = parse_tree(one), parse_tree(other)
    except InvalidTree:
        assume(False)
    assert apply(old, diff(old, new)) == new
    assert diff(new, new) == []


@given(idents, idents, st.booleans())
def test_edits_turn_one_sequence_into_the_other(one, other, pair):
    old = [(ident, ident) for ident in one]
    new = [(ident, ident.upper() if index % 3 == 0 else ident) for index, ident in enumerate(other)]
    assert apply_edits(old, sequence_edits(old, new, pair=pair)) == new


def table(*rows: dict[str, object], **props: object) -> Node:
    return parse_tree({"c": "Card", "n": [{"c": "Table", "p": {"rows": list(rows), **props}}]})


ROWS = [{"name": f"row {number}", "n": number} for number in range(1000)]


def only_edits(old: Node, new: Node) -> list[object]:
    (change,) = diff(old, new)
    assert isinstance(change, EditItems)
    return list(change.edits)


def test_one_changed_cell_is_one_edit():
    changed = [*ROWS[:500], {"name": "row 500", "n": -1}, *ROWS[501:]]
    (edit,) = only_edits(table(*ROWS), table(*changed))
    assert isinstance(edit, Set)


def test_one_new_row_is_one_edit_wherever_it_comes():
    for place in (0, 500, 1000):
        grown = [*ROWS[:place], {"name": "new"}, *ROWS[place:]]
        (edit,) = only_edits(table(*ROWS), table(*grown))
        assert isinstance(edit, Insert)
        assert isinstance(only_edits(table(*grown), table(*ROWS))[0], Remove)


def test_one_moved_row_is_one_edit():
    moved = [*ROWS[:3], *ROWS[4:900], ROWS[3], *ROWS[900:]]
    (edit,) = only_edits(table(*ROWS), table(*moved))
    assert isinstance(edit, Move)


def test_a_row_that_grows_while_it_streams_is_set_at_its_place():
    half, whole = [*ROWS, {"name": "ne"}], [*ROWS, {"name": "new", "n": 1}]
    (edit,) = only_edits(table(*half), table(*whole))
    assert isinstance(edit, Set)


def test_rows_with_ids_keep_their_identity():
    old = table({"id": 1, "t": "a"}, {"id": 2, "t": "b"})
    (edit,) = only_edits(old, table({"id": 1, "t": "a"}, {"id": 2, "t": "c"}))
    assert edit == Set("k-2", "k-2", {"id": 2, "t": "c"})


def test_a_new_title_does_not_touch_the_rows():
    (change,) = diff(table(*ROWS, title="Films"), table(*ROWS, title="Films (1000)"))
    assert change == SetProps(("table0",), {"title": "Films (1000)"})


def test_numbers_that_are_equal_but_read_differently_are_a_change():
    assert diff(table({"a": 1}), table({"a": 1.0}))
    assert diff(table({"a": 1}), table({"a": True}))


def test_a_field_keeps_its_place_when_something_appears_before_it():
    field = {"c": "TextField", "p": {"name": "n"}}
    old = parse_tree({"c": "Card", "n": [field]})
    new = parse_tree({"c": "Card", "n": [{"c": "Alert", "p": {"text": "!"}}, field]})
    (change,) = diff(old, new)
    assert isinstance(change, EditChildren)
    assert [type(edit) for edit in change.edits] == [Insert]


@given(
    st.lists(st.text(max_size=5), min_size=1, max_size=4),
    st.lists(st.text(max_size=5), min_size=1, max_size=4),
)
def test_dom_ids_are_safe_and_differ_when_paths_differ(one, other):
    first, second = dom_id("m1", tuple(one)), dom_id("m1", tuple(other))
    assert (first == second) == (one == other)
    assert all(character.isascii() and (character.isalnum() or character in "-_") for character in first)


@given(st.lists(st.tuples(st.sampled_from(["Text", "Card"]), st.none() | st.text(max_size=3)), max_size=8))
def test_segments_are_unique(children):
    nodes = [Node(name, key, {"text": "x"} if name == "Text" else {}) for name, key in children]
    assert len(set(segments(nodes))) == len(nodes)
