"""Trees for the tests: one good node of every component, and random ones."""

from typing import Any

from hypothesis import strategies as st

from chat.ui.components import CATALOGUE
from chat.ui.nodes import Node, parse_tree
from chat.ui.props import PropType

# A value that every prop of the type accepts.
GOOD: dict[PropType, Any] = {
    PropType.TEXT: "word",
    PropType.NUMBER: 3,
    PropType.INTEGER: 3,
    PropType.BOOLEAN: True,
    PropType.DATE: {"$date": "2026-01-31"},
    PropType.TIME: {"$time": "18:00:00"},
    PropType.DATETIME: {"$datetime": "2026-01-31T18:00:00"},
    PropType.ANY: "S",
    PropType.OPTIONS: ["S", "M"],
    PropType.COLUMNS: ["a", "b"],
    PropType.ROWS: [{"a": 1, "b": 2}, {"a": 3, "b": 4}],
    PropType.SERIES: "b",
    PropType.ITEMS: ["one", "two"],
    PropType.PAIRS: {"one": 1},
    PropType.NODE: {"$n": {"c": "Skeleton"}},
    PropType.CALLBACK: "m1:0:on_click",
    PropType.URL: "https://example.com/",
    PropType.FILE: "5f0c3f0e-4d2c-4b43-9a55-8d1c7c6d2f10",
}


def good_value(component: str, prop: str) -> Any:
    """Return a value that the prop accepts."""
    declared = CATALOGUE[component].prop(prop)
    assert declared is not None
    if declared.choices:
        return declared.choices[0]
    if prop == "value" and component in ("CheckboxGroup", "MultiSelect"):
        return ["S"]
    if prop == "x":
        return "a"
    if prop == "pattern":
        return "[a-z]+"
    return GOOD[declared.type]


def good_node(component: str, *, everything: bool = True) -> dict[str, Any]:
    """Return a node with all of its props, or only the required ones."""
    declared = CATALOGUE[component]
    props = {p.name: good_value(component, p.name) for p in declared.props if everything or p.required}
    node: dict[str, Any] = {"c": component, **({"p": props} if props else {})}
    if declared.only:
        node["n"] = [bare(declared.only[0])]
    elif declared.children:
        node["n"] = [{"c": "Text", "p": {"text": "inside"}}]
    return node


def bare(component: str) -> dict[str, Any]:
    """Return a node with required props only."""
    return good_node(component, everything=False)


def standing(node: dict[str, Any]) -> dict[str, Any]:
    """Return the node, or its parent around it where it cannot stand alone."""
    inside = CATALOGUE[node["c"]].inside
    return {"c": inside, "n": [node]} if inside else node


def tree(value: dict[str, Any]) -> Node:
    """Return the checked tree of a JSON node, in its parent when it needs one."""
    return parse_tree(standing(value))


_words = st.text(alphabet="ab<&\"'é", max_size=4)
_scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False, width=16) | _words
_keys = st.none() | st.sampled_from(["a", "b", "c", "d", "text0", "a~2"])


def _with_key(node: dict[str, Any], key: str | None) -> dict[str, Any]:
    return node if key is None else {**node, "k": key}


_rows = st.lists(
    st.fixed_dictionaries({"a": _scalars}, optional={"id": st.integers(0, 4), "b": _words}), max_size=6
)
_tables = st.builds(lambda rows, title: {"c": "Table", "p": {"rows": rows, "title": title}}, _rows, _words)
_texts = st.builds(lambda text: {"c": "Text", "p": {"text": text}}, _scalars)
_buttons = st.builds(
    lambda label, on: {"c": "Button", "p": {"label": label, **({"on_click": "m1:x"} if on else {})}},
    _words,
    st.booleans(),
)
_fields = st.builds(
    lambda name, value: {"c": "TextField", "p": {"name": name, "value": value}},
    st.uuids().map(str) | st.sampled_from(["name"]),
    _words,
)
_leaves = st.builds(_with_key, _tables | _texts | _buttons | _fields, _keys)


def _lists(children: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    items = st.lists(_words | children.map(lambda node: {"$n": node}), max_size=4)
    return st.builds(lambda items: {"c": "List", "p": {"items": items}}, items)


def _inner(children: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    holders = st.builds(
        lambda name, nodes, key: _with_key({"c": name, "n": nodes}, key),
        st.sampled_from(["Card", "Row", "Stack"]),
        st.lists(children, max_size=5),
        _keys,
    )
    return holders | _lists(children)


json_trees = st.recursive(_leaves, _inner, max_leaves=12)
