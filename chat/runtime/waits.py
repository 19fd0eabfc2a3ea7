"""What a suspended program waits for, and how what arrives answers it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chat.runtime.records import InboxItem, Wait
from chat.runtime.states import InboxKind, WaitState
from chat.runtime.values import to_native
from chat.sandbox.base import Settled, Value


@dataclass(eq=False)
class Pending:
    """One host call without an answer: a wait for a person or time, or a `task` that runs a skill."""

    call: int
    wait: Wait | None = None
    mount: str = ""
    task: asyncio.Task[Settled] | None = None

    @property
    def is_open(self) -> bool:
        """Whether somebody or something may still answer it."""
        return self.task is None and self.wait is not None and self.wait.state is WaitState.OPEN

    @property
    def deadline(self) -> datetime | None:
        """When the wait ends by itself."""
        return self.wait.deadline if self.wait else None


@dataclass(frozen=True)
class Reaction:
    """Answers to host calls. `inside` says that they make something run inside a wait, which then goes on."""

    answers: dict[int, Settled]
    item: InboxItem | None = None
    inside: bool = False


def event(kind: str, **values: Any) -> Value:
    """Return what the sandbox's `_wait` is answered with; see `chat.sandbox.prelude`."""
    return Value({"t": kind, **values})


def submitted(values: Mapping[str, Any]) -> Value:
    """Return the answer that a form's wait gets."""
    return event("value", v=to_native(dict(values)))


def occurrence(item: InboxItem, mount: str) -> Value:
    """Return a callback or a submit of a form that stays, to be run inside the wait."""
    if item.kind is InboxKind.SUBMIT:
        return event("submit", mount=mount, values=to_native(item.payload["values"]))
    return event("callback", id=item.payload["callback"], args=callback_args(item))


def callback_args(item: InboxItem) -> list[Any]:
    """Return a callback's arguments: the new value for `on_change` and `on_row`, none for a click."""
    return [to_native(value) for value in item.payload.get("args", [])]
