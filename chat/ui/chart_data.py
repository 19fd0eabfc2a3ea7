"""The numbers of a chart: its series, its labels and a scale of round numbers. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log10
from typing import Any, Final

from chat.ui.nodes import Node
from chat.ui.shapes import cell, columns, series, words

# Colours in the style sheet; more series than that would not be told apart anyway.
MAX_SERIES: Final = 8

# Points of one series; a screen has no room for more.
MAX_POINTS: Final = 1_000

TICKS: Final = 5

# A range smaller than that is none; its ticks could not be told apart by floats.
TINY: Final = 1e-280


@dataclass(frozen=True)
class Series:
    """One row of numbers with its name; None where a number is missing."""

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class ChartData:
    """What a chart shows."""

    labels: tuple[str, ...]
    series: tuple[Series, ...]
    xs: tuple[float | None, ...]  # of a scatter chart
    x_name: str

    @property
    def empty(self) -> bool:
        """Whether there is no number at all."""
        return all(value is None for one in self.series for value in one.values)


def number_of(value: Any) -> float | None:
    """Return a cell as a number, None when it is none."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number - number == 0 and abs(number) < 1e300 else None


def chart_data(node: Node) -> ChartData:
    """Return the data of a chart node; without x and y the first column labels, the others are series."""
    rows = (node.get("rows") or [])[:MAX_POINTS]
    found = columns(None, rows)
    by_key = {str(column.key): column for column in found} | {column.label: column for column in found}
    x = by_key.get(words(node.get("x"))) or (found[0] if found else None)
    wanted = series(node.get("y"))
    if wanted:
        shown = [by_key[name] for name in wanted if name in by_key]
    else:
        shown = [c for c in found if c is not x and any(number_of(cell(row, c)) is not None for row in rows)]
    return ChartData(
        labels=tuple(words(cell(row, x)) if x and not isinstance(cell(row, x), Node) else "" for row in rows),
        series=tuple(
            Series(column.label, tuple(number_of(cell(row, column)) for row in rows))
            for column in shown[:MAX_SERIES]
        ),
        xs=tuple(number_of(cell(row, x)) if x else None for row in rows),
        x_name=x.label if x else "",
    )


@dataclass(frozen=True)
class Scale:
    """A range of numbers with round ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def part(self, value: float) -> float:
        """Return where a value is between low (0) and high (1)."""
        return (value - self.low) / (self.high - self.low)


def scale(values: Sequence[float], *, zero: bool) -> Scale:
    """Return a scale that covers the values, from or through zero if wanted."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low < TINY:
        low, high = (low - 1, high + 1) if low else (0.0, 1.0)
    step = _round_step((high - low) / (TICKS - 1))
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    ticks = tuple(float(f"{index * step:.12g}") for index in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks)


def _round_step(rough: float) -> float:
    power = 10 ** floor(log10(rough))
    return float(
        power * next(factor for factor in (1, 2, 2.5, 5, 10) if rough <= factor * power * (1 + 1e-9))
    )


def stacked(data: ChartData) -> list[list[tuple[float, float]]]:
    """Return per series the (from, to) of each point when the series stand on each other."""
    count = len(data.labels)
    above, below = [0.0] * count, [0.0] * count
    spans = []
    for one in data.series:
        span = []
        for index, value in enumerate(one.values):
            side = below if (value or 0) < 0 else above
            start = side[index]
            side[index] += value or 0
            span.append((start, side[index]))
        spans.append(span)
    return spans


def runs(values: Sequence[float | None]) -> list[list[int]]:
    """Return the indexes of values without gaps, run by run."""
    present = [index for index, value in enumerate(values) if value is not None]
    found: list[list[int]] = [present[:1]] if present else []
    for before, after in pairwise(present):
        if after == before + 1:
            found[-1].append(after)
        else:
            found.append([after])
    return found


def tick_text(value: float) -> str:
    """Return a tick in few characters: 1,200 as 1.2k."""
    for limit, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= limit:
            size = limit if limit > 1e4 else 1e3
            return f"{value / size:.4g}{letter}".replace("-", "−")
    return f"{value:,.6g}".replace("-", "−")
