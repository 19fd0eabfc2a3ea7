"""Trees to HTML: whole mounts, and the fragments that bring a page from one tree to the next.

What is pushed live and what a reload shows come from the same templates.
"""

from collections.abc import Iterable

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from chat.ui.context import MountContext
from chat.ui.diff import Replace, diff
from chat.ui.identity import dom_id
from chat.ui.nodes import Node, walk
from chat.ui.places import start
from chat.ui.renderer import Renderer, render_error, render_template
from chat.ui.updates import Fragment, Updates

__all__ = [
    "Fragment",
    "MountContext",
    "as_frame",
    "body_id",
    "render_changes",
    "render_error",
    "render_mount_body",
]


def body_id(context: MountContext) -> str:
    """Return the id of a mount's body, which form answers and large changes replace."""
    return f"{dom_id(context.mount, ())}_body"


def render_mount_body(tree: Node, context: MountContext) -> SafeString:
    """Return the HTML of a whole mount."""
    place = start(context)
    return render_template(
        "_body",
        {
            "id": body_id(context),
            "form_id": place.form_id,
            "form": "",
            "context": context,
            "tree": Renderer(context).render(tree, place),
        },
    )


def render_changes(
    old: Node, new: Node, context: MountContext, before: MountContext | None = None
) -> list[Fragment]:
    """Return the fragments that turn the page's mount from the old tree to the new one.

    `before` is the context that the page has, when it may differ. All fragments belong into one frame: each
    finds its target in the page as it is before the first one is applied.
    """
    if before is not None and not _alike(before, context):
        return [_whole(new, context)]
    changes = diff(old, new)
    if any(isinstance(change, Replace) for change in changes):
        return [_whole(new, context)]
    fragments = Updates(old, new, context).of(changes)
    if fragments is None:
        return [_whole(new, context)]
    if before is not None and before.token != context.token:
        fragments += _tokens(new, context)
    return fragments


def _alike(before: MountContext, context: MountContext) -> bool:
    return (before.state, before.answers, before.errors) == (context.state, context.answers, context.errors)


def _whole(tree: Node, context: MountContext) -> Fragment:
    return Fragment(body_id(context), "outerMorph", render_mount_body(tree, context))


def _tokens(tree: Node, context: MountContext) -> list[Fragment]:
    """Return the new token for each form, which tells the page that it may be submitted anew."""
    if any(node.name == "Form" for node in walk(tree)):
        return [_whole(tree, context)]  # one per form is not worth the care
    place = start(context)
    html = render_template("_token", {"form_id": place.form_id, "context": context})
    return [Fragment(f"{place.form_id}_token", "outerMorph", html)]


def as_frame(fragments: Iterable[Fragment]) -> SafeString:
    """Return the fragments as htmx takes them from a socket or an answer."""
    return format_html_join(
        "",
        '<hx-partial hx-target="#{}" hx-swap="{}">{}</hx-partial>',
        ((fragment.target, fragment.swap, fragment.html) for fragment in fragments),
    )
