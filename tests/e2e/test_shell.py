"""The pages around the agent in a browser: accounts, list, message box, colours, keyboard, small screens."""

import re
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser import until
from tests.conftest import PASSWORD, log_in
from tests.e2e.conftest import Person
from tests.live import Site

COUNTER = "A counter"
AT_THE_END = "innerHeight + scrollY > document.documentElement.scrollHeight - 100"
WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}


def overflow(page: Page) -> int:
    """Return by how many pixels the page is wider than the window."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def box(page: Page) -> Page:
    return page.locator("textarea[name=text]")  # type: ignore[return-value]


def test_sign_up_log_out_log_in(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/")
    page.get_by_role("link", name="Sign up").click()
    page.get_by_label("Username").fill("grace")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password confirmation").fill(PASSWORD)
    page.get_by_role("button", name="Sign up").click()
    expect(page.get_by_text("No conversations yet")).to_be_visible()
    page.locator("summary", has_text="G").click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    log_in(page, site, "grace", PASSWORD)
    page.locator("summary", has_text="G").click()
    expect(page.get_by_role("link", name="Administration")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Log out")).to_be_hidden()


def test_enter_sends_and_shift_enter_makes_a_line(at_desk: Person) -> None:
    page = at_desk.page
    box(page).press_sequentially("First")
    box(page).press("Shift+Enter")
    box(page).press_sequentially("second")
    box(page).press("Enter")
    page.wait_for_url("**/c/**")
    expect(page.get_by_role("heading", level=1)).to_have_text("First")
    expect(at_desk.timeline).to_contain_text("second")
    expect(page).to_have_title(re.compile("First"))


def test_nothing_is_sent_from_an_empty_box(at_desk: Person) -> None:
    box(at_desk.page).press("Enter")
    box(at_desk.page).press_sequentially("  ")
    box(at_desk.page).press("Enter")
    expect(at_desk.page).to_have_url(f"{at_desk.site.url}/")


def test_a_draft_outlives_a_reload_and_goes_with_sending(at_desk: Person) -> None:
    page = at_desk.page
    at_desk.choose(COUNTER)
    at_desk.is_online()
    box(page).fill("half a thought")
    page.reload()
    expect(box(page)).to_have_value("half a thought")
    box(page).press("Enter")
    expect(box(page)).to_have_value("")
    expect(box(page)).to_be_focused()
    page.reload()
    expect(box(page)).to_have_value("")


def test_rename_and_delete_in_the_list_keep_the_focus(at_desk: Person) -> None:
    page = at_desk.page
    at_desk.choose(COUNTER)
    at_desk.choose("Book a table")
    page.goto(at_desk.site.url)
    entries = page.locator("li.conversation")
    before = entries.count()
    first, second = entries.nth(0), entries.nth(1)
    kept = second.locator(".conversation-title").inner_text()

    first.get_by_role("link", name="Rename").focus()
    page.keyboard.press("Enter")
    field = first.get_by_label("Title")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(first.get_by_role("link", name="Rename")).to_be_focused()
    page.keyboard.press("Enter")
    field.fill("Dinner for two")
    page.keyboard.press("Enter")
    expect(first.get_by_role("link", name="Rename “Dinner for two”")).to_be_focused()

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Delete “Dinner for two” for good?")).to_be_visible()
    expect(first.get_by_role("link", name="Keep")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(entries).to_have_count(before - 1)
    expect(page.get_by_role("link", name=kept, exact=False).first).to_be_focused()
    expect(page.locator("#announcer")).to_have_text("Deleted.")


def test_rename_and_delete_on_the_page(at_desk: Person) -> None:
    page = at_desk.page
    at_desk.choose(COUNTER)
    page.get_by_role("link", name="Rename this conversation").click()
    page.get_by_label("Title").fill("Clicks")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Clicks")
    expect(page).to_have_title("Clicks · Agent")
    expect(page.locator(".sidebar [aria-current]")).to_have_text("Clicks")
    page.get_by_role("link", name="Delete this conversation").click()
    page.get_by_role("button", name="Delete").click()
    expect(page).to_have_url(f"{at_desk.site.url}/")
    expect(page.get_by_text("Clicks")).to_have_count(0)


def test_search_as_one_types(at_desk: Person) -> None:
    page = at_desk.page
    at_desk.choose(COUNTER)
    at_desk.start("Something about zebras")
    page.goto(at_desk.site.url)
    page.get_by_role("searchbox").press_sequentially("zebras")
    expect(page.locator("li.conversation")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"\?q=zebras"))
    page.get_by_role("searchbox").fill("nowhere to be found")
    expect(page.get_by_text("Nothing found for “nowhere to be found”.")).to_be_visible()


def test_colours_are_chosen_and_kept(new_page: Callable[..., Page], site: Site) -> None:
    page = new_page(color_scheme="light")
    page.goto(f"{site.url}/accounts/login/")

    def background() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light = background()
    switch = page.get_by_role("button", name="Dark colours")
    expect(switch).to_have_attribute("aria-pressed", "false")
    switch.click()
    assert background() != light
    page.reload()  # rendered so by the server: nothing flashes
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert background() != light
    switch.click()
    assert background() == light


def test_the_connection_is_shown(at_desk: Person) -> None:
    at_desk.choose(COUNTER)
    at_desk.is_online()
    at_desk.page.context.set_offline(True)
    expect(at_desk.page.locator("#connection")).to_have_attribute("data-state", "offline")
    expect(at_desk.page.get_by_text("Offline")).to_be_visible()


def test_a_message_that_did_not_get_through_is_kept(at_desk: Person, problems: list[str]) -> None:
    page = at_desk.page
    at_desk.choose(COUNTER)
    at_desk.is_online()
    ids: list[str] = []
    page.on("request", lambda request: "/message/" in request.url and ids.append(request.post_data or ""))
    page.route("**/message/", lambda route: route.fulfill(status=503, body="busy"), times=1)
    box(page).fill("Are you there?")
    box(page).press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Something went wrong")
    expect(box(page)).to_have_value("Are you there?")
    box(page).press("Enter")
    expect(box(page)).to_have_value("")
    expect(at_desk.timeline.get_by_text("Are you there?")).to_have_count(1)
    assert len(ids) == 2
    assert ids[0] == ids[1]  # the same id, so that it could not have had its effect twice
    assert "503" in problems.pop()


def test_a_finished_reply_is_announced_once(at_desk: Person) -> None:
    at_desk.page.add_init_script("""
      window.said = [];
      addEventListener("DOMContentLoaded", () => new MutationObserver((lines) => {
        said.push(...lines.flatMap(({ addedNodes }) => [...addedNodes].map((line) => line.textContent)));
      }).observe(document.getElementById("announcer"), { childList: true }));
    """)
    at_desk.choose("Markdown in a panel")
    at_desk.becomes("idle")
    expect(at_desk.page.locator("#announcer")).to_contain_text("Agent:")
    assert len(at_desk.page.evaluate("said.filter((text) => text.startsWith('Agent:'))")) == 1


def test_a_reader_who_scrolled_up_is_left_alone(at_desk: Person) -> None:
    page = at_desk.page
    at_desk.choose("A long answer")
    until(page, "document.documentElement.scrollHeight > innerHeight + 300")
    until(page, "innerHeight + scrollY > document.documentElement.scrollHeight - 100")  # it follows
    page.mouse.move(640, 400)
    page.mouse.wheel(0, -5000)
    until(page, "scrollY === 0")
    height = page.evaluate("document.documentElement.scrollHeight")
    until(page, f"document.documentElement.scrollHeight > {height} + 100")
    assert page.evaluate("scrollY") == 0
    page.get_by_role("button", name="Newest message").click()
    until(page, AT_THE_END)


def test_the_keyboard_reaches_the_message_box_at_once(at_desk: Person) -> None:
    page = at_desk.page
    at_desk.choose(COUNTER)
    page.reload()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the message box")).to_be_focused()
    page.keyboard.press("Enter")
    expect(box(page)).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_pages_fit_and_are_accessible(
    new_page: Callable[..., Page], site: Site, scheme: str, width: int
) -> None:
    page = new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    for path in ["/accounts/login/", "/accounts/signup/"]:
        page.goto(f"{site.url}{path}")
        is_fine(page)
    log_in(page, site)
    is_fine(page)
    page.get_by_role("button", name=COUNTER).click()
    expect(page.locator("section.mount")).to_be_visible()
    expect(page.locator("#conversation")).to_have_attribute("data-state", "idle")
    page.locator("details.run > summary").first.click()
    is_fine(page)
    page.goto(f"{site.url}/accounts/password/")
    is_fine(page)


def is_fine(page: Page) -> None:
    """Check that nothing sticks out of the page, and that axe finds nothing."""
    assert overflow(page) <= 0, page.url
    found = Axe().run(page, options=WCAG).response["violations"]
    assert [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in found] == []


def test_staff_read_a_transcript_under_the_content_policy(at_desk: Person) -> None:
    page = at_desk.page
    at_desk.choose("Book a table")
    at_desk.becomes("waiting")
    page.goto(f"{at_desk.site.url}/admin/chat/conversation/")
    page.get_by_role("link", name="I would like to book a table for tonight").first.click()
    expect(page.get_by_text("With pleasure!").first).to_be_visible()
    expect(page.get_by_text("Mount m1")).to_be_visible()
