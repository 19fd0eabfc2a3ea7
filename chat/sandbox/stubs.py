"""What the type checker knows of the namespace: the prelude's own names, components and skills."""

import ast
from dataclasses import dataclass
from typing import Final

from chat.sandbox.base import Prelude

# Where agent code may pass nearly anything, so does the stub: what is refused must be certainly wrong.
OWN: Final = """
import datetime
from collections.abc import Callable
from types import CoroutineType
from typing import Any

class Node: ...
Child = Any

class Mount:
    name: str
    async def result(self, timeout: float | None = None) -> Any: ...
    def slot(self, name: str, ui: Any) -> None: ...
    def update(self, ui: Any) -> None: ...
    def close(self) -> None: ...

class Timer:
    def stop(self) -> None: ...

class StreamedData:
    value: Any
    complete: bool
    target: str
    def __init__(self, target: str) -> None: ...

def Data(*values: Any, **more: Any) -> Any: ...
def mount(ui: Any, on_submit: Any = None) -> Mount: ...
async def ask(ui: Any, timeout: float | None = None) -> Any: ...
async def choose(question: Any, options: Any, timeout: float | None = None) -> Any: ...
async def sleep(delay: float = 0, result: Any = None) -> Any: ...
def every(delay: float, fn: Any) -> Timer: ...
Dismissed = KeyboardInterrupt

unknown__: Any
coroutine__: CoroutineType[Any, Any, Any]
mount__: Mount
timer__: Timer
async def async__(*args: Any, **options: Any) -> Any: ...
"""

# What the checker may rely on about a name from an earlier statement, by the type it revealed.
KINDS: Final = {"Mount": "mount__", "Timer": "timer__"}
UNKNOWN: Final = "unknown__"
COROUTINE: Final = "coroutine__"
ASYNC: Final = "async__"


@dataclass(frozen=True)
class Signature:
    """What a stubbed function takes."""

    arguments: tuple[str, ...]
    is_async: bool
    text: str


def text(prelude: Prelude) -> str:
    """Return all stubs as one source."""
    return "\n".join([OWN, *prelude.stubs, *prelude.skills.values()]) + "\n"


def signatures(source: str) -> dict[str, Signature]:
    """Return the stubbed functions by name, and methods as `Class.name`."""
    found = {}
    for node in ast.parse(source).body:
        owner = node.name if isinstance(node, ast.ClassDef) else ""
        for function in node.body if isinstance(node, ast.ClassDef) else [node]:
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if function.name == "__init__":
                found[owner] = _signature(function, owner)
            else:
                found[f"{owner}.{function.name}".lstrip(".")] = _signature(function, function.name)
    return found


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> Signature:
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    arguments = tuple(argument.arg for argument in every if argument.arg != "self")
    needed = _required(node)
    shown = [argument if argument in needed else f"{argument}=…" for argument in arguments]
    if node.args.vararg:
        shown.insert(0, f"*{node.args.vararg.arg}")
    return Signature(arguments, isinstance(node, ast.AsyncFunctionDef), f"{name}({', '.join(shown)})")


def _required(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    plain = [argument.arg for argument in [*node.args.posonlyargs, *node.args.args]]
    needed = set(plain[: len(plain) - len(node.args.defaults)])
    pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return needed | {argument.arg for argument, default in pairs if default is None}
