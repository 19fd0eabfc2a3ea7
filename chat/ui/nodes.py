"""Trees of nodes: what a mount shows, checked against the catalogue.

As JSON a node is `{"c": component, "k": key, "p": props, "n": children}`; `k`, `p` and `n` may be missing.
Inside props `{"$n": node}` is a node, `{"$date": "2026-01-31"}`, `{"$time": …}` and `{"$datetime": …}` are
what they say, and `{"$d": dict}` is a dict that could be taken for one of these.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Any, Final

from chat.ui.checks import check_limits, check_names, check_prop
from chat.ui.components import CATALOGUE
from chat.ui.props import Component, PropType
from chat.ui.shapes import Malformed, show

_DATES: Final[dict[str, type[date] | type[time]]] = {"$date": date, "$time": time, "$datetime": datetime}
_TAGS: Final = frozenset({"$n", "$d", *_DATES})

UNREADABLE: Final = "This interface was made by another version of this site and can't be shown any more."


class InvalidTree(ValueError):
    """A tree that cannot be shown; the text is for the author of the code that made it."""


@dataclass(frozen=True)
class TreeLimits:
    """How large a tree may be; beyond it a page gets slow."""

    nodes: int = 20_000
    depth: int = 40
    rows: int = 10_000  # of one table
    values: int = 200_000  # in all props together
    characters: int = 2_000_000  # in all props together


DEFAULT_LIMITS: Final = TreeLimits()


@dataclass(frozen=True)
class Node:
    """One component of a tree with its props (decoded) and children."""

    name: str
    key: str | None = None
    props: Mapping[str, Any] = field(default_factory=dict)
    children: tuple["Node", ...] = ()
    # What was found out about it, such as the identities of its rows: each update asks for them again.
    known: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def component(self) -> Component:
        """The declaration."""
        return CATALOGUE[self.name]

    def get(self, name: str) -> Any:
        """Return a prop's value or its default."""
        if name in self.props:
            return self.props[name]
        prop = self.component.prop(name)
        return None if prop is None or prop.required else prop.default


def parse_tree(value: Any, limits: TreeLimits = DEFAULT_LIMITS) -> Node:
    """Return the tree that a JSON value stands for; raises InvalidTree."""
    try:
        tree = _Parser(limits).node(value, 1, None)
        _check_fields(tree)
    except Malformed as error:
        raise InvalidTree(str(error)) from None
    return tree


def stored_tree(value: Any) -> Node:
    """Return a tree that was checked when it was saved; a notice in its place when it can't be read any more.

    Saved trees outlive the version that made them, and whoever opens their page can't mend them.
    """
    try:
        return parse_tree(value)
    except InvalidTree as error:
        return Node("Alert", props={"text": f"{UNREADABLE}\n\n{error}", "kind": "warning"})


