"""Counts what was saved of one conversation, for the metrics."""

from collections.abc import Iterable
from uuid import UUID

from chat.metrics import FIRST_TOKEN, STATEMENT, STATEMENTS, TOKENS, TURNS
from chat.runtime.records import Message, Record, Statement
from chat.runtime.states import MessageState, Role


class Accounts:
    """Counts each statement and each reply once, when it has come to its end."""

    def __init__(self) -> None:
        self._counted: set[UUID] = set()

    def known(self, records: Iterable[Record]) -> None:
        """Leave out what ended before this runner began."""
        self._counted |= {record.id for record in records if _has_ended(record)}  # type: ignore[misc]

    def saved(self, records: Iterable[Record]) -> None:
        """Count what has ended."""
        for record in records:
            if _has_ended(record) and record.id not in self._counted:
                self._counted.add(record.id)  # type: ignore[arg-type]
                _count(record)


def _has_ended(record: Record) -> bool:
    match record:
        case Statement():
            return record.settled and record.finished is not None
        case Message(role=Role.ASSISTANT):
            return record.state is not MessageState.STREAMING
    return False


def _count(record: Record) -> None:
    match record:
        case Statement():
            STATEMENTS.labels(str(record.kind), str(record.state)).inc()
            if record.started and record.finished:
                STATEMENT.observe((record.finished - record.started).total_seconds())
        case Message():
            TURNS.labels(str(record.state)).inc()
            TOKENS.labels("input").inc(record.input_tokens or 0)
            TOKENS.labels("output").inc(record.output_tokens or 0)
            if record.first_token:
                FIRST_TOKEN.observe((record.first_token - record.created).total_seconds())
