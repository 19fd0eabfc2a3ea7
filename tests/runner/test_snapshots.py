"""Saved state that can't be used: the page and the model are told, and a fresh namespace goes on."""

import asyncio
import threading
from collections.abc import Callable

import pytest
from asgiref.sync import sync_to_async
from django.test import Client

from chat.models import Conversation, Message, Mount, Snapshot, Wait
from chat.runner import snapshots, supervisor
from chat.runner.database import in_thread
from chat.runtime.states import InboxKind, MountState, Role, WaitState
from chat.sandbox.base import SnapshotError
from tests.runner.conftest import Site
from tests.runner.test_driver import idle

COUNTER = """```python agent.run
data = Data(n=0)
def more():
    data.n += 1
mount(lambda: Card(Metric("N", data.n), Button("More", on_click=more)))
mount(Text("plain"))
{more}
```
"""
ASK = COUNTER.format(more='answer = await ask(Card(TextField("name"), SubmitButton("Go")))\nprint(answer)')


def tampered(row: Snapshot) -> None:
    row.data = bytes(row.data[:-1]) + bytes([row.data[-1] ^ 1])


def of_another_conversation(row: Snapshot) -> None:
    other = Conversation.objects.create(owner=row.conversation.owner)
    row.signature = snapshots.signed(other.pk, row.suspended, row.version, bytes(row.data)).signature  # type: ignore[union-attr]


def of_another_kind(row: Snapshot) -> None:
    made = snapshots.signed(row.conversation_id, not row.suspended, row.version, bytes(row.data))
    row.signature = made.signature  # type: ignore[union-attr]


def of_another_version(row: Snapshot) -> None:
    made = snapshots.signed(row.conversation_id, row.suspended, "monty 0.0", bytes(row.data))
    row.version, row.signature = made.version, made.signature  # type: ignore[union-attr]


def no_snapshot(row: Snapshot) -> None:
    made = snapshots.signed(row.conversation_id, row.suspended, row.version, b"nothing of the kind")
    row.data, row.signature = made.data, made.signature  # type: ignore[union-attr]


DAMAGES = [tampered, of_another_conversation, of_another_kind, of_another_version, no_snapshot]


def damage(conversation: Conversation, how: Callable[[Snapshot], None]) -> None:
    for row in Snapshot.objects.filter(conversation=conversation):
        how(row)
        row.save()


def page(site: Site, conversation: Conversation) -> str:
    client = Client()
    client.force_login(site.owner)
    response = client.get(conversation.get_absolute_url())
    assert response.status_code == 200
    return response.content.decode()


def told(conversation: Conversation) -> list[str]:
    feedback = Message.objects.filter(conversation=conversation, role=Role.FEEDBACK)
    return list(feedback.order_by("position").values_list("text", flat=True))


async def forget_runner(site: Site) -> Site:
    """Let another process go on: nothing but what was saved is left."""
    await supervisor.stop()
    await supervisor.start()
    current = supervisor.current()
    assert current is not None
    again = Site(current, site.owner)
    again.model.replies = list(site.model.replies)
    return again


@pytest.mark.parametrize("how", DAMAGES)
async def test_a_waiting_program_that_is_lost(running: Site, how: Callable[[Snapshot], None]) -> None:
    conversation = await running.start(ASK)
    await running.until(lambda: Wait.objects.filter(conversation=conversation).exists())
    running.model.replies = ["I see. Let us begin again."]
    again = await forget_runner(running)
    await sync_to_async(damage)(conversation, how)
    await again.put(conversation, InboxKind.SUBMIT, mount="m3", form="", values={"name": "Ada"}, token="")
    await again.until(lambda: len(told(conversation)) == 1 and idle(conversation))
    (text,) = await sync_to_async(told)(conversation)
    assert "lost" in text
    assert "fresh" in text
    html = await sync_to_async(page)(again, conversation)
    assert "The code behind this is lost" in html
    states = [m.state async for m in Mount.objects.filter(conversation=conversation)]
    assert states == [MountState.CLOSED, MountState.OPEN, MountState.CLOSED]
    assert not await Wait.objects.filter(conversation=conversation, state=WaitState.OPEN).aexists()
    again.model.replies = [
        '```python agent.run\nprint("fresh", 1)\n```',
        "Yes.",
    ]
    await again.put(conversation, InboxKind.MESSAGE, text="again")
    await again.until(lambda: len(told(conversation)) == 2)
    assert (await sync_to_async(told)(conversation))[1] == "fresh 1"


