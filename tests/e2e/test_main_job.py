"""The main job in a real browser, at a desk and on a phone: ask, watch, answer, go on."""

import re

from playwright.sync_api import expect

from tests.e2e.conftest import Person


def test_a_table_is_booked(person: Person) -> None:
    person.choose("Book a table")
    expect(person.timeline).to_contain_text("With pleasure!")
    expect(person.mounts).to_have_count(0)  # the text is there before the form
    person.becomes("waiting")
    form = person.mounts.first
    expect(form).to_have_attribute("data-state", "open")
    expect(person.timeline).not_to_contain_text("Thank you, I have noted that.")

    form.get_by_label("Your name").fill("A")
    form.get_by_label("Guests").fill("2")
    form.get_by_label("Time").select_option("19:30")
    form.locator("form").evaluate("form => form.noValidate = true")  # so that the site has to say no
    form.get_by_role("button", name="Book").click()
    expect(form.locator("[aria-invalid=true]")).to_have_count(1)
    expect(form.get_by_label("Your name")).to_be_focused()
    expect(form.get_by_label("Time")).to_have_value("19:30")
    person.becomes("waiting")

    form.get_by_label("Your name").fill("Ada")
    form.get_by_role("button", name="Book").click()
    expect(person.timeline).to_contain_text("Thank you, I have noted that.")
    expect(form).to_have_attribute("data-state", "submitted")
    expect(form).to_contain_text("Ada")
    expect(form.get_by_role("button")).to_have_count(0)
    expect(person.replies.last).to_contain_text("Your table is reserved")
    person.becomes("idle")
    expect(person.replies.last).to_have_attribute("data-state", "done")

    before = person.text()
    person.page.reload()
    assert person.text() == before


def test_a_counter_counts_without_the_model(person: Person) -> None:
    person.choose("A counter")
    person.is_quiet(replies=1)
    panel = person.mounts.first
    for number in (1, 2, 3):
        panel.get_by_role("button", name="+1").click()
        expect(panel).to_contain_text(re.compile(rf"Count\s*{number}\D"))
    person.is_quiet(replies=1)


def test_a_table_grows_while_its_data_streams(person: Person) -> None:
    person.choose("A film table")
    rows = person.mounts.first.locator("tbody tr")
    expect(rows.first).to_be_visible()
    person.becomes("running")
    seen = {rows.count()}
    while person.conversation.get_attribute("data-state") == "running":
        seen.add(rows.count())
    assert len(seen) > 2, seen
    person.is_quiet(replies=1)


def test_stop_in_the_middle_of_a_long_reply(person: Person) -> None:
    person.choose("A long answer")
    expect(person.replies.first.locator("p").nth(1)).to_be_visible()
    person.page.get_by_role("button", name="Stop", exact=True).click()
    person.becomes("idle")
    expect(person.replies.first).to_have_attribute("data-state", "stopped")
    expect(person.replies.first.locator(".note")).to_have_text("You stopped this reply.")
    before = person.text()
    person.page.reload()
    assert person.text() == before


def test_a_mistake_is_repaired(person: Person) -> None:
    person.choose("A mistake, repaired")
    person.is_quiet(replies=2)
    expect(person.page.locator("details.run[data-state=failed]")).to_have_count(1)
    expect(person.mounts.last).to_contain_text("Sent")


def test_three_questions(person: Person) -> None:
    person.choose("Three questions")
    person.becomes("waiting")
    person.mounts.last.get_by_role("textbox").fill("Ada")
    person.mounts.last.get_by_role("button").click()
    for guess in ("3", "7"):
        field = person.mounts.last.get_by_role("spinbutton")
        expect(field).to_be_visible()
        expect(field).to_have_value("")
        field.fill(guess)
        count = person.mounts.count()
        person.mounts.last.get_by_role("button").click()
        expect(person.mounts).to_have_count(count + 1)
    person.mounts.last.get_by_role("checkbox").first.check()
    person.mounts.last.get_by_role("button").click()
    person.is_quiet(replies=2)


def test_a_to_do_list_stays(person: Person) -> None:
    person.choose("A to-do list")
    person.is_quiet(replies=1)
    app = person.mounts.first
    for task in ("Milk", "Bread"):
        app.get_by_role("textbox").fill(task)
        app.get_by_role("textbox").press("Enter")
        expect(app).to_contain_text(task)
        expect(app.get_by_role("textbox")).to_have_value("")
    person.is_quiet(replies=1)


def test_a_message_ends_a_wait(person: Person) -> None:
    person.choose("Book a table")
    person.becomes("waiting")
    person.say("show me a counter instead")
    expect(person.mounts.first).to_have_attribute("data-state", "dismissed")
    expect(person.page.locator("details.run").first.locator("summary")).to_contain_text("stopped")
    expect(person.page.locator(".message[data-role=user]")).to_have_count(2)
    person.is_quiet(replies=2)
