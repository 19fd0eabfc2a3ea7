"""Whatever happens to a page or its connection: it ends as one that never left, and what was typed stays."""

import asyncio
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Self

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import log_in
from tests.e2e.conftest import SIZES, Person
from tests.live import Site
from tests.provider import END, Gate, Provider, Request, Script, chunk, reply

FORM = """
```python agent.run
notes = []
mount(
    Card(TextField("note", label="Note"), SubmitButton("Keep"), title="Notes"),
    on_submit=lambda values: notes.append(values["note"]),
)
```

"""
HIDE = """hidden => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  const state = hidden ? "hidden" : "visible";
  Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
# Everything of the timeline that has a name, with its state: what a person sees, apart from the words.
STRUCTURE = """() => [...document.querySelectorAll("#timeline [id]")]
  .filter(e => !e.closest(".ui-field")).map(e => `${e.id} ${e.dataset.state ?? ""}`)"""


class Wire:
    """A way to the site that can break: cut (connections end) or frozen (they stay, and nothing comes)."""

    def __init__(self, port: int) -> None:
        self.target = port
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._writers: set[asyncio.StreamWriter] = set()
        self._flows = asyncio.Event()
        self._is_cut = False

    def __enter__(self) -> Self:
        self._thread.start()
        self._do(self._open)
        return self

    def __exit__(self, *_: object) -> None:
        self._do(self._close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def cut(self) -> None:
        """End all connections and take no new ones."""
        self._do(self._cut)

    def freeze(self) -> None:
        """Let nothing through, as when a lid is closed."""
        self._loop.call_soon_threadsafe(self._flows.clear)

    def mend(self) -> None:
        """Work again; what was frozen turns out to be dead."""
        self._do(self._cut)
        self._is_cut = False
        self._loop.call_soon_threadsafe(self._flows.set)

    def _do(self, work: Callable[[], Any]) -> None:
        asyncio.run_coroutine_threadsafe(work(), self._loop).result(10)

    async def _open(self) -> None:
        self._flows.set()
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        self._server.close()
        await self._cut()

    async def _cut(self) -> None:
        self._is_cut = True
        for writer in self._writers:
            writer.transport.abort()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.transport.abort()
            return
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, back}
        await asyncio.gather(self._pass(reader, back), self._pass(there, writer))
        self._writers -= {writer, back}

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                await self._flows.wait()
                writer.write(data)
                await writer.drain()
        writer.close()


class Story:
    """A reply in three parts; the test decides when the next one comes. Then `then`, if it is asked again."""

    def __init__(self, then: str = "No more.") -> None:
        self.prompt = f"tell me {uuid.uuid4()}"
        self.gates = [Gate(), Gate()]
        self.then = then
        self.requests: list[Request] = []

    def answer(self, request: Request) -> Script:
        if self.prompt not in request.messages[1]["content"]:
            return reply("That was another test.")
        self.requests.append(request)
        if len(self.requests) > 1:
            return reply(self.then.format(request.messages[-1]["content"]))
        first, second = self.gates
        return Script(
            [
                chunk({"content": "The first paragraph.\n\nThe second begins"}),
                first,
                chunk({"content": " and ends.\n" + FORM + "The third *paragraph*.\n\n- one\n"}),
                second,
                chunk({"content": "- two\n\nThe last words.\n"}),
                chunk({}, "stop"),
                END,
            ]
        )


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider() as running:
        yield running


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Iterator[Site]:
    data = tmp_path_factory.mktemp("nothing-lost")
    with Site(data, OPENAI_BASE_URL=provider.base_url, OPENAI_MODEL="told") as running:
        yield running


@pytest.fixture
def story(provider: Provider) -> Story:
    told = Story()
    provider.answer = told.answer
    return told


@pytest.fixture
def wire(site: Site) -> Iterator[Wire]:
    with Wire(site.port) as made:
        yield made


@pytest.fixture
def open_desk(
    new_page: Callable[..., Page], site: Site, problems: list[str]
) -> Iterator[Callable[[], Person]]:
    def make() -> Person:
        page = new_page(**SIZES["desk"])
        log_in(page, site)
        return Person(page, site)

    yield make
    # What the browser logs while there is no connection is no mistake of the page.
    away = (
        "ERR_CONNECTION",
        "ERR_INTERNET",
        "ERR_SOCKET",
        "ERR_EMPTY",
        "WebSocket",
        "ws:error",
        "Failed to load",
    )
    problems[:] = [line for line in problems if not any(words in line for words in away)]


def through(wire: Wire, person: Person) -> None:
    """Let a page of the site come over the wire instead."""
    person.page.goto(person.page.url.replace(str(person.site.port), str(wire.port)))


def same_as(person: Person, other: Person) -> None:
    """Both pages show the same."""
    expect(person.conversation).to_have_attribute(
        "data-state", other.conversation.get_attribute("data-state")
    )
    assert person.text() == other.text()
    assert person.page.evaluate(STRUCTURE) == other.page.evaluate(STRUCTURE)


# What happens to the page: what is done when it goes, and when it comes back.


def nothing(person: Person, wire: Wire) -> None:
    pass


def reload(person: Person, wire: Wire) -> None:
    person.page.reload()


def hide(person: Person, wire: Wire) -> None:
    person.page.evaluate(HIDE, True)


def show(person: Person, wire: Wire) -> None:
    person.page.evaluate(HIDE, False)


def go_offline(person: Person, wire: Wire) -> None:
    person.page.context.set_offline(True)
    wire.cut()
    expect(person.page.locator("#connection")).to_have_attribute("data-state", "offline")


def go_online(person: Person, wire: Wire) -> None:
    person.page.context.set_offline(False)
    wire.mend()


def cut(person: Person, wire: Wire) -> None:
    wire.cut()
    expect(person.page.locator("#connection")).to_have_attribute("data-state", "reconnecting")


def fall_asleep(person: Person, wire: Wire) -> None:
    wire.freeze()


def mend(person: Person, wire: Wire) -> None:
    wire.mend()


CASES = {
    "reload": (nothing, reload),
    "hidden tab": (hide, show),
    "offline": (go_offline, go_online),
    "cut connection": (cut, mend),
    "laptop sleep": (fall_asleep, mend),
}


@pytest.mark.parametrize("case", CASES)
def test_a_page_that_was_away(case: str, open_desk: Callable[[], Person], wire: Wire, story: Story) -> None:
    goes, comes = CASES[case]
    witness = open_desk()
    witness.start(story.prompt)
    person = open_desk()
    person.page.goto(witness.page.url)
    through(wire, person)
    log_in_over(wire, person, witness)
    for somebody in (witness, person):
        expect(somebody.timeline).to_contain_text("The second begins")
    composer = person.page.locator("textarea[name=text]")
    composer.fill("half a thought")

    goes(person, wire)
    story.gates[0].open()
    expect(witness.timeline).to_contain_text("The third paragraph")
    expect(witness.mounts).to_have_count(1)
    comes(person, wire)
    expect(person.timeline).to_contain_text("The third paragraph")
    person.is_online()
    same_as(person, witness)
    expect(composer).to_have_value("half a thought")
    note = person.mounts.get_by_role("textbox", name="Note")
    note.fill("not sent yet")

    goes(person, wire)
    story.gates[1].open()
    expect(witness.timeline).to_contain_text("The last words.")
    witness.becomes("idle")
    comes(person, wire)
    expect(person.timeline).to_contain_text("The last words.")
    person.becomes("idle")
    same_as(person, witness)
    expect(composer).to_have_value("half a thought")
    expect(note).to_have_value("not sent yet")
    # And the form works.
    with person.page.expect_response("**/submit/"):
        person.mounts.get_by_role("button", name="Keep").click()
    expect(note).to_have_value("")


def log_in_over(wire: Wire, person: Person, witness: Person) -> None:
    """Cookies don't depend on the port, so that the page is there already."""
    expect(person.page).to_have_url(witness.page.url.replace(str(witness.site.port), str(wire.port)))


