"""The site and a model server on loopback: golden replies in pieces of any size, and servers that fail."""

import asyncio
import html
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient
from django.urls import reverse

from chat.llm import BreakerLimits, Deadlines
from chat.llm.client import close_clients
from chat.models import Message, Statement
from chat.runner import supervisor
from tests.provider import Cut, Gate, Provider, Request, Script, Stall, chunk, failure, happened, reply
from tests.visitor import Visitor

REPLIES = Path(__file__).parent / "replies"
NAMES = sorted(path.stem for path in REPLIES.glob("[0-9]*.md") if "." not in path.stem)
# What people enter, submit for submit.
ENTERED: dict[str, list[dict[str, Any]]] = {
    "02-form": [{"name": "Ada", "guests": "4", "time": "19:30", "terrace": "on"}],
    "07-wizard": [{"name": "Ada"}, {"n": "3"}, {"n": "7"}, {"colours": ["red", "blue"]}],
}
CLICKED = {"04-callback": ["+1", "+1", "−1", "+1", "Ask the agent"]}
# What the page says in the end, and what it must not say.
SHOWN = {
    "01-text": ["sourdough", "<table"],
    "02-form": ['data-state="submitted"', "19:30", "Your table is reserved"],
    "03-data": ["4 films so far", "complete"],
    "04-callback": ["That is all."],
    "05-slots": ["Total", "<svg"],
    "06-error": ["titel", "A slip in the panel", "sent"],
    "07-wizard": ["3 of 3", "red, blue", "All answers are in."],
    "08-markdown-in-code": [],
    "09-progress": ["part 3", "3 times"],
}
HIDDEN = {"06-error": ["Done, it is sent!", "never runs"]}


def golden(name: str) -> str:
    """Return a golden reply without the comment that says what must happen."""
    return re.sub(r"\A<!--.*?-->\n", "", (REPLIES / f"{name}.md").read_text(), flags=re.DOTALL)


def turn_of(request: Request) -> int:
    """Return which turn of its conversation a request is for, from 1."""
    return 1 + sum(message["role"] == "assistant" for message in request.messages)


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        yield server


@pytest.fixture
def impatient(settings: Any) -> None:
    """Lets a silent server count as stalled soon, before the model is made."""
    settings.MODEL_LIMITS = {"deadlines": Deadlines(first=10, between=1)}


@pytest.fixture
async def visitor(
    provider: Provider, settings: Any, monkeypatch: pytest.MonkeyPatch, transactional_db: None
) -> AsyncIterator[Visitor]:
    """A person on a site whose model is the provider; it tries again without a pause."""
    settings.OPENAI_BASE_URL = provider.base_url
    settings.OPENAI_MODEL = "test"
    monkeypatch.setattr("chat.llm.openai.FIRST_RETRY_SECONDS", 0)
    monkeypatch.setattr("chat.runtime.agent.RETRY_SECONDS", 0)
    client = AsyncClient()
    await client.aforce_login(await sync_to_async(User.objects.create_user)("ada"))
    await supervisor.start()
    yield Visitor(client, provider)
    await supervisor.stop()
    await close_clients()


# Golden replies


async def play(visitor: Visitor, name: str, size: int) -> str:
    """Let a golden reply and what follows happen; return the page at its end."""

    def answer(request: Request) -> Script:
        turn = turn_of(request)
        path = name if turn == 1 else f"{name}.{turn}"
        text = golden(path) if (REPLIES / f"{path}.md").exists() else "That is all."
        return reply(text, size=size)

    visitor.provider.answer = answer
    await visitor.begin(name)
    for entered in ENTERED.get(name, []):
        await visitor.submit(entered)
    await visitor.quiet()
    for label in CLICKED.get(name, []):
        await visitor.click(label)
    await visitor.quiet(replies=2 if name in CLICKED or (REPLIES / f"{name}.2.md").exists() else 1)
    return await visitor.page()


