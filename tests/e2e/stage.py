"""A person on the real site whose model says what the test wants."""

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import Person
from tests.live import Site
from tests.provider import END, Gate, Provider, Request, Script, Step, chunk, reply

REPLIES = Path(__file__).parent.parent / "replies"

type Part = str | Gate


def golden(name: str) -> str:
    """Return a golden reply without the comment that says what must happen."""
    return re.sub(r"\A<!--.*?-->\n", "", (REPLIES / f"{name}.md").read_text(), flags=re.DOTALL)


def run(code: str) -> str:
    """Return a run block."""
    return f"```python agent.run\n{code.strip()}\n```\n"


def data(target: str, *parts: Part) -> list[Part]:
    """Return a data block in parts, with gates between them where the test says so."""
    return [f'```json agent.data => "{target}"\n', *parts, "\n```\n"]


def said(*parts: Part) -> Script:
    """Return a reply of which each part is sent by itself, and what follows a gate when the test opens it."""
    steps: list[Step] = [part if isinstance(part, Gate) else chunk({"content": part}) for part in parts]
    return Script([chunk({"role": "assistant", "content": ""}), *steps, chunk({}, "stop"), END])


KEEP_SOCKET = """
addEventListener("htmx:after:ws:connection", ({ detail }) => (window.socket = detail.connection.socket));
"""


class Stage(Person):
    """A person, and the model that answers them; what is not queued ends the turn with a word."""

    def __init__(self, page: Page, site: Site, provider: Provider) -> None:
        super().__init__(page, site)
        page.add_init_script(KEEP_SOCKET)
        self.provider = provider
        provider.answer = lambda request: reply("Done.")
        self.first = len(provider.requests)

    @property
    def requests(self) -> list[Request]:
        """What the model was asked in this test."""
        return self.provider.requests[self.first :]

    def told(self, number: int = 2) -> str:
        """Return what the model was told last in the test's request of this number, once it has come."""
        request = self.provider.wait_for_request(self.first + number, 20)
        return request.messages[-1]["content"]

    def play(self, *parts: Part, prompt: str = "Go on") -> None:
        """Start a conversation that the model answers with these parts; return when the page is online."""
        self.queue(*parts)
        self.start(prompt)
        self.is_online()

    def queue(self, *parts: Part) -> None:
        """Let the model's next reply have these parts."""
        self.provider.queue(said(*parts))

    @property
    def mount(self) -> Locator:
        """The newest interface."""
        return self.mounts.last

    def is_steady(self, replies: int = 1) -> None:
        """Wait until the agent is idle, and see that the model was asked once per reply."""
        self.is_quiet(replies)
        assert len(self.requests) == replies, [request.messages[-1] for request in self.requests]

    def second_page(self) -> "Stage":
        """Return the same person on another tab of the conversation, sharing the model."""
        page = self.page.context.new_page()
        other = Stage(page, self.site, self.provider)
        page.goto(self.page.url)
        other.first = self.first
        other.is_online()
        return other

    def leave(self) -> None:
        """Lose the connection; the page misses what happens until it comes back."""
        self.page.context.set_offline(True)
        self.page.evaluate("socket.close()")
        expect(self.page.locator("#connection")).not_to_have_attribute("data-state", "online")

    def come_back(self) -> None:
        """Be connected again."""
        self.page.context.set_offline(False)
        self.is_online()


def is_focused(locator: Locator) -> None:
    """Wait until an element has the focus."""
    expect(locator).to_be_focused()
