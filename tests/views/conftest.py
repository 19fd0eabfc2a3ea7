"""What tests of views share: a conversation with an interface, and how a page posts to it."""

import uuid
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import Conversation, Inbox, Message, Mount, Upload
from chat.runtime.states import InboxKind, InboxState, Role
from chat.ui.forms import html_name
from chat.views.files import MAX_FILES

HTMX = {"HX-Request": "true", "HX-Current-URL": "http://testserver/c/there/"}
CLICK, SLIDE, TYPE, ROW = "m1:0.1:on_click", "m1:0.2:on_change", "m1:0.3:on_change", "m1:0.4:on_row"


def node(component: str, *children: dict[str, Any], **props: Any) -> dict[str, Any]:
    return {"c": component, "p": props, "n": list(children)}


BOOKING = node(
    "Card",
    node("TextField", name="name", label="Your name", min_length=2),
    node("NumberField", name="guests", label="Guests", min=1, max=12, step=1),
    node("DateField", name="day", label="Day"),
    node("Checkbox", name="terrace", required=False),
    node("SubmitButton", label="Book"),
    node("Button", label="More", on_click=CLICK),
    node("Slider", name="rent", min=0, max=100, on_change=SLIDE),
    node("TextField", name="search", required=False, on_change=TYPE),
    node("DataTable", rows=[{"id": 7, "film": "Alien"}, {"id": 8, "film": "Brazil"}], on_row=ROW),
    node("Button", label="Not now", on_click="m1:0.5:on_click", disabled=True),
)
GOOD = {"name": " Ada ", "guests": "4", "day": "2026-01-31", "terrace": "on", "rent": "10", "search": ""}


@pytest.fixture
def reply(conversation: Conversation) -> Message:
    return Message.objects.create(
        conversation=conversation, position=1, role=Role.ASSISTANT, created=timezone.now()
    )


def mounted(reply: Message, tree: dict[str, Any], **values: Any) -> Mount:
    return Mount.objects.create(
        conversation=reply.conversation, number=1, message=reply, tree=tree, created=timezone.now(), **values
    )


@pytest.fixture
def mount(reply: Message) -> Mount:
    return mounted(reply, BOOKING)


def act(client: Client, conversation: Conversation, action: str, *more: Any, **data: Any) -> Any:
    """Post as the page does, with a key and by htmx."""
    address = reverse(action, args=[conversation.pk, *more])
    return client.post(address, {"key": uuid.uuid4(), **data}, headers=HTMX)


def fields(**changes: str) -> dict[str, str]:
    return {html_name(name): value for name, value in {**GOOD, **changes}.items()}


def rows() -> list[tuple[str, dict[str, Any]]]:
    return [(row.kind, row.payload) for row in Inbox.objects.filter(state=InboxState.QUEUED)]


def fill(conversation: Conversation, number: int) -> None:
    Inbox.objects.bulk_create(
        Inbox(conversation=conversation, key=uuid.uuid4(), kind=InboxKind.CALLBACK) for _ in range(number)
    )


def csv(content: bytes = b"a,b\n", name: str = "t.csv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content, "text/csv")


def many_files(conversation: Conversation) -> None:
    Upload.objects.bulk_create(
        Upload(conversation=conversation, file="x", name="x", content_type="x", size=1)
        for _ in range(MAX_FILES)
    )
