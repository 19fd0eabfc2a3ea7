"""Several processes, killed again and again under load: every conversation ends complete and right.

Thirty people play golden replies and long counts at once, each through sockets and requests to any of the
processes. PROCESS_TEST_SECONDS=120 makes the killing last for two minutes.
"""

import asyncio
import itertools
import os
import random
import re
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import WebSocketException

from chat.llm.base import FEEDBACK_MARK
from chat.ui.forms import html_name
from tests.clients import Session, confirm
from tests.live import Site, free_port
from tests.provider import Pause, Provider, Request, Script, Stall, Step, chunk, happened, reply
from tests.runner.dom import Element, Page
from tests.test_provider import ENTERED, SHOWN, golden

SECONDS = float(os.environ.get("PROCESS_TEST_SECONDS", "10"))
PEOPLE = 30
STEPS = 12
LONGEST = 180.0  # seconds that one conversation may take, with everything that is done to it
KINDS = ["count", "count", "count", "01-text", "02-form", "03-data", "05-slots", "09-progress"]
OUTPUTS = {"02-form": "booked", "09-progress": "3 times"}
OFFERS = {"Try again": "retry", "Continue": "continue"}
PASSWORD = "a good enough passphrase"
WRONG = re.compile(r"database is locked|Traceback|\bERROR\b")


# The model


BEGIN = """```python agent.run
ran = []
def did(step):
    ran.append(step)
    print("did", step)
print("began")
```
"""


def count_from(first: int) -> str:
    """Return a reply that does the steps from one on; each keeps that it ran, in one statement."""
    code = [
        f"Now step {number}, with some words around it.\n\n```python agent.run\ndid({number})\n```\n\n"
        for number in range(first, STEPS + 1)
    ]
    return "".join(code) + "```python agent.run\nprint('ran', ran)\n```\n"


def feedback_in(request: Request) -> list[str]:
    """Return the messages in which the site told the model what came of its replies."""
    said = [message["content"] for message in request.messages if message["role"] == "user"]
    return [part for content in said for part in content.split(FEEDBACK_MARK)[1:]]


def counted(request: Request) -> str:
    told = "\n".join(feedback_in(request))
    if f"ran {list(range(1, STEPS + 1))}" in told:
        return "All steps are done."
    if "began" not in told:
        return BEGIN + count_from(1)
    if told.rfind("cut off in the middle") > told.rfind("have ["):  # its changes are undone
        return "```python agent.run\nprint('have', ran, 'end')\n```\n"
    known = re.findall(r"have \[(.*?)\] end|did (\d+)", told)
    done = 0
    for have, did in known:
        done = int(did) if did else max(map(int, re.findall(r"\d+", have)), default=0)
    return count_from(done + 1)


def answer(request: Request) -> Script:
    """Go on where the conversation is, as the messages tell it."""
    kind = re.search(r"play (\S+)", request.messages[1]["content"])
    assert kind
    if kind[1] == "count":
        text = counted(request)
    else:
        output = OUTPUTS.get(kind[1], "\0")
        turn = 1 + sum("cut off" not in told or output in told for told in feedback_in(request))
        text = (
            golden(kind[1] if turn == 1 else f"{kind[1]}.{turn}")
            if turn <= 2 and has(kind[1], turn)
            else "That is all."
        )
    return Script(paced(reply(text, size=24).steps))


def has(name: str, turn: int) -> bool:
    path = Path(__file__).parent.parent / "replies" / (f"{name}.md" if turn == 1 else f"{name}.{turn}.md")
    return path.exists()


def paced(steps: Any) -> Iterator[Step]:
    for step in steps:
        yield step
        yield Pause(0.03)


# People


