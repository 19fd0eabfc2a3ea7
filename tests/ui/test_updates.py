"""Updates of a mount in a real browser: what a person does in it is not disturbed."""

import time
from functools import partial

import pytest
from playwright.sync_api import expect

from chat.ui.render import MountContext
from tests.ui.harness import UI, Harness

Card, Text, TextField, TextArea, Select, Checkbox = (
    UI[name] for name in ("Card", "Text", "TextField", "TextArea", "Select", "Checkbox")
)
Table, DataTable, List, Row, Button, Slider = (
    UI[name] for name in ("Table", "DataTable", "List", "Row", "Button", "Slider")
)
Tabs, Tab, Accordion, Section, Json, SubmitButton, NumberField, Alert, MultiSelect, RadioGroup, Form = (
    UI[name]
    for name in (
        "Tabs", "Tab", "Accordion", "Section", "Json", "SubmitButton", "NumberField", "Alert", "MultiSelect",
        "RadioGroup", "Form",
    )
)  # fmt: skip

ROWS = [{"name": f"row {n}", "n": n} for n in range(20)]


@pytest.fixture
def harness():
    with Harness() as running:
        yield running


def until(reached, seconds=10):
    """Wait for what the server has to see."""
    give_up = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < give_up, "it did not come to that"
        time.sleep(0.01)


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
    until(lambda: harness.calls == [("click", [])])


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


# Forms


def book(**props):
    return Card(
        TextField("name", label="Your name", min_length=2),
        NumberField("guests", label="Guests", min=1, max=12, step=1),
        Checkbox("terrace", label="On the terrace"),
        SubmitButton("Book"),
        **props,
    )


def test_errors_stand_at_their_fields_and_the_first_has_the_focus(page, harness):
    harness.show(page, book())
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("Guests").fill("40")
    page.get_by_role("button", name="Book").click()
    expect(page.get_by_text("Enter 12 or less.")).to_be_visible()
    expect(page.get_by_label("Guests")).to_be_focused()
    expect(page.get_by_label("Guests")).to_have_value("40")
    expect(page.get_by_label("Guests")).to_have_accessible_description("Enter 12 or less.")
    expect(page.get_by_label("Your name")).to_have_value("Ada")
    page.get_by_label("Guests").fill("4")
    page.keyboard.press("Enter")
    until(lambda: harness.submits == [{"name": "Ada", "guests": 4, "terrace": False}])


def test_a_double_click_submits_once_and_the_next_round_starts_empty(page, harness):
    harness.show(page, book())
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("Guests").fill("2")
    page.get_by_label("On the terrace").check()
    harness.gate.clear()
    button = page.get_by_role("button", name="Book")
    button.dblclick()
    expect(button).to_have_attribute("aria-disabled", "true")
    page.get_by_label("Guests").press("Enter")
    harness.gate.set()
    until(lambda: harness.submits)
    assert len(harness.posts) == 1
    button.click(force=True)  # it is not asked for again yet
    assert len(harness.posts) == 1
    harness.update(page, book(title="Once more"), MountContext("m1", url="/m/m1/", token="2"))
    expect(button).not_to_have_attribute("aria-disabled", "true")
    expect(page.get_by_label("Your name")).to_have_value("")
    expect(page.get_by_label("On the terrace")).not_to_be_checked()
    page.get_by_label("Your name").fill("Bob")
    page.get_by_label("Guests").fill("3")
    button.click()
    until(lambda: [values["name"] for values in harness.submits] == ["Ada", "Bob"])


def test_the_next_round_may_come_before_the_answer_of_the_request(page, harness):
    harness.show(page, Card(TextField("task"), SubmitButton("Add")))
    field = page.get_by_role("textbox", name="Task")
    for done, task in enumerate(["Milk", "Bread", "Salt"]):
        field.fill(task)
        harness.gate.clear()
        field.press("Enter")
        until(partial(seen, harness.posts, done + 1))
        tree = Card(TextField("task"), SubmitButton("Add"), title=f"{done} before")
        harness.update(page, tree, MountContext("m1", url="/m/m1/", token=f"round {done}"))
        expect(field).to_have_value("")
        harness.gate.set()
        until(partial(seen, harness.submits, done + 1))
    assert [values["task"] for values in harness.submits] == ["Milk", "Bread", "Salt"]


def test_what_is_typed_for_the_next_round_stays(page, harness):
    harness.show(page, Card(TextField("task"), TextField("note", required=False), SubmitButton("Add")))
    page.get_by_label("Task").fill("Milk")
    page.get_by_label("Note").fill("two")
    page.get_by_label("Task").press("Enter")
    until(lambda: harness.submits)
    page.get_by_label("Task").fill("Bread")
    tree = Card(TextField("task"), TextField("note", required=False), SubmitButton("Add"), title="2 things")
    harness.update(page, tree, MountContext("m1", url="/m/m1/", token="2"))
    expect(page.get_by_role("textbox", name="Note")).to_have_value("")
    expect(page.get_by_role("textbox", name="Task")).to_have_value("Bread")


def seen(things, count):
    return len(things) == count


def test_a_failed_submit_can_be_repeated(browser, harness):
    page = browser.new_page()  # the browser logs the failure, which is meant
    harness.show(page, Card(TextField("a", required=False), SubmitButton()))
    page.context.set_offline(True)
    page.get_by_role("button").click()
    expect(page.get_by_text("This was not sent.")).to_be_visible()
    page.context.set_offline(False)
    page.get_by_role("button").click()
    until(lambda: len(harness.submits) == 1)
    page.close()


