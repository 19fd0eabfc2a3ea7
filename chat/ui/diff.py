"""What changed between two trees, as changes whose number and size follow the change.

Law: `apply(old, diff(old, new)) == new`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from chat.ui.identity import BY_CONTENT, Path, item_ids, segments
from chat.ui.nodes import Node
from chat.ui.props import PropType
from chat.ui.sequences import Edit, apply_edits, sequence_edits

LIST_TYPES: Final = (PropType.ROWS, PropType.ITEMS)


@dataclass(frozen=True)
class Replace:
    """Another component stands at the path."""

    path: Path
    node: Node


@dataclass(frozen=True)
class SetProps:
    """Some props of the node at the path have new values, some are gone."""

    path: Path
    props: Mapping[str, Any]
    unset: tuple[str, ...] = ()


@dataclass(frozen=True)
class EditItems:
    """Rows or items of a list prop of the node at the path changed."""

    path: Path
    prop: str
    edits: tuple[Edit[Any], ...]


@dataclass(frozen=True)
class EditChildren:
    """Children of the node at the path came, went or moved."""

    path: Path
    edits: tuple[Edit[Node], ...]


Change = Replace | SetProps | EditItems | EditChildren


def diff(old: Node, new: Node) -> list[Change]:
    """Return the changes, outer ones first."""
    changes: list[Change] = []
    if (old.name, old.key) != (new.name, new.key):
        changes.append(Replace((), new))
    else:
        _diff(old, new, (), changes)
    return changes


def _diff(old: Node, new: Node, path: Path, changes: list[Change]) -> None:
    _diff_props(old, new, path, changes)
    if old.children is new.children:
        return
    old_children = dict(zip(segments(old.children), old.children, strict=True))
    new_children = dict(zip(segments(new.children), new.children, strict=True))
    edits = sequence_edits(
        list(old_children.items()),
        list(new_children.items()),
        pair=False,
        same=lambda one, other: (one.name, one.key) == (other.name, other.key),
    )
    if edits:
        changes.append(EditChildren(path, tuple(edits)))
    for segment, child in new_children.items():
        before = old_children.get(segment)
        if before is not None and (before.name, before.key) == (child.name, child.key):
            _diff(before, child, (*path, segment), changes)


def _types_differ(old: Any, new: Any) -> bool:
    """Tell whether equal values differ in type (1, 1.0 and True are equal to Python, not to a reader)."""
    if isinstance(old, Node):
        return _types_differ(old.props, new.props) or any(map(_types_differ, old.children, new.children))
    if type(old) is not type(new):
        return True
    if isinstance(old, dict):
        return list(old) != list(new) or any(_types_differ(value, new[key]) for key, value in old.items())
    return isinstance(old, list) and any(map(_types_differ, old, new))


def same(old: Any, new: Any) -> bool:
    """Tell whether two prop values are alike for a reader."""
    return bool(old == new) and not _types_differ(old, new)


def _diff_props(old: Node, new: Node, path: Path, changes: list[Change]) -> None:
    changed: dict[str, Any] = {}
    lists: list[EditItems] = []
    for name, value in new.props.items():
        before = old.props.get(name)
        if before is value and name in old.props:
            continue
        prop = new.component.prop(name)
        if prop and prop.type in LIST_TYPES and isinstance(before, list) and isinstance(value, list):
            lists.append(_edit_items(old, new, path, name))
        elif name not in old.props or not same(before, value):
            changed[name] = value
    unset = tuple(name for name in old.props if name not in new.props)
    # Items first: their identities depend on the other props as they were.
    changes.extend(change for change in lists if change.edits)
    if changed or unset:
        changes.append(SetProps(path, changed, unset))


def _edit_items(old: Node, new: Node, path: Path, prop: str) -> EditItems:
    before, after = old.props[prop], new.props[prop]
    old_ids, new_ids = item_ids(old, prop), item_ids(new, prop)
    # Identities made of content say that it is the same; comparing it once more would be most of the work.
    by_content = any(ident.startswith(BY_CONTENT) for ident in (*old_ids[:1], *new_ids[:1]))
    edits = sequence_edits(
        list(zip(old_ids, before, strict=True)),
        list(zip(new_ids, after, strict=True)),
        same=(lambda one, other: True) if by_content else same,
    )
    return EditItems(path, prop, tuple(edits))


def apply(old: Node, changes: list[Change]) -> Node:
    """Return what the changes make of a tree."""
    tree = old
    for change in changes:
        tree = _apply(old, tree, change, change.path)
    return tree


def _apply(old: Node, node: Node, change: Change, path: Path) -> Node:
    if path:
        names = segments(node.children)
        index = names.index(path[0])
        children = list(node.children)
        children[index] = _apply(old, children[index], change, path[1:])
        return replace(node, children=tuple(children))
    match change:
        case Replace(_, new):
            return new
        case SetProps(_, props, unset):
            kept = {name: value for name, value in node.props.items() if name not in unset}
            return replace(node, props={**kept, **props})
        case EditItems(_, prop, edits):
            before = node.props[prop]
            items = apply_edits(list(zip(item_ids(node, prop), before, strict=True)), edits)
            return replace(node, props={**node.props, prop: [item for _, item in items]})
        case EditChildren(_, edits):
            named = list(zip(segments(node.children), node.children, strict=True))
            return replace(node, children=tuple(child for _, child in apply_edits(named, edits)))
