"""What a person presses, chooses and moves in a mount, in a real browser, by mouse and keyboard."""

from playwright.sync_api import expect

from tests.ui.harness import UI

Button, Card, Checkbox, DataTable, MultiSelect, Row, Slider = (
    UI[name] for name in ("Button", "Card", "Checkbox", "DataTable", "MultiSelect", "Row", "Slider")
)
SubmitButton, Tab, Tabs, Text, TextField = (
    UI[name] for name in ("SubmitButton", "Tab", "Tabs", "Text", "TextField")
)


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
    harness.until(lambda: harness.calls and harness.calls[-1] == ("change", [50]))
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
    harness.until(lambda: harness.calls == [("on", [True]), ("q", ["abc"])])
    harness.update(page, tree(True, "abc"))
    harness.update(page, tree(False, ""))  # code says otherwise
    expect(page.get_by_label("On", exact=True)).not_to_be_checked()
    expect(page.get_by_label("Search")).to_have_value("")


def test_a_row_is_chosen_by_mouse_and_keyboard(page, harness):
    harness.show(page, Card(DataTable([{"id": 7, "name": "Ada"}, {"id": 9, "name": "Bob"}], on_row="row")))
    page.get_by_text("Bob").click()
    page.get_by_role("button", name="Choose 7, Ada").press("Enter")
    harness.until(
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
