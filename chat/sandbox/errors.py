"""What the interpreter reports, told as the agent's own code sees it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic_monty import MontyCrashedError, MontyError, MontyRuntimeError, MontySyntaxError

from chat.sandbox import hints
from chat.sandbox.base import CodeError, ErrorFrame
from chat.sandbox.source import shown
from chat.sandbox.values import clean

# Deep recursion has a thousand equal frames; the first and last few tell the story.
FRAMES_SHOWN: Final = 6
MESSAGE_CHARS: Final = 2_000
LINE_CHARS: Final = 300
PLACE: Final = re.compile(r"<python-input-(\d+)>")
# The sandbox's name for an exception, where agent code knows it by another.
NAMES: Final = {"KeyboardInterrupt": "Dismissed"}
# After these the interpreter promises nothing about the session.
LOST: Final = re.compile(r"time limit exceeded|was terminated")
MEMORY_LIMIT: Final = re.compile(r"memory limit exceeded")


@dataclass(frozen=True)
class Statement:
    """The statement that runs, as it was written."""

    feed: int
    label: str
    line: int
    lines: tuple[str, ...]


def frames(
    error: MontyError, places: Mapping[int, tuple[str, int]], statement: Statement | None
) -> tuple[ErrorFrame, ...]:
    """Return the frames in the agent's code, outermost first."""
    if not isinstance(error, MontyRuntimeError | MontySyntaxError):
        return ()
    found = []
    for frame in error.traceback():
        place = PLACE.fullmatch(frame.filename)
        if place is None or int(place[1]) not in places:
            continue
        label, first = places[int(place[1])]
        source_line = shown(frame.source_line or "")
        if statement is not None and statement.feed == int(place[1]) and frame.line <= len(statement.lines):
            source_line = statement.lines[frame.line - 1]
        name = frame.function_name or ""
        found.append(
            ErrorFrame(
                label,
                frame.line + first - 1,
                source_line[:LINE_CHARS],
                "" if name in ("<module>", "<lambda>") else name,
            )
        )
    if len(found) > FRAMES_SHOWN:
        found = found[: FRAMES_SHOWN // 2] + found[-FRAMES_SHOWN // 2 :]
    return tuple(found)


def split(error: MontyError) -> tuple[str, str]:
    """Return the exception's type and message."""
    if isinstance(error, MontyCrashedError) and error.timed_out:
        return "TimeoutError", "time limit exceeded"
    if isinstance(error, MontyCrashedError):
        return "RuntimeError", "the sandbox's worker process ended unexpectedly"
    if isinstance(error, MontyRuntimeError | MontySyntaxError):
        text = error.display("type-msg")
    else:
        text = str(error)
    kind, _, message = text.partition(": ")
    if not re.fullmatch(r"[\w.]+", kind):
        kind, message = "RuntimeError", text
    return NAMES.get(kind, kind), clean(message)


def told(
    error: MontyError,
    places: Mapping[int, tuple[str, int]],
    statement: Statement | None,
    *,
    fatal: bool = False,
) -> CodeError:
    """Return the error for model and page; the statement stands in where the interpreter names no place."""
    kind, message = split(error)
    if len(message) > MESSAGE_CHARS:
        message = message[:MESSAGE_CHARS] + f"… ({len(message) - MESSAGE_CHARS} more characters)"
    where = frames(error, places, statement)
    if not where and statement is not None:
        where = (ErrorFrame(statement.label, statement.line, statement.lines[0][:LINE_CHARS], ""),)
    first = where[0] if where else None
    return CodeError(
        type=kind,
        message=message,
        line=first.line if first else None,
        source_line=first.source_line if first else "",
        frames=where,
        hint=hints.for_error(kind, message, where[-1].source_line if where else ""),
        fatal=fatal or isinstance(error, MontyCrashedError),
    )


def plain_error(kind: str, message: str, *, fatal: bool = False, **details: Any) -> CodeError:
    """Return an error that this side found, with a hint where there is one."""
    return CodeError(kind, message, hint=hints.for_error(kind, message, ""), fatal=fatal, **details)
