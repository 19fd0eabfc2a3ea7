"""Streamed data and slots on the real site: what is shown grows, fails quietly, and fills in steps."""

import re
from itertools import pairwise

from playwright.sync_api import expect

from tests.e2e.stage import Stage, data, golden, run
from tests.provider import Gate

# Notes what each row, item, point or text says, whenever the interface changes.
RECORD = """() => {
  window.pictures = [];
  const look = () => pictures.push({
    rows: [...document.querySelectorAll(".mount chat-table tbody tr")]
      .map((row) => row.innerText.trim().split(/\\s*\\t\\s*/)),
    items: [...document.querySelectorAll(".mount .ui-list li")].map((item) => item.innerText),
    heading: document.querySelector(".mount h3")?.innerText,
    failed: document.querySelectorAll(".ui-failed").length,
  });
  look();
  new MutationObserver(look).observe(document.querySelector(".mount"), {
    childList: true, subtree: true, characterData: true,
  });
}"""

GROWING = """
films = StreamedData("films")

def ui():
    rows = films.value or []
    return Card(
        Table(rows, columns=["title", "year"], title="Films"),
        List([row["title"] for row in rows]),
        Chart("bar", rows, x="title", y="year") if rows else None,
        Text(f"{len(rows)} so far"),
        title="All" if films.complete else "Some",
    )

mount(ui)
"""
# Cut inside of names, strings and numbers.
CUTS = [
    '[{"title": "Al',
    'ien", "ye',
    'ar": 19',
    '79}, {"ti',
    'tle": "Brazil", "year": 1985',
    '}, {"title": "Cube", "year": 1997}]',
]
ROWS = [["Alien", "1979"], ["Brazil", "1985"], ["Cube", "1997"]]


def cut(parts: list[str]) -> tuple[list[str | Gate], list[Gate]]:
    """Return the parts with a gate before each, and the gates."""
    gates = [Gate() for _ in parts]
    return [part for pair in zip(gates, parts, strict=True) for part in pair], gates


def test_rows_items_and_charts_grow_and_never_flicker(stage: Stage) -> None:
    parts, gates = cut(CUTS)
    stage.play(run(GROWING), *data("films", *parts))
    expect(stage.mount).to_contain_text("0 so far")
    stage.page.evaluate(RECORD)
    for gate in gates:
        gate.open()
    expect(stage.mount).to_contain_text("3 so far")
    expect(stage.mount.locator("h3")).to_have_text("All")
    stage.is_steady()
    expect(stage.mount.locator("svg").first).to_be_visible()
    pictures = stage.page.evaluate("window.pictures")
    for before, after in pairwise(pictures):
        assert len(after["items"]) >= len(before["items"]), (before, after)
        assert len(after["rows"]) >= len(before["rows"]), (before, after)
    for picture in pictures:
        for shown, row in zip(picture["rows"], ROWS, strict=False):
            if "Nothing here yet" not in shown[0]:
                assert row[0].startswith(shown[0]), picture
                assert shown[1:] in ([], [""], [row[1]]), picture  # a number appears when it is whole
    assert pictures[-1]["rows"] == ROWS
    assert pictures[-1]["items"] == [title for title, _ in ROWS]


KEY_ERRORS = """
films = StreamedData("films")
fixed = Data(now=False)

def ui():
    return Card(
        List([f"{row['title']}, {row['year']}" for row in films.value or []]),
        Text("fixed" if fixed.now else "as it was"),
        title="Films",
    )

mount(ui)
"""


def test_half_a_row_keeps_the_last_good_picture(stage: Stage) -> None:
    parts, gates = cut(['[{"title": "Alien", "year": 1979}, ', '{"title": "Bra', 'zil", ', '"year": 1985}]'])
    stage.play(run(KEY_ERRORS), *data("films", *parts))
    items = stage.mount.locator(".ui-list li")
    expect(stage.mount).to_contain_text("Films")
    stage.page.evaluate(RECORD)
    gates[0].open()
    expect(items).to_have_text(["Alien, 1979"])
    for gate in gates[1:]:
        gate.open()
    expect(items).to_have_text(["Alien, 1979", "Brazil, 1985"])
    stage.is_steady()  # the model was not told of what failed on half a row
    assert {picture["failed"] for picture in stage.page.evaluate("window.pictures")} == {0}


