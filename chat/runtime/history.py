"""The conversation as the model gets it."""

from typing import Literal

from chat.llm.base import FEEDBACK_MARK, ModelMessage
from chat.runtime.limits import Limits
from chat.runtime.records import Block, Message
from chat.runtime.states import BlockKind, BlockState, MessageState, Role


def model_messages(
    system: str, history: list[tuple[Message, list[Block]]], limits: Limits
) -> list[ModelMessage]:
    """Return the messages for the next turn: the system prompt, then user and assistant in turns.

    The oldest messages are left out when all together are too long, with a note in their place.
    """
    turns: list[ModelMessage] = []
    for message, blocks in history:
        text = _text(message, blocks)
        if not text.strip():
            continue
        role: Literal["user", "assistant"] = "assistant" if message.role is Role.ASSISTANT else "user"
        if turns and turns[-1].role == role:  # many servers insist on alternating roles
            turns[-1] = ModelMessage(role, turns[-1].content + "\n\n" + text)
        else:
            turns.append(ModelMessage(role, text))
    return [ModelMessage("system", system), *_recent(turns, limits.history_chars)]


def _recent(turns: list[ModelMessage], limit: int) -> list[ModelMessage]:
    total = 0
    for count, turn in enumerate(reversed(turns)):
        total += len(turn.content)
        if total > limit and count:
            kept = turns[len(turns) - count :]
            note = ModelMessage("user", "[The beginning of this conversation was left out: it is too long.]")
            return [note, *kept] if kept[0].role == "assistant" else _with_note(note, kept)
    return turns


def _with_note(note: ModelMessage, kept: list[ModelMessage]) -> list[ModelMessage]:
    return [ModelMessage("user", f"{note.content}\n\n{kept[0].content}"), *kept[1:]]


def _text(message: Message, blocks: list[Block]) -> str:
    if message.role is not Role.ASSISTANT:
        return message.text if message.role is Role.USER else f"{FEEDBACK_MARK}\n{message.text}"
    acted = any(
        block.kind is not BlockKind.TEXT and block.state is not BlockState.DROPPED for block in blocks
    )
    if message.state in (MessageState.INCOMPLETE, MessageState.FAILED) and not acted:
        return ""  # it is tried again, as if it had not been
    if not any(block.state is BlockState.DROPPED for block in blocks):
        return message.text or written(blocks)
    return written([block for block in blocks if block.state is not BlockState.DROPPED])


def written(blocks: list[Block]) -> str:
    """Return blocks as the model would write them; used where only a part of a reply took effect."""
    return "".join(_written(block) for block in blocks)


def _written(block: Block) -> str:
    fence = "````"
    match block.kind:
        case BlockKind.RUN:
            return f"{fence}python agent.run\n{block.text}{fence}\n"
        case BlockKind.DATA:
            return f'{fence}json agent.data => "{block.target}"\n{block.text.rstrip()}\n{fence}\n'
        case BlockKind.PROBLEM:
            return ""
    return block.text