@dataclass
class Person:
    """Somebody who has one conversation after another, and an open page of each."""

    session: Session
    chance: random.Random
    connections: int = 0
    conversations: Counter[str] = field(default_factory=Counter)

    async def play(self, kind: str) -> None:
        """Have a conversation; it must come to its right end, and look as it does when it is loaded."""
        key = str(uuid.uuid4())
        await self.insist(self.session.start, f"please play {kind}", key)
        page = Page(await self.insist(self.session.get, f"/c/{key}/"))
        seen: dict[str, None] = {}
        sent: set[tuple[str, str]] = set()
        try:
            async with asyncio.timeout(LONGEST):
                while not self.is_over(kind, page):
                    await self.watch(key, kind, page, seen, sent)
        except TimeoutError:
            raise AssertionError(f"{kind} {key} did not end; the page says:\n{page.shown()}") from None
        self.conversations[kind] += 1
        fresh = Page(await self.insist(self.session.get, f"/c/{key}/"))
        while fresh.have != page.have:  # the last words of the state may have come in between
            await self.watch(key, kind, page, seen, sent, until=fresh.have)
            fresh = Page(await self.insist(self.session.get, f"/c/{key}/"))
        for mine, loaded in zip(page.shown().splitlines(), fresh.shown().splitlines(), strict=True):
            assert mine == loaded
        for identity in seen:
            assert fresh.root.find(identity), f"{identity} was shown and is gone"
        if kind == "count":
            said = fresh.shown()
            assert f"ran {list(range(1, STEPS + 1))}" in said.replace("\n", " "), said
        else:
            for words in SHOWN[kind]:
                assert words.replace("&", "&amp;") in fresh.shown(), (
                    f"{words!r} is missing in {key}:\n{fresh.shown()}"
                )

    def is_over(self, kind: str, page: Page) -> bool:
        shown = page.shown()
        end = "All steps are done." if kind == "count" else SHOWN[kind][-1]
        return end in shown and 'id="conversation"' in shown and state_of(page) == "idle" and page.have > 0

    async def watch(
        self,
        key: str,
        kind: str,
        page: Page,
        seen: dict[str, None],
        sent: set[tuple[str, str]],
        until: int | None = None,
    ) -> None:
        """Take frames from some process until the conversation is over, or the connection is."""
        try:
            async with self.session.socket(key, page.have) as socket:
                self.connections += 1
                confirming = asyncio.create_task(confirm(socket, lambda: page.have))
                try:
                    async for frame in socket:
                        assert isinstance(frame, str)
                        page.take(frame)
                        seen |= dict.fromkeys(ids_in(page))
                        await self.react(key, kind, page, sent)
                        if (page.have >= until) if until is not None else self.is_over(kind, page):
                            return
                finally:
                    confirming.cancel()
        except (OSError, WebSocketException, TimeoutError):
            await asyncio.sleep(self.chance.uniform(0.05, 0.3))

    async def react(self, key: str, kind: str, page: Page, sent: set[tuple[str, str]]) -> None:
        """Answer a form that waits, once; try again what the page offers to try again."""
        if kind in ENTERED and state_of(page) == "waiting":  # others wait for a time
            for mount in open_mounts(page):
                fields = hidden_fields(mount)
                if (mount.attributes["id"], fields.get("token", "")) in sent:
                    continue
                sent.add((mount.attributes["id"], fields.get("token", "")))
                values = {html_name(name): value for name, value in ENTERED[kind][0].items()}
                name = mount.attributes["id"].removeprefix("mount-")
                await self.send(f"/c/{key}/m/{name}/submit/", **fields, **values)
        notice = page.root.find("notice")
        offers = [action for word, action in OFFERS.items() if notice is not None and word in notice.text()]
        if offers and ("notice", str(page.have)) not in sent:
            sent.add(("notice", str(page.have)))
            await self.send(f"/c/{key}/{offers[0]}/")

    async def send(self, path: str, **fields: str) -> None:
        fields["key"] = str(uuid.uuid4())
        status, _, body = await self.insist(self.session.post, path, **fields)
        assert status == 204, (path, status, body[:300])

    async def insist(self, request: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Return the answer of any process, as a person who tries again does."""
        give_up = time.monotonic() + LONGEST
        while True:
            try:
                return await asyncio.to_thread(request, *args, **kwargs)
            except OSError:
                assert time.monotonic() < give_up
                await asyncio.sleep(self.chance.uniform(0.05, 0.3))


def state_of(page: Page) -> str:
    element = page.root.find("conversation")
    assert element
    return element.attributes["data-state"]


def everything(element: Element) -> Iterator[Element]:
    for child in element.elements():
        yield child
        yield from everything(child)


def open_mounts(page: Page) -> list[Element]:
    timeline = page.root.find("timeline")
    assert timeline
    return [
        element
        for element in everything(timeline)
        if element.attributes.get("class") == "mount" and element.attributes["data-state"] == "open"
    ]


def hidden_fields(mount: Element) -> dict[str, str]:
    return {
        element.attributes["name"]: element.attributes.get("value", "")
        for element in everything(mount)
        if element.tag == "input"
        and element.attributes.get("type") == "hidden"
        and "name" in element.attributes
    }


def ids_in(page: Page) -> Iterator[str]:
    """Return the ids of messages, code and interfaces on the page."""
    timeline = page.root.find("timeline")
    assert timeline
    for element in everything(timeline):
        if element.attributes.get("class") in ("message", "mount", "statement"):
            yield element.attributes["id"]


# The test


def player(site: Site, ports: Callable[[], int]) -> Session:
    """Return the session of a user who is there on every site of the database."""
    site.manage(
        "shell",
        "-c",
        f"from django.contrib.auth.models import User; u, _ = User.objects.get_or_create(username='player');"
        f"u.set_password({PASSWORD!r}); u.save()",
    )
    session = Session(ports)
    session.log_in("player", PASSWORD)
    return session


async def under_fire(sites: list[Site], pause: float) -> None:
    """Let people play while processes are killed and started again."""
    chance = random.Random(6)
    session = player(sites[0], lambda: chance.choice(sites).port)
    people = [Person(session.copy(), random.Random(number)) for number in range(PEOPLE)]
    end = time.monotonic() + SECONDS
    kills = 0

    async def plays(person: Person, kinds: Iterator[str]) -> None:
        await person.play(next(kinds))
        while time.monotonic() < end:
            await person.play(next(kinds))

    async def kills_some() -> None:
        nonlocal kills
        for site in itertools.cycle(sites):
            await asyncio.sleep(pause)
            if time.monotonic() > end:
                break
            await asyncio.to_thread(site.kill)
            kills += 1
            await asyncio.to_thread(site.start)  # one at a time: the others must carry what it held

    async with asyncio.TaskGroup() as group:
        for number, person in enumerate(people):
            group.create_task(plays(person, itertools.cycle(KINDS[number % len(KINDS) :] + KINDS)))
        group.create_task(kills_some())
    played = sum((person.conversations for person in people), Counter[str]())
    assert played.total() >= PEOPLE
    assert kills > 0
    connections = sum(person.connections for person in people)
    print(f"\n{played.total()} conversations {dict(played)}, {kills} kills, {connections} connections")  # noqa: T201
    for site in sites:
        assert not WRONG.search(site.output), site.output[-5000:]


@pytest.mark.timeout(600)
async def test_three_processes_one_killed_again_and_again(
    tmp_path: Path, redis_url: str, postgres_url: str
) -> None:
    with Provider() as provider, ExitStack() as stack:
        provider.answer = answer
        variables = {
            "DATABASE_URL": postgres_url,
            "REDIS_URL": redis_url,
            "OPENAI_BASE_URL": provider.base_url,
            "OPENAI_MODEL": "loopback",
        }
        sites = [stack.enter_context(Site(tmp_path, port=free_port(), **variables)) for _ in range(3)]
        await under_fire(sites, 2)


async def test_stop_reaches_whoever_drives(tmp_path: Path, redis_url: str, postgres_url: str) -> None:
    with Provider() as provider, ExitStack() as stack:
        provider.answer = lambda request: Script([chunk({"content": "It begins"}), Stall()])
        variables = {
            "DATABASE_URL": postgres_url,
            "REDIS_URL": redis_url,
            "OPENAI_BASE_URL": provider.base_url,
            "OPENAI_MODEL": "loopback",
        }
        sites = [stack.enter_context(Site(tmp_path, port=free_port(), **variables)) for _ in range(2)]
        ports = [site.port for site in sites]
        session = player(sites[0], lambda: ports[0])
        for number in range(2):  # who is asked for a conversation drives it; the other one gets the stop
            key = session.start("Tell me something long.")
            await asyncio.to_thread(provider.wait_for_request, number + 1)
            page = Page(session.get(f"/c/{key}/"))
            ports.reverse()
            async with session.socket(key, page.have) as socket:
                while "It begins" not in page.shown():
                    page.take(str(await socket.recv()))
                status, _, _ = session.post(f"/c/{key}/stop/", key=str(uuid.uuid4()))
                assert status == 204
                await happened(provider.requests[number].disconnected)
                while state_of(page) != "idle":
                    page.take(str(await socket.recv()))
            assert "It begins" in page.shown()
            assert "You stopped this reply." in page.shown()


@pytest.mark.timeout(600)
async def test_one_process_on_sqlite_killed_again_and_again(tmp_path: Path) -> None:
    with Provider() as provider:
        provider.answer = answer
        model = {"OPENAI_BASE_URL": provider.base_url, "OPENAI_MODEL": "loopback"}
        with Site(tmp_path, **model) as site:
            await under_fire([site], 5)
