"""Large tables, and texts that want to be more than text, on the real site."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import log_in
from tests.e2e.conftest import SIZES
from tests.e2e.stage import Stage, run
from tests.live import Site
from tests.ui.injections import INJECTIONS

ROWS = [{"n": n, "name": f"person {n % 97}", "amount": (n * 7919) % 5000} for n in range(5000)]
TABLE = """
rows = [{"n": n, "name": f"person {n % 97}", "amount": (n * 7919) % 5000} for n in range(5000)]
state = Data(extra=0)

def more():
    rows.append({"n": 5000 + state.extra, "name": "newcomer", "amount": -1})
    state.extra += 1

mount(lambda: Card(Button("More", on_click=more), DataTable(rows, title="People"), title="Many"))
"""


def test_five_thousand_rows_are_filtered_sorted_and_turned(stage: Stage) -> None:
    stage.play(run(TABLE))
    stage.is_steady()
    mount = stage.mount
    rows = mount.locator("tbody tr:visible")
    status = mount.locator(".ui-pager [role=status]")
    search = mount.get_by_role("searchbox")
    expect(status).to_have_text("1–25 of 5,000")
    expect(rows).to_have_count(25)
    search.fill("person 777")
    found = sorted(row["amount"] for row in ROWS if "777" in " ".join(map(str, row.values())))
    expect(status).to_have_text(f"1–{min(25, len(found))} of {len(found)} found")
    mount.get_by_role("button", name="amount").click()
    amounts = mount.locator("tbody tr:visible td:nth-child(3)").all_inner_texts()
    assert [int(text.replace(",", "")) for text in amounts] == found[:25]
    search.fill("newcomer")
    expect(status).to_have_text("0 of 0 found")
    mount.get_by_role("button", name="More").click()
    expect(status).to_have_text("1–1 of 1 found")  # the filter stays, and takes what is new
    search.fill("")
    expect(status).to_have_text("1–25 of 5,001")
    expect(rows.first).to_contain_text("newcomer")  # and so does the order, in which its amount is the first
    mount.get_by_role("button", name="Next").click()
    expect(status).to_have_text("26–50 of 5,001")
    stage.is_steady()


# What an attack would do: run a script, fetch something, leave its place, act as a part of the page.
ELEMENTS = "script, style, iframe, img, base, meta, link, object, embed, template, hx-partial, svg svg"
EVENTS = ["onerror", "onclick", "onload", "onmouseover", "onfocus"]
ATTRIBUTES = [*EVENTS, "style", "autofocus", "srcdoc", "hx-get", "hx-swap-oob", "hx-trigger"]
LINKS = ["javascript:", "vbscript:", "data:", "//"]
HARM = ", ".join(
    [
        f"#timeline :is({ELEMENTS})",
        *(f"#timeline [{name}]" for name in ATTRIBUTES),
        *(f'#timeline a[href^="{start}" i]' for start in LINKS),
        "#timeline title:not(svg title)",
        "#timeline form[action]",
        "#timeline ~ #timeline",
    ]
)
ATTACKS = """
texts = %s
state = Data(n=0)

def more():
    state.n += 1

def everything():
    return Card(
        Metric("Clicks", state.n),
        Button("More", on_click=more),
        [Text(text) for text in texts],
        [Heading(text) for text in texts],
        [Markdown(text) for text in texts],
        [Code(text, language=text) for text in texts],
        [Callout(text, title=text) for text in texts],
        Tabs([Tab(text, title=text) for text in texts]),
        List(texts),
        DataTable([{text: text, "n": state.n} for text in texts], title=texts[0]),
        KeyValue([(text, text) for text in texts]),
        Json(texts),
        Chart("bar", points(), x="x", y="y", title=texts[1]),
        Select("choice", options=[(text, text) for text in texts], value=texts[3]),
        [field(text) for text in texts],
        SubmitButton("Send"),
        title=texts[0],
    )

def points():
    return [{"x": text, "y": n + state.n} for n, text in enumerate(texts)]

def field(text):
    return TextField(text, label=text, help=text, placeholder=text, value=text, key=text, required=False)

mount(everything)
print(texts)
raise ValueError(texts[2])
"""


def is_harmless(page: Page, title: str) -> None:
    """Check that nothing became more than text."""
    found = page.locator(HARM)
    assert [element.evaluate("element => element.outerHTML.slice(0, 200)") for element in found.all()] == []
    for part in ("#timeline", "#composer", "h1#title", "#socket"):
        expect(page.locator(part)).to_have_count(1)
    assert page.title() == f"{title} · Agent"


@pytest.mark.parametrize("half", [0, 1])
def test_no_text_becomes_more_than_text(
    stage: Stage, new_page: Callable[..., Page], scripted: Site, half: int
) -> None:
    texts = INJECTIONS[half::2]
    whole = "\n\n".join(text.replace("\x00", "") for text in texts)
    title = texts[0]
    stage.play(whole, "\n\n", run(ATTACKS % json.dumps(texts)), prompt=whole)
    page = stage.page
    expect(stage.mount.locator(".ui-metric")).to_contain_text("0")
    stage.is_quiet(2)
    assert title in stage.told()
    is_harmless(page, title)

    away = Stage(new_page(**SIZES["desk"]), scripted, stage.provider)
    log_in(away.page, scripted)
    away.page.goto(page.url)
    away.is_online()
    is_harmless(away.page, title)  # as it is loaded
    away.leave()
    stage.mount.get_by_role("button", name="More", exact=True).click()
    expect(stage.mount.locator(".ui-metric")).to_contain_text("1")
    is_harmless(page, title)  # as it is updated
    stage.mount.get_by_role("button", name="Send", exact=True).click()
    assert title in stage.told(3)
    stage.is_quiet(3)
    is_harmless(page, title)
    away.come_back()
    away.is_quiet(3)
    expect(away.mount.locator(".ui-metric")).to_contain_text("1")
    is_harmless(away.page, title)  # as it catches up

    page.goto(stage.site.url)
    expect(page.locator(".conversation-title").first).to_have_text(title)
    expect(page.locator(f":is(.conversations, .sidebar) :is({ELEMENTS})")).to_have_count(0)