def test_a_second_tab_and_a_second_device(open_desk: Callable[[], Person], story: Story, site: Site) -> None:
    first = open_desk()
    first.start(story.prompt)
    expect(first.timeline).to_contain_text("The second begins")
    tab = Person(first.page.context.new_page(), site)
    tab.page.goto(first.page.url)
    device = open_desk()
    device.page.goto(first.page.url)
    for person in (tab, device):
        expect(person.timeline).to_contain_text("The second begins")
    story.gates[0].open()
    for person in (tab, device):
        expect(person.mounts).to_have_count(1)
    device.mounts.get_by_role("textbox", name="Note").fill("typed here")
    first.page.locator("textarea[name=text]").fill("and there")
    story.gates[1].open()
    for person in (first, tab, device):
        expect(person.timeline).to_contain_text("The last words.")
        person.becomes("idle")
    same_as(tab, first)
    same_as(device, first)
    expect(device.mounts.get_by_role("textbox", name="Note")).to_have_value("typed here")
    expect(first.mounts.get_by_role("textbox", name="Note")).to_have_value("")
    expect(first.page.locator("textarea[name=text]")).to_have_value("and there")
    expect(tab.page.locator("textarea[name=text]")).to_have_value("")


def test_stop_from_another_tab_after_a_reload(open_desk: Callable[[], Person], story: Story) -> None:
    first = open_desk()
    first.start(story.prompt)
    expect(first.timeline).to_contain_text("The second begins")
    other = open_desk()
    other.page.goto(first.page.url)
    other.page.reload()
    other.page.get_by_role("button", name="Stop", exact=True).click()
    assert story.requests[0].disconnected.wait(2)  # a second, and what the browser takes
    for person in (first, other):
        person.becomes("idle")
        expect(person.replies).to_have_attribute("data-state", "stopped")
        expect(person.timeline).to_contain_text("The second begins")
    same_as(first, other)


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_server_that_starts_anew(
    how: str, open_desk: Callable[[], Person], story: Story, site: Site
) -> None:
    person = open_desk()
    person.start(story.prompt)
    expect(person.timeline).to_contain_text("The second begins")
    story.gates[0].open()
    note = person.mounts.get_by_role("textbox", name="Note")
    note.fill("not sent yet")
    composer = person.page.locator("textarea[name=text]")
    composer.fill("half a thought")
    expect(person.timeline).to_contain_text("The third paragraph")
    story.then = "I was interrupted. The last words."  # it had run code, so the model goes on
    getattr(site, how)()
    assert "Traceback" not in site.output, site.output
    username, password = site.username, site.password
    site.start()
    site.username, site.password = username, password
    expect(person.timeline).to_contain_text("I was interrupted. The last words.")
    person.becomes("idle")
    expect(composer).to_have_value("half a thought")
    expect(note).to_have_value("not sent yet")
    expect(person.replies.first).to_have_attribute("data-state", "incomplete")
    expect(person.timeline).to_contain_text("The third paragraph")
    other = open_desk()
    other.page.goto(person.page.url)
    other.becomes("idle")
    same_as(person, other)


