"""A host that answers as a script says, and helpers to run code as the site does: statement by statement."""

import datetime
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from chat.protocol.statements import StatementSplitter
from chat.sandbox.base import (
    LATER,
    Answer,
    CodeError,
    Failed,
    Finished,
    HostCall,
    Outcome,
    Prelude,
    Raise,
    Session,
    Suspended,
    Value,
)
from chat.sandbox.prelude import entry_renders
from chat.ui.components import CATALOGUE
from chat.ui.nodes import InvalidTree, parse_tree
from chat.ui.signatures import spec, stub

SKILLS = {
    "now": 'async def now(tz: str = "UTC") -> datetime.datetime: ...',
    "fetch": "async def fetch(url: str, *, timeout: float = 10) -> str: ...",
    "fetch_json": "async def fetch_json(url: str, *, timeout: float = 10) -> Any: ...",
    "memory_get": "async def memory_get(key: str, default: Any = None) -> Any: ...",
    "memory_set": "async def memory_set(key: str, value: Any) -> None: ...",
    "files_list": "async def files_list() -> list[dict[str, Any]]: ...",
    "file_rows": "async def file_rows(name: str) -> list[dict[str, str]]: ...",
}
PRELUDE = Prelude(
    specs=tuple(spec(component) for component in CATALOGUE.values()),
    stubs=tuple(stub(component) for component in CATALOGUE.values()),
    skills=SKILLS,
)
NOW = datetime.datetime(2026, 11, 30, 9, 30, tzinfo=datetime.UTC)
RESULTS: dict[str, Any] = {
    "now": NOW,
    "fetch": "<html><title>Example</title><body>12 items</body></html>",
    "fetch_json": {"items": [{"name": "a", "price": 3}, {"name": "b", "price": 5}], "total": 2},
    "memory_get": None,
    "memory_set": None,
    "files_list": [{"name": "sales.csv", "size": 120}],
    "file_rows": [{"month": "Jan", "sales": "12"}, {"month": "Feb", "sales": "19"}],
}
FIELD_VALUES: dict[str, Any] = {
    "NumberField": 7, "Slider": 50, "Rating": 4, "Checkbox": True, "DateField": datetime.date(2026, 12, 24),
    "TimeField": datetime.time(18, 0), "DateTimeField": datetime.datetime(2026, 12, 24, 18), "FileField": "",
}  # fmt: skip
MAX_EVENTS = 200


class ScriptedHost:
    """Records what code does; answers forms with fitting values unless the script has its own answers."""

    def __init__(self, events: Iterable[Any] = (), results: dict[str, Any] | None = None) -> None:
        self.calls: list[HostCall] = []
        self.output = ""
        self.trees: dict[str, Any] = {}
        self.closed: list[str] = []
        self.reports: list[tuple[str, str, str]] = []
        self.waiting: dict[int, HostCall] = {}
        self.events = list(events)
        self.results = RESULTS | (results or {})
        self.timers: dict[str, float] = {}
        self.targets: list[str] = []

    def call(self, call: HostCall) -> Answer:
        self.calls.append(call)
        try:
            return self.answered(call)
        except InvalidTree as error:
            return Raise("ValueError", str(error))

    def answered(self, call: HostCall) -> Answer:
        match call.name, call.args:
            case "_mount", (tree, _, _):
                name = f"m{len(self.trees) + 1}"
                self.show(name, json.loads(tree))
                return Value(name)
            case "_update", (name, tree, _):
                self.show(name, json.loads(tree))
            case "_close", (name,):
                self.closed.append(name)
            case "_report", (where, kind, message):
                self.reports.append((where, kind, message))
            case "_every", (timer, seconds):
                self.timers[timer] = seconds
            case "_stop_timer", (timer,):
                self.timers.pop(timer)
            case "_stream", (target,):
                self.targets.append(target)
            case (("_wait" | "_skill"), args):
                self.rendered(args[-1])
                self.waiting[call.id] = call
                return LATER
        return Value()

    def printed(self, text: str) -> None:
        self.output += text

    def show(self, name: str, tree: Any) -> None:
        parse_tree(tree)  # what the sandbox makes must be what the site accepts
        self.trees[name] = tree

    def rendered(self, renders: str) -> None:
        for name, tree, *error in json.loads(renders):
            if error:
                self.reports.append((name, "render", error[0]))
            else:
                self.show(name, tree)

    def answer(self, call: HostCall) -> Value | Raise:
        if call.name == "_skill":
            result = self.results[call.args[0]]
            return result if isinstance(result, Raise) else Value(result)
        if self.events:
            event = self.events.pop(0)
            return Value(event(self, call) if callable(event) else event)
        request = call.args[0]
        if request["kind"] == "sleep":
            return Value({"t": "value", "v": None})
        tree = self.trees[request["mount"]]
        values = dict(self.values(tree))
        button = next(iter(self.callbacks(tree)), None)
        if not values and button and not has(tree, "SubmitButton"):
            return Value({"t": "callback", "id": button, "args": []})
        return Value({"t": "value", "v": values})

    def values(self, tree: Any) -> Iterable[tuple[str, Any]]:
        for node in nodes(tree):
            component = CATALOGUE[node["c"]]
            if component.field:
                options = node["p"].get("options")
                value = FIELD_VALUES.get(node["c"], "text")
                if options:
                    first = next(iter(options))
                    first = first[0] if isinstance(first, list) else first
                    value = [first] if node["c"] in ("CheckboxGroup", "MultiSelect") else first
                yield node["p"]["name"], value

    def callbacks(self, tree: Any) -> Iterable[str]:
        for node in nodes(tree):
            for name in ("on_click", "on_change", "on_row"):
                if name in node.get("p", {}):
                    yield node["p"][name]

    def find(self, name: str, component: str) -> dict[str, Any]:
        """Return the props of the only node of that component."""
        (props,) = [node.get("p", {}) for node in nodes(self.trees[name]) if node["c"] == component]
        return props


