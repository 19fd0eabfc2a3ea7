"""The info string of a fence: what a block wants to be."""

import re
from dataclasses import dataclass

from chat.protocol import problems
from chat.protocol.events import Problem

RUN_LANGUAGES = frozenset({"", "python", "py", "python3"})
DATA_LANGUAGES = frozenset({"", "json"})


@dataclass(frozen=True, slots=True)
class RunInfo:
    """The block's code is to run."""


@dataclass(frozen=True, slots=True)
class DataInfo:
    """The block's JSON is for `target`."""

    target: str


@dataclass(frozen=True, slots=True)
class RefusedInfo:
    """The block wanted to act but does not say properly how; `python` tells whether its content is Python."""

    problem: Problem
    python: bool


# The verb ends before an arrow ("data->x"), so a hyphen or dot belongs to it only when a letter follows.
_AGENT = re.compile(
    r"(?:(?P<language>(?!agent\.)\S+)\s+)?agent\.(?P<verb>\w*(?:[.-]\w+)*)(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_ELSEWHERE = re.compile(r"agent\.(?:run|data)(?!\w)", re.IGNORECASE)
_TARGET = re.compile(
    r"""\s*(?:=>|->|=)?\s*(?:"(?P<double>[^"]+)"|'(?P<single>[^']+)'|["']?(?P<bare>\w[^\s"']*))"""
)


def read_info(info: str) -> RunInfo | DataInfo | RefusedInfo | None:
    """What the info string asks for; None for an ordinary fence, which is text."""
    info = info.strip()
    match = _AGENT.match(info)
    if match is None:
        return RefusedInfo(problems.misplaced_verb(info), python=False) if _ELSEWHERE.search(info) else None
    language = (match["language"] or "").lower()
    verb = match["verb"].lower()
    problem: Problem
    match verb:
        case "run" if language in RUN_LANGUAGES:
            return RunInfo()
        case "data" if language in DATA_LANGUAGES:
            target = _read_target(match["rest"])
            if target is not None:
                return DataInfo(target)
            problem = problems.missing_target(info)
        case "run" | "data":
            problem = problems.unsupported_language(info, match["language"], verb)
        case _:
            problem = problems.unknown_verb(info, match["verb"])
    return RefusedInfo(problem, python=verb != "data" and language in RUN_LANGUAGES)


def _read_target(rest: str) -> str | None:
    match = _TARGET.match(rest)
    if match is None:
        return None
    target = match["double"] or match["single"] or match["bare"]
    return target.strip() or None
