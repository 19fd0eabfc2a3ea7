"""The interface between the runtime and whatever runs the agent's code.

A session is one conversation's namespace in a worker. It runs one program at a time: `run` starts one, and
when the program waits for the world it comes back as `Suspended`; `resume` answers the host calls it waits
for. Idle or suspended, it can be dumped to bytes and opened again in any process.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol


@dataclass(frozen=True)
class HostCall:
    """A call that sandbox code makes to the host; `args` and `kwargs` are plain data."""

    id: int
    name: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Value:
    """A host call's result."""

    value: Any = None


@dataclass(frozen=True)
class Raise:
    """A host call's failure: the built-in exception that the calling code gets."""

    type: str
    message: str


class Later(Enum):
    """The call waits; its answer comes by `Session.resume`."""

    LATER = "later"


LATER = Later.LATER
Settled = Value | Raise
Answer = Value | Raise | Later


class Host(Protocol):
    """What sandbox code can reach; called on the event loop's thread, so it must answer at once."""

    def call(self, call: HostCall) -> Answer:
        """Answer a host call, or say that its answer comes later."""
        ...

    def printed(self, text: str) -> None:
        """Take a piece of what the code prints."""
        ...


@dataclass(frozen=True)
class ErrorFrame:
    """A place in the agent's own code that an exception passed through."""

    label: str
    line: int
    source_line: str
    function: str


@dataclass(frozen=True)
class CodeError:
    """Why a program failed, told as Python would; `fatal` says that the session is lost with it.

    `line` counts from the line that `run` was told the source starts at.
    """

    type: str
    message: str
    line: int | None = None
    source_line: str = ""
    frames: tuple[ErrorFrame, ...] = ()
    hint: str = ""
    fatal: bool = False

    def text(self, where: str = "") -> str:
        """Return the error for the model: place, source line, type and message, and what to write instead."""
        place = ", ".join(part for part in (where, f"line {self.line}" if self.line else "") if part)
        lines = [f"In {place}:"] if place else []
        if self.source_line:
            lines.append(f"    {self.source_line.strip()}")
        for frame in self.frames[1:]:
            inside = f" in {frame.function}" if frame.function else ""
            lines.append(f"  {frame.label or 'same code'}, line {frame.line}{inside}:")
            lines.append(f"    {frame.source_line.strip()}")
        lines.append(f"{self.type}: {self.message}" if self.message else self.type)
        if self.hint:
            lines.append(f"Hint: {self.hint}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Finished:
    """The program ran to its end; the value of its last expression, as plain data."""

    value: Any = None


@dataclass(frozen=True)
class Failed:
    """The program was refused or ended with an error."""

    error: CodeError


@dataclass(frozen=True)
class Suspended:
    """The program waits for the answers to these host calls; it can be dumped now."""

    pending: frozenset[int]


Outcome = Finished | Failed | Suspended


class SandboxError(Exception):
    """Something about the sandbox itself, not the code in it."""


class SnapshotError(SandboxError):
    """The bytes are no snapshot that this version can load."""


class SnapshotTooLarge(SandboxError):
    """The namespace holds more than a snapshot may have."""


@dataclass(frozen=True)
class Prelude:
    """What agent code finds in its namespace besides the language.

    `specs` are plain data, one per component (`chat.ui.signatures.spec`); `stubs` are declarations for the
    type checker; `skills` maps the names of host functions to their one-line stubs.
    """

    specs: tuple[Mapping[str, Any], ...] = ()
    stubs: tuple[str, ...] = ()
    skills: Mapping[str, str] = field(default_factory=dict)


class Session(Protocol):
    """One conversation's namespace, in a worker."""

    @property
    def pending(self) -> frozenset[int]:
        """The host calls that the suspended program waits for; empty when idle."""
        ...

    async def run(
        self,
        source: str,
        inputs: Mapping[str, Any] = {},
        *,
        check: bool = False,
        label: str = "",
        line: int = 1,
    ) -> Outcome:
        """Run a program; only when nothing is suspended. `label` and `line` say where the source stands."""
        ...

    async def resume(self, answers: Mapping[int, Settled]) -> Outcome:
        """Go on with the suspended program; calls without an answer stay pending."""
        ...

    async def dump(self) -> bytes:
        """Return the state, idle or suspended; the session stays usable."""
        ...

    async def close(self) -> None:
        """Give the worker back; a running program is killed. Harmless when repeated."""
        ...


class Sandbox(Protocol):
    """Opens sessions; one per process."""

    @property
    def version(self) -> str:
        """Says which snapshots can be loaded: those with the same version."""
        ...

    @property
    def crowded(self) -> bool:
        """Whether somebody waits for a worker, so that those who only sleep should give theirs back."""
        ...

    async def open(self, host: Host, snapshot: bytes | None = None, *, suspended: bool = False) -> Session:
        """Return a session: a fresh namespace, or the one in the snapshot; raises SnapshotError."""
        ...

    async def close(self) -> None:
        """End all workers."""
        ...
