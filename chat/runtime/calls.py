"""What is recorded of a program's skill calls: enough to say after a crash what may have happened."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from chat.runtime.values import to_json

STARTED: Final = "started"
ARGUMENT_CHARS: Final = 300  # of all arguments together: a person wants to see which call it was


def entry(name: str, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a call that begins; its state changes when it ends."""
    written = [*(repr(to_json(value)) for value in args)]
    written += [f"{key}={to_json(value)!r}" for key, value in kwargs.items()]
    text = ", ".join(written)
    cut = text if len(text) <= ARGUMENT_CHARS else text[:ARGUMENT_CHARS] + "…"
    return {"name": name, "args": cut, "state": STARTED}


def with_entry(calls: Sequence[dict[str, Any]], new: dict[str, Any], most: int) -> list[dict[str, Any]]:
    """Return the calls with one more; of too many, the older ones are counted by name and state."""
    if len(calls) < most:
        return [*calls, new]
    middle = len(calls) // 2
    ended = [call for call in calls[:middle] if call["state"] != STARTED]
    running = [call for call in calls[:middle] if call["state"] == STARTED]
    counted = [
        {"name": name, "state": state, "count": count} for (name, state), count in _counts(ended).items()
    ]
    return [*counted, *running, *calls[middle:], new]


def summary(calls: Sequence[dict[str, Any]]) -> str:
    """Return which calls there were and how they ended, for the model; empty when there were none."""
    told = [
        f"{name}() {state}" + (f" {count} times" if count > 1 else "")
        for (name, state), count in _counts(calls).items()
    ]
    return ", ".join(told)


def _counts(calls: Sequence[dict[str, Any]]) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for call in calls:
        counts[call["name"], call["state"]] += call.get("count", 1)
    return counts
