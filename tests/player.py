"""Plays replies in the real sandbox without site or browser: waits get answers that fit the fields.

For tests of texts that contain code: the prompt's examples and the demo's scripts.
"""

import datetime
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from chat.protocol.events import DataClosed, DataDelta, DataOpened, Problem, RunClosed, RunDelta
from chat.protocol.fences import FenceParser
from chat.protocol.statements import StatementSplitter
from chat.sandbox.base import (
    LATER,
    Answer,
    Failed,
    HostCall,
    Outcome,
    Prelude,
    Session,
    Suspended,
    Value,
)
from chat.sandbox.monty import MontySandbox
from chat.sandbox.prelude import entry_callback, entry_renders, entry_stream, entry_submit, entry_tick
from chat.skills import SKILLS
from chat.ui.components import CATALOGUE
from chat.ui.nodes import Node, callbacks, field_nodes, parse_tree, walk
from chat.ui.props import PropType
from chat.ui.signatures import spec, stub

NOW = datetime.datetime(2026, 5, 17, 12, 30, tzinfo=datetime.UTC)
# What skills answer here: only what code may rely on by their documentation.
RESULTS: Mapping[str, Any] = {
    "fetch": {"status": 200, "url": "https://example.com/", "headers": {}, "text": "<p>Hello"},
    "fetch_json": {"rates": {"EUR": 1.08}},
    "files_list": [{"id": "f1", "name": "t.csv", "size": 9, "type": "text/csv", "created": NOW}],
    "files_read_csv": [{"name": "Ada", "age": 36}],
    "files_read_text": "name,age\nAda,36\n",
    "memory_clear": 2,
    "memory_search": [{"key": "home", "value": "Köln"}],
    "now": NOW,
}


def make_sandbox() -> MontySandbox:
    """Return a sandbox with all components and skills, as the site makes it."""
    components = CATALOGUE.values()
    return MontySandbox(
        Prelude(
            specs=tuple(spec(component) for component in components),
            stubs=tuple(stub(component) for component in components),
            skills={name: skill.stub for name, skill in SKILLS.items()},
        )
    )