def test_forms_of_one_mount_are_apart(page, harness):
    harness.show(
        page,
        Card(
            TextField("name", label="Outer"),
            SubmitButton("Send outer"),
            Form(TextField("name", label="Inner"), SubmitButton("Send inner"), name="inner"),
        ),
    )
    page.get_by_label("Inner").fill("in")
    page.get_by_label("Inner").press("Enter")
    expect(page.locator("[aria-disabled=true]")).to_have_count(1)
    until(lambda: harness.submits)
    page.get_by_label("Outer").fill("out")
    page.get_by_role("button", name="Send outer").click()
    until(lambda: harness.submits == [{"name": "in"}, {"name": "out"}])


def test_an_answered_form_is_a_summary(page, harness):
    harness.show(page, book())
    answered = MountContext(
        "m1",
        url="/m/m1/",
        token="1",
        state="submitted",
        answers={"name": "Ada", "guests": 2, "terrace": True},
    )
    harness.update(page, book(), answered)
    expect(page.get_by_role("button")).to_have_count(0)
    expect(page.get_by_role("textbox", name="Your name")).to_have_count(0)
    expect(page.locator(".ui-answer")).to_have_text(["Your name Ada", "Guests 2", "On the terrace yes"])


# Callbacks


def test_every_click_counts_and_in_order(page, harness):
    harness.show(page, Row(Button("+1", on_click="click"), Button("−1", on_click="click")))
    harness.gate.clear()
    for _ in range(5):
        page.get_by_role("button", name="+1").click()
    page.get_by_role("button", name="−1").click()
    harness.gate.set()
    expect(page.locator("[data-busy]")).to_have_count(0)
    assert len(harness.calls) == 6


def test_a_slider_ends_with_its_latest_value(page, harness):
    harness.show(page, Card(Slider("rent", min=0, max=100, step=1, value=10, on_change="change")))
    slider = page.get_by_role("slider")
    slider.focus()
    for _ in range(40):
        page.keyboard.press("ArrowRight")
    expect(page.locator("output")).to_have_text("50")
    until(lambda: harness.calls and harness.calls[-1] == ("change", [50]))
    assert len(harness.calls) < 40
    harness.update(
        page, Card(Text("50"), Slider("rent", min=0, max=100, step=1, value=50, on_change="change"))
    )
    expect(slider).to_have_value("50")


def test_a_controlled_field_follows_the_code(page, harness):
    def tree(on, text=""):
        return Card(
            Checkbox("on", value=on, on_change="on"),
            TextField("q", label="Search", value=text, on_change="q", required=False),
        )

    harness.show(page, tree(False))
    page.get_by_label("On", exact=True).check()
    page.get_by_label("Search").fill("abc")
    page.get_by_label("Search").press("Tab")
    until(lambda: harness.calls == [("on", [True]), ("q", ["abc"])])
    harness.update(page, tree(True, "abc"))
    harness.update(page, tree(False, ""))  # code says otherwise
    expect(page.get_by_label("On", exact=True)).not_to_be_checked()
    expect(page.get_by_label("Search")).to_have_value("")


def test_a_row_is_chosen_by_mouse_and_keyboard(page, harness):
    harness.show(page, Card(DataTable([{"id": 7, "name": "Ada"}, {"id": 9, "name": "Bob"}], on_row="row")))
    page.get_by_text("Bob").click()
    page.get_by_role("button", name="Choose 7, Ada").press("Enter")
    until(
        lambda: (
            [args for _, args in harness.calls] == [[{"id": 9, "name": "Bob"}], [{"id": 7, "name": "Ada"}]]
        )
    )


def test_confirm_asks_first(page, harness):
    harness.show(page, UI["Confirm"]("Delete", question="Delete it?", on_click="click"))
    page.get_by_role("button", name="Delete").press("Enter")
    harness.update(page, UI["Confirm"]("Delete", question="Really delete it?", on_click="click"))
    expect(page.get_by_role("dialog", name="Really delete it?")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Delete")).to_be_focused()
    assert harness.calls == []
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator("[data-busy]")).to_have_count(0)
    assert len(harness.calls) == 1


def test_menu_tabs_and_search_work_with_the_keyboard(page, harness):
    harness.show(
        page,
        Card(
            UI["Menu"](Button("Rename", on_click="click"), label="More"),
            Tabs(Tab("first page", title="One"), Tab("second page", title="Two")),
            MultiSelect("c", options=["Austria", "Finland", "France"]),
            SubmitButton(),
        ),
    )
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Rename")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Rename")).to_be_hidden()
    page.get_by_role("tab", name="One").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("second page")).to_be_visible()
    page.get_by_role("searchbox").fill("fi")
    page.keyboard.press("Enter")
    assert harness.submits == []
    expect(page.get_by_label("Austria")).to_be_hidden()
    page.get_by_label("Finland").press("Space")
    expect(page.get_by_text("1 chosen · 1 found")).to_be_visible()
    harness.update(
        page,
        Card(Text("new"), MultiSelect("c", options=["Austria", "Finland", "France", "Fiji"]), SubmitButton()),
    )
    expect(page.get_by_label("Finland")).to_be_checked()
    expect(page.get_by_label("Fiji")).to_be_visible()
    expect(page.get_by_label("Austria")).to_be_hidden()


def test_a_table_is_downloaded_without_formulas(page, harness):
    harness.show(page, DataTable([{"a": "=1+1", "b": 'say "hi"'}, {"a": -5, "b": "x,y"}], title="My data"))
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    assert download.value.suggested_filename == "My-data.csv"
    text = download.value.path().read_text(encoding="utf-8-sig")
    assert text.splitlines() == ["a,b", '\'=1+1,"say ""hi"""', '-5,"x,y"']