def test_a_text_that_a_restart_cut_is_told_again(
    open_desk: Callable[[], Person], story: Story, site: Site
) -> None:
    person = open_desk()
    person.start(story.prompt)
    expect(person.timeline).to_contain_text("The second begins")
    story.then = "All of it, again."
    site.kill()
    username, password = site.username, site.password
    site.start()
    site.username, site.password = username, password
    expect(person.timeline).to_contain_text("All of it, again.")
    person.becomes("idle")
    expect(person.replies).to_have_count(2)
    expect(person.replies.first).to_have_attribute("data-state", "incomplete")
    expect(person.timeline).to_contain_text("The second begins")


def test_what_is_typed_while_a_message_is_on_its_way_stays(
    open_desk: Callable[[], Person], story: Story
) -> None:
    person = open_desk()
    person.start(story.prompt)
    expect(person.timeline).to_contain_text("The second begins")
    page, held = person.page, []
    page.route("**/message/", lambda route: route.continue_() if held else held.append(route))
    with page.expect_request("**/message/"):
        person.say("first thing")
    composer, send = page.locator("textarea[name=text]"), page.get_by_role("button", name="Send", exact=True)
    composer.fill("second thing")
    expect(send).to_be_disabled()
    held[0].continue_()
    expect(send).to_be_enabled()
    expect(composer).to_have_value("second thing")
    page.reload()
    expect(composer).to_have_value("second thing")
    send.click()
    expect(page.locator("#queue li")).to_have_count(2)
    expect(composer).to_have_value("")


def test_messages_wait_visibly_while_the_agent_works(open_desk: Callable[[], Person], story: Story) -> None:
    person = open_desk()
    person.start(story.prompt)
    expect(person.timeline).to_contain_text("The second begins")
    queue = person.page.locator("#queue")
    for number, text in enumerate(("first thing", "second thing", "third thing"), 1):
        person.say(text)
        expect(queue.locator("li")).to_have_count(number)
    expect(person.timeline).not_to_contain_text("first thing")
    person.page.reload()
    expect(queue.locator("li")).to_have_count(3)
    second = queue.locator("li").nth(1)
    second.get_by_role("button", name="Edit").click()
    queue.get_by_role("textbox").fill("second thing, better")
    queue.get_by_role("button", name="Save").click()
    expect(queue).to_contain_text("second thing, better")
    queue.locator("li").nth(2).get_by_role("button", name="Delete").click()
    expect(queue.locator("li")).to_have_count(2)
    story.then = "You said: {}"
    queue.get_by_role("button", name="Stop the agent and send this now").click()
    expect(person.timeline).to_contain_text("You said: first thing")
    expect(person.timeline).to_contain_text("You said: second thing, better")
    person.becomes("idle")
    expect(queue.locator("li")).to_have_count(0)
    expect(person.replies.first).to_have_attribute("data-state", "stopped")
    said = person.page.locator(".message[data-role=user] .text").all_inner_texts()
    assert [words.strip() for words in said] == [story.prompt, "first thing", "second thing, better"]
