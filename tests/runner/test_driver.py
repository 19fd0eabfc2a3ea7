"""Conversations driven with the real database: what is saved, when, and what a later runner makes of it."""

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
