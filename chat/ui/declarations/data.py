"""Components that show data."""

from chat.ui.props import Component, Prop, PropType, callback, choice, flag, integer, text

CHART_KINDS = ("line", "bar", "area", "scatter", "pie")

_ROWS = Prop("rows", PropType.ROWS, "a list of dicts or lists", positional=True)
_COLUMNS = Prop("columns", PropType.COLUMNS, "which and in what order", None)
_EMPTY = text("empty", "shown when there are no rows", "Nothing here yet")

DATA = (
    Component(
        "Table",
        "Rows and columns; cells may be nodes. Rows with an `id` or `key` keep their place when they change.",
        (_ROWS, _COLUMNS, text("title"), integer("page_size", "rows on one page", 100), _EMPTY),
    ),
    Component(
        "DataTable",
        "A table to sort, filter, page, copy and download; at most 10,000 rows.",
        (
            _ROWS,
            _COLUMNS,
            text("title"),
            integer("page_size", "rows on one page", 25),
            callback("on_row", "called with the row that was chosen"),
            _EMPTY,
        ),
    ),
    Component(
        "Chart",
        "A chart with a legend and its numbers as a table.",
        (
            Prop("kind", PropType.CHOICE, "", choices=CHART_KINDS, positional=True),
            _ROWS,
            text("x", "the column of the labels, or of the x values of a scatter chart"),
            Prop("y", PropType.SERIES, "the column of the values, or a list of columns", None),
            text("title"),
            flag("stacked", "bars and areas on top of each other"),
            choice("size", ("small", "medium", "large"), "medium"),
        ),
    ),
    Component(
        "KeyValue",
        "Names with their values.",
        (
            Prop(
                "items", PropType.PAIRS, "a dict or (name, value) pairs; values may be nodes", positional=True
            ),
        ),
    ),
    Component(
        "Json",
        "Any data, folded.",
        (Prop("value", PropType.ANY, "", positional=True), flag("open", "unfolded at first", True)),
    ),
    Component(
        "Tree",
        "Nested names, folded.",
        (
            Prop("items", PropType.ANY, "nested dicts and lists", positional=True),
            flag("open", "unfolded at first"),
        ),
    ),
)
