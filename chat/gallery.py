"""The gallery: every component with its code, in every state, light and dark, for developers and staff."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any, Final

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.safestring import SafeString

from chat.ui.components import CATALOGUE, GROUPS, Component
from chat.ui.examples import FILE_ID, Example, examples
from chat.ui.forms import answer_text
from chat.ui.highlight import highlighted
from chat.ui.nodes import Node, encode, field_nodes, parse_tree
from chat.ui.render import MountContext, render_error, render_mount_body
from chat.ui.signatures import signature

THEMES: Final = ("light", "dark")


@dataclass(frozen=True)
class Shown:
    """An example in one state."""

    state: str
    code: SafeString
    bodies: list[tuple[str, SafeString]]  # by theme


@dataclass(frozen=True)
class Entry:
    """A component in the gallery."""

    component: Component
    signature: str
    shown: list[Shown]


def gallery(request: HttpRequest) -> HttpResponse:
    """Show the components, all or those of one name."""
    user = getattr(request, "user", None)
    if not (settings.DEBUG or (user is not None and user.is_staff)):
        raise Http404
    only = request.GET.get("component")
    numbers = count(1)
    groups = [
        (
            name,
            [_entry(component.name, numbers) for component in components if only in (None, component.name)],
        )
        for name, components in GROUPS.items()
    ]
    return render(
        request,
        "chat/gallery.html",
        {
            "groups": [(name, entries) for name, entries in groups if entries],
            "failure": [(theme, _failure(theme)) for theme in THEMES],
            "whole": only is None,
        },
    )


def _failure(theme: str) -> SafeString:
    return render_error(
        "This part of the interface could not be drawn.",
        ident=f"failure-{theme}",
        details="KeyError: 'rating' in line 4",
    )


def _entry(name: str, numbers: Iterator[int]) -> Entry:
    component = CATALOGUE[name]
    shown = [
        Shown(state, highlighted(example.source, "python"), _bodies(tree, context, numbers))
        for example in examples()
        if example.component == name
        for state, tree, context in _states(example)
    ]
    return Entry(component, signature(component), shown)


def _bodies(tree: Node, context: dict[str, Any], numbers: Iterator[int]) -> list[tuple[str, SafeString]]:
    number = next(numbers)
    return [
        (
            theme,
            render_mount_body(
                tree, MountContext(mount=f"g{number}{theme[0]}", files_url="/gallery/files/", **context)
            ),
        )
        for theme in THEMES
    ]


def _states(example: Example) -> Iterator[tuple[str, Node, dict[str, Any]]]:
    """Yield the example as it is, and for fields with an error, disabled and answered."""
    tree = parse_tree(example.tree)
    yield "", tree, {}
    if not tree.component.field:
        return
    yield (
        "with an error",
        tree,
        {"errors": {node.props["name"]: ["Fill this in."] for node in field_nodes(tree)}},
    )
    disabled = {**example.tree, "p": {**example.tree["p"], "disabled": True}}
    yield "disabled", parse_tree(disabled), {}
    answered = {
        "state": "submitted",
        "answers": {node.props["name"]: _answer(node) for node in field_nodes(tree)},
        "answered_by": "ada",
        "answered_at": datetime(2026, 1, 31, 19, 30, tzinfo=UTC),
    }
    yield "answered", tree, answered


def _answer(node: Node) -> Any:
    if node.name == "FileField":
        return {"id": FILE_ID, "name": "harbour.png", "size": 48_213, "type": "image/png"}
    given = node.get("value")
    return encode(given) if answer_text(node, given) != "—" else "Ada" if node.name == "TextField" else None


def picture(request: HttpRequest, ident: str) -> HttpResponse:
    """Answer with the picture of the examples."""
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 180">'
        '<path fill="#bfe3ef" d="M0 0h320v110H0z"/>'
        '<path fill="#3b7f97" d="M0 110h320v70H0z"/><circle cx="250" cy="45" r="20" fill="#ffd166"/>'
        '<path fill="#fff" d="M120 100V40l45 60z"/><path fill="#8d5b4c" d="M90 105h100l-18 22h-64z"/></svg>'
    )
    return HttpResponse(svg, content_type="image/svg+xml")


gallery_urls = [
    path("gallery/", gallery, name="gallery"),
    path("gallery/files/<str:ident>/", picture, name="gallery_file"),
]
