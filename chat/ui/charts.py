"""Charts as SVG that stretches: lines, bars, areas, points and rings.

Our own and not a library's, since the plot must follow the width of its place while its words keep their
size: shapes are drawn in a plot of 1000 x 500 that is stretched, with strokes that are not, and words stand
beside it as HTML. The style sheet gives the colours: no style in it, and dark mode comes for free.
"""

from collections.abc import Iterable
from typing import Any, Final

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from chat.ui.chart_data import ChartData, Scale, chart_data, runs, scale, stacked, tick_text
from chat.ui.nodes import Node
from chat.ui.shapes import words

WIDTH: Final = 1000
HEIGHT: Final = 500

# A band's part that its bars fill.
BAR_PART: Final = 0.7

# More labels than that would run into each other.
MAX_LABELS: Final = 12

# Every shape tells its numbers on hover up to here; beyond it nobody would hit one.
MAX_HINTS: Final = 300

Shape = tuple[Any, ...]


def chart(node: Node) -> dict[str, Any]:
    """Return what the template of a chart needs."""
    data = chart_data(node)
    kind = node.props["kind"]
    title = words(node.get("title"))
    found: dict[str, Any] = {
        "kind": kind,
        "data": data,
        "table": [
            (label, [one.values[index] for one in data.series]) for index, label in enumerate(data.labels)
        ],
        "title": title,
        "summary": _summary(kind, title, data),
    }
    if data.empty:
        return found
    if kind == "pie":
        return {**found, **_ring(data)}
    return {**found, **_plot(kind, data, on_top=bool(node.get("stacked")))}


def _summary(kind: str, title: str, data: ChartData) -> str:
    names = ", ".join(one.name for one in data.series)
    what = f"{kind.capitalize()} chart" + (f" of {names}" if names else "")
    by = f" by {data.x_name}" if data.x_name else ""
    return f"{title}. {what}{by}" if title else what + by


def _plot(kind: str, data: ChartData, *, on_top: bool) -> dict[str, Any]:
    values = [value for one in data.series for value in one.values if value is not None]
    if on_top and kind in ("bar", "area"):
        values = [end for span in stacked(data) for _, end in span]
    y = scale(values, zero=kind in ("bar", "area"))
    x = None
    if kind == "scatter":
        x = scale([value for value in data.xs if value is not None], zero=False)
    draw = {"bar": _bars, "area": _areas, "line": _lines, "scatter": _points}[kind]
    labels = _tick_labels(x) if x else _thinned(data.labels)
    return {
        "shapes": _joined(draw(data, y, x, on_top)),
        "grid": format_html_join(
            "", '<path class="ui-grid-line" d="M0 {}H1000"/>', ((_y(y, tick),) for tick in y.ticks)
        ),
        "zero": _y(y, 0.0) if y.low < 0 < y.high else None,
        "ticks": [tick_text(tick) for tick in reversed(y.ticks)],
        "labels": labels,
        "banded": x is None and len(data.labels) <= MAX_LABELS * 5,
        "legend": [one.name for one in data.series] if len(data.series) > 1 else [],
    }


def _joined(shapes: Iterable[SafeString]) -> SafeString:
    return format_html_join("", "{}", ((shape,) for shape in shapes))


def _tick_labels(x: Scale) -> list[str]:
    return [tick_text(tick) for tick in x.ticks]


