"""What a component declares: its props, their types and defaults."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final


class PropType(StrEnum):
    """What a prop accepts; `checks.py` says it in words and checks it."""

    TEXT = "text"  # a string; numbers, dates and booleans are shown as text
    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    DATE = "date"
    TIME = "time"
    DATETIME = "datetime"
    ANY = "any"
    OPTIONS = "options"  # strings, (value, label) pairs or a dict
    COLUMNS = "columns"  # names, (key, label) pairs or a dict
    ROWS = "rows"  # dicts or lists
    SERIES = "series"  # a column name, or several
    ITEMS = "items"  # a list of text, nodes or dicts
    PAIRS = "pairs"  # a dict, or (label, value) pairs
    NODE = "node"
    CALLBACK = "callback"
    URL = "url"
    FILE = "file"


class _Required:
    """The default of a prop that has none."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = _Required()


@dataclass(frozen=True)
class Prop:
    """One prop of a component; positional ones come first, in the order of their declaration."""

    name: str
    type: PropType
    doc: str = ""
    default: Any = REQUIRED
    choices: tuple[str | int, ...] = ()
    positional: bool = False
    fields: tuple[str, ...] = ()  # of ITEMS: what the dicts may hold, the first is the one a plain text fills

    @property
    def required(self) -> bool:
        """Whether a node must have it."""
        return self.default is REQUIRED


@dataclass(frozen=True)
class Component:
    """One entry of the catalogue; everything else about a component is derived from it."""

    name: str
    doc: str
    props: tuple[Prop, ...] = ()
    children: bool = False
    field: bool = False
    group: str = ""
    only: tuple[str, ...] = ()  # the only components its children may be
    inside: str = ""  # the only component that may hold it
    fills: bool = False  # its content is put in later, so nodes of it may have children

    def prop(self, name: str) -> Prop | None:
        """Return the prop of that name, or None."""
        return next((prop for prop in self.props if prop.name == name), None)


# The kinds of message that colours stand for, alike in all components.
TONES: Final = ("neutral", "info", "success", "warning", "danger")
GAPS: Final = ("none", "small", "medium", "large")
SIZES: Final = ("small", "medium", "large")


def text(name: str, doc: str = "", default: Any = None, *, positional: bool = False) -> Prop:
    """Declare a text prop, optional unless the default says otherwise."""
    return Prop(name, PropType.TEXT, doc, default, positional=positional)


def integer(name: str, doc: str = "", default: Any = None, *, choices: tuple[int, ...] = ()) -> Prop:
    """Declare a whole number."""
    return Prop(name, PropType.INTEGER, doc, default, choices=choices)


def number(name: str, doc: str = "", default: Any = None, *, positional: bool = False) -> Prop:
    """Declare a number."""
    return Prop(name, PropType.NUMBER, doc, default, positional=positional)


def flag(name: str, doc: str = "", default: bool = False) -> Prop:
    """Declare a yes-or-no prop."""
    return Prop(name, PropType.BOOLEAN, doc, default)


def choice(name: str, choices: tuple[str, ...], default: str, doc: str = "") -> Prop:
    """Declare a prop that takes one of a few words."""
    return Prop(name, PropType.CHOICE, doc, default, choices=choices)


def callback(name: str, doc: str) -> Prop:
    """Declare a function that the site calls."""
    return Prop(name, PropType.CALLBACK, doc, None)
