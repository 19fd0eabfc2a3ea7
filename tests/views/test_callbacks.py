"""Clicks and changes: only what the interface offers, only values that fit, the latest of a field."""

import json
import uuid
from typing import Any

import pytest
from django.test import Client

from chat.models import Conversation, Mount
from chat.runtime.states import InboxKind, MountState
from tests.views.conftest import (
    CLICK,
    ROW,
    SLIDE,
    TYPE,
    act,
    fields,
    rows,
)


def called(client: Client, conversation: Conversation, callback: str, value: Any = None, **data: Any) -> Any:
    if value is not None:
        data["value"] = json.dumps(value)
    return act(client, conversation, "callback", "m1", callback=callback, **data)


@pytest.mark.parametrize(
    ("callback", "value", "args"),
    [
        (CLICK, None, []),
        (CLICK, "ignored", []),
        (SLIDE, 40, [40]),
        (SLIDE, "40", [40]),
        (TYPE, "Köln", ["Köln"]),
        (TYPE, "", [""]),
        (ROW, "k-7", [{"id": 7, "film": "Alien"}]),
    ],
)
def test_a_callback_becomes_a_row(
    user_client: Client, conversation: Conversation, mount: Mount, callback: str, value: Any, args: list[Any]
) -> None:
    assert called(user_client, conversation, callback, value).status_code == 204
    assert rows() == [(InboxKind.CALLBACK, {"mount": "m1", "callback": callback, "args": args})]


@pytest.mark.parametrize("callback", ["", "m1:9:on_click", "m2:0.1:on_click", "m1:0.5:on_click"])
def test_what_the_tree_does_not_offer_has_no_effect(
    user_client: Client, conversation: Conversation, mount: Mount, callback: str
) -> None:
    assert called(user_client, conversation, callback).status_code == 204
    assert rows() == []


def test_an_interface_that_this_version_cannot_show_takes_nothing(
    user_client: Client, conversation: Conversation, mount: Mount
) -> None:
    Mount.objects.update(tree={"c": "Hologram"})
    assert called(user_client, conversation, CLICK).status_code == 204
    assert act(user_client, conversation, "submit", "m1", **fields()).status_code == 204
    assert rows() == []


def test_callbacks_work_until_the_mount_is_closed(
    user_client: Client, conversation: Conversation, mount: Mount
) -> None:
    Mount.objects.update(state=MountState.SUBMITTED)
    assert called(user_client, conversation, CLICK).status_code == 204
    assert len(rows()) == 1
    Mount.objects.update(state=MountState.CLOSED)
    assert called(user_client, conversation, CLICK).status_code == 204
    assert len(rows()) == 1


@pytest.mark.parametrize(
    ("callback", "text"),
    [
        (SLIDE, '"many"'),
        (SLIDE, "101"),
        (SLIDE, "NaN"),
        (SLIDE, "[1]"),
        (SLIDE, "no json"),
        (TYPE, "1e999"),
        (TYPE, r'"\ud800"'),
        (SLIDE, "[" * 100_000),
        (ROW, '"k-9"'),
        (ROW, "[]"),
    ],
)
def test_a_wrong_value_is_refused_with_a_reason(
    user_client: Client, conversation: Conversation, mount: Mount, callback: str, text: str
) -> None:
    response = act(user_client, conversation, "callback", "m1", callback=callback, value=text)
    assert response.status_code == 400
    assert response.content.decode().startswith("That value is not accepted: ")
    assert rows() == []


@pytest.mark.parametrize("text", [r'"a\u0000b"', '{"a": [1, null]}', "true", "1" * 500])
def test_strange_texts_can_be_kept(
    user_client: Client, conversation: Conversation, mount: Mount, text: str
) -> None:
    assert act(user_client, conversation, "callback", "m1", callback=TYPE, value=text).status_code == 204
    (value,) = rows()[0][1]["args"]
    assert isinstance(value, str)
    assert "\0" not in value


def test_the_latest_value_of_a_field_wins(
    user_client: Client, conversation: Conversation, mount: Mount
) -> None:
    first = uuid.uuid4()
    called(user_client, conversation, SLIDE, 10, key=first)
    called(user_client, conversation, TYPE, "a")
    called(user_client, conversation, SLIDE, 20)
    called(user_client, conversation, SLIDE, 10, key=first)  # an old request comes again
    assert [payload["args"] for _, payload in rows()] == [["a"], [20]]


def test_clicks_all_count(user_client: Client, conversation: Conversation, mount: Mount) -> None:
    called(user_client, conversation, CLICK)
    called(user_client, conversation, CLICK)
    called(user_client, conversation, ROW, "k-7")
    called(user_client, conversation, ROW, "k-8")
    assert len(rows()) == 4
