"""Updates of a mount in a real browser: what a person does in it is not disturbed."""

import pytest
from playwright.sync_api import expect

from tests.ui.harness import UI

Card, Text, TextField, TextArea, Select, Checkbox = (
    UI[name] for name in ("Card", "Text", "TextField", "TextArea", "Select", "Checkbox")
)
Table, DataTable, List, Row, Button, Tabs, Tab = (
    UI[name] for name in ("Table", "DataTable", "List", "Row", "Button", "Tabs", "Tab")
)
Accordion, Section, Json, Alert, RadioGroup, Form = (
    UI[name] for name in ("Accordion", "Section", "Json", "Alert", "RadioGroup", "Form")
)

ROWS = [{"name": f"row {n}", "n": n} for n in range(20)]


def caret(page):
    return page.evaluate(
        "[document.activeElement.id, document.activeElement.selectionStart, document.activeElement.value]"
    )


def test_typing_is_not_disturbed_by_updates_of_other_parts(page, harness):
    def tree(n, *more):
        return Card(Text(f"tick {n}"), *more, TextField("name"), TextArea("story"), title=f"Tick {n}")

    harness.show(page, tree(0))
    field = page.get_by_label("Name")
    field.press_sequentially("Ada Love")
    page.keyboard.press("ArrowLeft")
    before = caret(page)
    page.get_by_label("Story").fill("Once")
    field.focus()
    field.evaluate("field => field.setSelectionRange(7, 7)")
    harness.update(page, tree(1))
    harness.update(page, tree(2, Alert("Something appeared before the field")))
    harness.update(page, tree(3))
    assert caret(page) == before
    page.keyboard.type("l")
    expect(field).to_have_value("Ada Lovle")
    expect(page.get_by_label("Story")).to_have_value("Once")
    harness.same_as_reload(page)


def test_an_update_of_the_field_itself_does_not_take_what_was_typed(page, harness):
    harness.show(page, Card(TextField("name", label="Name", value="first")))
    field = page.get_by_label("Name")
    field.fill("typed")
    field.evaluate("field => field.setSelectionRange(2, 2)")
    harness.update(
        page, Card(TextField("name", label="Full name", value="second", help="As on your passport"))
    )
    expect(page.get_by_label("Full name")).to_have_value("typed")
    assert caret(page)[1:] == [2, "typed"]
    expect(page.get_by_text("As on your passport")).to_be_visible()


def test_an_untouched_field_follows_its_value(page, harness):
    harness.show(
        page,
        Card(TextField("name", value="first"), Checkbox("on"), Select("s", options=["a", "b"], value="a")),
    )
    harness.update(
        page,
        Card(
            TextField("name", value="second"),
            Checkbox("on", value=True),
            Select("s", options=["a", "b"], value="b"),
        ),
    )
    expect(page.get_by_label("Name")).to_have_value("second")
    expect(page.get_by_label("On", exact=True)).to_be_checked()
    expect(page.locator("select")).to_have_value("b")


def test_a_choice_survives_new_options(page, harness):
    harness.show(
        page, Card(Select("city", options=["Porto", "Graz", "Turku"]), RadioGroup("plan", options=["a", "b"]))
    )
    page.locator("select").select_option("Graz")
    page.get_by_label("b", exact=True).check()
    harness.update(
        page,
        Card(Select("city", options=["Oslo", "Porto", "Graz"]), RadioGroup("plan", options=["z", "a", "b"])),
    )
    expect(page.locator("select")).to_have_value("Graz")
    expect(page.get_by_label("b", exact=True)).to_be_checked()