def test_a_failure_on_complete_data_is_told_shown_and_repaired(stage: Stage) -> None:
    end = Gate()
    stage.play(
        run(KEY_ERRORS),
        *data("films", '[{"title": "Alien", "year": 1979}', end, ', {"title": "Brazil"}]'),
    )
    items = stage.mount.locator(".ui-list li")
    expect(items).to_have_text(["Alien, 1979"])
    repair, repaired = Gate(), Gate()
    stage.queue(
        "One moment.\n\n",
        repair,
        run('films.value[1]["year"] = 1985\nfixed.now = True'),
        repaired,
        run("fixed.now = False"),
    )
    end.open()
    card = stage.mount.locator(".ui-failed")
    expect(card).to_contain_text("Something in this interface failed")
    expect(items).to_have_text(["Alien, 1979"])
    told = stage.told()
    assert "KeyError" in told
    assert "line 6" in told
    assert "row['year']" in told
    expect(card.get_by_text("KeyError")).to_be_hidden()
    card.get_by_text("Details").click()
    expect(card.get_by_text(re.compile("KeyError"))).to_be_visible()
    repair.open()
    expect(stage.mount).to_contain_text("fixed")
    expect(card).to_have_count(0)
    expect(items).to_have_text(["Alien, 1979", "Brazil, 1985"])
    repaired.open()
    stage.is_steady(replies=2)


def test_an_interface_recovers_to_what_it_was(stage: Stage) -> None:
    stage.play(
        run("""
state = Data(broken=False)

def ui():
    if state.broken:
        return Card(Text(state.missing))
    return Card(Button("Break", on_click=toggle), Button("Other", on_click=lambda: None), title="Fragile")

def toggle():
    state.broken = True

panel = mount(ui)
""")
    )
    stage.is_steady()
    gate = Gate()
    stage.queue("It broke.\n\n", gate, run("state.broken = False"))
    stage.mount.get_by_role("button", name="Break").click()
    card = stage.mount.locator(".ui-failed")
    expect(card).to_be_visible()
    expect(stage.mount).to_contain_text("Fragile")
    assert "missing" in stage.told()
    stage.page.reload()
    expect(card).to_be_visible()
    gate.open()
    expect(card).to_have_count(0)
    expect(stage.mount).to_contain_text("Fragile")
    stage.is_steady(replies=2)


def test_a_text_grows(stage: Stage) -> None:
    parts, gates = cut(['{"text": "Once upon', " a time", " there was **a", ' king**."}'])
    stage.play(
        run("""
story = StreamedData("story")
mount(lambda: Card(Markdown((story.value or {}).get("text", "")), title="A story"))
"""),
        *data("story", *parts),
    )
    for gate, words in zip(
        gates, ["Once upon", "Once upon a time", "there was", "there was a king."], strict=True
    ):
        gate.open()
        expect(stage.mount).to_contain_text(words)
    expect(stage.mount.locator("strong")).to_have_text("a king")
    stage.is_steady()


# Slots


def test_the_golden_reply_fills_its_slots(stage: Stage) -> None:
    text = golden("05-slots")
    head, rest = text.split("rows = ", 1)
    gate = Gate()
    stage.play(head, gate, "rows = " + rest)
    skeletons = stage.mount.locator(".ui-skeleton")
    expect(skeletons).to_have_count(2)
    gate.open()
    expect(stage.mount.locator("svg").first).to_be_visible()
    expect(stage.mount).to_contain_text("Total")
    expect(stage.mount).to_contain_text("62")
    expect(skeletons).to_have_count(0)
    expect(stage.timeline).to_contain_text("Sales peaked in April.")
    stage.is_steady()


def test_a_slot_that_is_filled_twice_is_replaced(stage: Stage) -> None:
    first, second = Gate(), Gate()
    stage.play(
        run("""
name = TextField("name", label="Name")
shell = mount(Card(Slot("more", fallback=Skeleton()), Slot("rest"), name, title="Shell"))
"""),
        first,
        run('shell.slot("more", Text("the first"))\nshell.slot("rest", lambda: Text("the rest"))'),
        second,
        run('shell.slot("more", Text("the second"))'),
    )
    name = stage.mount.get_by_label("Name")
    name.fill("Ada")
    first.open()
    expect(stage.mount).to_contain_text("the first")
    second.open()
    expect(stage.mount).to_contain_text("the second")
    expect(stage.mount).not_to_contain_text("the first")
    expect(stage.mount).to_contain_text("the rest")
    expect(name).to_have_value("Ada")
    stage.is_steady()


def test_an_unknown_slot_names_the_known_ones(stage: Stage) -> None:
    stage.play(run('shell = mount(Card(Slot("summary"), Slot("chart")))\nshell.slot("sumary", Text("x"))'))
    told = stage.told()
    assert "no Slot named 'sumary' in m1; it has: summary, chart; did you mean summary?" in told
    stage.is_steady(replies=2)