class _Parser:
    """Decodes and checks one tree, counting what it takes."""

    def __init__(self, limits: TreeLimits) -> None:
        self.limits = limits
        self.nodes = 0
        self.values = 0
        self.characters = 0

    def node(self, value: Any, depth: int, parent: Component | None) -> Node:
        self.nodes += 1
        if self.nodes > self.limits.nodes:
            raise Malformed(
                f"the interface has more than {self.limits.nodes} components; show fewer at a time"
            )
        if depth > self.limits.depth:
            raise Malformed(f"components are nested more than {self.limits.depth} deep; nest fewer")
        if not isinstance(value, Mapping) or not isinstance(value.get("c"), str):
            raise Malformed(f"a node is a component, text, a number or None, not {show(value)}")
        component = CATALOGUE.get(value["c"])
        if component is None:
            raise Malformed(f"there is no component {show(value['c'])}; there are {', '.join(CATALOGUE)}")
        self._check_place(component, parent)
        props = self._props(component, value.get("p") or {}, depth)
        children = value.get("n") or []
        if children and not (component.children or component.fills):
            raise Malformed(f"{component.name} takes no children")
        if not isinstance(children, list):
            raise Malformed(f"{component.name}: children are a list, not {show(children)}")
        nodes = tuple(self.node(child, depth + 1, component) for child in children)
        return Node(component.name, self._key(component, value.get("k")), props, nodes)

    def _check_place(self, component: Component, parent: Component | None) -> None:
        if parent and parent.only and component.name not in parent.only:
            raise Malformed(f"{parent.name} takes only {', '.join(parent.only)}, not {component.name}")
        if component.inside and (parent is None or parent.name != component.inside):
            raise Malformed(f"{component.name} belongs directly into {component.inside}")

    def _key(self, component: Component, key: Any) -> str | None:
        if key is not None and not isinstance(key, str | int):
            raise Malformed(f"{component.name}: key must be text or a whole number, not {show(key)}")
        return None if key is None else str(key)

    def _props(self, component: Component, props: Any, depth: int) -> dict[str, Any]:
        if not isinstance(props, Mapping):
            raise Malformed(f"{component.name}: props are a dict, not {show(props)}")
        check_names(component, props)
        decoded = {name: self.value(value, depth) for name, value in props.items()}
        for name, value in decoded.items():
            prop = component.prop(name)
            assert prop is not None  # check_names has seen to it
            check_prop(component, prop, value, lambda value: isinstance(value, Node))
            if prop.type is PropType.ROWS and value and len(value) > self.limits.rows:
                raise Malformed(
                    f"{component.name}: {len(value)} rows are too many; show at most {self.limits.rows}"
                )
        check_limits(component, decoded)
        return decoded

    def value(self, value: Any, depth: int) -> Any:
        self.values += 1
        if self.values > self.limits.values or self.characters > self.limits.characters:
            raise Malformed(
                f"the interface holds too much data (at most {self.limits.values} values and "
                f"{self.limits.characters} characters); show a part"
            )
        if isinstance(value, str):
            self.characters += len(value)
            if value.isascii() and "\0" not in value:
                return value
            # A lone surrogate cannot be sent, NUL cannot be stored.
            return value.encode(errors="replace").decode().replace("\0", "\ufffd")
        if isinstance(value, float) and value - value != 0:
            return str(value)  # JSON and databases know no infinity and no NaN
        if value is None or isinstance(value, int | float):
            return value
        if depth > self.limits.depth:
            raise Malformed(f"data is nested more than {self.limits.depth} deep; show a part")
        if isinstance(value, list):
            return [self.value(item, depth + 1) for item in value]
        if isinstance(value, Mapping):
            if len(value) == 1 and (tag := next(iter(value))) in _TAGS:
                return self._tagged(tag, value[tag], depth)
            return self._dict(value, depth)
        raise Malformed(f"props hold plain data, not {show(value)}")

    def _tagged(self, tag: str, content: Any, depth: int) -> Any:
        if tag == "$n":
            return self.node(content, depth + 1, None)
        if tag == "$d" and isinstance(content, Mapping):
            return self._dict(content, depth)
        try:
            return _DATES[tag].fromisoformat(content)
        except (KeyError, TypeError, ValueError):
            raise Malformed(f"{tag} takes an ISO text, not {show(content)}") from None

    def _dict(self, value: Mapping[str, Any], depth: int) -> dict[str, Any]:
        return {str(key): self.value(item, depth + 1) for key, item in value.items()}


def to_json(node: Node) -> dict[str, Any]:
    """Return the JSON value that `parse_tree` takes back."""
    value: dict[str, Any] = {"c": node.name}
    if node.key is not None:
        value["k"] = node.key
    if node.props:
        value["p"] = {name: encode(item) for name, item in node.props.items()}
    if node.children:
        value["n"] = [to_json(child) for child in node.children]
    return value


def encode(value: Any) -> Any:
    """Return a decoded prop value as JSON, with tags."""
    match value:
        case Node():
            return {"$n": to_json(value)}
        case datetime():
            return {"$datetime": value.isoformat()}
        case date():
            return {"$date": value.isoformat()}
        case time():
            return {"$time": value.isoformat()}
        case list():
            return [encode(item) for item in value]
        case dict():
            encoded = {key: encode(item) for key, item in value.items()}
            return {"$d": encoded} if len(value) == 1 and _TAGS & encoded.keys() else encoded
        case _:
            return value