def test_details_and_tabs_stay_as_they_are(page, harness):
    def tree(n):
        return Card(
            Text(f"tick {n}"),
            Accordion(
                Section(f"inside {n}", title="More"), Section("open from the start", title="First", open=True)
            ),
            Tabs(Tab(f"one {n}", title="One"), Tab(Text(f"two {n}"), TextField("t"), title=f"Two {n}")),
            Json({"n": n}, open=False),
        )

    harness.show(page, tree(0))
    page.get_by_text("More").click()
    page.get_by_text("First").click()
    page.get_by_text("Data").click()
    page.get_by_role("tab", name="Two").click()
    page.get_by_label("T", exact=True).fill("typed in a tab")
    for n in range(1, 4):
        harness.update(page, tree(n))
    expect(page.get_by_text("inside 3")).to_be_visible()
    expect(page.get_by_text("open from the start")).to_be_hidden()
    expect(page.get_by_text("two 3", exact=True)).to_be_visible()
    expect(page.get_by_role("tab", name="Two 3")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_label("T", exact=True)).to_be_focused()
    expect(page.get_by_label("T", exact=True)).to_have_value("typed in a tab")
    assert page.locator("details.ui-json").evaluate("details => details.open")


def test_selected_text_and_scroll_position_stay(page, harness):
    def tree(n):
        return Card(
            Text(f"tick {n}"),
            Text("Some words to select", key="words"),
            Table([{"a": i} for i in range(90)] + [{"a": n + 1000}]),
        )

    harness.show(page, tree(0))
    page.locator(".ui-table-scroll").evaluate("box => { box.scrollTop = 300; }")
    page.get_by_text("Some words to select").evaluate(
        "words => getSelection().setBaseAndExtent(words.firstChild, 5, words.firstChild, 10)"
    )
    harness.update(page, tree(1))
    assert page.evaluate("getSelection().toString()") == "words"
    assert page.locator(".ui-table-scroll").evaluate("box => box.scrollTop") == 300


CHANGES = [
    ("new title", Card(Table(ROWS), title="a"), Card(Table(ROWS), title="b")),
    ("appended row", Card(Table(ROWS)), Card(Table([*ROWS, {"name": "x", "n": 1}]))),
    ("first row", Card(Table(ROWS)), Card(Table([{"name": "x", "n": 1}, *ROWS]))),
    ("changed cell", Card(Table(ROWS)), Card(Table([*ROWS[:7], {"name": "x", "n": 7}, *ROWS[8:]]))),
    ("removed row", Card(Table(ROWS)), Card(Table(ROWS[1:]))),
    ("moved row", Card(Table(ROWS)), Card(Table([*ROWS[1:9], ROWS[0], *ROWS[9:]]))),
    ("reversed rows", Card(Table(ROWS)), Card(Table(ROWS[::-1]))),
    ("equal rows", Card(Table([{"a": 1}] * 4)), Card(Table([{"a": 1}, {"a": 2}, {"a": 1}]))),
    ("from nothing", Card(Table([])), Card(Table(ROWS))),
    ("to nothing", Card(Table(ROWS)), Card(Table([]))),
    ("new column", Card(Table([{"a": 1}])), Card(Table([{"a": 1, "b": 2}]))),
    (
        "insert, set and remove",
        Card(Table(ROWS[:6])),
        Card(Table([{"name": "n", "n": 0}, ROWS[1], {"name": "z", "n": 9}, ROWS[4], ROWS[3]])),
    ),
    ("items", Card(List(["a", "b", "c"])), Card(List(["c", "a", "x", "y"]))),
    ("ordered", Card(List(["a", "b"])), Card(List(["a", "b"], ordered=True))),
    ("children", Card("a", Button("b"), "c"), Card(Button("b"), Alert("!"), "a", "c", "d")),
    ("keyed children move", Card(*[Text(k, key=k) for k in "abcd"]), Card(*[Text(k, key=k) for k in "dacb"])),
    (
        "fields move",
        Card(*[Row(TextField(k), key=k) for k in "abc"]),
        Card(*[Row(TextField(k), Text("new"), key=k) for k in "cab"]),
    ),
    (
        "moved and changed",
        Card(*[Text(k, key=k) for k in "abc"]),
        Card(Text("C!", key="c"), Text("a", key="a"), Text("b", key="b")),
    ),
    ("other component", Card(Text("a", key="x")), Card(Button("a", key="x"))),
    ("other root", Card("a"), Row("a")),
    ("deep", Card(Row(Card(Text("a"), title="t"))), Card(Row(Card(Text("b"), Text("c"), title="u")))),
    ("tabs", Tabs(Tab("a", title="A")), Tabs(Tab("a", title="A"), Tab("b", title="B"))),
    (
        "cells with nodes",
        Card(Table([[1, Button("a")], [2, Button("b")]])),
        Card(Table([[1, Button("a", disabled=True)], [3, Button("b")]])),
    ),
    ("tooltip", UI["Tooltip"]("a", help="h"), UI["Tooltip"](Button("a"), help="h")),
    (
        "slot",
        Card(UI["Slot"]("s", fallback=UI["Skeleton"]())),
        Card({**UI["Slot"]("s"), "n": [Text("filled")]}),
    ),
    ("form name", Form(TextField("a"), name="x"), Form(TextField("a"), name="y")),
]


