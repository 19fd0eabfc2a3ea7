"""What a reply consists of, as frozen values; `FenceParser` gives them in the order of the text."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of Markdown for the reader, exactly as it was written."""

    text: str


@dataclass(frozen=True, slots=True)
class RunOpened:
    """A run block begins; `index` counts the run and data blocks of one reply together, from 0."""

    index: int


@dataclass(frozen=True, slots=True)
class RunDelta:
    """A piece of the open run block's code, with LF line ends and without the fence's indent."""

    code: str


@dataclass(frozen=True, slots=True)
class RunClosed:
    """The open run block ends; `complete` is False when the reply ended before its closing line."""

    complete: bool


@dataclass(frozen=True, slots=True)
class DataOpened:
    """A data block for `target` begins; `index` counts as in `RunOpened`."""

    index: int
    target: str


@dataclass(frozen=True, slots=True)
class DataDelta:
    """A piece of the open data block's JSON, with LF line ends and without the fence's indent."""

    json: str


@dataclass(frozen=True, slots=True)
class DataClosed:
    """The open data block ends; `complete` is False when the reply ended before its closing line."""

    complete: bool


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in the reply's protocol: a stable `code`, and a `message` written for the model."""

    code: str
    message: str


type Event = TextDelta | RunOpened | RunDelta | RunClosed | DataOpened | DataDelta | DataClosed | Problem
