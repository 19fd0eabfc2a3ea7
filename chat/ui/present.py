"""What component templates get beyond the props, for components that need more."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from chat.ui import present_data, present_fields
from chat.ui.highlight import highlighted
from chat.ui.identity import segments
from chat.ui.markdown import render_markdown
from chat.ui.nodes import Node
from chat.ui.places import Place, inside
from chat.ui.shapes import items, pairs, words
from chat.ui.values import shown

if TYPE_CHECKING:
    from chat.ui.renderer import Renderer

Presenter = Callable[["Renderer", Node, "Place", bool], dict[str, Any]]


def _markdown(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    return {"html": render_markdown(words(node.get("text")))}


def _code(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    return {"html": highlighted(words(node.get("text")), words(node.get("language")))}


def _heading(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    # Content comes below the page's own headings; what looks smaller need not be a lower level.
    return {"tag": "h3" if (node.get("level") or 2) <= 2 else "h4"}


def _metric(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    delta = node.get("delta")
    text = words(delta)
    if isinstance(delta, int | float) and not isinstance(delta, bool) and delta > 0:
        text = f"+{text}"
    trend = "down" if text.startswith(("-", "−")) else "up" if text.startswith("+") else "flat"
    return {"value": shown(node.get("value")), "delta": text.replace("-", "−", 1), "trend": trend}


def _progress(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    value, most = node.get("value"), node.get("max") or 100
    if value is None:
        return {"busy": True}
    share = min(max(float(value) / float(most), 0.0), 1.0) if most > 0 else 0.0
    return {"busy": False, "share": f"{share:.4f}", "percent": f"{round(share * 100)} %"}


def _skeleton(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    return {"lines": range(node.get("lines") or 3)}


def _countdown(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    until: datetime = node.props["until"]
    aware = until if timezone.is_aware(until) else timezone.make_aware(until)
    return {"until": aware.isoformat(), "words": shown(until)}


def _steps(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    prop = node.component.prop("items")
    current = node.get("current") or 0
    steps = [
        {
            "title": words(item.get("title")),
            "text": words(item.get("text")),
            "state": "done" if index < current else "current" if index == current else "next",
        }
        for index, item in enumerate(items(node.get("items"), prop.fields if prop else ()))
    ]
    return {"steps": steps}


def _timeline(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    prop = node.component.prop("items")
    found = items(node.get("items"), prop.fields if prop else ())
    return {
        "events": [
            {
                "title": renderer.inline(item.get("title"), place.child(f"{index}-title")),
                "time": shown(item.get("time")) if item.get("time") is not None else "",
                "text": renderer.inline(item.get("text"), place.child(f"{index}-text"))
                if item.get("text")
                else "",
                "kind": words(item.get("kind")),
            }
            for index, item in enumerate(found)
        ]
    }


def _key_value(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    return {
        "pairs": [
            (name, renderer.inline(value, place.child(str(index))))
            for index, (name, value) in enumerate(pairs(node.get("items") or []))
        ]
    }


def _avatar(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    name = words(node.get("name"))
    parts = name.split()
    file = node.get("file")
    return {
        "initials": "".join(part[0] for part in [*parts[:1], *parts[1:][-1:]]).upper(),
        "hue": sum(map(ord, name)) % 6,
        "src": renderer.context.file_url(file) if file else "",
    }


def _image(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    return {"src": renderer.context.file_url(node.props["file"]) if node.props.get("file") else ""}


def _tabs(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    tabs = [
        {
            "id": renderer.id(place.child(segment).path),
            "title": words(tab.get("title")),
            "first": index == 0,
            "children": renderer.children(tab, place.child(segment)),
        }
        for index, (segment, tab) in enumerate(zip(segments(node.children), node.children, strict=True))
    ]
    return {"tabs": tabs, "children": SafeString()}


def _form(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    within = inside(node, place, renderer.context)
    return {"form_id": within.form_id, "form": within.form}


def _slot(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    if node.children:
        parts = [
            (renderer.render(child, place.child(segment)),)
            for segment, child in zip(segments(node.children), node.children, strict=True)
        ]
        return {"content": format_html_join("", "{}", parts)}
    fallback = node.get("fallback")
    return {"content": renderer.render(fallback, place.child("fallback")) if fallback else ""}


def _button(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    active = renderer.context.interactive or renderer.context.answered
    return {"disabled": bool(node.get("disabled")) or not active}


def _submit(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    return {"disabled": bool(node.get("disabled")) or not renderer.context.interactive}


def _tooltip(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    # The hint must be reachable by keyboard: by what is inside if that can have the focus, else by itself.
    return {"focusable": not any(child.component.group in ("Actions", "Fields") for child in node.children)}


PRESENTERS: Final[dict[str, Presenter]] = {
    "Markdown": _markdown,
    "Code": _code,
    "Heading": _heading,
    "Metric": _metric,
    "Progress": _progress,
    "Skeleton": _skeleton,
    "Countdown": _countdown,
    "Steps": _steps,
    "Timeline": _timeline,
    "KeyValue": _key_value,
    "Avatar": _avatar,
    "Image": _image,
    "Tabs": _tabs,
    "Form": _form,
    "Slot": _slot,
    "Button": _button,
    "Confirm": _button,
    "SubmitButton": _submit,
    "Tooltip": _tooltip,
    **present_data.PRESENTERS,
    **present_fields.PRESENTERS,
}

answer = present_fields.answer
