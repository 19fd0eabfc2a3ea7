"""What each type of prop accepts, said in words and checked."""

from collections.abc import Callable
from datetime import date, datetime, time
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from chat.ui import shapes
from chat.ui.patterns import check_pattern
from chat.ui.props import Component, Prop, PropType
from chat.ui.shapes import SCALARS, Malformed, show

if TYPE_CHECKING:
    from collections.abc import Mapping

LINK_SCHEMES: Final = ("http", "https", "mailto")

# What an error says a prop accepts.
ACCEPTED: Final[dict[PropType, str]] = {
    PropType.TEXT: "text",
    PropType.NUMBER: "a number",
    PropType.INTEGER: "a whole number",
    PropType.BOOLEAN: "True or False",
    PropType.DATE: "a datetime.date",
    PropType.TIME: "a datetime.time",
    PropType.DATETIME: "a datetime.datetime",
    PropType.CALLBACK: "a function",
    PropType.URL: "an address that starts with https://, http:// or mailto:",
    PropType.FILE: "a file from a FileField or a skill",
    PropType.NODE: "a component",
    PropType.CHOICE: "one of a few words",
}


def safe_url(url: str) -> bool:
    """Tell whether a link to the address is harmless: absolute, of an allowed scheme, without tricks."""
    if any(character <= " " or character == "\\" or character == "\x7f" for character in url):
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if parts.scheme not in LINK_SCHEMES:
        return False
    return bool(parts.path if parts.scheme == "mailto" else parts.netloc)


def _is_number(value: Any) -> bool:
    finite = isinstance(value, int) or (isinstance(value, float) and value - value == 0)
    return finite and not isinstance(value, bool)


def _is_file(value: Any) -> bool:
    if isinstance(value, dict):
        value = value.get("id")
    return isinstance(value, str) and 0 < len(value) <= 100


_TESTS: Final[dict[PropType, Callable[[Any], bool]]] = {
    PropType.TEXT: lambda value: isinstance(value, SCALARS),
    PropType.NUMBER: _is_number,
    PropType.INTEGER: lambda value: isinstance(value, int) and not isinstance(value, bool),
    PropType.BOOLEAN: lambda value: isinstance(value, bool | int),
    PropType.DATE: lambda value: isinstance(value, date) and not isinstance(value, datetime),
    PropType.TIME: lambda value: isinstance(value, time),
    PropType.DATETIME: lambda value: isinstance(value, datetime),
    PropType.CALLBACK: lambda value: isinstance(value, str) and 0 < len(value) <= 1000,
    PropType.URL: lambda value: isinstance(value, str) and safe_url(value),
    PropType.FILE: _is_file,
}

_SHAPES: Final[dict[PropType, Callable[[Any, Prop], Any]]] = {
    PropType.OPTIONS: lambda value, prop: shapes.options(value),
    PropType.COLUMNS: lambda value, prop: shapes.columns(value, []),
    PropType.ROWS: lambda value, prop: shapes.rows(value),
    PropType.SERIES: lambda value, prop: shapes.series(value),
    PropType.ITEMS: lambda value, prop: shapes.items(value, prop.fields),
    PropType.PAIRS: lambda value, prop: shapes.pairs(value),
}


def check_prop(component: Component, prop: Prop, value: Any, is_node: Callable[[Any], bool]) -> None:
    """Raise Malformed, naming what is accepted, unless the prop takes the (decoded) value."""
    optional = not prop.required or prop.type in (PropType.TEXT, PropType.ROWS, PropType.ITEMS)
    if value is None and optional:
        return
    if prop.choices:
        if value not in prop.choices or isinstance(value, bool):
            accepted = ", ".join(repr(item) for item in prop.choices)
            raise Malformed(f"{component.name}: {prop.name} must be one of {accepted}, not {show(value)}")
    elif shape := _SHAPES.get(prop.type):
        try:
            shape(value, prop)
        except Malformed as error:
            raise Malformed(f"{component.name}: {prop.name}: {error}") from None
    else:
        test = is_node if prop.type is PropType.NODE else _TESTS.get(prop.type)
        if test and not test(value):
            accepted = ACCEPTED[prop.type]
            raise Malformed(f"{component.name}: {prop.name} must be {accepted}, not {show(value)}")
    if prop.name == "pattern" and value:
        try:
            check_pattern(str(value))
        except Malformed as error:
            raise Malformed(f"{component.name}: {error}") from None


def check_names(component: Component, props: "Mapping[str, Any]") -> None:
    """Raise Malformed for a prop that the component does not have, or lacks."""
    known = [prop.name for prop in component.props]
    for name in props:
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]}? " if close else ""
            takes = ", ".join([*known, "key"])
            raise Malformed(f"{component.name} has no prop {show(name)}; {hint}it takes {takes}")
    for prop in component.props:
        if prop.required and prop.name not in props:
            raise Malformed(f"{component.name} needs {prop.name}: {prop.doc or prop.type.value}")


_LIMITS: Final = (("min", "max"), ("min_length", "max_length"))


def check_limits(component: Component, props: "Mapping[str, Any]") -> None:
    """Raise Malformed when a lower limit is above the upper one, so that no answer could be right."""
    for low, high in _LIMITS:
        lower, upper = component.prop(low), component.prop(high)
        if lower is None or upper is None or not (low in props or high in props):
            continue
        least, most = props.get(low, lower.default), props.get(high, upper.default)
        try:
            reversed_ = least is not None and most is not None and least > most
        except TypeError:  # a time with a zone and one without
            reversed_ = False
        if reversed_:
            raise Malformed(f"{component.name}: {low} must not be above {high}, but {least} is above {most}")
