"""The socket of a page: who may have it, what it sends, and how it makes up for what was missed."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from asgiref.sync import sync_to_async
from autobahn.exception import Disconnected
from channels.layers import get_channel_layer
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.test import AsyncClient

from agentsite.asgi import application
from chat import consumers, guard
from chat.fragments.catch_up import catch_up
from chat.models import Conversation
from chat.runner import supervisor
from chat.runner.groups import frame_group
from tests.runner.conftest import Site
from tests.runner.dom import Page


class Tab:
    """A page with its socket."""

    def __init__(self, client: AsyncClient, conversation: UUID, have: int = 0) -> None:
        self.client = client
        self.conversation = conversation
        self.page: Page | None = None
        self.have = have
        self.frames: list[dict[str, Any]] = []
        cookie = client.cookies.get("sessionid")
        headers = [(b"host", b"localhost"), (b"origin", b"http://localhost")]
        if cookie is not None:
            headers.append((b"cookie", f"sessionid={cookie.value}".encode()))
        self.socket = WebsocketCommunicator(application, f"/ws/c/{conversation}/", headers=headers)

    async def open(self) -> "Tab":
        response = await self.client.get(f"/c/{self.conversation}/")
        self.page = Page(response.content.decode())
        self.have = self.page.have
        await self.connect()
        return self

    async def connect(self) -> None:
        accepted, _ = await self.socket.connect()
        assert accepted
        await self.confirm()

    async def confirm(self) -> None:
        await self.socket.send_to(json.dumps({"have": self.have}))

    async def take(self) -> dict[str, Any]:
        """Return the next that comes, applied to the page."""
        output = await self.socket.receive_output(timeout=20)
        if output["type"] == "websocket.close":
            return {"code": output["code"]}
        frame: dict[str, Any] = json.loads(output["text"])
        self.frames.append(frame)
        self.have = frame.get("n", self.have)
        if self.page is not None:
            self.page.apply(frame["content"])
        return frame

    async def until(self, so: Callable[[], bool]) -> None:
        while not so():
            await self.take()

    def says(self, text: str) -> bool:
        assert self.page
        return text in self.page.shown()


@pytest.fixture
async def tabs(running: Site) -> AsyncIterator[Callable[[Conversation], Awaitable[Tab]]]:
    opened: list[Tab] = []

    async def make(conversation: Conversation) -> Tab:
        client = AsyncClient()
        await client.aforce_login(running.owner)
        tab = await Tab(client, conversation.pk).open()
        opened.append(tab)
        return tab

    yield make
    for tab in opened:
        await tab.socket.disconnect()


async def loaded(tab: Tab) -> str:
    response = await tab.client.get(f"/c/{tab.conversation}/")
    return Page(response.content.decode()).shown()


async def begun(site: Site, text: str) -> Conversation:
    """Return a conversation in the middle of a reply that goes on when the gate `wait` opens."""
    site.model.gates["wait"] = asyncio.Event()
    conversation = await site.start(text)
    await site.until(lambda: conversation.messages.filter(blocks__pieces__isnull=False).exists())
    return conversation


# Who


async def refused(tab: Tab) -> tuple[str, int]:
    notice = await tab.take()
    closed = await tab.take()
    return notice["content"], closed["code"]


async def test_only_the_owner_has_a_socket(running: Site) -> None:
    conversation = await Conversation.objects.acreate(owner=running.owner)
    anonymous = Tab(AsyncClient(), conversation.pk)
    await anonymous.connect()
    notice, code = await refused(anonymous)
    assert ("Log in" in notice, code) == (True, 4401)

    bob = AsyncClient()
    await bob.aforce_login(await sync_to_async(User.objects.create_user)("bob"))
    for wanted in (conversation.pk, uuid4()):  # what is not his does not exist for him
        other = Tab(bob, wanted)
        await other.connect()
        notice, code = await refused(other)
        assert ("does not exist" in notice, code) == (True, 4404)


async def test_a_logout_closes_the_socket(running: Site, tabs: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(guard, "RECHECK_SECONDS", 0.05)
    tab = await tabs(await Conversation.objects.acreate(owner=running.owner))
    await tab.client.alogout()
    await tab.until(lambda: any("final" in frame for frame in tab.frames))
    assert tab.frames[-1]["final"] == 4401
    assert (await tab.take())["code"] == 4401


@pytest.mark.parametrize("what", ["deactivated", "deleted user", "deleted conversation"])
async def test_what_is_gone_closes_the_socket(running: Site, tabs: Any, monkeypatch: Any, what: str) -> None:
    monkeypatch.setattr(guard, "RECHECK_SECONDS", 0.05)
    conversation = await Conversation.objects.acreate(owner=running.owner)
    tab = await tabs(conversation)
    match what:
        case "deactivated":
            await User.objects.aupdate(is_active=False)
        case "deleted user":
            await User.objects.all().adelete()
        case _:
            await conversation.adelete()
    await tab.until(lambda: any("final" in frame for frame in tab.frames))
    code = (await tab.take())["code"]
    match what:
        case "deactivated":
            assert code == 4401
        case "deleted user":
            assert code in (4401, 4404)  # the conversations go with the user; either may be noticed first
        case _:
            assert code == 4404


def test_a_logout_reaches_sockets_within_seconds() -> None:
    assert guard.RECHECK_SECONDS <= 5


# What


async def test_frames_make_the_page_that_a_load_shows(running: Site, tabs: Any) -> None:
    conversation = await begun(
        running, "So far §wait§ *and* further.\n\n```python agent.run\nprint(6 * 7)\n```\n\nDone."
    )
    running.model.replies.append("It is 42.")
    first = await tabs(conversation)
    second = await tabs(conversation)
    running.model.gates["wait"].set()
    for tab in (first, second):
        await tab.until(lambda tab=tab: tab.says("It is 42.") and tab.says('data-state="idle"'))
        assert tab.page.shown() == await loaded(tab)
    assert [frame["n"] for frame in first.frames if "n" in frame] == sorted(
        {frame["n"] for frame in first.frames if "n" in frame}
    )


async def test_who_comes_back_gets_what_it_lacks(running: Site, tabs: Any) -> None:
    conversation = await begun(running, "So far §wait§ and further.")
    tab = await tabs(conversation)
    await tab.socket.disconnect()
    running.model.gates["wait"].set()
    await running.until(lambda: conversation.messages.filter(text__contains="further", state="done").exists())
    again = await tabs(conversation)
    late = Tab(tab.client, conversation.pk, have=tab.have)
    late.page = tab.page
    await late.connect()
    await late.until(lambda: late.says("further") and late.says('data-state="idle"'))
    assert late.page.shown() == again.page.shown()
    await late.socket.disconnect()


async def test_a_gap_is_made_up_for(running: Site, tabs: Any) -> None:
    conversation = await begun(running, "So far §wait§ and further.")
    tab = await tabs(conversation)
    await tab.until(lambda: tab.have > 0 and tab.says("So far"))
    # A frame of another process, after some that got lost on the way here.
    layer = get_channel_layer()
    lost = {"type": "frame", "n": tab.have + 3, "text": "never shown"}
    await Conversation.objects.filter(pk=conversation.pk).aupdate(seq=tab.have + 3)
    await layer.group_send(frame_group(conversation.pk), lost)
    have = tab.have
    await tab.until(lambda: tab.have == have + 3)
    assert tab.page.shown() == await loaded(tab)


async def test_frames_that_come_while_a_gap_is_filled_are_not_fetched_again(
    running: Site, tabs: Any, monkeypatch: Any
) -> None:
    conversation = await Conversation.objects.acreate(owner=running.owner, title="x")
    tab = await tabs(conversation)
    await tab.until(lambda: any('"#queue"' in frame["content"] for frame in tab.frames))
    fetched: list[int] = []
    reached, gate = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def slow(conversation: UUID, number: int) -> tuple[str, int]:
        found = catch_up(conversation, number)
        if found[1] > number:  # the look of a page that connects may come late, and finds nothing
            fetched.append(found[1])
            loop.call_soon_threadsafe(reached.set)
            gate.wait(20)
        return found

    monkeypatch.setattr(consumers, "catch_up", slow)
    layer = get_channel_layer()
    have = tab.have

    async def send(number: int) -> None:
        content = f'<hx-partial hx-target="#timeline" hx-swap="beforeend"><p>frame {number}</p></hx-partial>'
        text = json.dumps({"n": number, "content": content})
        await layer.group_send(frame_group(conversation.pk), {"type": "frame", "n": number, "text": text})

    await Conversation.objects.filter(pk=conversation.pk).aupdate(seq=have + 2)
    await send(have + 2)
    await reached.wait()
    for number in (have + 3, have + 4):
        await send(number)
    marker = {"type": "queue"}  # what comes after the frames was handled after them
    await layer.group_send(frame_group(conversation.pk), marker)
    await tab.until(lambda: sum('"#queue"' in frame["content"] for frame in tab.frames) == 2)
    assert tab.have == have
    gate.set()
    await tab.until(lambda: tab.have == have + 4)
    assert fetched == [have + 2]
    assert tab.says(f"frame {have + 3}")
    assert tab.says(f"frame {have + 4}")


async def test_a_browser_that_went_away_is_no_mistake(
    running: Site, tabs: Any, monkeypatch: Any, caplog: pytest.LogCaptureFixture
) -> None:
    conversation = await Conversation.objects.acreate(owner=running.owner, title="x")
    tab = await tabs(conversation)
    await tab.until(lambda: any('"#queue"' in frame["content"] for frame in tab.frames))
    tried = asyncio.Event()

    async def gone(*args: Any, **kwargs: Any) -> None:
        tried.set()
        raise Disconnected("Attempt to send on a closed protocol")

    monkeypatch.setattr(consumers.PageConsumer, "send", gone)
    frame = {"type": "frame", "n": tab.have + 1, "text": json.dumps({"n": tab.have + 1, "content": ""})}
    await get_channel_layer().group_send(frame_group(conversation.pk), frame)
    await tried.wait()
    await tab.socket.disconnect()
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_a_lost_last_frame_is_made_up_for(running: Site, tabs: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(guard, "RECHECK_SECONDS", 0.05)
    monkeypatch.setattr(consumers, "LATE_SECONDS", 0.05)
    conversation = await Conversation.objects.acreate(owner=running.owner, title="x")
    tab = await tabs(conversation)
    await Conversation.objects.filter(pk=conversation.pk).aupdate(seq=7, state="waiting")
    await tab.until(lambda: tab.have == 7)
    assert tab.says('data-state="waiting"')


async def test_a_slow_browser_gets_the_latest_state_later(running: Site, tabs: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(consumers, "WINDOW", 2_000)
    gates = {name: running.model.gates.setdefault(name, asyncio.Event()) for name in ("second", "third")}
    words = "many words " * 800
    conversation = await begun(running, f"Begin §wait§ {words} §second§ {words} §third§ The end.")
    tab = await tabs(conversation)
    await tab.until(lambda: tab.says("Begin"))
    for gate in (running.model.gates["wait"], *gates.values()):
        before = (await Conversation.objects.aget(pk=conversation.pk)).seq
        gate.set()
        await running.until(lambda before=before: Conversation.objects.filter(seq__gt=before).exists())
    await running.until(
        lambda: conversation.messages.filter(text__contains="The end.", state="done").exists()
    )
    row = await Conversation.objects.aget(pk=conversation.pk)
    while not await tab.socket.receive_nothing(timeout=0.5):
        await tab.take()
    assert tab.have < row.seq  # it confirms nothing, so nothing more is sent
    assert sum(len(json.dumps(frame)) for frame in tab.frames) < 2.5 * len(words)
    await tab.confirm()
    await tab.until(lambda: tab.says("The end."))
    assert tab.page.shown() == await loaded(tab)


async def test_a_page_of_the_future_is_set_right(running: Site, tabs: Any) -> None:
    """The database was set back to a backup while the page was open."""
    conversation = await running.start("Hello.")
    await running.until(lambda: conversation.messages.filter(text="Hello.", state="done").exists())
    tab = await tabs(conversation)
    await tab.socket.disconnect()
    late = Tab(tab.client, conversation.pk, have=tab.have + 100)
    late.page = tab.page
    await late.connect()
    await late.until(lambda: late.have < tab.have + 100)
    assert late.page.shown() == await loaded(late)
    await late.socket.disconnect()


async def test_frames_are_only_made_while_somebody_watches(
    running: Site, tabs: Any, monkeypatch: Any
) -> None:
    conversation = await begun(running, "So far §wait§ and further.")
    publisher = running.running.drivers[conversation.pk].agent.store.publisher
    made = []
    fragments = publisher.fragments
    publisher.fragments = lambda *args: made.append(1) or fragments(*args)
    running.model.gates["wait"].set()
    await running.until(lambda: conversation.messages.filter(text__contains="further", state="done").exists())
    assert made == []
    tab = await tabs(conversation)
    assert tab.says("further")


async def test_nonsense_from_a_browser_is_ignored(running: Site, tabs: Any) -> None:
    conversation = await running.start("Hello.")
    tab = await tabs(conversation)
    for nonsense in (
        "{",
        "[]",
        '{"have": -1}',
        '{"have": "1"}',
        '{"have": true}',
        "null",
        "💥",
        "[" * 100_000,
    ):
        await tab.socket.send_to(nonsense)
    await tab.until(lambda: tab.says("Hello."))


# The end of a process


async def test_a_gentle_stop_saves_and_sends_browsers_elsewhere(running: Site, tabs: Any) -> None:
    code = "".join(f"```python agent.run\nstep{n} = 1\nawait sleep(0.3)\n```\n" for n in range(25))
    conversation = await running.start(code + "```python agent.run\nprint('end')\n```\n")
    running.model.replies += ["never"]
    await running.until(lambda: conversation.statements.filter(state="done").count() >= 3)
    tab = await tabs(conversation)
    started = time.monotonic()
    stopping = asyncio.create_task(supervisor.stop())
    while "code" not in (last := await tab.take()):
        pass
    assert last["code"] == 4012
    await tab.socket.disconnect()
    await stopping
    assert time.monotonic() - started < 5
    states = [s.state async for s in conversation.statements.order_by("block__position", "position")]
    assert "cut" not in states
    assert "running" not in states  # it reached the end of a statement
    row = await Conversation.objects.aget(pk=conversation.pk)
    assert row.lease == ""
    # Another process goes on, and no statement runs twice.
    await supervisor.start()
    supervisor.current().services.__dict__["model"] = running.model
    running.model.replies = ["All done."]
    await running.until(lambda: conversation.messages.filter(text="All done.").exists(), seconds=40)
    states = [s.state async for s in conversation.statements.all()]
    assert set(states) == {"done"}


async def test_a_short_reply_ends_before_the_process_does(running: Site) -> None:
    conversation = await begun(running, "So far §wait§ and further.")
    stopping = asyncio.create_task(supervisor.stop())
    await asyncio.sleep(0)
    running.model.gates["wait"].set()
    await stopping
    message = await conversation.messages.alast()
    assert (message.text, message.state) == ("So far  and further.", "done")


async def test_a_stopping_process_takes_nothing_new(running: Site) -> None:
    current = running.running
    stopping = asyncio.create_task(supervisor.stop())
    await asyncio.sleep(0)
    conversation = await Conversation.objects.acreate(owner=running.owner)
    current.drive(conversation.pk)
    assert current.drivers == {}
    await stopping
