"""Every `Problem` of the protocol: what is wrong, the value, what is accepted and what to write instead."""

from collections.abc import Iterable
from enum import StrEnum

from chat.protocol.events import Problem
from chat.protocol.limits import (
    MAX_BLOCKS,
    MAX_DATA_CHARS,
    MAX_FENCE_LINE_CHARS,
    MAX_QUOTED_CHARS,
    MAX_REPLY_CHARS,
    MAX_STATEMENT_CHARS,
)

RUN_EXAMPLE = "```python agent.run"
DATA_EXAMPLE = '```json agent.data => "id"'


class ProblemCode(StrEnum):
    """Stable names of the problems, for tests and for statistics."""

    UNSUPPORTED_LANGUAGE = "unsupported_language"
    MISSING_TARGET = "missing_target"
    UNKNOWN_VERB = "unknown_verb"
    MISPLACED_VERB = "misplaced_verb"
    UNKNOWN_TARGET = "unknown_target"
    BAD_JSON = "bad_json"
    BROKEN_CHARACTER = "broken_character"
    FENCE_LINE_TOO_LONG = "fence_line_too_long"
    TOO_MANY_BLOCKS = "too_many_blocks"
    REPLY_TOO_LONG = "reply_too_long"
    STATEMENT_TOO_LONG = "statement_too_long"
    DATA_TOO_LONG = "data_too_long"


def quoted(value: str) -> str:
    """The value in quotes on one line, cut where it is too long to repeat, without broken characters."""
    shown = value if len(value) <= MAX_QUOTED_CHARS else value[: MAX_QUOTED_CHARS - 1] + "…"
    shown = shown.encode(errors="ignore").decode().replace("\0", "")
    return '"' + " ".join(shown.split()) + '"'


def _around(source_line: str, column: int) -> str:
    """The part of a long line that surrounds the column."""
    start = max(column - MAX_QUOTED_CHARS // 2, 0)
    return source_line[start : start + MAX_QUOTED_CHARS]


def unsupported_language(info: str, language: str, verb: str) -> Problem:
    """The problem of a block in another language than its verb takes."""
    accepted, example = ("Python", RUN_EXAMPLE) if verb == "run" else ("JSON", DATA_EXAMPLE)
    return Problem(
        ProblemCode.UNSUPPORTED_LANGUAGE,
        f"The block {quoted(info)} was ignored: agent.{verb} takes {accepted}, not {quoted(language)}. "
        f"Write the block again in {accepted} and open it with {example}.",
    )


def missing_target(info: str) -> Problem:
    """The problem of a data block that does not say for what it is."""
    return Problem(
        ProblemCode.MISSING_TARGET,
        f"The data block {quoted(info)} was ignored: it names no target. "
        f"Open it with {DATA_EXAMPLE}, where id is the name of a StreamedData.",
    )


def unknown_verb(info: str, verb: str) -> Problem:
    """The problem of a word that looks like a verb of ours and is none."""
    return Problem(
        ProblemCode.UNKNOWN_VERB,
        f"The block {quoted(info)} was ignored: {quoted('agent.' + verb)} is unknown; there are agent.run "
        f"and agent.data. Open code with {RUN_EXAMPLE} and data with {DATA_EXAMPLE}.",
    )


def misplaced_verb(info: str) -> Problem:
    """The problem of a verb that stands too late or is glued to something."""
    return Problem(
        ProblemCode.MISPLACED_VERB,
        f"The block {quoted(info)} was ignored: agent.run and agent.data must be a word of their own, "
        f"directly after the language. Open code with {RUN_EXAMPLE} and data with {DATA_EXAMPLE}.",
    )


def unknown_target(target: str, known: Iterable[str]) -> Problem:
    """The problem of a data block for a target that no `StreamedData` has; it names those that exist."""
    names = ", ".join(quoted(name) for name in known)
    remedy = f"Known targets are {names}." if names else "There is no target yet."
    return Problem(
        ProblemCode.UNKNOWN_TARGET,
        f"The data block for {quoted(target)} was ignored: there is no such target. {remedy} "
        f"Create one with StreamedData({quoted(target)}) in a run block before its data block.",
    )


def bad_json(reason: str, line: int, column: int, source_line: str) -> Problem:
    """The problem of a finished data block that is not JSON; line and column are counted from 1."""
    return Problem(
        ProblemCode.BAD_JSON,
        f"The data block is not JSON: {reason} at line {line}, column {column} "
        f"({quoted(_around(source_line, column))}). "
        f"A data block holds exactly one JSON value without comments. Correct it and send the block again.",
    )


def broken_characters(dropped: int) -> Problem:
    """The problem of characters that no frame and no database can hold."""
    return Problem(
        ProblemCode.BROKEN_CHARACTER,
        f"{dropped} broken character(s) were left out of the reply: halves of surrogate pairs and NUL "
        f"cannot be stored. Write such characters whole, or as escapes inside code.",
    )


def fence_line_too_long(start: str) -> Problem:
    """The problem of a line that might be a fence line but does not end."""
    return Problem(
        ProblemCode.FENCE_LINE_TOO_LONG,
        f"The fence line {quoted(start)} is longer than {MAX_FENCE_LINE_CHARS} characters and was taken as "
        f"an ordinary line; nothing was run because of it. Put the language and agent.run or agent.data "
        f"there, and no more.",
    )


def too_many_blocks(info: str) -> Problem:
    """The problem of one block more than a reply may have."""
    return Problem(
        ProblemCode.TOO_MANY_BLOCKS,
        f"The block {quoted(info)} was ignored: a reply may have at most {MAX_BLOCKS} run and data blocks. "
        f"Put several statements into one block, or go on in the next reply.",
    )


def reply_too_long() -> Problem:
    """The problem of a stream that does not end."""
    return Problem(
        ProblemCode.REPLY_TOO_LONG,
        f"The reply was cut after {MAX_REPLY_CHARS} characters, which is the most a reply may have. "
        f"Send the rest in smaller replies.",
    )


def statement_too_long(line: int) -> Problem:
    """The problem of a statement that is too large to store; the line is that of its block, from 1."""
    return Problem(
        ProblemCode.STATEMENT_TOO_LONG,
        f"The statement that begins in line {line} is longer than {MAX_STATEMENT_CHARS} characters; it and "
        f"what follows it in its block were not run. Split it, or send the data it contains as a data block.",
    )


def data_too_long() -> Problem:
    """The problem of a data block that is too large to show."""
    return Problem(
        ProblemCode.DATA_TOO_LONG,
        f"The data block is longer than {MAX_DATA_CHARS} characters and was ignored from there on. "
        f"Send less, or several data blocks for several targets.",
    )