@dataclass
class Player:
    """The host of one session, and what came of the code in it."""

    output: str = ""
    trees: dict[str, Node] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    timers: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    submits: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)
    answers: dict[str, Any] = field(default_factory=dict)  # by field name, in place of those made up here
    asked: int = 0
    _calls: dict[int, HostCall] = field(default_factory=dict)

    def printed(self, text: str) -> None:
        self.output += text

    def call(self, call: HostCall) -> Answer:
        match call.name, call.args:
            case "_mount", (tree, _, keeps):
                name = f"m{len(self.trees) + 1}"
                self.trees[name] = parse_tree(json.loads(tree))
                self.submits |= {name} if keeps else set()
                return Value(name)
            case "_update", (name, tree, _):
                self.trees[name] = parse_tree(json.loads(tree))
            case "_close", (name,):
                self.closed.add(name)
            case "_stream", (target,):
                self.targets.append(target)
            case "_every", (timer, _):
                self.timers.append(timer)
            case "_stop_timer", (timer,):
                self.timers.remove(timer)
            case "_report", parts:
                self.reports.append(" ".join(map(str, parts)))
            case "_wait" | "_skill", _:
                self._calls[call.id] = call
                return LATER
            case _:
                raise AssertionError(f"unknown host call {call}")
        return Value()

    async def play(self, session: Session, reply: str) -> None:
        """Run a reply's blocks in their order until one fails; the error is kept."""
        parser = FenceParser()
        splitter = StatementSplitter()
        for event in [*parser.feed(reply), *parser.close()]:
            match event:
                case RunDelta(code):
                    for statement in splitter.feed(code):
                        await self.run(session, statement.source)
                case RunClosed():
                    for statement in splitter.close():
                        await self.run(session, statement.source)
                    splitter = StatementSplitter()
                case DataOpened(_, target):
                    assert target in self.targets
                    current, text = target, ""
                case DataDelta(part):
                    text += part
                case DataClosed():
                    await self.enter(session, entry_stream(current, text, True))
                case Problem():
                    self.errors.append(event.message)
            if self.errors:
                return

    async def run(self, session: Session, source: str) -> None:
        if not self.errors:
            self._took(await self._finish(session, await session.run(source, check=True)))
            await self.draw(session)

    async def enter(self, session: Session, program: tuple[str, dict[str, Any]]) -> Any:
        outcome = await self._finish(session, await session.run(*program))
        self._took(outcome)
        return getattr(outcome, "value", None)

    async def draw(self, session: Session) -> None:
        """Take the trees of live mounts that have changed."""
        if self.errors:
            return
        for name, *drawn in json.loads(await self.enter(session, entry_renders()) or "[]"):
            self._drew(name, drawn)

    async def touch_everything(self, session: Session) -> int:
        """Call every callback, timer and `on_submit` that a person could; return how many there were."""
        count = 0
        for name in [name for name in self.trees if name not in self.closed]:
            for callback, args in list(_callbacks(self.trees[name])):
                if callback in callbacks(self.trees[name]):  # what came before may have taken it away
                    await self.enter(session, entry_callback(callback, args))
                    await self.draw(session)
                    count += 1
            if name in self.submits:
                await self.enter(session, entry_submit(name, self._values(self.trees[name])))
                await self.draw(session)
                count += 1
        for timer in self.timers:
            await self.enter(session, entry_tick(timer))
            count += 1
        return count

    def _took(self, outcome: Outcome) -> None:
        if isinstance(outcome, Failed):
            self.errors.append(outcome.error.text())

    async def _finish(self, session: Session, outcome: Outcome) -> Outcome:
        while isinstance(outcome, Suspended):
            outcome = await session.resume(
                {call: Value(self._answer(self._calls.pop(call))) for call in outcome.pending}
            )
        return outcome

    def _answer(self, call: HostCall) -> Any:
        for name, *drawn in json.loads(call.args[-1] or "[]"):
            self._drew(name, drawn)
        if call.name == "_skill":
            return RESULTS.get(call.args[0])
        request = call.args[0]
        if request["kind"] == "sleep":
            return {"t": "value", "v": None}
        self.asked += 1
        tree = self.trees[request["mount"]]
        if not field_nodes(tree) and callbacks(tree):  # one click answers
            return {"t": "callback", "id": min(callbacks(tree)), "args": []}
        return {"t": "value", "v": self._values(tree)}

    def _drew(self, name: str, drawn: list[Any]) -> None:
        if drawn[0] is None:
            self.errors.append(f"{name}: {drawn[1]}")
        else:
            self.trees[name] = parse_tree(drawn[0])

    def _values(self, tree: Node) -> dict[str, Any]:
        made = {node.get("name"): _value(node) for node in field_nodes(tree)}
        return {name: self.answers.get(name, value) for name, value in made.items()}


def _value(node: Node) -> Any:
    """Return a valid answer to a field."""
    match node.name:
        case "NumberField" | "Slider" | "Rating":
            low = node.get("min")
            return 3 if low is None or low <= 3 else low
        case "Select" | "RadioGroup":
            return _options(node)[0]
        case "CheckboxGroup" | "MultiSelect":
            return _options(node)[:1]
        case "Checkbox":
            return True
        case "DateField":
            return NOW.date()
        case "TimeField":
            return NOW.time()
        case "DateTimeField":
            return NOW
        case "FileField":
            return {"id": "f1", "name": "t.csv", "size": 9, "type": "text/csv"}
    return "Ada"


def _options(node: Node) -> list[Any]:
    options = node.get("options")
    return [option[0] if isinstance(option, list | tuple) else option for option in options]


def _callbacks(tree: Node) -> Iterator[tuple[str, list[Any]]]:
    """Return the callbacks of a tree with arguments that fit."""
    for node in walk(tree):
        for prop in CATALOGUE[node.name].props:
            if prop.type is PropType.CALLBACK and (callback := node.get(prop.name)):
                args = {"on_change": [_value(node)], "on_row": [{}]}.get(prop.name, [])
                yield callback, args
