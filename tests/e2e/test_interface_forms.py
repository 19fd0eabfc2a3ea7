"""Forms on the real site: what a person enters arrives once, typed, and is answered where it was entered."""

import re
from pathlib import Path

from playwright.sync_api import Route, expect

from tests.e2e.stage import Stage, run

ASK = """
answer = await ask(Card(
    TextField("name", label="Name", min_length=2),
    NumberField("guests", label="Guests", min=1, max=9, value=2, step=1),
    SubmitButton("Book"),
    title="Booking",
))
print("answered", answer)
"""


# Errors, keys, and what must happen once


def test_errors_stand_at_their_fields_and_enter_submits(stage: Stage) -> None:
    stage.play(run(ASK))
    form = stage.mount
    name, guests = form.get_by_label("Name"), form.get_by_label("Guests")
    expect(guests).to_have_value("2")
    name.fill("A")
    guests.fill("77")
    guests.press("Enter")
    expect(form.locator("[aria-invalid=true]")).to_have_count(2)
    expect(name).to_be_focused()
    described = name.get_attribute("aria-describedby") or ""
    expect(form.locator(f"#{described.split()[-1]}")).to_contain_text("2 characters")
    expect(name).to_have_value("A")
    expect(guests).to_have_value("77")
    stage.becomes("waiting")
    name.fill("Ada")
    guests.fill("7")
    name.press("Enter")
    assert "answered {'name': 'Ada', 'guests': 7}" in stage.told()
    expect(form.locator("[aria-invalid=true]")).to_have_count(0)
    stage.is_steady(replies=2)


def test_a_double_click_answers_once(stage: Stage) -> None:
    stage.play(
        run("""
tasks = []

def add(values):
    tasks.append(values["task"])

mount(lambda: Card(TextField("task", label="Task"), SubmitButton("Add"), List(tasks)), on_submit=add)
""")
    )
    form = stage.mount
    form.get_by_label("Task").fill("Milk")
    form.get_by_role("button", name="Add").dblclick()
    expect(form.locator("li")).to_have_text(["Milk"])
    form.get_by_label("Task").fill("Bread")
    form.get_by_label("Task").press("Enter")
    expect(form.locator("li")).to_have_text(["Milk", "Bread"])
    stage.is_steady()


def test_two_pages_of_one_form_answer_once(stage: Stage) -> None:
    stage.play(run(ASK))
    other = stage.second_page()
    for page, name in ((stage, "Ada"), (other, "Bob")):
        page.mount.get_by_label("Name").fill(name)
    held: list[Route] = []
    other.page.route(
        "**/submit/", lambda route: held.append(route)
    )  # it was sent before the other page heard of the answer
    other.mount.get_by_role("button", name="Book").click()
    stage.mount.get_by_role("button", name="Book").click()
    assert "Ada" in stage.told()
    expect(other.mount).to_have_attribute("data-state", "submitted")
    expect(other.mount).to_contain_text("Ada")
    with other.page.expect_response("**/submit/") as late:
        held[0].continue_()
    assert late.value.status == 204
    other.is_quiet(2)
    stage.is_steady(replies=2)
    expect(stage.mount).not_to_contain_text("Bob")
    other.page.close()


def test_replays_stale_pages_and_the_back_button_are_harmless(stage: Stage) -> None:
    stage.play(run(ASK))
    page = stage.page
    form = stage.mount
    form.get_by_label("Name").fill("Ada")
    with page.expect_request("**/submit/") as sent:
        form.get_by_role("button", name="Book").click()
    assert "Ada" in stage.told()
    stage.is_steady(replies=2)
    request = sent.value
    for _ in range(2):
        replay = page.request.post(
            request.url,
            data=request.post_data_buffer,
            headers={name: value for name, value in request.headers.items() if name != "content-length"},
        )
        assert replay.status == 204
    page.goto(stage.site.url)
    page.go_back()
    stage.is_online()
    expect(stage.mount).to_have_attribute("data-state", "submitted")
    expect(stage.mount.get_by_role("button")).to_have_count(0)
    stage.is_steady(replies=2)


def test_submit_is_disabled_while_it_is_on_its_way(stage: Stage) -> None:
    stage.play(run(ASK))
    form = stage.mount
    held: list[Route] = []
    stage.page.route("**/submit/", lambda route: held.append(route))
    form.get_by_label("Name").fill("Ada")
    button = form.get_by_role("button", name="Book")
    button.click()
    expect(button).to_have_attribute("aria-disabled", "true")
    button.click(force=True)
    form.get_by_label("Name").press("Enter")
    assert len(held) == 1
    held[0].continue_()
    assert "Ada" in stage.told()
    stage.is_steady(replies=2)


