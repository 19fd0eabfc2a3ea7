"""Changes of a tree as fragments of HTML whose size follows the change."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.safestring import SafeString

from chat.ui.context import MountContext
from chat.ui.diff import Change, EditChildren, EditItems, SetProps
from chat.ui.identity import Path, dom_id, item_ids, nodes_are_in, segments
from chat.ui.nodes import Node, walk
from chat.ui.places import find, inside
from chat.ui.present_data import TableRows, item_html, table_columns
from chat.ui.renderer import Renderer
from chat.ui.sequences import Edit, Insert, Move, Remove, Set

MORPH: Final = "outerMorph"

# More fragments than that cost more than drawing the place anew.
MAX_FRAGMENTS: Final = 60

TABLES: Final = ("Table", "DataTable")
LISTS: Final = (*TABLES, "List")

# Their HTML depends on what their children are, so that a change of these draws them anew.
COMPOSED: Final = ("Tabs", "Slot", "Tooltip")

# Props on which the HTML of rows, items or children depends.
REACHING: Final = {
    "Table": {"columns"},
    "DataTable": {"columns", "on_row"},
    "List": {"ordered"},
    "Form": {"name"},
    "Slot": {"fallback", "name"},
}


@dataclass(frozen=True)
class Fragment:
    """HTML for one place of the page."""

    target: str  # an id
    swap: str
    html: SafeString


class Updates:
    """Makes the fragments that lead from one tree to another."""

    def __init__(self, old: Node, new: Node, context: MountContext) -> None:
        self.old, self.new, self.context = old, new, context
        self.renderer = Renderer(context)

    def of(self, changes: Sequence[Change]) -> list[Fragment] | None:
        """Return the fragments for the changes; None when the mount as a whole should be drawn anew."""
        redrawn = {path for change in changes if (path := self._redrawn(change)) is not None}
        if () in redrawn:
            return None
        fragments = [self._full(path) for path in sorted(redrawn) if not _below(path, redrawn - {path})]
        drawn = redrawn | {
            (*change.path, name)
            for change in changes
            if isinstance(change, EditChildren)
            for name in _moved(change.edits)
        }
        for change in changes:
            if not _below(change.path, drawn):
                fragments += self._of(change)
        return fragments if len(fragments) <= MAX_FRAGMENTS else None

    def _redrawn(self, change: Change) -> Path | None:
        """Return the path of what has to be drawn anew as a whole for the change, if anything."""
        node, _ = find(self.new, change.path, self.context)
        match change:
            case SetProps(path, props, unset):
                if node.name == "Tab":
                    return path[:-1]  # its title stands in the Tabs
                return path if {*props, *unset} & REACHING.get(node.name, set()) else None
            case EditItems(path, _, edits):
                return None if node.name in LISTS and not self._rows_depend(node, path, edits) else path
            case EditChildren(path, edits):
                return path if node.name in COMPOSED or self._too_much(node, edits) else None
        return None

    def _rows_depend(self, node: Node, path: Path, edits: Sequence[Edit[Any]]) -> bool:
        before, _ = find(self.old, path, self.context)
        if node.name in TABLES and table_columns(before) != table_columns(node):
            return True
        return len(edits) > MAX_FRAGMENTS and len(edits) > len(node.children) // 2

    def _too_much(self, node: Node, edits: Sequence[Edit[Node]]) -> bool:
        children = dict(zip(segments(node.children), node.children, strict=True))
        moved = [children[edit.ident] for edit in edits if isinstance(edit, Move)]
        # Moving by HTML would lose what somebody typed or unfolded; a morph moves the elements themselves.
        return len(edits) > MAX_FRAGMENTS or any(_keeps_state(child) for child in moved)

    def _full(self, path: Path) -> Fragment:
        node, place = find(self.new, path, self.context)
        return Fragment(self.renderer.id(path), MORPH, self.renderer.render(node, place))

    def _of(self, change: Change) -> list[Fragment]:
        node, place = find(self.new, change.path, self.context)
        ident = self.renderer.id(change.path)
        match change:
            case SetProps():
                shell = node.component.children or node.name in LISTS
                return [Fragment(ident, MORPH, self.renderer.render(node, place, shell=shell))]
            case EditItems(path, prop, edits):
                items = node.props[prop]
                found = dict(zip(item_ids(node, prop), items, strict=True))
                if node.name in TABLES:
                    draw: Callable[[str], SafeString] = _rows(TableRows.of(self.renderer, node, place), found)
                else:
                    draw = lambda name: item_html(self.renderer, node, place, name, found[name])  # noqa: E731
                stable = any(map(nodes_are_in, items))
                return self._sequence(path, f"{ident}_r", edits, draw, stable)
            case EditChildren(path, edits):
                children = dict(zip(segments(node.children), node.children, strict=True))
                within = inside(node, place, self.context)
                return self._sequence(
                    path,
                    f"{ident}_c",
                    edits,
                    lambda name: self.renderer.render(children[name], within.child(name)),
                    stable=False,
                )
        return []

    def _sequence(
        self,
        path: Path,
        container: str,
        edits: Sequence[Edit[Any]],
        draw: Callable[[str], SafeString],
        stable: bool,
    ) -> list[Fragment]:
        """Return insertions, replacements and removals, in this order.

        So every insertion stands beside an element that is in the page at that time.
        """

        def place_of(name: str) -> str:
            return dom_id(self.context.mount, (*path, name))

        moved = _moved(edits)
        replaced: list[Fragment] = []
        removed: list[Fragment] = []
        renamed: dict[str, str] = {}
        groups: dict[str | None, list[SafeString]] = {}  # HTML by the element that it follows
        anchor_of: dict[str, str | None] = {}
        for edit in edits:
            match edit:
                case Set(name, new_name, _) if name not in moved:  # what moves is drawn anew anyway
                    renamed[new_name] = name
                    swap = MORPH if stable and name == new_name else "outerHTML"
                    replaced.append(Fragment(place_of(name), swap, draw(new_name)))
                case Remove(name):
                    removed.append(Fragment(place_of(name), "delete", SafeString()))
                case Insert(after, name, _) | Move(name, after):
                    if isinstance(edit, Move):
                        removed.append(Fragment(place_of(name), "delete", SafeString()))
                    anchor = anchor_of[after] if after in anchor_of else renamed.get(after or "", after)
                    anchor_of[name] = anchor
                    groups.setdefault(anchor, []).append(draw(name))
        inserted = [
            Fragment(container, "afterbegin", joined(parts))
            if anchor is None
            else Fragment(place_of(anchor), "afterend", joined(parts))
            for anchor, parts in groups.items()
        ]
        return [*inserted, *replaced, *removed]


def _rows(rows: TableRows, found: dict[str, Any]) -> Callable[[str], SafeString]:
    return lambda name: rows.row(name, found[name])


def joined(parts: Iterable[SafeString]) -> SafeString:
    """Return the parts one after another."""
    html = SafeString()
    for part in parts:
        html += part
    return html


def _moved(edits: Iterable[Edit[Any]]) -> set[str]:
    return {edit.ident for edit in edits if isinstance(edit, Move)}


def _below(path: Path, others: Iterable[Path]) -> bool:
    return any(path[: len(other)] == other for other in others)


def _keeps_state(node: Node) -> bool:
    """Tell whether a person could have typed, chosen or unfolded something in it."""
    return any(
        inner.component.group in ("Fields", "Actions")
        or inner.name in ("Section", "Tabs", "Json", "Tree", "DataTable")
        for inner in walk(node)
    )
