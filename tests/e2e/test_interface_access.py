"""Every page of the site has nothing for axe to find: in both themes, on a narrow screen, at double zoom."""

from collections.abc import Callable
from itertools import count

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import PASSWORD, log_in
from tests.e2e.stage import Stage, run
from tests.e2e.test_shell import is_fine
from tests.live import Site
from tests.provider import Provider

RICH = """
films = [{"title": f"A film with a long title {n}", "year": 1950 + n, "stars": n % 5 / 2} for n in range(30)]
state = Data(broken=False)

def fragile():
    if state.broken:
        return Card(Text(state.missing))
    return Card(Progress(3, max=10, label="Progress"), Spinner(), Skeleton(), title="Fragile")

mount(Card(
    TextField("name", label="Name", help="As on your passport", autocomplete="name"),
    EmailField("mail"), NumberField("guests", min=1), DateField("day"), TimeField("hour"),
    DateTimeField("moment"),
    Select("size", options=["S", "M", "L"]), RadioGroup("kind", options=["one", "two"]),
    CheckboxGroup("extras", options=["a", "b"]), MultiSelect("more", options=["c", "d", "e"]),
    Slider("rent"), Rating("stars"), Checkbox("agree", required=True), TextArea("notes"), FileField("file"),
    SubmitButton("Book"), title="A form", help="With every kind of field",
))
mount(Card(
    DataTable(films, title="Films", page_size=5), Table(films[:3]), Chart("line", films, x="year", y="stars"),
    Chart("pie", films[:4], x="title", y="stars", title="Pie"), title="Data",
))
mount(Card(
    Tabs(Tab("Some words", title="First"), Tab("More words", title="Second")),
    Accordion(Section("Folded", title="A section")), Callout("Careful", kind="warning"), Json({"a": [1, 2]}),
    Code("for n in range(3):\\n    print(n)", language="python"), Timeline(["One", "Two"]), Steps(["A", "B"]),
    Menu(Button("Act", on_click=lambda: None)), Confirm("Delete", on_click=lambda: None), CopyButton("text"),
    title="The rest",
))
mount(fragile)
state.broken = True
"""
WORDS = """A **text** with `code`, a [link](https://example.org/), and

| a table | with a long head that says much |
| --- | --- |
| 1 | averyveryverylongwordwithoutanyplacewhereitcouldbebroken |

```python
answer = "a line of code that is much longer than a phone is wide, so that it has to scroll in its own box"
```

> A quotation
"""
ASK = 'await ask(Card(TextField("town", label="Town", min_length=5), SubmitButton("Go"), title="Where?"))'
numbers = count(1)


@pytest.fixture(scope="module")
def rich() -> list[str]:
    """The address of a conversation that has everything; kept from the first test on."""
    return []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 640], ids=["narrow", "zoomed"])
def test_every_page_is_accessible(
    new_page: Callable[..., Page],
    scripted: Site,
    model: Provider,
    problems: list[str],
    rich: list[str],
    scheme: str,
    width: int,
) -> None:
    # Double zoom on an ordinary screen is half as many pixels, each twice as large.
    size = {"viewport": {"width": width, "height": 400 if width == 640 else 640}, "device_scale_factor": 2}
    page = new_page(**size, color_scheme=scheme)
    is_fine_at(page, scripted, "/accounts/login/")
    is_fine_at(page, scripted, "/accounts/signup/")
    page.get_by_label("Username").fill(f"newcomer{next(numbers)}")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password confirmation").fill(PASSWORD)
    page.get_by_role("button", name="Sign up").click()
    page.wait_for_url(f"{scripted.url}/")
    expect(page.locator(".conversations .empty")).to_be_visible()
    is_fine(page)

    page.context.clear_cookies()
    log_in(page, scripted)
    stage = Stage(page, scripted, model)
    if not rich:
        stage.play(WORDS, run(RICH), prompt="A question of some length about many things, `code` among them")
        stage.is_quiet(2)
        stage.queue("Where?\n\n", run(ASK))
        stage.say("And now?")
        stage.becomes("waiting")
        rich.append(page.url)
    page.goto(rich[0])
    stage.is_online()
    stage.becomes("waiting")
    expect(page.locator(".ui-failed")).to_be_visible()
    stage.mount.get_by_label("Town").fill("Graz")
    stage.mount.get_by_role("button", name="Go").click()
    expect(stage.mount.locator("[aria-invalid=true]")).to_have_count(1)
    for summary in page.locator("details:not(.menu):not(.ui-menu) > summary:visible").all():
        summary.click()
    is_fine(page)
    is_fine_at(page, scripted, "/")
    is_fine_at(page, scripted, "/accounts/password/")
    is_fine_at(page, scripted, "/nowhere/")
    assert problems.pop().count("404")
    page.goto(f"{scripted.url}{rich[0].removeprefix(scripted.url)}delete/")
    is_fine(page)
    page.goto(f"{rich[0]}rename/")
    is_fine(page)


def is_fine_at(page: Page, site: Site, path: str) -> None:
    """Check a page of the site."""
    page.goto(f"{site.url}{path}")
    is_fine(page)
