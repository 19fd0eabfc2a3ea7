"""What a skill is: a host function that agent code may call, declared once.

    @skill(changes_world=True)
    async def memory_set(context: SkillContext, key: str, value: Any) -> None:
        \"\"\"Remember a value about the user.\"\"\"

Name, signature, type stub and documentation come from the function. A module in this package is found by
itself, so adding a skill adds one file.
"""

import datetime
import importlib
import inspect
import pkgutil
import types
import typing
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from chat.skills.http.policy import HttpPolicy


class SkillError(Exception):
    """What a skill could not do, told to the agent's code: what, the offending value, what is accepted."""


class MemoryStore(Protocol):
    """What is remembered about one user; values are plain data."""

    async def get(self, key: str) -> Any:
        """Return the value; raises KeyError when there is none."""
        ...

    async def set(self, key: str, value: Any) -> None:
        """Keep a value, in place of the one before."""
        ...

    async def delete(self, key: str) -> None:
        """Forget a key; harmless when there is none."""
        ...

    async def count(self) -> int:
        """Return how many keys there are."""
        ...

    async def clear(self) -> int:
        """Forget everything; return how many keys that were."""
        ...

    async def search(self, words: Sequence[str], limit: int) -> Sequence[tuple[str, Any]]:
        """Return the newest pairs whose key or value has all the words, whatever their case."""
        ...


@dataclass(frozen=True, slots=True)
class FileInfo:
    """A file of the conversation."""

    id: str
    name: str
    size: int
    content_type: str
    created: datetime.datetime


class FileStore(Protocol):
    """The files of one conversation."""

    async def list(self) -> Sequence[FileInfo]:
        """Return all files, oldest first."""
        ...

    async def read(self, file_id: str, limit: int) -> bytes:
        """Return at most the first `limit` bytes of a file."""
        ...


@dataclass(frozen=True, slots=True)
class SkillContext:
    """Whose call it is, and what it may reach."""

    memory: MemoryStore
    files: FileStore
    http: HttpPolicy = field(default_factory=HttpPolicy)


@dataclass(frozen=True)
class Skill:
    """A skill as the site uses it."""

    name: str
    function: Callable[..., Awaitable[Any]]
    needs_approval: bool
    changes_world: bool

    @property
    def doc(self) -> str:
        """The whole documentation, as the model reads it."""
        return inspect.getdoc(self.function) or ""

    @property
    def signature(self) -> str:
        """The call as a person would write it in documentation, without the context."""
        return f"{self.name}{_signature(self.function)}"

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters in order, without the context."""
        return tuple(inspect.signature(self.function).parameters)[1:]

    @property
    def stub(self) -> str:
        """One line for a type checker; it may need `import datetime` and `from typing import Any`."""
        return f"async def {self.signature}: ..."

    async def call(self, context: SkillContext, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Return the skill's result as plain data; raises `SkillError`, also for wrong arguments."""
        try:
            bound = inspect.signature(self.function).bind(context, *args, **kwargs)
        except TypeError as error:
            raise SkillError(f"{self.name}: {error}. It is called as {self.signature}.") from None
        return await self.function(*bound.args, **bound.kwargs)


SKILLS: dict[str, Skill] = {}


def skill[**P, R](
    *, needs_approval: bool = False, changes_world: bool = False
) -> Callable[[Callable[P, Awaitable[R]]], Callable[P, Awaitable[R]]]:
    """Declare a skill.

    With `needs_approval` a person sees the arguments and decides before each call. `changes_world` says that
    a call has an effect outside of the conversation, so that it is recorded and never repeated.
    """

    def declare(function: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
        name = function.__name__
        if not inspect.iscoroutinefunction(function) or not inspect.getdoc(function):
            raise TypeError(f"skill {name} must be an async function with a docstring")
        if name in SKILLS:
            raise TypeError(f"skill {name} is declared twice, in {SKILLS[name].function.__module__} too")
        SKILLS[name] = Skill(name, function, needs_approval, changes_world)
        return function

    return declare


def discover() -> None:
    """Fill the registry: import every module of the package; harmless when repeated."""
    package = importlib.import_module("chat.skills")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"chat.skills.{module.name}")


def _signature(function: Callable[..., Any]) -> str:
    signature = inspect.signature(function)
    hints = typing.get_type_hints(function)
    context, *parameters = signature.parameters.values()
    if hints.get(context.name) is not SkillContext:
        raise TypeError(f"skill {function.__name__}: the first parameter must be a SkillContext")
    shown = signature.replace(
        parameters=[
            parameter.replace(annotation=_Written(_type(hints[parameter.name]))) for parameter in parameters
        ],
        return_annotation=_Written(_type(hints["return"])),
    )
    return str(shown)


class _Written(str):
    """An annotation that is shown as it is written here."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _type(hint: Any) -> str:
    """Return a type as code that needs only `datetime` and `Any`."""
    if hint is None or hint is types.NoneType:
        return "None"
    if hint is Any:
        return "Any"
    if isinstance(hint, types.UnionType):
        return " | ".join(_type(part) for part in typing.get_args(hint))
    if arguments := typing.get_args(hint):
        return f"{typing.get_origin(hint).__name__}[{', '.join(_type(argument) for argument in arguments)}]"
    module = "" if hint.__module__ == "builtins" else f"{hint.__module__}."
    return f"{module}{hint.__qualname__}"
