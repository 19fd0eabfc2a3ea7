"""What browser tests share: a person on a page, on a desk and on a phone."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import log_in
from tests.live import Site
from tests.provider import Provider

if TYPE_CHECKING:
    from tests.e2e.stage import Stage

expect.set_options(timeout=20_000)

SIZES = {
    "desk": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}


class Person:
    """Somebody who is logged in and uses a page."""

    def __init__(self, page: Page, site: Site) -> None:
        self.page = page
        self.site = site
        self.timeline = page.locator("#timeline")
        self.conversation = page.locator("#conversation")
        self.replies = page.locator(".message[data-role=assistant]")
        self.mounts = page.locator("section.mount")

    def start(self, prompt: str) -> None:
        """Start a conversation with a message."""
        self.page.goto(self.site.url)
        self.page.get_by_role("textbox", name="message").first.fill(prompt)
        self.page.get_by_role("button", name="Send").click()
        self.page.wait_for_url("**/c/**")

    def choose(self, example: str) -> None:
        """Start a conversation with one of the examples."""
        self.page.goto(self.site.url)
        self.page.get_by_role("button", name=example).click()
        self.page.wait_for_url("**/c/**")

    def say(self, text: str) -> None:
        """Send a message."""
        self.page.locator("textarea[name=text]").fill(text)
        self.page.get_by_role("button", name="Send", exact=True).click()

    def is_online(self) -> None:
        """Wait until the page has its socket."""
        expect(self.page.locator("#connection")).to_have_attribute("data-state", "online")

    def becomes(self, state: str) -> None:
        """Wait until the conversation is in a state."""
        expect(self.conversation).to_have_attribute("data-state", state)

    def is_quiet(self, replies: int) -> None:
        """Wait until so many replies are there and the agent has nothing more to do."""
        expect(self.replies).to_have_count(replies)
        expect(self.replies.last).not_to_have_attribute("data-state", "streaming")
        self.becomes("idle")

    def text(self) -> str:
        """Return the words of the timeline, white space and ages of messages aside."""
        return self.page.evaluate(TIMELINE_TEXT)


# The words of the timeline; <time> differs from one look to the next.
TIMELINE_TEXT = """() => {
  const copy = document.querySelector("#timeline").cloneNode(true);
  for (const time of copy.querySelectorAll("time")) time.remove();
  return copy.textContent.replace(/\\s+/g, " ").trim();
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site with the demo model in a hurry."""
    with Site(tmp_path_factory.mktemp("site"), DEMO_SPEED="3") as running:
        yield running


@pytest.fixture(params=SIZES)
def person(request: pytest.FixtureRequest, new_page: Callable[..., Page], site: Site) -> Person:
    """A person at a desk, and one with a phone."""
    page = new_page(**SIZES[request.param])
    log_in(page, site)
    return Person(page, site)


@pytest.fixture
def at_desk(new_page: Callable[..., Page], site: Site) -> Person:
    """A person at a desk."""
    page = new_page(**SIZES["desk"])
    log_in(page, site)
    return Person(page, site)


@pytest.fixture(scope="session")
def model() -> Iterator[Provider]:
    """A model server for all tests that say what the model replies."""
    with Provider() as running:
        yield running


@pytest.fixture(scope="session")
def scripted(tmp_path_factory: pytest.TempPathFactory, model: Provider) -> Iterator[Site]:
    """The site with that model; one for all tests, since each has conversations of its own."""
    variables = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": "none", "OPENAI_MODEL": "scripted"}
    with Site(tmp_path_factory.mktemp("scripted"), **variables) as running:
        yield running


@pytest.fixture
def stage(
    new_page: Callable[..., Page], scripted: Site, model: Provider, problems: list[str]
) -> Iterator["Stage"]:
    """A person at a desk whose model says what the test wants."""
    from tests.e2e.stage import Stage

    page = new_page(**SIZES["desk"])
    log_in(page, scripted)
    stage = Stage(page, scripted, model)
    yield stage
    # What the browser logs while it is offline is no mistake of the page.
    offline = ("ERR_INTERNET_DISCONNECTED", "htmx:ws:error")
    problems[:] = [line for line in problems if not any(words in line for words in offline)]
    for request in stage.requests:
        print("The model was told:", request.messages[-1]["content"])  # noqa: T201 - shown when a test failed
