"""Who is who between two versions of a tree: segments of children, identities of rows.

An identity makes a DOM id, so that it must be unique among its siblings, and stable where a person's focus or
text could be lost.
"""

from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, Final

from chat.ui.nodes import Node, form_name

ROW_KEYS: Final = ("key", "id")  # the column that identifies rows, when every row has its own

BY_CONTENT: Final = "h-"  # starts the identity of a row that has no other

Path = tuple[str, ...]


def segments(children: Iterable[Node]) -> list[str]:
    """Return the identity of each child: its key, its name if it is a field, else its kind and count.

    So a field keeps its identity when something appears before it.
    """
    counts: Counter[str] = Counter()
    return _unique(_segment(child, counts) for child in children)


def _segment(child: Node, counts: Counter[str]) -> str:
    if child.key is not None:
        return f"k-{child.key}"
    if child.component.field or child.name == "Slot":
        return f"n-{child.props['name']}"
    if child.name == "Form":
        return f"n-{form_name(child)}"
    number = counts[child.name]
    counts[child.name] += 1
    return f"{child.name.lower()}{number}"


def _unique(names: Iterable[str]) -> list[str]:
    """Return the names in order, those that were there before with a number."""
    used: set[str] = set()
    counts: Counter[str] = Counter()
    result: list[str] = []
    for name in names:
        unique = name
        while unique in used:
            counts[name] += 1
            unique = f"{name}~{counts[name] + 1}"
        used.add(unique)
        result.append(unique)
    return result


def item_ids(node: Node, prop: str) -> list[str]:
    """Return the identity of each row or item of a node's list prop.

    The `key` or `id` of the rows when they have one each; the position when something in them can have the
    focus; else what they hold, so that a row that moved or lost its neighbour stays the same row.
    """
    if prop not in node.known:
        node.known[prop] = _item_ids(node, node.get(prop) or [])
    ids: list[str] = node.known[prop]
    return ids


def _item_ids(node: Node, items: list[Any]) -> list[str]:
    by_key = _by_key(items)
    if by_key is not None:
        return by_key
    if node.props.get("on_row") or any(nodes_are_in(item) for item in items):
        return [f"i-{index}" for index in range(len(items))]
    return _unique(f"{BY_CONTENT}{_digest(item)}" for item in items)


def _by_key(items: list[Any]) -> list[str] | None:
    if items and all(isinstance(item, Node) and item.key is not None for item in items):
        return _all_different(f"k-{item.key}" for item in items)
    for name in ROW_KEYS:
        if items and all(isinstance(item, dict) and isinstance(item.get(name), str | int) for item in items):
            return _all_different(f"k-{item[name]}" for item in items)
    return None


def _all_different(names: Iterable[str]) -> list[str] | None:
    found = list(names)
    return found if len(set(found)) == len(found) else None


def nodes_are_in(item: Any) -> bool:
    """Tell whether a row, item or cell holds a node."""
    if isinstance(item, Node):
        return True
    values = item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
    # Cells are looked at for every frame of a long table, so plain ones must cost little.
    return any(nodes_are_in(value) for value in values if isinstance(value, Node | list | dict))


def _digest(item: Any) -> str:
    return blake2b(repr(item).encode(), digest_size=6).hexdigest()


def dom_id(mount: str, path: Path) -> str:
    """Return the id of a node in the page: letters, digits, `-` and `_`, different for different paths."""
    return "-".join([safe(mount), *map(safe, path)]) if path else safe(mount)


def safe(segment: str) -> str:
    """Return the segment in characters that are safe in CSS, by an injective encoding."""
    safe = "".join(
        character if character.isascii() and character.isalnum() else f"_{ord(character):x}_"
        for character in segment
    )
    # Long keys would make every id long; what is cut is replaced by a digest.
    return safe if len(safe) <= 60 else f"{safe[:40]}__{_digest(segment)}"
