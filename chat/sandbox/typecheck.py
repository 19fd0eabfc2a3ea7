"""Refuses statements that are certainly wrong, before anything of them runs.

The interpreter's type checker sees one statement at a time, after declarations of the names that earlier ones
defined; it keeps nothing, so a check costs the same in a long conversation as in a short one. Of its findings
only those count that cannot be wrong: arguments that a function of ours does not have, a coroutine used as a
value, a name that exists nowhere. What it says about other types is ignored, since honest code is full of it.
"""

import ast
import builtins
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from chat.sandbox import scope, stubs
from chat.sandbox.base import CodeError, ErrorFrame

# An undefined name in front of every checked source makes certain that the checker never runs it.
NEVER: Final = "_never_"
MAX_CHARS: Final = 20_000
MAX_REVEALED: Final = 8
ANYTHING: Final = "*"
"""The name that stands for "there may be names that only running the code could tell"."""

QUOTE: Final = "'"

# The checker's own list of them is shorter than what runs; one that is missing here fails with its own hint.
BUILTINS: Final = frozenset(dir(builtins))

NOT_RUN: Final = "It was refused before it ran: nothing of this statement has happened."

OF: Final = r"(?:function |bound method )?`([\w.]+?)(?:\.__init__)?`"
ARGUMENT: Final = re.compile(rf"Argument `(\w+)` does not match any known parameter of {OF}")
MISSING: Final = re.compile(rf"No arguments? provided for required parameters? (.+) of {OF}")
SURPLUS: Final = re.compile(rf"Too many positional arguments to {OF}: expected (\d+), got (\d+)")
TWICE: Final = re.compile(rf"Multiple values provided for parameter `(\w+)` of {OF}")
UNDEFINED: Final = re.compile(r"Name `(\w+)` used when not defined")
REVEALED: Final = re.compile(r"Revealed type: `(.*)`$", re.DOTALL)


@dataclass(frozen=True)
class Finding:
    """One thing the checker said."""

    rule: str
    message: str
    line: int
    column: int

    @property
    def on_coroutine(self) -> bool:
        """Whether it is about a value that is certainly a coroutine, not one of several types."""
        start = self.message.find("`CoroutineType[")
        if start < 0:
            return False
        depth = 0
        for place in range(start + len("`CoroutineType"), len(self.message)):
            depth += {"[": 1, "]": -1}.get(self.message[place], 0)
            if depth == 0:
                return self.message[place + 1 : place + 2] == "`"
        return False


@dataclass(frozen=True)
class Question:
    """A statement as the checker gets it."""

    source: str
    offset: int
    """Lines before the statement."""
    revealed: tuple[str, ...]
    """Names whose types are asked for, one line each after the statement."""


def question(source: str, tree: ast.Module, names: Mapping[str, str], ambient: frozenset[str]) -> Question:
    """Return the source to check: declarations, the statement, and what its names became."""
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    by_kind: dict[str, list[str]] = {}
    for name in sorted(used):
        if name in names or name in ambient:
            by_kind.setdefault(names.get(name) or stubs.UNKNOWN, []).append(name)
    before = [NEVER, *(f"{' = '.join(of)} = {kind}" for kind, of in by_kind.items())]
    changed = scope.global_names(tree)
    revealed = tuple(name for name in sorted(scope.bound(tree)) if name not in changed)[:MAX_REVEALED]
    after = [f"reveal_type({name})" for name in revealed]
    return Question("\n".join([*before, source, *after, ""]), len(before), revealed)


def findings(report: str, offset: int) -> list[Finding]:
    """Return what the checker said, with lines of the statement; nothing when it can't be read."""
    try:
        return [
            Finding(
                str(item.get("code") or item.get("name")),
                str(item.get("message")),
                int(item["location"]["row"]) - offset,
                int(item["location"]["column"]),
            )
            for item in json.loads(report)
        ]
    except (ValueError, TypeError, KeyError, AttributeError):
        return []


def kinds(found: list[Finding], asked: Question, lines: int) -> dict[str, str]:
    """Return the names of the statement with what may be relied on about them."""
    out = {}
    for finding in found:
        place = finding.line - lines - 1
        told = REVEALED.match(finding.message)
        if finding.rule == "revealed-type" and told and 0 <= place < len(asked.revealed):
            out[asked.revealed[place]] = _kind(told[1])
    return out


def _kind(revealed: str) -> str:
    if revealed in stubs.KINDS:
        return stubs.KINDS[revealed]
    if "|" in revealed:
        return ""
    if revealed.startswith("CoroutineType["):
        return stubs.COROUTINE
    if revealed.startswith("def ") and "-> CoroutineType[" in revealed:
        return stubs.ASYNC
    return ""


def in_bytes(source: str, line: int, column: int) -> int:
    """Return a column that counts characters as one that counts bytes, as syntax trees do."""
    return len(source.split("\n")[line - 1][:column].encode())