@pytest.mark.parametrize("name", NAMES)
async def test_a_golden_reply_gives_the_same_page_in_pieces_of_any_size(visitor: Visitor, name: str) -> None:
    pages = [await play(visitor, name, size) for size in (1000, 3, 1)]
    assert pages[0] == pages[1] == pages[2]
    for words in SHOWN[name]:
        assert words in pages[0]
    for words in ["streaming", "queued", "running", *HIDDEN.get(name, [])]:
        assert words not in pages[0]


async def test_a_failed_statement_cancels_the_stream_at_once(visitor: Visitor) -> None:
    text = golden("06-error")
    end = text.index("Done, it is sent!")
    visitor.provider.queue(reply(text[:end], before_end=[Stall()]), reply(golden("06-error.2")))
    await visitor.begin()
    await visitor.quiet()
    assert visitor.provider.requests[0].disconnected.is_set()
    assert await visitor.replies() == [("done", ""), ("done", "")]
    feedback = visitor.provider.requests[1].messages[-1]
    assert feedback["role"] == "user"
    assert "Block 0, statement 1: In line 2" in feedback["content"]
    assert "titel" in feedback["content"]


async def test_thoughts_are_shown_and_not_sent_back(visitor: Visitor) -> None:
    visitor.provider.say("```python agent.run\nprint(6 * 7)\n```\n", reasoning="They **want** a number.")
    visitor.provider.say("It is 42.", tokens=(120, 34))
    await visitor.begin()
    await visitor.quiet()
    assert "They <strong>want</strong> a number." in await visitor.page()
    assert not any("want" in message["content"] for message in visitor.provider.requests[1].messages[1:])
    last = await Message.objects.filter(conversation=visitor.key).alatest("position")
    assert (last.model, last.input_tokens, last.output_tokens) == ("test", 120, 34)
    assert last.created <= last.first_token <= last.finished


async def test_staff_read_all_that_happened(visitor: Visitor) -> None:
    visitor.provider.say(golden("02-form"), reasoning="They want a table.", tokens=(120, 34))
    visitor.provider.say(golden("06-error"), tokens=None)  # its error may cut the stream before they come
    visitor.provider.say(golden("04-callback"))
    visitor.provider.say("Gladly.")
    await visitor.begin("A table, please")
    await visitor.submit(ENTERED["02-form"][0])
    await visitor.quiet(replies=3)
    await visitor.click("+1")
    await visitor.click("Ask the agent")
    await visitor.quiet(replies=4)
    staff = AsyncClient()
    await staff.aforce_login(await sync_to_async(User.objects.create_superuser)("root"))
    response = await staff.get(reverse("admin:chat_conversation_change", args=[visitor.key]))
    page = html.unescape(response.content.decode())
    for part in [
        "A table, please",
        "They want a table.",
        "120 tokens in",
        "34 tokens out",
        "first token after 0.",
        "Let me take your booking.",
        "booking = await form.result()",
        "Mount m1 <span>submitted</span>",
        "Answered by ada",
        "{'name': 'Ada', 'guests': 4, 'time': '19:30', 'terrace': True}",
        "booked {'name': 'Ada'",
        "statement · line 2 · failed",
        "accepted: title",
        "callback · line 1 · done",
        "the user wants to talk about 1",
        "Gladly.",
    ]:
        assert part in page, part
    reached = page[page.index("What reached it") :]
    assert re.findall(r"<td>(\w+)</td>\s*<td>(\w+)</td>\s*<td>\s*<code>", reached) == [
        ("message", "done"),
        ("submit", "done"),
        ("callback", "done"),
        ("callback", "done"),
    ]
    response = await staff.get("/admin/chat/conversation/", {"q": "table"})
    assert re.findall(rb"field-(said|tokens)[^>]*>(.+?)</td>", response.content) == [
        (b"said", b"8"),
        (b"tokens", b"190"),
    ]


# Servers that fail

SAID = "Here is the first part"
CODE = "```python agent.run\nx = 41\nprint('ran')\n```\n"


