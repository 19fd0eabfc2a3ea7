"""Waits that nobody drives: they hold no runner, and their ends are found."""

from datetime import timedelta

from asgiref.sync import sync_to_async
from django.utils import timezone

from chat.models import Conversation, Snapshot, Wait
from chat.runner import supervisor
from chat.runtime.states import WaitState
from tests.runner.conftest import Site
from tests.runner.test_driver import idle
from tests.runner.test_snapshots import told

FORM = """```python agent.run
form = mount(Card(TextField("name"), SubmitButton("Go")))
try:
    await form.result(timeout=3600)
except TimeoutError:
    print("too late")
```
"""
NAP = """```python agent.run
await sleep(3600)
print("good morning")
```
"""


def leave(site: Site) -> None:
    """Let runners leave as soon as nothing happens."""
    limits = site.running.services.limits
    site.running.services.__dict__["limits"] = type(limits)(**{**vars(limits), "linger_seconds": 0.05})


async def end(conversation: Conversation) -> None:
    past = timezone.now() - timedelta(seconds=1)
    await Wait.objects.filter(conversation=conversation).aupdate(deadline=past)


async def waits_alone(site: Site, reply: str) -> Conversation:
    leave(site)
    conversation = await site.start(reply, "I see.")
    await site.until(lambda: Wait.objects.filter(conversation=conversation, state=WaitState.OPEN).exists())
    await site.until(lambda: not site.running.drivers)
    assert await sync_to_async(supervisor.left_alone)() == []
    await conversation.arefresh_from_db()
    assert conversation.lease == ""
    assert conversation.state == "waiting"
    return conversation


async def test_a_forms_deadline(running: Site) -> None:
    conversation = await waits_alone(running, FORM)
    await end(conversation)
    await running.until(lambda: idle(conversation) and bool(told(conversation)))
    assert await sync_to_async(told)(conversation) == ["too late"]
    wait = await Wait.objects.aget(conversation=conversation)
    assert wait.state == WaitState.EXPIRED


async def test_a_runner_that_finds_nothing_to_answer_leaves_no_trace(running: Site) -> None:
    conversation = await waits_alone(running, FORM)
    running.running.drive(conversation.pk)
    await running.until(lambda: not running.running.drivers)
    await conversation.arefresh_from_db()
    assert conversation.state == "waiting"
    assert await sync_to_async(supervisor.left_alone)() == []


async def test_a_long_sleep(running: Site) -> None:
    conversation = await waits_alone(running, NAP)
    await end(conversation)
    await running.until(lambda: idle(conversation) and bool(told(conversation)))
    assert await sync_to_async(told)(conversation) == ["good morning"]


async def test_a_wait_whose_program_is_gone_is_looked_at_once(running: Site) -> None:
    conversation = await waits_alone(running, FORM)
    await Snapshot.objects.filter(conversation=conversation).adelete()
    await end(conversation)
    await running.until(lambda: idle(conversation) and bool(told(conversation)))
    assert "cut off" in (await sync_to_async(told)(conversation))[0]
    await running.until(lambda: not running.running.drivers)
    assert await sync_to_async(supervisor.left_alone)() == []