class Judge:
    """Tells certain mistakes from the checker's other findings."""

    def __init__(self, functions: Mapping[str, stubs.Signature], known: frozenset[str]) -> None:
        self._functions = functions
        self._known = known

    def verdict(
        self, found: list[Finding], source: str, tree: ast.Module, names: Mapping[str, str]
    ) -> tuple[int, str, str] | None:
        """Return line, type and message of the first certain mistake, or None."""
        lines = source.count("\n") + 1
        own = scope.bound(tree)
        later = scope.bodies(tree)
        guesses = ANYTHING in names or scope.builds_names(tree)
        mistakes = [
            mistake for mistake in [forgotten_await(tree, self._functions, {*own, *names})] if mistake
        ]
        for finding in found:
            if not 1 <= finding.line <= lines:
                continue
            name = UNDEFINED.match(finding.message)
            if finding.rule == "unresolved-reference" and name:
                at = (finding.line, in_bytes(source, finding.line, finding.column - 1))
                runs_later = any(start <= at <= end for start, end in later)
                if not (guesses or runs_later or name[1] in own or name[1] in names or name[1] in BUILTINS):
                    mistakes.append((finding.line, "NameError", self.undefined(name[1], names)))
                continue
            told = self.arguments(finding, own | set(names)) or self.coroutine(finding)
            if told:
                mistakes.append((finding.line, "TypeError", told))
        return min(mistakes, default=None)

    def undefined(self, name: str, names: Mapping[str, str]) -> str:
        """Return what to say about a name that exists nowhere."""
        known = [*names, *self._functions, *self._known]
        near = get_close_matches(name, known, 1, 0.75)
        return f"name '{name}' is not defined" + (f"; did you mean {near[0]}?" if near else "")

    def ours(self, function: str, shadowed: set[str]) -> stubs.Signature | None:
        """Return the signature of a function of ours, unless agent code gave its name another meaning."""
        return None if function in shadowed else self._functions.get(function)

    def arguments(self, finding: Finding, shadowed: set[str]) -> str:
        """Return what is wrong with the arguments of a function of ours, or an empty text."""
        if told := ARGUMENT.search(finding.message):
            argument, function = told.groups()
            if taken := self.ours(function, shadowed):
                near = get_close_matches(argument, taken.arguments, 1, 0.6)
                return (
                    f"{function}() got an unexpected argument '{argument}'; accepted: "
                    f"{', '.join(taken.arguments)}" + (f"; did you mean {near[0]}?" if near else "")
                )
        elif told := MISSING.search(finding.message):
            missing, function = told.groups()
            if taken := self.ours(function, shadowed):
                return f"{function}() lacks {missing.replace('`', QUOTE)}; it is called {taken.text}"
        elif told := SURPLUS.search(finding.message):
            function, most, given = told.groups()
            if taken := self.ours(function, shadowed):
                less = 1 if "." in function else 0  # the checker counts self
                return (
                    f"{function}() takes at most {int(most) - less} positional, got {int(given) - less}; "
                    f"it is called {taken.text}"
                )
        elif told := TWICE.search(finding.message):
            argument, function = told.groups()
            if taken := self.ours(function, shadowed):
                return f"{function}() got '{argument}' twice; it is called {taken.text}"
        return ""

    @staticmethod
    def coroutine(finding: Finding) -> str:
        """Return what to say about a coroutine that is used as a value, or an empty text."""
        if not finding.on_coroutine or finding.rule in (
            "revealed-type",
            "invalid-assignment",
            "invalid-return-type",
        ):
            return ""
        if finding.rule == "unused-awaitable":
            return (
                "an async function was called without await, so nothing would happen; "
                "write await before the call"
            )
        return "an async function's result was used without await; write await before the call"


# Where a coroutine is of no use to anybody, whatever the types say.
USELESS: Final = frozenset(
    ("print", "str", "repr", "len", "int", "float", "list", "sorted", "sum", "max", "min", "bool")
)


def forgotten_await(
    tree: ast.Module, functions: Mapping[str, stubs.Signature], shadowed: set[str]
) -> tuple[int, str, str] | None:
    """Find a call of an async function of ours that is printed, compared, tested or looked into."""

    def called(node: ast.expr) -> str:
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in functions and name not in shadowed:
                return name if functions[name].is_async else ""
        return ""

    for node in ast.walk(tree):
        values: list[ast.expr] = []
        match node:
            case ast.FormattedValue(value=value) | ast.Subscript(value=value) | ast.Attribute(value=value):
                values = [value]
            case ast.Call(func=ast.Name(id=name), args=args) if name in USELESS and name not in shadowed:
                values = list(args)
            case ast.Compare(left=left, comparators=others):
                values = [left, *others]
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.UnaryOp(operand=test):
                values = [test]
        for value in values:
            if name := called(value):
                return value.lineno, "TypeError", f"{name}() needs await here: write (await {name}(…))"
    return None


def refusal(mistake: tuple[int, str, str], source: str, label: str, line: int) -> CodeError:
    """Return a mistake as the error that the model gets."""
    at, kind, message = mistake
    lines = source.split("\n")
    shown = lines[at - 1] if at <= len(lines) else ""
    frame = ErrorFrame(label, at + line - 1, shown, "")
    return CodeError(kind, message, frame.line, shown, (frame,), hint=NOT_RUN)
