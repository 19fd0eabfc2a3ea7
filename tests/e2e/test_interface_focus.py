"""Focus, announcements and small helps on the real site."""

from pathlib import Path

from playwright.sync_api import expect

from tests.browser import until
from tests.e2e.stage import Stage, run
from tests.provider import Gate

SAID = """() => {
  window.said = [];
  new MutationObserver((lines) => {
    said.push(...lines.flatMap(({ addedNodes }) => [...addedNodes].map((line) => line.textContent)));
  }).observe(document.getElementById("announcer"), { childList: true });
}"""
FORM = run("""
answer = await ask(Card(TextField("name", label="Name"), SubmitButton("Go"), title="Who are you?"))
""")
SECOND = run("""
other = await ask(Card(TextField("town", label="Town"), SubmitButton("Go")))
""")


def test_the_focus_goes_to_a_new_form(stage: Stage) -> None:
    gate = Gate()
    stage.play("First a word.\n\n", gate, FORM, SECOND)
    expect(stage.timeline).to_contain_text("First a word.")
    gate.open()
    expect(stage.mount.get_by_label("Name")).to_be_focused()
    stage.page.keyboard.type("Ada")
    stage.page.keyboard.press("Enter")
    expect(stage.mount.get_by_label("Town")).to_be_focused()  # though what had the focus is gone
    stage.page.keyboard.type("Graz")
    stage.page.keyboard.press("Tab")
    stage.page.keyboard.press("Enter")
    expect(stage.mount).to_have_attribute("data-state", "submitted")
    expect(stage.mount).to_be_focused()  # so that Tab goes on from here
    stage.is_steady()


def test_the_focus_stays_with_who_types(stage: Stage) -> None:
    gate = Gate()
    stage.play(run('mount(Card(TextField("note", label="Note")))'), "Some words.\n\n", gate, FORM)
    box = stage.page.locator("#text")
    box.fill("I was just about to")
    gate.open()
    expect(stage.mounts).to_have_count(2)
    stage.becomes("waiting")
    expect(box).to_be_focused()
    expect(box).to_have_value("I was just about to")
    stage.mount.get_by_label("Name").fill("Ada")
    stage.mount.get_by_label("Name").press("Enter")
    stage.is_steady()


def test_a_new_form_and_a_finished_message_are_announced_once(stage: Stage) -> None:
    gate, end = Gate(), Gate()
    stage.play("First a word.\n\n", gate, FORM, "Thank you.", end)
    expect(stage.timeline).to_contain_text("First a word.")
    stage.page.evaluate(SAID)
    gate.open()
    stage.becomes("waiting")
    stage.mount.get_by_label("Name").fill("A")
    stage.mount.get_by_label("Name").fill("Ada")
    stage.mount.get_by_label("Name").press("Enter")
    expect(stage.timeline).to_contain_text("Thank you.")
    end.open()
    stage.is_steady()
    until(stage.page, "said.some((text) => text.startsWith('Agent:'))")
    assert sorted(stage.page.evaluate("said")) == [
        "Agent: First a word. Thank you.",
        "New form: Who are you?",
        "The agent waits for you.",
    ]
    expect(stage.timeline).to_have_attribute("aria-live", "off")


def test_a_choice_is_made_by_one_click_and_stays_to_be_seen(stage: Stage) -> None:
    stage.play(run('size = await choose("Which size?", {1: "Small", 2: "Large"})\nprint("size", repr(size))'))
    stage.mount.get_by_role("button", name="Large").click()
    assert "size 2" in stage.told()
    expect(stage.mount.get_by_role("button")).to_have_count(0)
    expect(stage.mount.get_by_text("Which size?")).to_be_visible()
    expect(stage.mount.get_by_text("Large")).to_be_visible()
    stage.is_steady(replies=2)


# Code


