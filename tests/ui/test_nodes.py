import datetime

import pytest

from chat.ui.nodes import (
    InvalidTree,
    TreeLimits,
    callbacks,
    field_nodes,
    find_slot,
    form_names,
    parse_tree,
    to_json,
)


def field(name, **props):
    return {"c": "TextField", "p": {"name": name, **props}}


def test_data_that_looks_like_a_node_stays_data():
    json = {"c": "Json", "p": {"value": {"$d": {"$n": {"c": "Card"}}}}}
    node = parse_tree(json)
    assert node.props["value"] == {"$n": {"c": "Card"}}
    assert to_json(node) == json


def test_dates_come_as_dates():
    node = parse_tree({"c": "DateField", "p": {"name": "d", "value": {"$date": "2026-01-31"}}})
    assert node.props["value"] == datetime.date(2026, 1, 31)


def test_nodes_inside_props_are_found():
    cell = {"$n": {"c": "Button", "p": {"label": "x", "on_click": "m1:x:on_click"}}}
    tree = parse_tree({"c": "Card", "n": [{"c": "Table", "p": {"rows": [{"a": cell}, {"a": [cell]}]}}]})
    assert callbacks(tree) == {"m1:x:on_click"}


def test_fields_belong_to_their_form():
    tree = parse_tree(
        {
            "c": "Stack",
            "n": [
                field("a"),
                {"c": "Form", "p": {"name": "one"}, "n": [field("a"), {"c": "SubmitButton"}]},
                {"c": "Form", "k": "two", "n": [field("b"), {"c": "Row", "n": [{"c": "SubmitButton"}]}]},
            ],
        }
    )
    assert [node.props["name"] for node in field_nodes(tree)] == ["a", "a", "b"]
    assert [node.props["name"] for node in field_nodes(tree, "two")] == ["b"]
    assert len(field_nodes(tree, "")) == 1
    assert form_names(tree) == ["one", "two"]


def test_an_unknown_slot_names_the_known_ones():
    tree = parse_tree({"c": "Card", "n": [{"c": "Slot", "p": {"name": "chart"}}]})
    assert find_slot(tree, "chart").name == "Slot"
    with pytest.raises(InvalidTree, match="no slot 'charts' in this mount; its slots: 'chart'"):
        find_slot(tree, "charts")


@pytest.mark.parametrize(
    ("json", "message"),
    [
        ({"c": "Card", "n": [{"c": "Divider"}] * 20}, "more than 10 components"),
        (
            {"c": "Card", "n": [{"c": "Card", "n": [{"c": "Card", "n": [{"c": "Card"}]}]}]},
            "nested more than 3",
        ),
        ({"c": "Table", "p": {"rows": [[1]] * 21}}, "21 rows are too many"),
        ({"c": "Json", "p": {"value": list(range(200))}}, "too much data"),
        ({"c": "List", "p": {"items": ["x" * 2000, "y"]}}, "too much data"),
        ({"c": "Json", "p": {"value": [[[[[]]]]]}}, "data is nested"),
    ],
)
def test_trees_are_limited(json, message):
    limits = TreeLimits(nodes=10, depth=3, rows=20, values=100, characters=1000)
    with pytest.raises(InvalidTree, match=message):
        parse_tree(json, limits)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_json_does_not_know_become_text(value):
    assert parse_tree({"c": "Json", "p": {"value": [value]}}).props["value"] == [str(value)]


def test_characters_that_cannot_be_stored_are_replaced():
    assert parse_tree({"c": "Text", "p": {"text": "a\0b\ud800"}}).props["text"] == "a\ufffdb?"
