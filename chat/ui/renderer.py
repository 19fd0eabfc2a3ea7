"""Nodes to HTML, by the templates `templates/components/<name>.html`."""

import logging
from collections.abc import Mapping
from typing import Any

from django.template.loader import get_template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from chat.ui import present
from chat.ui.context import MountContext
from chat.ui.identity import Path, dom_id, segments
from chat.ui.nodes import Node
from chat.ui.places import Place, inside
from chat.ui.values import shown

logger = logging.getLogger(__name__)


class Renderer:
    """Renders the nodes of one mount."""

    def __init__(self, context: MountContext) -> None:
        self.context = context

    def id(self, path: Path) -> str:
        """Return the id of the node at the path."""
        return dom_id(self.context.mount, path)

    def render(self, node: Node, place: Place, *, shell: bool = False) -> SafeString:
        """Return the HTML of a node.

        A shell has its children, rows and items left out, and marked so that a morph keeps those of the page.
        """
        try:
            return self._render(node, place, shell)
        except Exception:  # a fault of ours must not take the rest of the page with it
            logger.exception("rendering %s in %s failed", node.name, self.context.mount)
            return render_error(
                f"{node.name} cannot be shown. The fault is the site's.", ident=self.id(place.path)
            )

    def _render(self, node: Node, place: Place, shell: bool) -> SafeString:
        values: dict[str, Any] = {
            "id": self.id(place.path),
            "p": {prop.name: node.get(prop.name) for prop in node.component.props},
            "context": self.context,
            "form_id": place.form_id,
            "shell": shell,
        }
        name = node.name
        if node.component.field and self.context.answered:
            name = "_answer"
            values.update(present.answer(self, node))
        elif presenter := present.PRESENTERS.get(name):
            values.update(presenter(self, node, place, shell))
        if node.component.children and "children" not in values:
            values["children"] = self.children(node, place, shell=shell)
        return render_template(name.lower(), values)

    def children(self, node: Node, place: Place, *, shell: bool = False) -> SafeString:
        """Return the HTML of a node's children, nothing for a shell."""
        if shell:
            return SafeString()
        within = inside(node, place, self.context)
        return format_html_join(
            "",
            "{}",
            (
                (self.render(child, within.child(segment)),)
                for segment, child in zip(segments(node.children), node.children, strict=True)
            ),
        )

    def inline(self, value: Any, place: Place) -> SafeString:
        """Return a node, or some, or a value, as it stands in a cell or item."""
        if isinstance(value, Node):
            return self.render(value, place)
        if isinstance(value, list):
            parts = [(self.inline(item, place.child(str(index))),) for index, item in enumerate(value)]
            return format_html_join(" ", "{}", parts)
        return format_html("{}", shown(value))


def render_template(name: str, values: Mapping[str, Any]) -> SafeString:
    """Return a component template's HTML without the white space around it."""
    template = get_template(f"components/{name}.html")
    # Stripping what a template made does not make it unsafe.
    return SafeString(template.render(dict(values)).strip())


def render_error(message: str, *, ident: str = "", details: str = "") -> SafeString:
    """Return the quiet card that stands where an interface failed."""
    return render_template("_error", {"id": ident, "message": message, "details": details})