def test_code_in_a_message_is_copied(stage: Stage) -> None:
    stage.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    gate = Gate()
    stage.play("Here:\n\n```python\nfor n in range(3):\n", gate, "    print(n)\n```\n\nThat is it.")
    button = stage.timeline.get_by_role("button", name="Copy code")
    expect(button).to_have_count(1)
    gate.open()
    stage.is_steady()
    expect(button).to_have_count(1)
    assert "Copy" not in stage.text()
    button.focus()
    stage.page.keyboard.press("Enter")
    expect(button).to_have_text("Copied")
    assert stage.page.evaluate("navigator.clipboard.readText()") == "for n in range(3):\n    print(n)\n"
    assert button.evaluate("button => getComputedStyle(button).opacity") == "1"
    expect(stage.page.locator("#announcer")).to_contain_text("Copied")


# Files


def test_files_are_attached_shown_and_read(stage: Stage, tmp_path: Path) -> None:
    stage.play("Send me a file.")
    stage.is_steady()
    page = stage.page
    one, two = tmp_path / "rivers.csv", tmp_path / "notes.txt"
    one.write_text("name,km\nDanube,2850\nRhine,1233\n")
    two.write_text("Remember the sea.")
    # A first listener makes the browser hand over its dialogs. Chromium does that some time after it
    # was asked, and a key that overtakes it opens a dialog nobody sees: so it is asked well before.
    page.on("filechooser", lambda chooser: None)
    other = stage.second_page()
    page.bring_to_front()
    stage.page.locator("#text").fill("What is in it?")
    attach = page.get_by_label("Attach files")
    attach.focus()
    expect(attach).to_be_focused()
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Enter")
    chooser.value.set_files([one, two])
    chips = page.locator("#files").get_by_role("link")
    expect(chips).to_have_text(["rivers.csv", "notes.txt"])
    expect(other.page.locator("#files").get_by_role("link")).to_have_text(["rivers.csv", "notes.txt"])
    other.page.close()
    expect(attach).to_be_focused()
    expect(stage.page.locator("#text")).to_have_value("What is in it?")
    stage.queue(
        run("""
print([file["name"] for file in await files_list()])
print(await files_read_csv("rivers.csv"))
print(await files_read_text("notes.txt"))
""")
    )
    stage.page.get_by_role("button", name="Send", exact=True).click()
    told = stage.told(3)
    assert "['rivers.csv', 'notes.txt']" in told
    assert "{'name': 'Danube', 'km': 2850}" in told
    assert "Remember the sea." in told
    stage.is_steady(replies=3)
    page.reload()
    expect(chips).to_have_text(["rivers.csv", "notes.txt"])
    answer = page.request.get(f"{stage.site.url}{chips.first.get_attribute('href')}")
    assert answer.text() == one.read_text()


def test_a_file_that_is_not_taken_says_why(stage: Stage, tmp_path: Path) -> None:
    stage.play("Send me a file.")
    stage.is_steady()
    large = tmp_path / "<b>large<b>.bin"
    with large.open("wb") as file:
        file.truncate(10 * 1024 * 1024 + 1)
    error = stage.page.locator("#attach-error")
    for _ in range(2):  # the same one may be chosen again
        stage.page.get_by_label("Attach files").set_input_files(large)
        expect(error).to_contain_text(
            "“<b>large<b>.bin” is too large (10485761 bytes). At most 10 MB are accepted."
        )
        error.evaluate("place => place.textContent = ''")
    expect(stage.page.locator("#files a")).to_have_count(0)
    small = tmp_path / "small.txt"
    small.write_text("x")
    stage.page.get_by_label("Attach files").set_input_files(small)
    expect(stage.page.locator("#files a")).to_have_text(["small.txt"])
    expect(error).to_be_empty()


def test_a_message_shows_its_time(stage: Stage) -> None:
    stage.play("Hello.")
    stage.is_steady()
    for message in stage.page.locator(".message").all():
        time = message.locator("header time")
        expect(time).to_have_text("just now")
        assert time.evaluate("time => getComputedStyle(time).opacity") == "1"