@pytest.mark.parametrize("how", DAMAGES)
async def test_a_namespace_that_is_lost(running: Site, how: Callable[[Snapshot], None]) -> None:
    conversation = await running.start(COUNTER.format(more=""))
    await running.until(lambda: idle(conversation))
    again = await forget_runner(running)
    await sync_to_async(damage)(conversation, how)
    again.model.replies = ["```python agent.run\ny = 2\nprint(y)\n```", "I see."]
    await again.put(conversation, InboxKind.MESSAGE, text="again")
    await again.until(lambda: len(told(conversation)) == 1 and idle(conversation))
    (text,) = await sync_to_async(told)(conversation)
    assert "lost" in text
    assert text.splitlines()[-1] == "2"
    html = await sync_to_async(page)(again, conversation)
    assert "The code behind this is lost" in html
    assert html.count("The code behind this is lost") == 1


async def test_a_click_on_an_interface_whose_namespace_is_lost(running: Site) -> None:
    conversation = await running.start(COUNTER.format(more=""))
    await running.until(lambda: idle(conversation))
    again = await forget_runner(running)
    await sync_to_async(damage)(conversation, tampered)
    mount = await Mount.objects.aget(conversation=conversation, number=1)
    again.model.replies = ["I see."]
    button = next(node for node in mount.tree["n"] if node["c"] == "Button")
    callback = button["p"]["on_click"]
    await again.put(conversation, InboxKind.CALLBACK, mount="m1", callback=callback, args=[])
    await again.until(lambda: len(told(conversation)) == 1)
    assert "lost" in (await sync_to_async(told)(conversation))[0]
    await mount.arefresh_from_db()
    assert mount.state == MountState.CLOSED
    assert "lost" in mount.error


def test_a_rotated_secret_key_keeps_what_was_saved(conversation: Conversation, settings: object) -> None:
    row = snapshots.signed(conversation.pk, False, "v", b"state")
    assert row is not None
    row.save()
    old = settings.SECRET_KEY  # type: ignore[attr-defined]
    settings.SECRET_KEY = "another one, which is long enough for the checks of the site, and then some"  # type: ignore[attr-defined]
    with pytest.raises(SnapshotError, match="secret key"):
        snapshots.load(conversation.pk, False, "v")
    settings.SECRET_KEY_FALLBACKS = [old]  # type: ignore[attr-defined]
    assert snapshots.load(conversation.pk, False, "v") == b"state"


async def test_what_is_being_saved_is_loaded_as_it_will_be(running: Site) -> None:
    """A worker that others need is given back before the transaction with its state has come to its end."""
    _, store = await running.driver()
    store.snapshot(b"before", suspended=False)
    await store.flush()
    store.snapshot(b"after", suspended=False)
    done_before = threading.Event()
    store.journal._thread.submit(done_before.wait, 10)
    saving = asyncio.create_task(store.flush())
    await asyncio.sleep(0)
    assert await store.load_snapshot(suspended=False) == b"after"
    done_before.set()
    await saving
    assert await store.load_snapshot(suspended=False) == b"after"
    assert await in_thread(snapshots.load, store.conversation.id, False, store.version) == b"after"


async def test_an_interface_of_another_version_is_not_the_end_of_its_conversation(running: Site) -> None:
    conversation = await running.start(ASK)
    await running.until(lambda: Wait.objects.filter(conversation=conversation).exists())
    again = await forget_runner(running)
    trees = Mount.objects.filter(conversation=conversation, number__in=(1, 3))
    await trees.aupdate(tree={"c": "Hologram", "p": {"depth": 3}})
    html = await sync_to_async(page)(again, conversation)
    assert html.count("made by another version of this site") == 2
    assert "there is no component &#x27;Hologram&#x27;" in html
    await again.put(conversation, InboxKind.STOP)
    await again.until(lambda: idle(conversation))
    again.model.replies = ["We can still talk."]
    await again.put(conversation, InboxKind.MESSAGE, text="again")
    await again.until(lambda: conversation.messages.filter(text="We can still talk.").exists())
