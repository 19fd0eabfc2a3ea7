"""What operators see of what happens."""

import re

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient

from chat.llm.base import Usage
from chat.runner import loading
from tests.runner.conftest import Site
from tests.runner.test_inbox import idle
from tests.runner.test_sockets import Tab


async def figures(client: AsyncClient) -> dict[str, float]:
    """Return all samples by their names and labels."""
    page = (await client.get("/metrics")).content.decode()
    return {name: float(value) for name, value in re.findall(r"^(chat_\S+) ([\d.e+-]+)$", page, re.MULTILINE)}


async def test_metrics_count_what_happens(running: Site) -> None:
    staff = AsyncClient()
    await staff.aforce_login(await sync_to_async(User.objects.create_superuser)("root"))
    before = await figures(staff)
    running.model.usage = Usage(120, 34)
    conversation = await running.start("```python agent.run\nx = 1\nprint(y)\n```\n", "I see.")
    client = AsyncClient()
    await client.aforce_login(running.owner)
    tab = await Tab(client, conversation.pk).open()
    await tab.until(lambda: tab.says("I see.") and tab.says('data-state="idle"'))
    await running.until(lambda: idle(conversation, 2))
    during = await figures(staff)
    grown = {name: during[name] - before.get(name, 0) for name in during}
    assert grown['chat_statements_total{kind="statement",state="done"}'] == 1
    assert grown['chat_statements_total{kind="statement",state="failed"}'] == 1
    assert grown["chat_statement_seconds_count"] == 2
    assert grown['chat_turns_total{state="done"}'] == 2
    assert grown['chat_tokens_total{direction="input"}'] == 240
    assert grown['chat_tokens_total{direction="output"}'] == 68
    assert grown["chat_first_token_seconds_count"] == 2
    assert grown["chat_save_seconds_count"] >= 3
    assert grown['chat_frames_total{what="made"}'] + grown['chat_frames_total{what="spared"}'] >= 3
    assert grown["chat_sent_characters_total"] > 100
    assert during["chat_sockets"] - before.get("chat_sockets", 0) == 1
    assert during['chat_driven_conversations{state="idle"}'] == 1
    assert during['chat_conversations{state="idle"}'] == 1
    assert during["chat_inbox_items"] == during["chat_journal_batches"] == 0
    assert during["chat_sandbox_sessions"] in (0, 1)
    await tab.socket.disconnect()
    assert (await figures(staff))["chat_sockets"] == before.get("chat_sockets", 0)


async def test_a_mistake_while_reading_ends_the_reply(running: Site) -> None:
    running.model.error = RuntimeError("a bug of ours")
    conversation = await running.start("Hello")
    await running.until(lambda: idle(conversation, 1))
    message = await conversation.messages.alast()
    assert (message.state, message.text) == ("incomplete", "Hello")
    assert "a mistake of this site" in message.note


async def test_mistakes_of_this_site_are_counted(running: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    staff = AsyncClient()
    await staff.aforce_login(await sync_to_async(User.objects.create_superuser)("root"))
    before = (await figures(staff)).get('chat_errors_total{where="runner"}', 0)
    load = loading.load
    monkeypatch.setattr(loading, "load", lambda conversation: 1 / 0)
    conversation = await running.start("Better now.")
    await running.until(lambda: conversation.pk in running.running._failures)
    assert (await figures(staff))['chat_errors_total{where="runner"}'] == before + 1
    monkeypatch.setattr(loading, "load", load)
    await running.running.wake(conversation.pk)
    await running.until(lambda: idle(conversation, 1))