def _thinned(labels: tuple[str, ...]) -> list[str]:
    """Return the labels with some left out when there are too many for the width."""
    if len(labels) <= MAX_LABELS:
        return list(labels)
    if len(labels) > MAX_LABELS * 5:
        step = (len(labels) - 1) / 5
        return [labels[round(index * step)] for index in range(6)]
    step_size = -(-len(labels) // MAX_LABELS)
    return [label if index % step_size == 0 else "" for index, label in enumerate(labels)]


def _y(y: Scale, value: float) -> str:
    return f"{HEIGHT * (1 - y.part(value)):.1f}".removesuffix(".0")


def _x(index: float, count: int) -> str:
    return f"{WIDTH * (index + 0.5) / count:.1f}".removesuffix(".0")


def _hint(data: ChartData, number: int, index: int) -> SafeString:
    if len(data.labels) * len(data.series) > MAX_HINTS:
        return SafeString()
    value = data.series[number].values[index]
    return format_html(
        "<title>{}: {} {}</title>", data.labels[index] or index + 1, words(value), data.series[number].name
    )


def _shape(number: int, kind: str, path: str, hint: SafeString | str = "") -> SafeString:
    return format_html('<path class="ui-{}" data-series="{}" d="{}">{}</path>', kind, number, path, hint)


def _bars(data: ChartData, y: Scale, x: Scale | None, on_top: bool) -> Iterable[SafeString]:
    count = len(data.labels)
    spans = stacked(data)
    slots = 1 if on_top else len(data.series)
    width = WIDTH / count * BAR_PART / slots
    for number, one in enumerate(data.series):
        for index, value in enumerate(one.values):
            if value is None:
                continue
            start, end = spans[number][index] if on_top else (0.0, value)
            left = WIDTH / count * (index + (1 - BAR_PART) / 2) + (0 if on_top else number * width)
            path = f"M{left:.1f} {_y(y, start)}h{width:.1f}V{_y(y, end)}h-{width:.1f}z"
            yield _shape(number, "bar", path, _hint(data, number, index))


def _lines(data: ChartData, y: Scale, x: Scale | None, on_top: bool) -> Iterable[SafeString]:
    for number, one in enumerate(data.series):
        yield from _line(data, number, [_y(y, value or 0.0) for value in one.values])


def _line(data: ChartData, number: int, heights: list[str]) -> Iterable[SafeString]:
    count = len(data.labels)
    for run in runs(data.series[number].values):
        points = " ".join(f"{_x(index, count)} {heights[index]}" for index in run)
        if len(run) > 1:
            yield _shape(number, "line", f"M{points}")
        # A point of its own has no line; few points are marked as well.
        if len(run) == 1 or count <= 40:
            for index in run:
                yield _shape(
                    number, "dot", f"M{_x(index, count)} {heights[index]}h0", _hint(data, number, index)
                )


def _areas(data: ChartData, y: Scale, x: Scale | None, on_top: bool) -> Iterable[SafeString]:
    count = len(data.labels)
    spans = stacked(data)
    for number, one in enumerate(data.series):
        for run in runs(one.values):
            ends = {
                index: spans[number][index] if on_top else (0.0, one.values[index] or 0.0) for index in run
            }
            over = " ".join(f"{_x(index, count)} {_y(y, ends[index][1])}" for index in run)
            back = " ".join(f"{_x(index, count)} {_y(y, ends[index][0])}" for index in reversed(run))
            yield _shape(number, "area", f"M{over}L{back}z")
    for number, one in enumerate(data.series):
        tops = [
            end if on_top else (value or 0.0)
            for (_, end), value in zip(spans[number], one.values, strict=True)
        ]
        yield from _line(data, number, [_y(y, top) for top in tops])


def _points(data: ChartData, y: Scale, x: Scale | None, on_top: bool) -> Iterable[SafeString]:
    assert x is not None
    for number, one in enumerate(data.series):
        for index, value in enumerate(one.values):
            place = data.xs[index]
            if value is not None and place is not None:
                path = f"M{WIDTH * x.part(place):.1f} {_y(y, value)}h0"
                yield _shape(number, "dot", path, _hint(data, number, index))


def _ring(data: ChartData) -> dict[str, Any]:
    """Return the parts of a ring, whole = 100, and a legend with shares."""
    values = [max(value or 0.0, 0.0) for value in (data.series[0].values if data.series else ())]
    total = sum(values) or 1.0
    start, parts, legend = 0.0, [], []
    for index, (label, value) in enumerate(zip(data.labels, values, strict=True)):
        share = value / total * 100
        parts.append(
            (index % 8, f"{share:.3f} {100 - share:.3f}", f"{-start:.3f}", f"{label}: {words(value)}")
        )
        legend.append(f"{label} · {share:.0f} %")
        start += share
    return {
        "ring": format_html_join(
            "",
            '<circle class="ui-slice" data-series="{}" cx="50" cy="50" r="38" pathLength="100"'
            ' stroke-dasharray="{}" stroke-dashoffset="{}"><title>{}</title></circle>',
            parts,
        ),
        "legend": legend,
        "total": tick_text(sum(values)),
    }