def test_an_answered_form_says_what_who_and_when(stage: Stage) -> None:
    stage.play(run(ASK))
    stage.mount.get_by_label("Name").fill("Ada")
    stage.mount.get_by_label("Name").press("Enter")
    stage.told()
    for _ in ("live", "reload"):
        expect(stage.mount).to_contain_text(re.compile(r"Name\s*Ada\s*Guests\s*2"))
        expect(stage.mount).to_contain_text(f"Answered by {stage.site.username} on")
        expect(stage.mount.locator("time")).to_have_attribute("datetime", re.compile(r"\d{4}-\d\d-\d\dT"))
        stage.is_quiet(2)
        stage.page.reload()


# Types


def test_answers_have_their_types(stage: Stage) -> None:
    stage.play(
        run("""
answer = await ask(Card(
    NumberField("whole", step=1), NumberField("part"), Checkbox("yes"), Checkbox("no"),
    DateField("day"), TimeField("hour"), DateTimeField("moment"),
    Select("one", options={1: "One", 2: "Two"}), Select("two", options={1: "One", 2: "Two"}, value=2),
    RadioGroup("pair", options=[(10, "ten"), (20, "twenty")]),
    CheckboxGroup("many", options=["red", "green", "blue"]),
    MultiSelect("more", options={7: "Seven", 8: "Eight"}),
    Slider("slide", min=0, max=10, value=4), Rating("stars"), TextField("empty", required=False),
    TextArea("text"), EmailField("mail"), URLField("link"),
    SubmitButton("Send"),
))
for name, value in answer.items():
    print(name, type(value).__name__, repr(value))
print(answer["day"].year + 1)
""")
    )
    form = stage.mount
    for label, value in {
        "Whole": "3",
        "Part": "2.5",
        "Day": "2026-03-01",
        "Hour": "18:30",
        "Moment": "2026-03-01T18:30",
        "Text": "two\nlines",
        "Mail": "ada@example.org",
        "Link": "https://example.org/",
    }.items():
        form.get_by_label(re.compile(f"^{label}( optional)?$")).fill(value)
    form.get_by_label("Yes").check()
    form.get_by_label("One", exact=True).select_option(label="One")
    form.get_by_label("twenty").check()
    for label in ("red", "blue", "Seven"):
        form.get_by_label(label).check()
    form.get_by_label("4 of 5").check(force=True)
    form.get_by_role("button", name="Send").click()
    told = stage.told()
    for line in [
        "whole int 3", "part float 2.5", "yes bool True", "no bool False",
        "day date datetime.date(2026, 3, 1)", "hour time datetime.time(18, 30)",
        "moment datetime datetime.datetime(2026, 3, 1, 18, 30)",
        "one int 1", "two int 2", "pair int 20", "many list ['red', 'blue']", "more list [7]",
        "slide int 4", "stars int 4", "text str 'two\\nlines'",
        "mail str 'ada@example.org'", "link str 'https://example.org/'", "2027",
    ]:  # fmt: skip
        assert line in told.splitlines(), (line, told)
    stage.is_steady(replies=2)
    expect(form).to_contain_text("Seven")


NAMES = [
    "value", "error", "__class__", "csrfmiddlewaretoken", "key", "form_name", "token", "id", "form", "name",
    "submit", "elements", "action", "method", "length", "a b", "x[]", "ä", "hx-get", "<b>",
]  # fmt: skip


def test_any_name_is_a_name(stage: Stage) -> None:
    stage.play(
        run(f"""
names = {NAMES!r}
fields = [TextField(name, label=f"Field {{n}}.") for n, name in enumerate(names)]
answer = await ask(Card(fields, SubmitButton("Send")))
print(answer == {{name: f"said {{n}}" for n, name in enumerate(names)}}, answer)
""")
    )
    form = stage.mount
    for number in range(len(NAMES)):
        form.get_by_label(f"Field {number}.").fill(f"said {number}")
    form.get_by_label("Field 1.").fill("")
    form.get_by_role("button", name="Send").click()
    expect(form.get_by_label("Field 1.")).to_be_focused()
    form.get_by_label("Field 1.").fill("said 1")
    form.get_by_label("Field 1.").press("Enter")
    assert "True {" in stage.told()
    stage.is_steady(replies=2)


# Callbacks