def decode(value: Any) -> Any:
    """Return data without nodes that `encode` made JSON of."""
    return _Parser(DEFAULT_LIMITS).value(value, 1)


def nodes_in(value: Any) -> Iterator[Node]:
    """Yield the nodes that stand in a prop value."""
    if isinstance(value, Node):
        yield value
    elif isinstance(value, list):
        for item in value:
            if not isinstance(item, str | int | float):
                yield from nodes_in(item)
    elif isinstance(value, dict):
        yield from nodes_in(list(value.values()))


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and all below it, those in props included, in document order."""
    yield node
    for value in node.props.values():
        if isinstance(value, list | dict | Node):
            for inner in nodes_in(value):
                yield from walk(inner)
    for child in node.children:
        yield from walk(child)


def callbacks(node: Node) -> frozenset[str]:
    """Return the ids of all callbacks in the tree that a person may call."""
    return frozenset(
        node.props[prop.name]
        for node in walk(node)
        for prop in node.component.props
        if prop.type is PropType.CALLBACK and node.props.get(prop.name) and not node.props.get("disabled")
    )


def field_nodes(tree: Node, form: str | None = None) -> list[Node]:
    """Return the fields in document order: all, or those of one form ("" is outside of any Form)."""
    return [node for name, node in _fields(tree, "") if form is None or name == form]


def form_names(tree: Node) -> list[str]:
    """Return the names of the forms in the tree that can be submitted."""
    return list(dict.fromkeys(name for name, _ in _submitting(tree, "")))


def _fields(node: Node, form: str) -> Iterator[tuple[str, Node]]:
    return ((name, node) for name, node in _with_forms(node, form) if node.component.field)


def _submitting(node: Node, form: str) -> Iterator[tuple[str, Node]]:
    return ((name, node) for name, node in _with_forms(node, form) if node.name == "SubmitButton")


def _with_forms(node: Node, form: str) -> Iterator[tuple[str, Node]]:
    if node.name == "Form":
        form = form_name(node)
    yield form, node
    for value in node.props.values():
        if isinstance(value, list | dict | Node):
            for inner in nodes_in(value):
                yield from _with_forms(inner, form)
    for child in node.children:
        yield from _with_forms(child, form)


def form_name(node: Node) -> str:
    """Return the name of a Form node, which is its key when it has no name."""
    return str(node.props.get("name") or node.key or "form")


def slots(tree: Node) -> dict[str, Node]:
    """Return the slots of the tree by name."""
    return {str(node.props["name"]): node for node in walk(tree) if node.name == "Slot"}


def find_slot(tree: Node, name: str) -> Node:
    """Return the slot of that name; raises InvalidTree, naming the known ones."""
    known = slots(tree)
    if name not in known:
        names = ", ".join(repr(name) for name in known) or "none"
        raise InvalidTree(f"there is no slot {name!r} in this mount; its slots: {names}")
    return known[name]


def _check_fields(tree: Node) -> None:
    """Raise Malformed when an answer would be ambiguous."""
    seen: set[tuple[str, str]] = set()
    slot_names: set[str] = set()
    forms: set[str] = set()
    for form, node in _with_forms(tree, ""):
        name = str(node.props.get("name", ""))
        if node.component.field:
            if (form, name) in seen:
                raise Malformed(
                    f"{node.name}: there are two fields named {name!r} in one form; names must differ"
                )
            seen.add((form, name))
        elif node.name == "Slot":
            if name in slot_names:
                raise Malformed(f"Slot: there are two slots named {name!r}; names must differ")
            slot_names.add(name)
        elif node.name == "Form":
            if form in forms:
                raise Malformed(f"Form: there are two forms named {form!r}; give each its own name")
            forms.add(form)
