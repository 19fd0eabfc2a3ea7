import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.ui.build import namespace
from chat.ui.chart_data import chart_data, runs, scale, tick_text
from chat.ui.nodes import parse_tree
from chat.ui.render import MountContext, render_mount_body

UI = namespace()
SALES = [{"month": "Jan", "north": 3, "south": 4.5}, {"month": "Feb", "north": None, "south": "7"}]


def data(*args, **props):
    return chart_data(parse_tree(UI["Chart"](*args, **props)))


def html(*args, **props):
    return render_mount_body(parse_tree(UI["Chart"](*args, **props)), MountContext("m1"))


def test_series_come_from_columns():
    found = data("line", SALES, x="month", y=["north", "south"])
    assert found.labels == ("Jan", "Feb")
    assert [(one.name, one.values) for one in found.series] == [("north", (3.0, None)), ("south", (4.5, 7.0))]


def test_without_columns_the_first_labels_the_rest():
    assert [one.name for one in data("bar", SALES).series] == ["north", "south"]
    assert data("bar", [["a", 1], ["b", 2]]).labels == ("a", "b")


@pytest.mark.parametrize("kind", ["line", "bar", "area", "scatter", "pie"])
def test_every_kind_has_title_legend_summary_and_numbers(kind):
    shown = html(
        kind, [{"x": 1, "a": 3, "b": 4}, {"x": 2, "a": 5, "b": -6}], x="x", y=["a", "b"], title="Sales"
    )
    assert "Sales" in shown
    assert f'aria-label="Sales. {kind.capitalize()} chart of a, b by x"' in shown
    assert "Show the numbers" in shown
    assert "<li data-series" in shown


@pytest.mark.parametrize(
    "rows", [[], [{}], [{"a": None}], [{"a": "x", "b": "y"}], [{"a": 10**400, "b": 1}], [[1]], [{"a": 0}]]
)
@pytest.mark.parametrize("kind", ["line", "bar", "area", "scatter", "pie"])
def test_odd_data_is_no_failure(kind, rows):
    assert "cannot be shown" not in html(kind, rows)


@given(st.lists(st.floats(-1e12, 1e12, allow_subnormal=False), min_size=1, max_size=30), st.booleans())
def test_a_scale_covers_its_values_with_round_ticks(values, zero):
    found = scale(values, zero=zero)
    slack = (found.high - found.low) * 1e-6
    assert found.low - slack <= min(values)
    assert max(values) <= found.high + slack
    assert 2 <= len(found.ticks) <= 8
    assert not zero or found.low <= 0 <= found.high


def test_gaps_break_a_line():
    assert runs([1, None, 2, 3, None]) == [[0], [2, 3]]
    assert html("line", [[n, v] for n, v in enumerate([1, 2, None, 3, 4])]).count('class="ui-line"') == 2


def test_ticks_are_short():
    assert [tick_text(value) for value in (0, 1500, 12_000, 2_500_000, -3e9, 0.25)] == [
        "0", "1,500", "12k", "2.5M", "−3B", "0.25",
    ]  # fmt: skip


def test_a_long_chart_stays_small():
    shown = html("line", [[f"day {n}", n % 7] for n in range(1000)])
    assert len(shown) < 150_000
    assert shown.count("<title>") == 0
