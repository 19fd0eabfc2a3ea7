"""A server dies while code waits for a person: the page stays open, a new server comes, the code goes on."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.conftest import log_in
from tests.e2e.conftest import SIZES, Person
from tests.live import Site
from tests.provider import Provider, reply

TWO_WAITS = """Two questions.

```python agent.run
steps = []
steps.append("begun")
first = await ask(Card(TextField("city", label="City"), SubmitButton("Next"), title="One"))
steps.append(first["city"])
second = await ask(Card(TextField("street", label="Street"), SubmitButton("Finish"), title="Two"))
steps.append(second["street"])
print("all", steps)
```

That was all I wanted to know.
"""

CALLBACK = """A counter and a form.

```python agent.run
data = Data(count=0)

def more():
    data.count += 1

mount(lambda: Card(Metric("Count", data.count), Button("More", on_click=more)))
answer = await ask(Card(TextField("name", label="Name"), SubmitButton("Go")))
print("got", answer["name"], data.count)
```
"""

FORGET = """I ask first.

```python agent.run
await memory_set("colour", "blue")
count = await memory_clear()
print("forgot", count)
```
"""


class Deaths:
    """A site on one folder and port that dies and comes back."""

    def __init__(self, data: Path, **variables: str) -> None:
        self.data = data
        self.variables = variables
        self.site = Site(data, **variables).start()
        self.output = ""

    def die(self) -> None:
        """Kill the server, and start another one in its place."""
        self.site.kill()
        self.output += self.site.output
        again = Site(self.data, port=self.site.port, **self.variables)
        again.username, again.password = self.site.username, self.site.password
        self.site = again.start()

    def close(self) -> None:
        self.site.stop()
        self.output += self.site.output


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider() as running:
        yield running


@pytest.fixture(scope="module")
def deaths(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Iterator[Deaths]:
    data = tmp_path_factory.mktemp("deaths")
    running = Deaths(data, OPENAI_BASE_URL=provider.base_url, OPENAI_API_KEY="none", OPENAI_MODEL="scripted")
    yield running
    running.close()
    print(running.output)  # noqa: T201 - shown when something failed


@pytest.fixture
def person(new_page: Callable[..., Page], deaths: Deaths, problems: list[str]) -> Iterator[Person]:
    page = new_page(**SIZES["desk"])
    log_in(page, deaths.site)
    yield Person(page, deaths.site)
    # What the browser logs while there is no server is no mistake of the page.
    problems[:] = [line for line in problems if not is_of_the_death(line)]


def is_of_the_death(line: str) -> bool:
    """Whether the browser says no more than that the server was away."""
    return any(words in line for words in ("ERR_CONNECTION", "WebSocket", "ws:error"))


def submit(person: Person, label: str, text: str, button: str) -> None:
    """Fill the newest mount's only field and submit it."""
    form = person.mounts.last
    form.get_by_label(label).fill(text)
    form.get_by_role("button", name=button).click()


def feedback(provider: Provider, start: int) -> list[str]:
    """Return what the model was told after each reply since request number `start`."""
    return [request.messages[-1]["content"] for request in provider.requests[start + 1 :]]


def test_two_waits_over_two_deaths(person: Person, deaths: Deaths, provider: Provider) -> None:
    start = len(provider.requests)
    provider.queue(reply(TWO_WAITS), reply("Thank you, that is all."))
    person.start("ask me")
    person.becomes("waiting")
    deaths.die()
    submit(person, "City", "Bern", "Next")
    expect(person.mounts).to_have_count(2)
    expect(person.mounts.first).to_have_attribute("data-state", "submitted")
    expect(person.timeline).not_to_contain_text("That was all I wanted to know")
    person.becomes("waiting")
    deaths.die()
    submit(person, "Street", "Marktgasse", "Finish")
    expect(person.timeline).to_contain_text("That was all I wanted to know")
    expect(person.timeline).to_contain_text("Thank you, that is all.")
    person.becomes("idle")
    told = feedback(provider, start)
    assert len(told) == 1
    assert told[0].endswith("all ['begun', 'Bern', 'Marktgasse']")
    before = person.text()
    person.page.reload()
    assert person.text() == before


def test_a_callback_between_death_and_submit(person: Person, deaths: Deaths, provider: Provider) -> None:
    start = len(provider.requests)
    provider.queue(reply(CALLBACK), reply("Good."))
    person.start("count")
    person.becomes("waiting")
    counter = person.mounts.first
    counter.get_by_role("button", name="More").click()
    expect(counter).to_contain_text("1")
    deaths.die()
    counter.get_by_role("button", name="More").click()
    expect(counter).to_contain_text("2")
    deaths.die()
    submit(person, "Name", "Ada", "Go")
    expect(person.timeline).to_contain_text("Good.")
    assert [words.splitlines()[-1] for words in feedback(provider, start)] == ["got Ada 2"]


def test_an_approval_over_a_death(person: Person, deaths: Deaths, provider: Provider) -> None:
    start = len(provider.requests)
    provider.queue(reply(FORGET), reply("Forgotten."))
    person.start("forget me")
    person.becomes("waiting")
    card = person.mounts.last
    expect(card).to_contain_text("memory_clear")
    deaths.die()
    card.get_by_role("button", name="Approve").click()
    expect(person.timeline).to_contain_text("Forgotten.")
    expect(card).to_have_attribute("data-state", "submitted")
    expect(card).to_contain_text("Approved")
    expect(card.get_by_role("button")).to_have_count(0)
    assert [words.splitlines()[-1] for words in feedback(provider, start)] == ["forgot 1"]


def test_another_browser_answers(
    person: Person, deaths: Deaths, provider: Provider, browser: Browser, new_page: Callable[..., Page]
) -> None:
    start = len(provider.requests)
    provider.queue(reply(TWO_WAITS), reply("Thank you, that is all."))
    person.start("ask me")
    person.becomes("waiting")
    address = person.page.url
    person.page.close()
    deaths.die()
    page = new_page(**SIZES["phone"])
    log_in(page, deaths.site)
    page.goto(address)
    other = Person(page, deaths.site)
    other.becomes("waiting")
    submit(other, "City", "Bern", "Next")
    expect(other.mounts).to_have_count(2)
    submit(other, "Street", "Marktgasse", "Finish")
    expect(other.timeline).to_contain_text("Thank you, that is all.")
    assert feedback(provider, start)[0].endswith("all ['begun', 'Bern', 'Marktgasse']")
