"""What people do in a conversation: who may, what becomes a row of the inbox, and what is answered."""

import uuid
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from chat.models import Conversation, Inbox, Mount
from chat.runtime.states import InboxKind, InboxState
from chat.views.intake import MAX_QUEUED
from tests.views.conftest import CLICK, HTMX, SLIDE, act, fields, fill, rows

# Who may do what

ADDRESSES: list[tuple[str, list[Any]]] = [
    ("message", []),
    ("stop", []),
    ("retry", []),
    ("continue", []),
    ("submit", ["m1"]),
    ("callback", ["m1"]),
    ("queued", [1]),
    ("upload", []),
]
named = pytest.mark.parametrize(("name", "more"), ADDRESSES, ids=[name for name, _ in ADDRESSES])


@named
def test_other_users_find_nothing(
    other_client: Client, conversation: Conversation, mount: Mount, name: str, more: list[Any]
) -> None:
    response = act(other_client, conversation, name, *more, text="hi", callback=CLICK, **fields())
    assert response.status_code == 404
    assert not Inbox.objects.exists()


@named
def test_anonymous_people_are_sent_to_the_login(
    client: Client, conversation: Conversation, name: str, more: list[Any]
) -> None:
    address = reverse(name, args=[conversation.pk, *more])
    response = client.post(address)
    assert (response.status_code, response["Location"]) == (302, f"/accounts/login/?next={address}")
    response = client.post(address, headers=HTMX)
    assert (response.status_code, response["HX-Redirect"]) == (204, "/accounts/login/?next=/c/there/")
    assert not Inbox.objects.exists()


@named
def test_a_request_without_token_is_refused(
    user_client: Client, conversation: Conversation, name: str, more: list[Any]
) -> None:
    user_client.handler.enforce_csrf_checks = True
    assert act(user_client, conversation, name, *more).status_code == 403
    assert not Inbox.objects.exists()


@pytest.mark.parametrize("method", ["get", "put", "delete"])
@named
def test_methods_that_are_not_allowed(
    user_client: Client, conversation: Conversation, name: str, more: list[Any], method: str
) -> None:
    response = getattr(user_client, method)(reverse(name, args=[conversation.pk, *more]))
    assert response.status_code == (404 if (name, method) == ("queued", "get") else 405)


# Messages, stop, retry, continue


def test_a_message_becomes_a_row(user_client: Client, conversation: Conversation) -> None:
    before = conversation.updated
    assert act(user_client, conversation, "message", text="  Hello\nthere  ").status_code == 204
    assert rows() == [(InboxKind.MESSAGE, {"text": "Hello\nthere"})]
    conversation.refresh_from_db()
    assert conversation.updated > before


def test_a_message_without_htmx_goes_back_to_the_page(
    user_client: Client, conversation: Conversation
) -> None:
    address = reverse("message", args=[conversation.pk])
    response = user_client.post(address, {"key": uuid.uuid4(), "text": "hi"})
    assert (response.status_code, response["Location"]) == (302, conversation.get_absolute_url())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Write a message first."),
        (" \n ", "Write a message first."),
        ("x" * (settings.MAX_MESSAGE_LENGTH + 1), "at most 100000 characters"),
    ],
    ids=["nothing", "blank", "long"],
)
def test_a_wrong_message_says_why(
    user_client: Client, conversation: Conversation, text: str, words: str
) -> None:
    response = act(user_client, conversation, "message", text=text)
    assert response.status_code == 422
    assert words in response.content.decode()
    assert rows() == []


@pytest.mark.parametrize(
    ("action", "kind"),
    [("stop", InboxKind.STOP), ("retry", InboxKind.RETRY), ("continue", InboxKind.CONTINUE)],
)
def test_each_button_becomes_a_row(
    user_client: Client, conversation: Conversation, action: str, kind: InboxKind
) -> None:
    assert act(user_client, conversation, action).status_code == 204
    assert rows() == [(kind, {})]


@pytest.mark.parametrize("action", ["message", "stop", "retry", "continue", "submit", "callback"])
def test_a_repeat_changes_nothing(
    user_client: Client, conversation: Conversation, mount: Mount, action: str
) -> None:
    more = [mount.name] if action in ("submit", "callback") else []
    data = {"key": uuid.uuid4(), "text": "hi", "callback": SLIDE, "value": "40", **fields()}
    for _ in range(3):
        assert act(user_client, conversation, action, *more, **data).status_code == 204
    assert len(rows()) == Inbox.objects.count() == 1
    Inbox.objects.update(state=InboxState.DONE)  # long after it was handled, too
    assert act(user_client, conversation, action, *more, **data).status_code == 204
    assert Inbox.objects.count() == 1


