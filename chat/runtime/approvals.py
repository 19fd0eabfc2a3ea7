"""The card that asks a person whether a skill may be called; the host draws it, so code can't dress it up."""

import json
from typing import Any

from chat.runtime.values import to_native

APPROVE = "approve"
REFUSE = "refuse"


def approval_tree(name: str, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the card: each argument in a field of its own, and the decision."""
    fields = [
        _node("TextArea", name=f"argument:{label}", label=label, value=_written(value), required=False)
        for label, value in _arguments(args, kwargs)
    ]
    decision = _node(
        "RadioGroup",
        name="decision",
        label="May the agent do this?",
        options=[[APPROVE, "Yes, do it with these arguments"], [REFUSE, "No"]],
    )
    return _node(
        "Card",
        *fields,
        decision,
        _node("SubmitButton", label="Decide"),
        title=f"The agent wants to call {name}",
    )


def approved(
    values: dict[str, Any], args: list[Any], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]] | None:
    """Return the arguments as the person left or edited them; None when the call is refused."""
    if values.get("decision") != APPROVE:
        return None
    edited = {
        label: _read(str(values.get(f"argument:{label}", "")), old) for label, old in _arguments(args, kwargs)
    }
    positional = [edited[label] for label, _ in _arguments(args, {})]
    return positional, {name: edited[name] for name in kwargs}


def _arguments(args: list[Any], kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
    return [*((f"argument {number}", value) for number, value in enumerate(args, 1)), *kwargs.items()]


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _read(text: str, old: Any) -> Any:
    text = text.replace("\r\n", "\n")
    if isinstance(old, str) or text == _written(old):
        return text if isinstance(old, str) else to_native(old)
    try:
        return json.loads(text)
    except ValueError:
        return text


def _node(component: str, /, *children: dict[str, Any], **props: Any) -> dict[str, Any]:
    return {"c": component, "p": props, "n": list(children)}
