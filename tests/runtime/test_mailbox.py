"""The mailbox of a driven conversation."""

from chat.runtime.mailbox import Mailbox
from chat.runtime.records import InboxItem
from chat.runtime.states import InboxKind, InboxState


def row(number: int, text: str = "hello") -> InboxItem:
    """Return an item as it is loaded from the database."""
    return InboxItem(number, InboxKind.MESSAGE, {"text": text})


def test_what_is_taken_out_does_not_come_back() -> None:
    """The inbox is read again before the row's new state is saved: it must not be handled twice."""
    mailbox = Mailbox()
    mailbox.refresh([row(1)])
    mailbox.settle(mailbox.items[1], InboxState.DONE)
    mailbox.changed.clear()
    mailbox.refresh([row(1), row(2)])
    assert list(mailbox.items) == [2]
    mailbox.settle(mailbox.items[2], InboxState.STARTED)
    mailbox.changed.clear()
    mailbox.refresh([row(2)])
    assert not mailbox.items
    assert not mailbox.changed.is_set()


def test_rows_that_were_withdrawn_or_edited() -> None:
    mailbox = Mailbox()
    mailbox.refresh([row(1), row(2)])
    mailbox.refresh([row(2, "edited")])
    assert [item.payload["text"] for item in mailbox.items.values()] == ["edited"]


def test_nothing_is_remembered_for_ever() -> None:
    mailbox = Mailbox()
    for number in range(100):
        mailbox.refresh([row(number)])
        mailbox.settle(mailbox.items[number])
    mailbox.refresh([])
    assert not mailbox._taken
