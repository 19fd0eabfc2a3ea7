"""What the templates of fields get: names, values as HTML writes them, errors, hints."""

from collections.abc import Callable
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any, Final

from chat.ui.forms import answer_text, from_json, html_name, label_of, options_of
from chat.ui.identity import safe
from chat.ui.nodes import Node
from chat.ui.shapes import option_keys, words

if TYPE_CHECKING:
    from chat.ui.places import Place
    from chat.ui.renderer import Renderer

# How a text field should be typed and filled in by the browser.
_KINDS: Final = {
    "TextField": {"type": "text"},
    "EmailField": {"type": "email", "inputmode": "email", "autocomplete": "email"},
    "URLField": {"type": "url", "inputmode": "url", "autocomplete": "url"},
    "NumberField": {"type": "number"},
    "DateField": {"type": "date"},
    "TimeField": {"type": "time"},
    "DateTimeField": {"type": "datetime-local"},
}

# Tokens of the autofill standard; others are not written, since a browser would ignore them.
_AUTOCOMPLETE: Final = """
off on name honorific-prefix given-name additional-name family-name nickname username email tel
organization organization-title street-address address-line1 address-line2 address-level1 address-level2
country country-name postal-code bday sex url language
"""
AUTOCOMPLETE: Final = frozenset(_AUTOCOMPLETE.split())


def _text_value(value: Any) -> str:
    """Return a value as the `value` attribute of an input has it."""
    match value:
        case datetime():
            return value.replace(tzinfo=None).isoformat(timespec="minutes")
        case time():
            return value.replace(tzinfo=None).isoformat(timespec="minutes")
        case date():
            return value.isoformat()
        case _:
            return words(value)


def _common(renderer: "Renderer", node: Node, place: "Place") -> dict[str, Any]:
    context = renderer.context
    name = node.props["name"]
    ident = renderer.id(place.path)
    mine = place.form == context.form
    errors = [str(error) for error in context.errors.get(name, [])] if mine else []
    hint = words(node.get("help"))
    described = [f"{ident}_help"] * bool(hint) + [f"{ident}_error"] * bool(errors)
    return {
        "input_id": f"{ident}_i",
        "name": html_name(name),
        "label": label_of(node),
        "help": hint,
        "errors": errors,
        "described": " ".join(described),
        "required": bool(node.get("required")),
        "disabled": bool(node.get("disabled")) or not context.interactive,
        "change": node.get("on_change") if context.interactive else None,
        "given": context.values.get(name) if mine and name in context.values else node.get("value"),
    }


def _input(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    common = _common(renderer, node, place)
    kind = dict(_KINDS[node.name])
    autocomplete = words(node.get("autocomplete")) or kind.get("autocomplete", "")
    step = node.get("step")
    if node.name == "NumberField":
        whole = step is not None and float(step).is_integer()
        kind["inputmode"] = "numeric" if whole else "decimal"
    attributes = {
        "type": kind["type"],
        "value": _text_value(common["given"]),
        "inputmode": kind.get("inputmode", ""),
        "autocomplete": autocomplete if set(autocomplete.split()) <= AUTOCOMPLETE else "",
        "placeholder": words(node.get("placeholder")),
        "minlength": words(node.get("min_length")),
        "maxlength": words(node.get("max_length")),
        "pattern": words(node.get("pattern")),
        "min": _text_value(node.get("min")),
        "max": _text_value(node.get("max")),
        "step": words(step) if step else "any" if node.name == "NumberField" else "",
    }
    return {**common, "attributes": [(name, value) for name, value in attributes.items() if value]}


def _area(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    common = _common(renderer, node, place)
    return {**common, "text": words(common["given"]), "rows": min(max(node.get("rows") or 4, 1), 30)}


def _slider(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    common = _common(renderer, node, place)
    low = node.get("min") if node.get("min") is not None else 0
    value = common["given"] if common["given"] is not None else low
    return {
        **common,
        "value": words(value),
        "min": words(low),
        "max": words(node.get("max") if node.get("max") is not None else 100),
        "step": words(node.get("step") or "any"),
    }


def _options(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    common = _common(renderer, node, place)
    found = options_of(node)
    given = common["given"]
    many = node.name in ("CheckboxGroup", "MultiSelect")
    chosen = given if isinstance(given, list | tuple) else [given] if given is not None else []
    # Text compares with the keys (that is what a browser posts), anything else with the values.
    options = [
        {
            "key": key,
            "label": option.label,
            "id": f"{common['input_id']}-{safe(key)}",
            "chosen": any(item == key if isinstance(item, str) else item == option.value for item in chosen),
        }
        for option, key in zip(found, option_keys(found), strict=True)
    ]
    any_chosen = any(option["chosen"] for option in options)
    return {
        **common,
        "options": options,
        "many": many,
        "placeholder": words(node.get("placeholder")) or ("Choose…" if common["required"] else "None"),
        "blank": not any_chosen or not common["required"],
    }


def _checkbox(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    common = _common(renderer, node, place)
    return {**common, "checked": common["given"] not in (None, "", False, "false")}


def _file(renderer: "Renderer", node: Node, place: "Place", shell: bool) -> dict[str, Any]:
    common = _common(renderer, node, place)
    limit = f"Up to {words(node.get('max_size') or 10)} MB"
    accept = words(node.get("accept"))
    hint = common["help"] or (f"{limit}, {accept.replace(',', ', ')}" if accept else limit)
    described = [f"{renderer.id(place.path)}_help"] + [common["described"]] * bool(common["errors"])
    return {
        **common,
        "help": hint,
        "described": " ".join(dict.fromkeys(" ".join(described).split())),
        "accept": accept,
        "multiple": bool(node.get("multiple")),
    }


def answer(renderer: "Renderer", node: Node) -> dict[str, Any]:
    """Return what the read-only view of a field shows."""
    answers = from_json(renderer.context.answers or {})
    name = node.props["name"]
    files = []
    if node.name == "FileField" and answers.get(name):
        handles = answers[name] if isinstance(answers[name], list) else [answers[name]]
        files = [
            {"name": words(handle.get("name")), "url": renderer.context.file_url(handle)}
            for handle in handles
            if isinstance(handle, dict)
        ]
    given = answers[name] if name in answers else node.get("value")
    return {"label": label_of(node), "text": answer_text(node, given), "files": files}


PRESENTERS: Final[dict[str, Callable[..., dict[str, Any]]]] = {
    **dict.fromkeys(_KINDS, _input),
    "TextArea": _area,
    "Slider": _slider,
    "Rating": _options,
    "Select": _options,
    "RadioGroup": _options,
    "CheckboxGroup": _options,
    "MultiSelect": _options,
    "Checkbox": _checkbox,
    "FileField": _file,
}
