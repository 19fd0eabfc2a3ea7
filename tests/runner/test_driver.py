"""Conversations driven with the real database: what is saved, when, and what a later runner makes of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from chat.llm.base import TextPiece
from chat.models import Block, Conversation, Message, Piece, Statement
from chat.runtime.states import ConversationState, MessageState, Role
from tests.runner.conftest import Site


def idle(conversation: Conversation) -> bool:
    conversation.refresh_from_db()
    return (
        conversation.state == ConversationState.IDLE
        and conversation.messages.filter(role=Role.ASSISTANT).exclude(state=MessageState.STREAMING).exists()
    )


async def test_a_reply_is_saved(running: Site) -> None:
    conversation = await running.start(
        "Hello **you**.\n\n```python agent.run\nx = 1\nprint(x)\n```\n", "Done."
    )
    await running.until(lambda: idle(conversation))
    messages = [m async for m in Message.objects.filter(conversation=conversation)]
    assert [(m.role, m.state) for m in messages] == [
        ("user", "done"),
        ("assistant", "done"),
        ("feedback", "done"),
        ("assistant", "done"),
    ]
    assert messages[2].text == "1"
    blocks = [b async for b in Block.objects.filter(message=messages[1])]
    assert [(b.kind, b.state, b.source) for b in blocks][:2] == [
        ("text", "done", "Hello **you**.\n\n"),
        ("run", "done", "x = 1\nprint(x)\n"),
    ]
    statements = [s async for s in Statement.objects.filter(conversation=conversation)]
    assert [(s.source.strip(), s.state, s.output) for s in statements] == [
        ("x = 1", "done", ""),
        ("print(x)", "done", "1\n"),
    ]
    assert not await Piece.objects.aexists()


async def test_text_is_read_when_it_can_be_shown(running: Site) -> None:
    """So that a busy site reads, saves and sends large pieces now and then, instead of many small ones."""
    asked: list[int] = []
    frames: list[int] = []

    class Flood:
        """Pieces that are there whenever they are asked for."""

        def __init__(self) -> None:
            self.number = 0

        def __aiter__(self) -> "Flood":
            return self

        async def __anext__(self) -> TextPiece:
            self.number += 1
            if self.number > 5:
                raise StopAsyncIteration
            asked.append(self.number)
            (driver,) = running.running.drivers.values()
            assert driver.agent is not None
            frames.append(driver.agent.store.conversation.seq)
            return TextPiece(f"piece {self.number} ")

    @asynccontextmanager
    async def stream(messages: object) -> AsyncIterator[Flood]:
        yield Flood()

    running.model.stream = stream  # type: ignore[assignment, method-assign]
    conversation = await running.start()
    await running.until(lambda: idle(conversation))
    assert asked == [1, 2, 3, 4, 5]
    assert len(set(frames)) > 3  # what was read before is mostly saved when the next is asked for


async def test_who_waits_for_more_text_to_be_wanted_is_heard(running: Site) -> None:
    driver, store = await running.driver()
    store.touch(store.conversation)
    waiting = asyncio.create_task(store.pace())
    await asyncio.sleep(0)
    await store.flush()  # for another reason, before the clock of the frames had its turn
    showing = asyncio.create_task(driver._show(store))
    try:
        await asyncio.wait_for(waiting, 10)
    finally:
        showing.cancel()


async def test_code_is_read_as_fast_as_it_comes(running: Site) -> None:
    running.model.size = 1
    code = "total = 0\n" + "#" * 500 + "\nprint(total)\n"
    conversation = await running.start(f"```python agent.run\n{code}```\n", "Done.")
    await running.until(lambda: idle(conversation))
    assert await conversation.statements.filter(output="0\n").aexists()
    assert conversation.seq < 100  # were each character waited for, it would be a frame of its own