def broken(text: str, how: Cut | Stall) -> Script:
    """Return a reply that breaks off after some text."""
    return reply(text, before_end=[how], finish=None, tokens=None, done=False)


@pytest.mark.parametrize(
    ("how", "words"),
    [(Cut(), "connection to the model server failed"), (Stall(), "stopped sending for 1 seconds")],
    ids=["cut", "stalled"],
)
@pytest.mark.usefixtures("impatient")
async def test_a_stream_that_breaks_off_is_tried_again(
    visitor: Visitor, how: Cut | Stall, words: str
) -> None:
    visitor.provider.queue(broken(SAID, how), reply("All of it."))
    await visitor.begin()
    await visitor.quiet()
    assert await visitor.texts() == [SAID, "All of it."]
    (first, note), second = await visitor.replies()
    assert (first, second) == ("incomplete", ("done", ""))
    assert words in note
    page = await visitor.page()
    assert SAID in page
    assert note in page
    assert "Try again" not in page.split("notice")[-1]
    # What came to nothing is no part of what the model reads.
    assert [m["role"] for m in visitor.provider.requests[1].messages] == ["system", "user"]


@pytest.mark.parametrize("how", [Cut(), Stall()], ids=["cut", "stalled"])
@pytest.mark.usefixtures("impatient")
async def test_after_code_ran_the_model_goes_on_instead(visitor: Visitor, how: Cut | Stall) -> None:
    visitor.provider.queue(
        broken(CODE + "And now for", how), reply("```python agent.run\nprint(x + 1)\n```\n"), reply("Good.")
    )
    await visitor.begin()
    await visitor.quiet()
    assert [state for state, _ in await visitor.replies()] == ["incomplete", "done", "done"]
    told = visitor.provider.requests[1].messages[-1]["content"]
    assert "ran" in told
    assert "Your reply was cut off" in told
    assert "42" in visitor.provider.requests[2].messages[-1]["content"]
    assert await Statement.objects.filter(source__contains="print('ran')").acount() == 1


@pytest.mark.parametrize("how", [Cut(), Stall()], ids=["cut", "stalled"])
@pytest.mark.usefixtures("impatient")
async def test_code_that_was_cut_does_not_run(visitor: Visitor, how: Cut | Stall) -> None:
    visitor.provider.queue(broken("```python agent.run\nx = 1\nprint('all', 'of it')", how), reply("I see."))
    await visitor.begin()
    await visitor.quiet()
    told = visitor.provider.requests[1].messages[-1]["content"]
    assert "Your reply was cut off" in told
    assert "all of it" not in told


@pytest.mark.parametrize(
    ("script", "words", "tries"),
    [
        (failure(500, "disk full"), "has a problem (status 500)", 3),
        (failure(429, headers={"Retry-After": "1000"}), "gets too many requests", 1),
        (failure(401), "refused the site's key", 1),
        (failure(400, "context_length_exceeded"), "longer than the model can read", 1),
        (Script([Stall()]), "did not begin to reply for 0.5 seconds", 1),
        (Script([b"<html>"]), "something unreadable", 1),
    ],
    ids=["500", "429", "401", "too-long", "stalled", "page"],
)
async def test_a_server_that_does_not_reply(
    visitor: Visitor,
    settings: Any,
    caplog: pytest.LogCaptureFixture,
    script: Script,
    words: str,
    tries: int,
) -> None:
    settings.MODEL_LIMITS = {"deadlines": Deadlines(first=0.5)}
    visitor.provider.answer = lambda request: script
    await visitor.begin()
    await visitor.quiet()
    ((state, note),) = await visitor.replies()
    assert state == "failed"
    assert words in note
    assert len(visitor.provider.requests) == tries
    page = await visitor.page()
    assert page.count(note.replace("'", "&#x27;")) == 1
    assert "Try again" in page
    assert "A model call failed" in caplog.text
    assert ("disk full" in caplog.text) == ("500" in note)  # what a provider says is for the operator only
    assert "disk full" not in page