def nodes(tree: Any) -> Iterable[dict[str, Any]]:
    """Yield the nodes of a tree, those in props too."""
    if isinstance(tree, dict):
        if "$d" in tree:
            return
        if "$n" in tree:
            yield from nodes(tree["$n"])
        elif "c" in tree:
            yield tree
            for value in tree.get("p", {}).values():
                yield from nodes_in(value)
            for child in tree.get("n", []):
                yield from nodes(child)


def nodes_in(value: Any) -> Iterable[dict[str, Any]]:
    if isinstance(value, dict):
        if "$n" in value:
            yield from nodes(value)
        else:
            for item in value.values():
                yield from nodes_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from nodes_in(item)


def has(tree: Any, component: str) -> bool:
    return any(node["c"] == component for node in nodes(tree))


def texts(tree: Any) -> list[str]:
    """Return the texts of a tree's Text nodes, in order."""
    return [node["p"]["text"] for node in nodes(tree) if node["c"] == "Text"]


async def settle(session: Session, host: ScriptedHost, outcome: Outcome) -> Outcome:
    """Answer what the program waits for until it ends."""
    for _ in range(MAX_EVENTS):
        if not isinstance(outcome, Suspended):
            return outcome
        call = host.waiting.pop(min(outcome.pending))
        outcome = await session.resume({call.id: host.answer(call)})
    raise AssertionError("the program waits for ever")


async def run(session: Session, host: ScriptedHost, source: str, *, check: bool = True) -> Outcome:
    """Run one statement to its end."""
    return await settle(session, host, await session.run(source, check=check, label="block 1"))


async def play(session: Session, host: ScriptedHost, code: str, *, check: bool = True) -> CodeError | None:
    """Run code statement by statement, drawing after each, until one fails; return the failure."""
    splitter = StatementSplitter()
    for statement in [*splitter.feed(code), *splitter.close()]:
        outcome = await session.run(statement.source, check=check, label="block 1", line=statement.line)
        outcome = await settle(session, host, outcome)
        if isinstance(outcome, Failed):
            return outcome.error
        drawn = await session.run(*entry_renders())
        assert isinstance(drawn, Finished), drawn
        host.rendered(drawn.value)
    return None


def value(outcome: Outcome) -> Any:
    assert isinstance(outcome, Finished), outcome
    return outcome.value


def error(outcome: Outcome) -> CodeError:
    assert isinstance(outcome, Failed), outcome
    return outcome.error


def own_memory() -> int:
    """Return this process's resident memory in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


Event = Callable[[ScriptedHost, HostCall], dict[str, Any]]
