"""Constructors of components outside of the sandbox, so that examples are written as agent code is."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time
from typing import Any, Final

from chat.ui.components import CATALOGUE
from chat.ui.props import Component, PropType
from chat.ui.signatures import ordered

JsonNode = dict[str, Any]


class Built(dict[str, Any]):
    """A node as JSON, told apart from data."""


def namespace(callback: str = "example") -> dict[str, Any]:
    """Return all constructors by name; a function given to them becomes the callback's id."""
    return {name: _constructor(component, callback) for name, component in CATALOGUE.items()}


def _constructor(component: Component, callback: str) -> Callable[..., Built]:
    positional, _ = ordered(component)

    def construct(*args: Any, **props: Any) -> Built:
        key = props.pop("key", None)
        children = list(_children(args)) if component.children else []
        if not component.children:
            props = dict(zip((prop.name for prop in positional), args, strict=False)) | props
        encoded = {
            name: callback if _is_callback(component, name) and callable(value) else _encode(value)
            for name, value in props.items()
        }
        node = Built(c=component.name)
        if key is not None:
            node["k"] = str(key)
        if encoded:
            node["p"] = encoded
        if children:
            node["n"] = children
        return node

    return construct


def _is_callback(component: Component, name: str) -> bool:
    prop = component.prop(name)
    return prop is not None and prop.type is PropType.CALLBACK


def _children(args: Iterable[Any]) -> Iterable[Built]:
    for arg in args:
        if isinstance(arg, list | tuple):
            yield from _children(arg)
        elif isinstance(arg, Built):
            yield arg
        elif arg is not None and not isinstance(arg, bool):
            yield Built(c="Text", p={"text": str(arg)})


_DATES: Final = {datetime: "$datetime", date: "$date", time: "$time"}


def _encode(value: Any) -> Any:
    if isinstance(value, Built):
        return {"$n": value}
    if type(value) in _DATES:
        return {_DATES[type(value)]: value.isoformat()}
    if isinstance(value, Mapping):
        return {str(key): _encode(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encode(item) for item in value]
    return value