async def test_retry_gives_the_server_another_chance(visitor: Visitor) -> None:
    visitor.provider.queue(failure(401), reply("Here I am."))
    await visitor.begin()
    await visitor.quiet()
    assert [state for state, _ in await visitor.replies()] == ["failed"]
    await visitor.post("retry")
    await visitor.post("retry")  # a second press comes too late
    await visitor.quiet(replies=2)
    assert [state for state, _ in await visitor.replies()] == ["failed", "done"]
    assert len(visitor.provider.requests) == 2
    assert "Try again" not in await visitor.page()


async def test_a_length_limit_leaves_the_text_and_offers_to_go_on(visitor: Visitor) -> None:
    visitor.provider.queue(reply(SAID, finish="length"), reply("The rest."))
    await visitor.begin()
    await visitor.quiet()
    assert await visitor.replies() == [("incomplete", "The reply reached the provider's length limit.")]
    assert "Try again" in await visitor.page()
    await visitor.post("retry")
    await visitor.quiet(replies=2)
    assert (await visitor.texts())[-1] == "The rest."


async def test_stop_closes_the_providers_stream(visitor: Visitor) -> None:
    gate = Gate()
    visitor.provider.queue(Script([chunk({"content": SAID}), gate, chunk({"content": " and more"})]))
    await visitor.begin()
    await happened(gate.reached)
    await visitor.until(lambda: Message.objects.filter(blocks__pieces__isnull=False).exists())
    await visitor.post("stop")
    await visitor.quiet()
    await happened(visitor.provider.requests[0].disconnected)
    assert await visitor.replies() == [("stopped", "You stopped this reply.")]
    assert await visitor.texts() == [SAID]
    assert SAID in await visitor.page()


async def test_a_clean_end_without_a_reason_may_be_a_cut(visitor: Visitor) -> None:
    visitor.provider.queue(reply(SAID, finish=None, tokens=None, done=False), reply("All of it."))
    await visitor.begin()
    await visitor.quiet()
    ((state, note),) = await visitor.replies()
    assert (state, "may be cut" in note) == ("incomplete", True)
    assert "Try again" in await visitor.page()
    await visitor.post("retry")
    await visitor.quiet(replies=2)
    assert (await visitor.texts())[-1] == "All of it."


async def test_a_server_that_keeps_failing_gets_a_pause(visitor: Visitor, settings: Any) -> None:
    settings.MODEL_LIMITS = {"breaker": BreakerLimits(failures=2, seconds=60)}
    visitor.provider.answer = lambda request: failure(500)
    for _ in range(2):
        await visitor.begin()
        await visitor.quiet()
    called = len(visitor.provider.requests)
    await visitor.begin()
    await visitor.quiet()
    ((state, note),) = await visitor.replies()
    assert state == "failed"
    assert "failed 2 times in a row and gets a pause" in note
    assert len(visitor.provider.requests) == called  # it was left alone
    assert "Try again" in await visitor.page()


async def test_stop_works_while_a_skill_hangs(visitor: Visitor, settings: Any) -> None:
    hanging = Gate()
    with Provider() as slow:
        slow.answer = lambda request: Script([b"{}"], hold=hanging)
        settings.FETCH_POLICY = {"networks": ("127.0.0.0/8",)}
        code = (
            f"```python agent.run\nprint('before')\nawait fetch('http://127.0.0.1:{slow.port}/')\n```\nAfter."
        )
        visitor.provider.queue(Script([chunk({"content": code}), gate := Gate()]))
        await visitor.begin()
        await asyncio.to_thread(slow.wait_for_request)
        await happened(gate.reached)
        await visitor.post("stop")
        await visitor.quiet()
        await happened(visitor.provider.requests[0].disconnected)
        await happened(slow.requests[0].disconnected)
    assert [state for state, _ in await visitor.replies()] == ["stopped"]
    states = [s.state async for s in Statement.objects.filter(conversation=visitor.key).order_by("position")]
    assert states == ["done", "cut"]
    page = await visitor.page()
    assert "before" in page
    assert "After." not in page
