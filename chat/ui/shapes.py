"""The forms in which options, columns, rows and items may be written, brought to one.

Every function takes a decoded prop value and raises `Malformed`, whose text says what is accepted.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any, Final

Scalar = str | int | float | bool | None

SCALARS: Final = (str, int, float, bool, type(None), date, time, datetime)


class Malformed(ValueError):
    """A prop value of the wrong shape; the text says what is accepted."""


@dataclass(frozen=True)
class Option:
    """One choice of a field: the value that is answered and the words that are shown."""

    value: Any
    label: str


@dataclass(frozen=True)
class Column:
    """One column of a table: where its cells are in a row, and its heading."""

    key: str | int
    label: str


def show(value: Any, limit: int = 60) -> str:
    """Return a value as an error message shows it, cut to a readable length."""
    text = repr(value)
    return text if len(text) <= limit else text[:limit] + "…"


def options(value: Any) -> list[Option]:
    """Return the options, in order."""
    accepted = "options are strings, (value, label) pairs or a dict of value: label"
    if isinstance(value, Mapping):
        return [Option(key, _words(label, accepted)) for key, label in value.items()]
    if not isinstance(value, list):
        raise Malformed(f"{accepted}, not {show(value)}")
    return [_option(item, accepted) for item in value]


def _option(item: Any, accepted: str) -> Option:
    if isinstance(item, list) and len(item) == 2 and isinstance(item[0], SCALARS):
        return Option(item[0], _words(item[1], accepted))
    if isinstance(item, Mapping) and "value" in item and set(item) <= {"value", "label"}:
        return Option(item["value"], _words(item.get("label", item["value"]), accepted))
    if isinstance(item, SCALARS):
        return Option(item, _words(item, accepted))
    raise Malformed(f"{accepted}, not {show(item)}")


def columns(value: Any, rows: Sequence[Any]) -> list[Column]:
    """Return the columns as declared, or as the rows have them."""
    accepted = "columns are names, (key, label) pairs or a dict of key: label"
    if value is None:
        return _columns_of(rows)
    if isinstance(value, Mapping):
        return [Column(str(key), _words(label, accepted)) for key, label in value.items()]
    if not isinstance(value, list):
        raise Malformed(f"{accepted}, not {show(value)}")
    by_position = bool(rows) and isinstance(rows[0], list)
    return [_column(item, index if by_position else None, accepted) for index, item in enumerate(value)]


def _column(item: Any, index: int | None, accepted: str) -> Column:
    if isinstance(item, list) and len(item) == 2 and isinstance(item[0], str | int):
        key, label = item
    elif isinstance(item, Mapping) and "key" in item and set(item) <= {"key", "label"}:
        key, label = item["key"], item.get("label", item["key"])
    elif isinstance(item, str | int):
        key = label = item
    else:
        raise Malformed(f"{accepted}, not {show(item)}")
    return Column(str(key) if index is None else index, _words(label, accepted))


def _columns_of(rows: Sequence[Any]) -> list[Column]:
    if rows and isinstance(rows[0], list):
        return [Column(index, f"Column {index + 1}") for index in range(max(map(len, rows)))]
    names: dict[str, None] = {}
    for row in rows:
        if isinstance(row, Mapping):
            names.update(dict.fromkeys(row))
    return [Column(name, name) for name in names]


def rows(value: Any) -> list[Any]:
    """Return the rows, all dicts or all lists."""
    accepted = "rows are a list of dicts or a list of lists"
    if value is None:
        return []
    if not isinstance(value, list):
        raise Malformed(f"{accepted}, not {show(value)}")
    kind = list if value and isinstance(value[0], list) else dict
    for row in value:
        if not isinstance(row, kind):
            raise Malformed(f"{accepted}, all alike, not {show(row)}")
    return value


def cell(row: Any, column: Column) -> Any:
    """Return what a row has in a column, None when it has nothing there."""
    if isinstance(row, list):
        return row[column.key] if isinstance(column.key, int) and column.key < len(row) else None
    return row.get(column.key)


def items(value: Any, fields: tuple[str, ...]) -> list[Any]:
    """Return the items; with fields each is a dict of them, a plain text filling the first."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise Malformed(f"items are a list, not {show(value)}")
    if not fields:
        return value
    return [_item(item, fields) for item in value]


def _item(item: Any, fields: tuple[str, ...]) -> dict[str, Any]:
    if isinstance(item, Mapping):
        unknown = [key for key in item if key not in fields]
        if unknown:
            raise Malformed(f"an item may have {', '.join(fields)}, not {show(unknown[0])}")
        return dict(item)
    if isinstance(item, list) and len(item) <= len(fields):
        return dict(zip(fields, item, strict=False))
    if isinstance(item, SCALARS):
        return {fields[0]: item}
    raise Malformed(f"an item is text or a dict with {', '.join(fields)}, not {show(item)}")


def pairs(value: Any) -> list[tuple[str, Any]]:
    """Return (name, value) pairs, in order."""
    accepted = "a dict of name: value, or (name, value) pairs"
    if isinstance(value, Mapping):
        return [(str(key), item) for key, item in value.items()]
    if not isinstance(value, list):
        raise Malformed(f"it takes {accepted}, not {show(value)}")
    for item in value:
        if not (isinstance(item, list) and len(item) == 2):
            raise Malformed(f"it takes {accepted}, not {show(item)}")
    return [(str(name), item) for name, item in value]


def series(value: Any) -> list[str]:
    """Return the column names of the series."""
    if value is None:
        return []
    names = value if isinstance(value, list) else [value]
    if not all(isinstance(name, str | int) for name in names):
        raise Malformed(f"it takes a column name or a list of them, not {show(value)}")
    return [str(name) for name in names]


def texts(values: Iterable[Any]) -> list[str]:
    """Return each value as words."""
    return [words(value) for value in values]


def words(value: Any) -> str:
    """Return a scalar as people read it: nothing for None, yes and no, numbers without noise."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float() if value == value and abs(value) < 1e15:
            return f"{value:.12g}"  # 0.1 + 0.2 is 0.3 to people
        case datetime():
            return value.strftime("%Y-%m-%d %H:%M")
        case time():
            return value.strftime("%H:%M")
        case date():
            return value.isoformat()
        case _:
            return str(value)


def _words(value: Any, accepted: str) -> str:
    if not isinstance(value, SCALARS):
        raise Malformed(f"{accepted}, not {show(value)}")
    return words(value)


def option_keys(found: Sequence[Option]) -> list[str]:
    """Return for each option the text that stands for its value in HTML, unique among them."""
    keys: list[str] = []
    for option in found:
        key = option.value if isinstance(option.value, str) else words(option.value)
        while key in keys:
            key += "·"  # 1 and "1" are two options
        keys.append(key)
    return keys
