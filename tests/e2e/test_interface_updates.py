"""Updates of interfaces on the real site: what changes by itself disturbs nobody who uses it."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser import until
from tests.conftest import log_in
from tests.e2e.conftest import SIZES
from tests.e2e.stage import Stage, data, run
from tests.live import Site
from tests.provider import Gate

BUSY = """
state = Data(ticks=0, clicks=0, log=[])
films = StreamedData("films")

def tick():
    state.ticks += 1
    state.log.append(f"tick {state.ticks}")

def click():
    state.clicks += 1

def ui():
    return Card(
        Metric("Ticks", state.ticks),
        Metric("Clicks", state.clicks),
        Progress(state.ticks % 10, max=10),
        List(state.log),
        Text("Words that somebody wants to copy."),
        TextField("name", label="Name", value=f"suggestion {state.ticks}"),
        TextArea("notes", label="Notes"),
        Select("size", label="Size", options=["S", "M", "L"], value="S"),
        Checkbox("agree", label="Agree"),
        Accordion(Section("More words", title="Details")),
        Tabs(Tab("One", title="First"), Tab(Text(f"Two, {state.ticks}"), title="Second")),
        Button("Click", on_click=click),
        DataTable([{"n": n, "text": f"row {n}"} for n in range(40)], title="Long", page_size=40),
        Table(films.value or [], columns=["title"], title="Films"),
        SubmitButton("Send"),
        title="Busy",
    )

mount(ui)
every(1, tick)
"""
FILMS = ['[{"title": "Alien"}', ', {"title": "Brazil"}', ', {"title": "Cube"}]']

SELECTED = "() => String(getSelection())"
SELECT_WORDS = """() => {
  const words = [...document.querySelectorAll(".ui-body p, .ui-body .ui-text")]
    .find((element) => element.textContent.startsWith("Words that"));
  getSelection().selectAllChildren(words);
}"""
TICKS = "() => Number(document.querySelector('.ui-metric').textContent.match(/\\d+/)[0])"
LATER = "(number) => Number(document.querySelector('.ui-metric').textContent.match(/\\d+/)[0]) > number"


def some_ticks(stage: Stage, number: int = 2) -> None:
    """Wait for so many updates by the timer."""
    expect(stage.mount).to_be_visible()
    for _ in range(number):
        until(stage.page, LATER, stage.page.evaluate(TICKS))


def test_nothing_disturbs_who_uses_an_interface(stage: Stage) -> None:
    gates = [Gate(), Gate(), Gate()]
    parts = [part for pair in zip(gates, FILMS, strict=True) for part in pair]
    stage.play(run(BUSY), *data("films", *parts))
    mount, page = stage.mount, stage.page
    expect(mount).to_contain_text("Films")

    mount.get_by_label("Size").select_option("L")
    mount.get_by_label("Agree").check()
    mount.get_by_text("Details").click()
    mount.get_by_role("tab", name="Second").click()
    scroller = mount.locator(".ui-table-scroll").first
    scroller.evaluate("element => { element.style.maxHeight = '10rem'; element.scrollTop = 120; }")
    name = mount.get_by_label("Name")
    name.fill("")
    name.press_sequentially("Ada Lovelace")
    name.evaluate("field => field.setSelectionRange(4, 4)")
    gates[0].open()
    some_ticks(stage)
    gates[1].open()
    expect(mount).to_contain_text("Brazil")
    name.press_sequentially("King, ")
    gates[2].open()
    some_ticks(stage)

    expect(name).to_be_focused()
    expect(name).to_have_value("Ada King, Lovelace")  # though each tick gives this very field another value
    assert name.evaluate("field => field.selectionStart") == 10
    expect(mount.get_by_label("Size")).to_have_value("L")
    expect(mount.get_by_label("Agree")).to_be_checked()
    expect(mount.get_by_text("More words")).to_be_visible()
    expect(mount.get_by_role("tab", name="Second")).to_have_attribute("aria-selected", "true")
    expect(mount.get_by_text(re.compile("Two,"))).to_be_visible()
    assert scroller.evaluate("element => element.scrollTop") == 120

    mount.get_by_role("button", name="Click").click()
    expect(mount.locator(".ui-metric").nth(1)).to_contain_text("1")
    expect(name).to_have_value("Ada King, Lovelace")
    page.evaluate(SELECT_WORDS)
    some_ticks(stage)
    assert page.evaluate(SELECTED) == "Words that somebody wants to copy."
    stage.is_steady()


def test_the_page_stays_where_the_reader_is(stage: Stage) -> None:
    stage.play(run(BUSY), "\n\n".join(f"Paragraph {number}." for number in range(60)))
    stage.is_steady()
    page = stage.page
    page.mouse.move(640, 300)
    page.mouse.wheel(0, -5000)
    until(page, "scrollY === 0")
    page.mouse.wheel(0, 300)
    until(page, "scrollY === 300")
    some_ticks(stage)
    assert page.evaluate("scrollY") == 300


def test_the_way_to_the_newest_message_takes_no_room(stage: Stage) -> None:
    stage.play("\n\n".join(f"Paragraph {number}." for number in range(60)))
    heights = stage.page.evaluate("""() => [true, false].map(hidden => {
        document.querySelector("#to-end").hidden = hidden;
        return document.documentElement.scrollHeight;
    })""")
    assert heights[0] == heights[1]  # else a button moves away between press and release


def test_the_focus_stays_on_a_button_through_what_it_does(stage: Stage) -> None:
    stage.play(
        run("""