@pytest.mark.parametrize(("old", "new"), [pytest.param(old, new, id=name) for name, old, new in CHANGES])
def test_an_update_gives_what_a_reload_shows(page, harness, old, new):
    harness.show(page, old)
    harness.update(page, new)
    harness.same_as_reload(page)
    harness.update(page, old)
    harness.same_as_reload(page)


def test_focus_stays_on_the_button_in_a_changed_row(page, harness):
    def tree(done):
        return Card(
            Table([[f"task {n}", Button("undo" if n == done else "do", on_click="click")] for n in range(5)])
        )

    harness.show(page, tree(-1))
    page.get_by_role("button", name="do").nth(2).click()
    harness.update(page, tree(2))
    expect(page.get_by_role("button", name="undo")).to_be_focused()
    harness.until(lambda: harness.calls == [("click", [])])


def test_what_was_typed_moves_with_its_row(page, harness):
    harness.show(page, Card(*[Row(TextField(k), key=k) for k in "abc"]))
    page.get_by_label("C", exact=True).fill("mine")
    harness.update(page, Card(*[Row(TextField(k), key=k) for k in "cab"]))
    expect(page.get_by_label("C", exact=True)).to_have_value("mine")
    expect(page.get_by_label("C", exact=True)).to_be_focused()


def test_a_sorted_and_filtered_table_stays_so(page, harness):
    people = [
        {"id": n, "name": name, "age": 90 - n} for n, name in enumerate(["Cid", "Ada", "Bob", "Dan"] * 10)
    ]
    harness.show(page, Card(DataTable(people, columns=["name", "age"], page_size=5)))
    page.get_by_role("button", name="age", exact=True).click()
    page.get_by_role("searchbox").fill("ada")
    first = page.locator("tbody tr:visible").first
    expect(first).to_contain_text("53")
    harness.update(
        page,
        Card(DataTable([*people, {"id": 99, "name": "Ada", "age": 7}], columns=["name", "age"], page_size=5)),
    )
    expect(first).to_contain_text("7")
    expect(page.get_by_text("1–5 of 11 found")).to_be_visible()
    people[1] = {"id": 1, "name": "Ada", "age": 3}
    harness.update(page, Card(DataTable(people, columns=["name", "age"], page_size=5)))
    expect(first).to_contain_text("3")
    page.get_by_role("searchbox").fill("")
    page.get_by_role("button", name="age", exact=True).click()
    page.get_by_role("button", name="age", exact=True).click()
    names = page.locator("tbody tr:visible td:first-child").all_inner_texts()
    assert names == ["Cid", "Ada", "Bob", "Dan", "Cid"]


def test_five_thousand_rows_can_be_used(page, harness):
    rows = [{"id": n, "name": f"name {n}", "n": n} for n in range(5000)]
    harness.show(page, Card(Table(rows)))
    assert page.locator("tbody tr:visible").count() == 100
    page.get_by_role("button", name="Next page").click()
    expect(page.get_by_text("101–200 of 5,000")).to_be_visible()
    harness.update(page, Card(Table([*rows, {"id": 5000, "name": "last", "n": 0}])))
    expect(page.get_by_text("101–200 of 5,001")).to_be_visible()
