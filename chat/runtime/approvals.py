"""The card that asks a person whether a skill may be called; the host draws it, so code can't dress it up.

It has two forms: one with the arguments, which may be edited, and *Approve*; one with nothing but *Refuse*.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chat.runtime.values import to_json, to_native

APPROVE = "approve"
REFUSE = "refuse"
LONG_TEXT = 60  # characters; what is longer, or has several lines, gets a field to match


@dataclass(frozen=True)
class SkillInfo:
    """What a person is told about a skill: the first line of its documentation, its parameters' names."""

    doc: str = ""
    parameters: tuple[str, ...] = ()


def approval_tree(name: str, info: SkillInfo, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the card: what the skill does, each argument in a field of its own, and the two decisions."""
    fields = [_field(label, value) for label, value in _arguments(info, args, kwargs)]
    return _card(
        f"May the agent call {name}?",
        info,
        _node("Form", *fields, _node("SubmitButton", label="Approve"), name=APPROVE),
        _node("Form", _node("SubmitButton", label="Refuse", kind="secondary"), name=REFUSE),
    )


def decided_tree(
    name: str, info: SkillInfo, args: list[Any], kwargs: dict[str, Any], *, approved: bool
) -> dict[str, Any]:
    """Return the card after the decision; its fields show the arguments."""
    fields = [_field(label, value) for label, value in _arguments(info, args, kwargs)]
    outcome = _node(
        "Badge", text="Approved" if approved else "Refused", kind="success" if approved else "warning"
    )
    return _card(f"The agent asked to call {name}", info, *fields, outcome)


def edited(
    values: Mapping[str, Any], info: SkillInfo, args: list[Any], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments as the person left or edited them; raises ValueError for what can't be read."""
    new = [
        _read(label, values.get(label, _written(old)), old) for label, old in _arguments(info, args, kwargs)
    ]
    return new[: len(args)], dict(zip(kwargs, new[len(args) :], strict=True))


def shown_values(info: SkillInfo, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return what the card's fields hold at first, by name."""
    return {label: _written(value) for label, value in _arguments(info, args, kwargs)}


def _arguments(info: SkillInfo, args: list[Any], kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
    names = [
        info.parameters[place]
        if place < len(info.parameters) and info.parameters[place] not in kwargs
        else f"argument {place + 1}"
        for place in range(len(args))
    ]
    return [*zip(names, args, strict=True), *kwargs.items()]


def _field(label: str, value: Any) -> dict[str, Any]:
    shown = _written(value)
    common = {"name": label, "label": label, "value": shown}
    match value:
        case bool():
            return _node("Checkbox", **common)
        case int() | float() if not isinstance(shown, str):
            return _node("NumberField", **common, step=1 if isinstance(value, int) else None)
    assert isinstance(shown, str)
    several = len(shown) > LONG_TEXT or "\n" in shown or not isinstance(value, str)
    return _node("TextArea" if several else "TextField", **common, required=False)


def _written(value: Any) -> Any:
    """Return a value as its field takes it: numbers and truth as they are, texts too, all else as JSON."""
    match value:
        case bool() | str():
            return value
        case int() if abs(value) < 2**53:  # what a browser's number field holds exactly
            return value
        case float() if math.isfinite(value):
            return value
    return json.dumps(to_json(value), ensure_ascii=False)


def _read(label: str, new: Any, old: Any) -> Any:
    shown = _written(old)
    if not isinstance(shown, str):
        return new
    text = str(new).replace("\r\n", "\n")
    if text.strip() == shown.strip():  # a field drops the spaces around a text
        return old
    if isinstance(old, str):
        return text
    try:
        return to_native(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{label} can't be read: {error}. It is written as JSON, such as {shown:.80}"
        ) from error


def _card(title: str, info: SkillInfo, *children: dict[str, Any]) -> dict[str, Any]:
    doc = [_node("Text", text=info.doc)] if info.doc else []
    return _node("Card", *doc, *children, title=title)


def _node(component: str, /, *children: dict[str, Any], **props: Any) -> dict[str, Any]:
    given = {name: value for name, value in props.items() if value is not None}
    return {"c": component, "p": given, "n": list(children)}
