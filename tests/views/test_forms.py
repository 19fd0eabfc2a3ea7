"""Submits: typed values become a row of the inbox, wrong ones are answered at their fields."""

import uuid
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from chat.models import Conversation, Message, Mount, Upload
from chat.runtime.states import InboxKind, MountState
from chat.ui.forms import html_name
from chat.views.files import MAX_FILES
from tests.views.conftest import (
    CLICK,
    act,
    csv,
    fields,
    many_files,
    mounted,
    node,
    rows,
)


def test_a_submit_becomes_a_row_with_typed_values(
    user_client: Client, conversation: Conversation, mount: Mount
) -> None:
    undeclared = {"f-price": "0", "name": "no prefix", "mount": "m9"}
    response = act(user_client, conversation, "submit", "m1", token="", **fields(), **undeclared)
    assert response.status_code == 204
    values = {
        "name": "Ada",
        "guests": 4,
        "day": {"$date": "2026-01-31"},
        "terrace": True,
        "rent": 10,
        "search": "",
    }
    assert rows() == [(InboxKind.SUBMIT, {"mount": "m1", "form": "", "values": values, "token": ""})]


def test_an_invalid_submit_is_answered_at_its_fields(
    user_client: Client, conversation: Conversation, mount: Mount
) -> None:
    response = act(user_client, conversation, "submit", "m1", **fields(name="A", guests="13", day="soon"))
    html = response.content.decode()
    assert response.status_code == 422
    for words in ("Enter at least 2 characters.", "Enter 12 or less.", "Enter a date such as 2026-01-31."):
        assert words in html
    assert html.count('aria-invalid="true"') == 3
    assert 'value="13"' in html  # what was typed stays
    assert rows() == []


def test_what_was_typed_is_escaped(user_client: Client, conversation: Conversation, mount: Mount) -> None:
    response = act(user_client, conversation, "submit", "m1", **fields(day='"><script>x</script>'))
    assert response.status_code == 422
    assert b"<script" not in response.content


@pytest.mark.parametrize("state", [MountState.SUBMITTED, MountState.CLOSED])
def test_a_late_submit_is_answered_with_nothing(
    user_client: Client, conversation: Conversation, mount: Mount, state: MountState
) -> None:
    Mount.objects.update(state=state)
    assert act(user_client, conversation, "submit", "m1", **fields(name="")).status_code == 204
    assert rows() == []


def test_a_submit_after_the_wait_was_dismissed_counts(
    user_client: Client, conversation: Conversation, mount: Mount
) -> None:
    Mount.objects.update(state=MountState.DISMISSED)
    assert act(user_client, conversation, "submit", "m1", **fields()).status_code == 204
    assert len(rows()) == 1


def test_a_stale_submit_carries_the_state_it_was_made_in(
    user_client: Client, conversation: Conversation, mount: Mount
) -> None:
    Mount.objects.update(answered_at=timezone.now())
    assert act(user_client, conversation, "submit", "m1", token="older", **fields()).status_code == 204
    assert rows()[0][1]["token"] == "older"  # the runner withdraws it: see tests/runtime


def test_a_form_that_the_mount_has_not_is_answered_with_nothing(
    user_client: Client, conversation: Conversation, mount: Mount
) -> None:
    response = act(user_client, conversation, "submit", "m1", form_name="other", **fields())
    assert response.status_code == 204
    assert rows() == []


def test_forms_of_one_mount_are_apart(
    user_client: Client, conversation: Conversation, reply: Message
) -> None:
    one = node("Form", node("TextField", name="a"), node("SubmitButton", label="A"), name="one")
    two = node("Form", node("TextField", name="b"), node("SubmitButton", label="B"), name="two")
    mounted(reply, node("Card", one, two))
    response = act(user_client, conversation, "submit", "m1", form_name="two", **{html_name("b"): "hi"})
    assert response.status_code == 204
    assert rows()[0][1]["form"] == "two"
    assert rows()[0][1]["values"] == {"b": "hi"}


@pytest.mark.parametrize("name", ["m2", "m0", "m", "x1", "m-1", "m9999999", "m" + "9" * 5000])
@pytest.mark.parametrize("action", ["submit", "callback"])
def test_unknown_mounts_are_not_found(
    user_client: Client, conversation: Conversation, mount: Mount, action: str, name: str
) -> None:
    assert act(user_client, conversation, action, name, callback=CLICK, **fields()).status_code == 404


def test_a_mount_of_another_conversation_is_not_found(user_client: Client, mount: Mount) -> None:
    another = Conversation.objects.create(owner=mount.conversation.owner)
    assert act(user_client, another, "submit", "m1", **fields()).status_code == 404


# Files in forms

WITH_FILE = node(
    "Card", node("FileField", name="data", accept=".csv", max_size=1), node("SubmitButton", label="Go")
)


@pytest.fixture
def asks_for_file(reply: Message, settings: Any, tmp_path: Any) -> Mount:
    settings.MEDIA_ROOT = tmp_path
    return mounted(reply, WITH_FILE)


def test_a_file_is_kept_and_its_handle_submitted(
    user_client: Client, conversation: Conversation, asks_for_file: Mount
) -> None:
    key = uuid.uuid4()
    for _ in range(2):  # a repeat keeps no second file
        response = act(user_client, conversation, "submit", "m1", key=key, **{html_name("data"): csv()})
        assert response.status_code == 204
    upload = Upload.objects.get()
    assert upload.file.read() == b"a,b\n"
    handle = {"id": str(upload.pk), "name": "t.csv", "size": 4, "type": "text/csv"}
    assert [payload["values"] for _, payload in rows()] == [{"data": handle}]


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (csv(b""), "is empty"),
        (csv(b"x" * (1024 * 1024 + 1)), "at most 1.0 MB"),
        (csv(name="t.exe"), "of another kind"),
    ],
    ids=["empty", "large", "kind"],
)
def test_a_wrong_file_is_answered_at_its_field(
    user_client: Client, conversation: Conversation, asks_for_file: Mount, file: Any, words: str
) -> None:
    response = act(user_client, conversation, "submit", "m1", **{html_name("data"): file})
    assert response.status_code == 422
    assert words in response.content.decode()
    assert not Upload.objects.exists()
    assert rows() == []


def test_forms_keep_no_more_files_than_uploads(
    user_client: Client, conversation: Conversation, asks_for_file: Mount
) -> None:
    many_files(conversation)
    response = act(user_client, conversation, "submit", "m1", **{html_name("data"): csv()})
    assert response.status_code == 429
    assert Upload.objects.count() == MAX_FILES
    assert rows() == []