def test_a_key_belongs_to_its_conversation(user_client: Client, conversation: Conversation) -> None:
    another = Conversation.objects.create(owner=conversation.owner)
    key = uuid.uuid4()
    act(user_client, conversation, "message", key=key, text="one")
    act(user_client, another, "message", key=key, text="two")
    assert [payload["text"] for _, payload in rows()] == ["one", "two"]


def test_without_a_usable_key_a_click_counts_once(user_client: Client, conversation: Conversation) -> None:
    assert act(user_client, conversation, "retry", key="no uuid").status_code == 204
    assert len(rows()) == 1


@pytest.mark.parametrize("action", ["message", "retry", "continue", "submit", "callback"])
def test_too_much_at_once_is_refused(
    user_client: Client, conversation: Conversation, mount: Mount, action: str
) -> None:
    fill(conversation, MAX_QUEUED)
    more = [mount.name] if action in ("submit", "callback") else []
    response = act(user_client, conversation, action, *more, text="hi", callback=CLICK, **fields())
    assert response.status_code == 429
    assert "press Stop" in response.content.decode()
    assert Inbox.objects.count() == MAX_QUEUED


def test_stop_works_however_much_waits(user_client: Client, conversation: Conversation) -> None:
    fill(conversation, MAX_QUEUED)
    assert act(user_client, conversation, "stop").status_code == 204
    assert rows()[-1] == (InboxKind.STOP, {})


def test_a_repeat_of_what_waits_is_harmless_when_the_inbox_is_full(
    user_client: Client, conversation: Conversation
) -> None:
    key = uuid.uuid4()
    fill(conversation, MAX_QUEUED - 1)
    assert act(user_client, conversation, "message", key=key, text="the last").status_code == 204
    assert act(user_client, conversation, "message", key=key, text="the last").status_code == 204
    assert act(user_client, conversation, "message", text="one more").status_code == 429


# The queue


@pytest.fixture
def waiting(conversation: Conversation) -> Inbox:
    return Inbox.objects.create(
        conversation=conversation, key=uuid.uuid4(), kind=InboxKind.MESSAGE, payload={"text": "Wait <b>"}
    )


def test_a_queued_message_can_be_edited(
    user_client: Client, conversation: Conversation, waiting: Inbox
) -> None:
    address = reverse("queued", args=[conversation.pk, waiting.pk])
    editing = user_client.get(address, headers=HTMX).content.decode()
    assert "<textarea" in editing
    assert "Wait &lt;b&gt;" in editing
    assert "<textarea" not in user_client.get(address, {"cancel": 1}, headers=HTMX).content.decode()
    response = act(user_client, conversation, "queued", waiting.pk, text=" Better ")
    assert response.status_code == 200
    assert "Better" in response.content.decode()
    assert rows() == [(InboxKind.MESSAGE, {"text": "Better"})]


def test_a_queued_message_cannot_become_empty(
    user_client: Client, conversation: Conversation, waiting: Inbox
) -> None:
    response = act(user_client, conversation, "queued", waiting.pk, text="  ")
    assert response.status_code == 422
    assert "Write a message first." in response.content.decode()
    assert rows() == [(InboxKind.MESSAGE, {"text": "Wait <b>"})]


def test_a_queued_message_can_be_withdrawn(
    user_client: Client, conversation: Conversation, waiting: Inbox
) -> None:
    for _ in range(2):
        response = act(user_client, conversation, "queued", waiting.pk, withdraw="1")
        assert (response.status_code, response.content) == (200, b"")
    waiting.refresh_from_db()
    assert waiting.state == InboxState.WITHDRAWN
    assert waiting.settled


def test_what_was_sent_meanwhile_is_not_changed(
    user_client: Client, conversation: Conversation, waiting: Inbox
) -> None:
    Inbox.objects.update(state=InboxState.DONE)
    for data in ({"text": "too late"}, {"withdraw": "1"}):
        response = act(user_client, conversation, "queued", waiting.pk, **data)
        assert (response.status_code, response.content) == (200, b"")
    waiting.refresh_from_db()
    assert (waiting.state, waiting.payload) == (InboxState.DONE, {"text": "Wait <b>"})


def test_only_messages_of_this_conversation_are_in_its_queue(
    user_client: Client, conversation: Conversation, waiting: Inbox
) -> None:
    another = Conversation.objects.create(owner=conversation.owner)
    assert act(user_client, another, "queued", waiting.pk, text="x").status_code == 404
    assert act(user_client, conversation, "queued", 10**30, text="x").status_code == 404
    Inbox.objects.update(kind=InboxKind.SUBMIT)
    assert act(user_client, conversation, "queued", waiting.pk, text="x").status_code == 404