def test_a_field_may_depend_on_another(stage: Stage) -> None:
    stage.play(
        run("""
CITIES = {"at": ["Vienna", "Graz"], "ch": ["Zurich", "Bern"]}
state = Data(country="at")

def choose_country(value):
    state.country = value

form = mount(lambda: Card(
    TextField("who", label="Who"),
    Select("country", label="Country", options={"at": "Austria", "ch": "Switzerland"}, value=state.country,
           on_change=choose_country),
    Select("city", label="City", options=CITIES[state.country]),
    SubmitButton("Send"),
))
print(await form.result())
""")
    )
    form = stage.mount
    form.get_by_label("Who").fill("Ada")
    form.get_by_label("Country").select_option("ch")
    expect(form.get_by_label("City").locator("option", has_text="Bern")).to_have_count(1)
    expect(form.get_by_label("City").locator("option", has_text="Graz")).to_have_count(0)
    expect(form.get_by_label("Who")).to_have_value("Ada")
    form.get_by_label("City").select_option("Bern")
    form.get_by_role("button", name="Send").click()
    assert "{'who': 'Ada', 'country': 'ch', 'city': 'Bern'}" in stage.told()
    stage.is_steady(replies=2)


def test_a_slider_is_live_and_its_latest_value_wins(stage: Stage) -> None:
    stage.play(
        run("""
state = Data(rent=0, calls=0)

def set_rent(value):
    state.rent = value
    state.calls += 1

mount(lambda: Card(
    Slider("rent", label="Rent", min=0, max=100, value=state.rent, on_change=set_rent),
    Metric("A year", state.rent * 12), Metric("Calls", state.calls),
))
""")
    )
    stage.is_steady()
    slider = stage.mount.get_by_label("Rent")
    slider.focus()
    for _ in range(60):
        stage.page.keyboard.press("ArrowRight")
    expect(stage.mount.locator(".ui-metric").first).to_contain_text("720")
    expect(slider).to_have_value("60")
    expect(slider).to_be_focused()
    calls = int(re.findall(r"\d+", stage.mount.locator(".ui-metric").nth(1).inner_text())[-1])
    assert 1 <= calls < 60
    stage.is_steady()


def test_a_search_as_one_types_keeps_what_is_typed(stage: Stage) -> None:
    stage.play(
        run("""
words = ["alpha", "beta", "alphabet", "gamma"]
state = Data(wanted="")

def search(value):
    state.wanted = value

mount(lambda: Card(
    TextField("q", label="Search", value=state.wanted, on_change=search),
    List([word for word in words if state.wanted in word], empty="Nothing"),
))
""")
    )
    stage.is_steady()
    field = stage.mount.get_by_label("Search")
    field.press_sequentially("alp")
    expect(stage.mount.locator("li")).to_have_text(["alpha", "alphabet"])
    field.press_sequentially("habet")
    expect(stage.mount.locator("li")).to_have_text(["alphabet"])
    expect(field).to_have_value("alphabet")
    expect(field).to_be_focused()
    stage.is_steady()


# Files


def test_a_file_from_a_form_is_read(stage: Stage, tmp_path: Path) -> None:
    stage.play(
        run("""
answer = await ask(Card(
    FileField("file", label="Your text", accept=".txt", max_size=1),
    TextField("why", label="Why"),
    SubmitButton("Read"),
))
print(sorted(answer["file"]), answer["file"]["name"], answer["file"]["size"])
print(await files_read_text(answer["file"]))
""")
    )
    form = stage.mount
    wrong, right = tmp_path / "notes.pdf", tmp_path / "my notes.txt"
    wrong.write_text("no")
    right.write_text("Grüße aus der Datei")
    form.get_by_label("Why").fill("Because")
    form.get_by_label("Your text").set_input_files(wrong)
    form.get_by_role("button", name="Read").click()
    expect(form.locator("[aria-invalid=true]")).to_have_count(1)
    expect(form).to_contain_text("notes.pdf is of another kind; accepted: .txt.")
    expect(form.get_by_label("Your text")).to_be_focused()
    expect(form.get_by_label("Why")).to_have_value("Because")
    form.get_by_label("Your text").set_input_files(right)
    form.get_by_role("button", name="Read").click()
    told = stage.told()
    assert "['id', 'name', 'size', 'type'] my notes.txt 21" in told
    assert "Grüße aus der Datei" in told
    stage.is_steady(replies=2)
    link = form.get_by_role("link", name="my notes.txt")
    answer = stage.page.request.get(f"{stage.site.url}{link.get_attribute('href')}")
    assert answer.text() == "Grüße aus der Datei"
    assert "attachment" in answer.headers["content-disposition"]
    expect(stage.page.locator("#files").get_by_role("link")).to_have_text(["my notes.txt"])
