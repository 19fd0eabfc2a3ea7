"""Feedback: what code printed and what went wrong, as one message to the model."""

from chat.runtime.limits import Limits
from chat.runtime.records import Block, Statement
from chat.runtime.reply import Reply
from chat.runtime.states import BlockKind, BlockState, StatementState


def of_reply(reply: Reply, limits: Limits) -> str:
    """Return the feedback on a reply, in the order of its blocks; empty when there is nothing to say."""
    parts: list[str] = []
    for block in reply.blocks:
        parts += _of_block(block, reply.statements[block.id])
    dropped = [s for own in reply.statements.values() for s in own if s.state is StatementState.DROPPED]
    if parts and (dropped or any(block.state is BlockState.DROPPED for block in reply.blocks)):
        parts.append("What followed in your reply was dropped: it was neither shown nor run.")
    return shorten("\n".join(parts), limits.feedback_chars)


def of_program(statement: Statement) -> str:
    """Return the feedback on a callback that ran while no reply was under way."""
    return "\n".join(_of_statement(statement))


def shorten(text: str, limit: int) -> str:
    """Return text of at most about `limit` characters, its middle cut out with a note of how much."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters were cut out here …]\n{text[-half:]}"


def _of_block(block: Block, statements: list[Statement]) -> list[str]:
    match block.kind:
        case BlockKind.TEXT:
            return []
        case BlockKind.RUN:
            return [part for statement in statements for part in _of_statement(statement, block.index)]
    return [block.error] if block.error else []


def _of_statement(statement: Statement, block: int | None = None) -> list[str]:
    parts = []
    if statement.output:
        parts.append(statement.output.rstrip("\n"))
    if statement.notes:
        parts.append(statement.notes)
    if statement.error:
        where = "" if block is None else f"Block {block}, statement {statement.position}: "
        parts.append(where + statement.error)
    if statement.state is StatementState.CUT and not statement.error:
        parts.append("A statement was cut off in the middle.")
    return parts