items = [{"id": n, "name": f"Item {n}", "done": False} for n in range(3)]

def toggle(item):
    item["done"] = not item["done"]
    items.append(items.pop(items.index(item)))

def remove(item):
    items.remove(item)

def line(item):
    return Row(
        Text(item["name"] + (" done" if item["done"] else "")),
        Button(f"Toggle {item['id']}", on_click=lambda: toggle(item)),
        Button(f"Remove {item['id']}", on_click=lambda: remove(item)),
        key=item["id"],
    )

mount(lambda: Card([line(item) for item in items], title="Items"))
""")
    )
    stage.is_steady()
    button = stage.mount.get_by_role("button", name="Toggle 0")
    button.focus()
    stage.page.keyboard.press("Enter")
    expect(stage.mount).to_contain_text("Item 0 done")
    expect(button).to_be_focused()
    stage.page.keyboard.press("Space")
    expect(stage.mount).not_to_contain_text("Item 0 done")
    expect(button).to_be_focused()

    gone = stage.mount.get_by_role("button", name="Remove 0")
    gone.focus()
    stage.page.keyboard.press("Enter")
    expect(gone).to_have_count(0)
    until(stage.page, "document.activeElement !== document.body")
    assert stage.page.evaluate("Boolean(document.activeElement.closest('.mount'))")


def test_an_untouched_field_follows_its_value(stage: Stage) -> None:
    stage.play(run(BUSY))
    some_ticks(stage)
    expect(stage.mount.get_by_label("Name")).to_have_value(re.compile(r"suggestion \d+"))
    stage.is_steady()


ROWS = """
state = Data(rows=[])

def add():
    state.rows.append({"n": len(state.rows), "square": len(state.rows) ** 2})

mount(lambda: Card(
    Button("Add", on_click=add),
    Table(state.rows, title="Squares"),
    Chart("bar", state.rows, x="n", y="square") if state.rows else None,
    title=f"{len(state.rows)} rows",
))
"""


def test_what_a_page_shows_does_not_depend_on_how_it_came(
    stage: Stage, new_page: Callable[..., Page], scripted: Site
) -> None:
    stage.play(run(ROWS))
    stage.is_steady()
    page = new_page(**SIZES["desk"])
    log_in(page, scripted)
    other = Stage(page, scripted, stage.provider)
    page.goto(stage.page.url)
    other.is_online()
    other.leave()
    for number in range(1, 4):
        stage.mount.get_by_role("button", name="Add").click()
        expect(stage.mount).to_contain_text(f"{number} rows")
    shown = stage.mount.inner_text()
    expect(other.mount).to_contain_text("0 rows")
    other.come_back()
    expect(other.mount).to_contain_text("3 rows")
    assert other.mount.inner_text() == shown
    stage.page.reload()
    assert stage.mount.inner_text() == shown
