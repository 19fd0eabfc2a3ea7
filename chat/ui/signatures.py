"""The catalogue as code sees it: signatures for the prompt, stubs for the checker, data for the sandbox."""

from typing import Any, Final

from chat.ui.components import CATALOGUE
from chat.ui.props import Component, Prop, PropType

_TEXT: Final = "str | float | None"

# How the type checker sees a prop. Wider than what people should write: a stub must never refuse what works.
STUB_TYPES: Final[dict[PropType, str]] = {
    PropType.TEXT: _TEXT,
    PropType.NUMBER: "float",
    PropType.INTEGER: "int",
    PropType.BOOLEAN: "bool",
    PropType.CHOICE: "str",
    PropType.DATE: "datetime.date",
    PropType.TIME: "datetime.time",
    PropType.DATETIME: "datetime.datetime",
    PropType.ANY: "Any",
    PropType.OPTIONS: "Any",
    PropType.COLUMNS: "Any",
    PropType.ROWS: "Any",
    PropType.SERIES: "Any",
    PropType.ITEMS: "Any",
    PropType.PAIRS: "Any",
    PropType.NODE: "Child",
    PropType.CALLBACK: "Callable[..., Any] | None",
    PropType.URL: "str",
    PropType.FILE: "Any",
}

# What the stubs need to stand before them.
STUB_HEADER: Final = """\
import datetime
from collections.abc import Callable
from typing import Any

class Node: ...

Child = Any
"""

# What a prop's type is called in the prompt; the others speak for themselves by their default.
_WORDS: Final[dict[PropType, str]] = {
    PropType.DATE: "date",
    PropType.TIME: "time",
    PropType.DATETIME: "datetime",
    PropType.CALLBACK: "function",
    PropType.FILE: "file",
    PropType.NODE: "node",
}


def ordered(component: Component) -> tuple[list[Prop], list[Prop]]:
    """Return the positional and the keyword-only props, as the constructor takes them."""
    if component.children:
        return [], list(component.props)
    return (
        [prop for prop in component.props if prop.positional],
        [prop for prop in component.props if not prop.positional],
    )


def signature(component: Component) -> str:
    """Return the call as the prompt shows it, such as `Badge(text, kind="neutral"|"info"|…)`."""
    positional, keywords = ordered(component)
    parts = ["*children"] if component.children else [_shown(prop) for prop in positional]
    required = [f"{prop.name}=…" for prop in keywords if prop.required]
    optional = [_shown(prop) for prop in keywords if not prop.required]
    return f"{component.name}({', '.join([*parts, *required, *optional])})"


def _shown(prop: Prop) -> str:
    if prop.choices and prop.type is PropType.CHOICE:
        choices = list(prop.choices) if prop.required else [prop.default, *prop.choices]
        return f"{prop.name}=" + "|".join(f'"{item}"' for item in dict.fromkeys(choices))
    if prop.required:
        return prop.name
    if prop.default is None and prop.type in _WORDS:
        return f"{prop.name}={_WORDS[prop.type]}"
    return f"{prop.name}={_python(prop.default)}"


def _python(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) and '"' not in value else repr(value)


def stub(component: Component) -> str:
    """Return the `def` line that the type checker knows the constructor by."""
    positional, keywords = ordered(component)
    parts = ["*children: Child"] if component.children else [_typed(prop) for prop in positional]
    if keywords and not component.children:
        parts.append("*")
    parts += [_typed(prop) for prop in keywords]
    parts.append(
        "key: str | int | None = None"
        if keywords or component.children
        else "*, key: str | int | None = None"
    )
    return f"def {component.name}({', '.join(parts)}) -> Node: ..."


def _typed(prop: Prop) -> str:
    kind = STUB_TYPES[prop.type]
    if prop.required:
        return f"{prop.name}: {kind}"
    if kind != "Any" and "None" not in kind:
        kind += " | None"
    return f"{prop.name}: {kind} = {_python(prop.default)}"


def stubs() -> str:
    """Return the stubs of the whole catalogue, with their header."""
    return STUB_HEADER + "\n" + "\n".join(stub(component) for component in CATALOGUE.values()) + "\n"


def spec(component: Component) -> dict[str, Any]:
    """Return the plain data that the sandbox makes the constructor from."""
    positional, keywords = ordered(component)
    return {
        "name": component.name,
        "children": component.children,
        "positional": [prop.name for prop in positional],
        "props": {
            prop.name: {
                "type": prop.type.value,
                "required": prop.required,
                "default": None if prop.required else prop.default,
                "choices": list(prop.choices),
                "doc": prop.doc,
            }
            for prop in [*positional, *keywords]
        },
        "field": component.field,
        "only": list(component.only),
        "inside": component.inside,
        "fills": component.fills,
    }


def specs() -> list[dict[str, Any]]:
    """Return the plain data of the whole catalogue."""
    return [spec(component) for component in CATALOGUE.values()]
