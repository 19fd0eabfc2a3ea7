"""Forms in a real browser: errors, answers, the next round."""

from functools import partial

from playwright.sync_api import expect

from chat.ui.render import MountContext
from tests.ui.harness import UI

Card, Checkbox, Form, NumberField, SubmitButton, TextField = (
    UI[name] for name in ("Card", "Checkbox", "Form", "NumberField", "SubmitButton", "TextField")
)


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
    harness.until(lambda: harness.submits == [{"name": "Ada", "guests": 4, "terrace": False}])


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
    harness.until(lambda: harness.submits)
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
    harness.until(lambda: [values["name"] for values in harness.submits] == ["Ada", "Bob"])


def test_the_next_round_may_come_before_the_answer_of_the_request(page, harness):
    harness.show(page, Card(TextField("task"), SubmitButton("Add")))
    field = page.get_by_role("textbox", name="Task")
    for done, task in enumerate(["Milk", "Bread", "Salt"]):
        field.fill(task)
        harness.gate.clear()
        field.press("Enter")
        harness.until(partial(seen, harness.posts, done + 1))
        tree = Card(TextField("task"), SubmitButton("Add"), title=f"{done} before")
        harness.update(page, tree, MountContext("m1", url="/m/m1/", token=f"round {done}"))
        expect(field).to_have_value("")
        harness.gate.set()
        harness.until(partial(seen, harness.submits, done + 1))
    assert [values["task"] for values in harness.submits] == ["Milk", "Bread", "Salt"]


def test_what_is_typed_for_the_next_round_stays(page, harness):
    harness.show(page, Card(TextField("task"), TextField("note", required=False), SubmitButton("Add")))
    page.get_by_label("Task").fill("Milk")
    page.get_by_label("Note").fill("two")
    page.get_by_label("Task").press("Enter")
    harness.until(lambda: harness.submits)
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
    harness.until(lambda: len(harness.submits) == 1)
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
    harness.until(lambda: harness.submits)
    page.get_by_label("Outer").fill("out")
    page.get_by_role("button", name="Send outer").click()
    harness.until(lambda: harness.submits == [{"name": "in"}, {"name": "out"}])


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
