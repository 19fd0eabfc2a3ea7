"""What the templates of data components get: rows, items, charts."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from chat.ui.charts import chart
from chat.ui.highlight import highlighted
from chat.ui.identity import item_ids, nodes_are_in
from chat.ui.nodes import Node, encode
from chat.ui.shapes import Column, cell, columns, words
from chat.ui.values import shown

if TYPE_CHECKING:
    from chat.ui.places import Place
    from chat.ui.renderer import Renderer

# A long tree of data is cut: who needs it all takes a table.
MAX_TREE: Final = 2_000

_NUMBER: Final = SafeString(' class="num"')
_HIDDEN: Final = SafeString(" hidden")


def table_columns(node: Node) -> list[Column]:
    """Return the columns of a table node."""
    return columns(node.get("columns"), node.get("rows") or [])


@dataclass(frozen=True)
class TableRows:
    """The rows of a table node as HTML."""

    renderer: "Renderer"
    node: Node
    place: "Place"
    columns: list[Column]

    @classmethod
    def of(cls, renderer: "Renderer", node: Node, place: "Place") -> "TableRows":
        """Return the rows of a table node."""
        return cls(renderer, node, place, table_columns(node))

    def row(self, ident: str, row: Any, *, hidden: bool = False) -> SafeString:
        """Return one row."""
        at = self.place.child(ident)
        row_id = self.renderer.id(at.path)
        cells = [
            _cell(self.renderer, at.child(str(index)), cell(row, column))
            for index, column in enumerate(self.columns)
        ]
        html = format_html_join("", "<td{}>{}</td>", cells)
        if self.node.get("on_row"):
            html = format_html(
                '<td class="ui-choose"><button type="button" id="{}_b" data-row="{}" aria-label="Choose {}">'
                "</button></td>{}",
                row_id,
                ident,
                self._name(row) or "row",
                html,
            )
        return format_html('<tr id="{}"{}>{}</tr>', row_id, _HIDDEN if hidden else "", html)

    def all(self) -> SafeString:
        """Return all rows; those after the first page wait hidden for the pager."""
        rows = self.node.get("rows") or []
        first = page_size(self.node)
        return format_html_join(
            "",
            "{}",
            (
                (self.row(ident, row, hidden=index >= first),)
                for index, (ident, row) in enumerate(zip(item_ids(self.node, "rows"), rows, strict=True))
            ),
        )

    def _name(self, row: Any) -> str:
        values = [cell(row, column) for column in self.columns[:2]]
        return ", ".join(shown(value) for value in values if value is not None and not nodes_are_in(value))


def _cell(renderer: "Renderer", place: "Place", value: Any) -> tuple[Any, Any]:
    if isinstance(value, str):
        return "", value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _NUMBER, words(value)
    if nodes_are_in(value):
        return "", renderer.inline(value, place)
    return "", shown(value)


def page_size(node: Node) -> int:
    """Return how many rows a page of the table has."""
    return max(int(node.get("page_size") or 25), 1)


def _table(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    return {
        "columns": table_columns(node),
        "rows": SafeString() if shell else TableRows.of(renderer, node, place).all(),
        "page_size": page_size(node),
        "rich": node.name == "DataTable",
        "chooses": bool(node.get("on_row")),
        "title": words(node.get("title")),
    }


def item_html(renderer: "Renderer", node: Node, place: "Place", ident: str, item: Any) -> SafeString:
    """Return one item of a List."""
    at = place.child(ident)
    return format_html('<li id="{}">{}</li>', renderer.id(at.path), renderer.inline(item, at.child("0")))


def _list(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    found = node.get("items") or []
    parts = [
        (item_html(renderer, node, place, ident, item),)
        for ident, item in zip(item_ids(node, "items"), found, strict=True)
    ]
    return {
        "items": SafeString() if shell else format_html_join("", "{}", parts),
        "tag": "ol" if node.get("ordered") else "ul",
    }


def _json(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    text = json.dumps(encode(node.get("value")), ensure_ascii=False, indent=2, default=str)
    return {"html": highlighted(text, "json")}


def _tree(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    left = [MAX_TREE]
    return {"html": _branches(node.get("items"), renderer.id(place.path), bool(node.get("open")), left)}


def _branches(value: Any, ident: str, is_open: bool, left: list[int]) -> SafeString:
    entries: Sequence[tuple[str, Any]]
    if isinstance(value, Mapping):
        entries = [(str(key), inner) for key, inner in value.items()]
    else:
        entries = [("", inner) for inner in (value if isinstance(value, list) else [value])]
    parts = []
    for index, (name, inner) in enumerate(entries):
        left[0] -= 1
        if left[0] < 0:
            parts.append((format_html("<li>…</li>"),))
            break
        parts.append((_branch(name, inner, f"{ident}-{index}", is_open, left),))
    return format_html("<ul>{}</ul>", format_html_join("", "{}", parts))


def _branch(name: str, inner: Any, ident: str, is_open: bool, left: list[int]) -> SafeString:
    if isinstance(inner, Mapping | list) and inner:
        label = name or f"{len(inner)} entries"
        return format_html(
            '<li><details id="{}" data-own="open"{}><summary>{}</summary>{}</details></li>',
            ident,
            SafeString(" open") if is_open else "",
            label,
            _branches(inner, ident, is_open, left),
        )
    text = "" if isinstance(inner, Mapping | list) else shown(inner)
    if not name:
        return format_html("<li>{}</li>", text)
    return format_html('<li>{}<span class="ui-tree-value">{}</span></li>', name, text)


def _chart(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    return {"chart": chart(node)}


PRESENTERS: Final[dict[str, Callable[..., dict[str, Any]]]] = {
    "Table": _table,
    "DataTable": _table,
    "List": _list,
    "Json": _json,
    "Tree": _tree,
    "Chart": _chart,
}
