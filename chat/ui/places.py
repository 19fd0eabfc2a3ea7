"""Where in a mount a node stands, and what its id is."""

from dataclasses import dataclass

from chat.ui.context import MountContext
from chat.ui.identity import Path, dom_id, segments
from chat.ui.nodes import Node, form_name


@dataclass(frozen=True)
class Place:
    """Where in the mount a node stands."""

    path: Path = ()
    form: str = ""  # name of the Form around it
    form_id: str = ""  # and the id of its <form>

    def child(self, segment: str) -> "Place":
        """Return the place of what stands in this one."""
        return Place((*self.path, segment), self.form, self.form_id)


def start(context: MountContext) -> Place:
    """Return the place of the root."""
    return Place((), "", f"{dom_id(context.mount, ())}_form")


def inside(node: Node, place: Place, context: MountContext) -> Place:
    """Return the place for children of the node: a Form is the form of what it holds."""
    if node.name != "Form":
        return place
    return Place(place.path, form_name(node), f"{dom_id(context.mount, place.path)}_f")


def find(tree: Node, path: Path, context: MountContext) -> tuple[Node, Place]:
    """Return the node at the path with its place."""
    node, place = tree, start(context)
    for segment in path:
        place = inside(node, place, context).child(segment)
        node = node.children[segments(node.children).index(segment)]
    return node, place
