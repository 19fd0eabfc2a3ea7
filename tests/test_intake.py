"""What people do in a conversation: who may, what becomes a row of the inbox, and what is answered."""

import json
import uuid
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import Conversation, Inbox, Message, Mount, Upload
from chat.runtime.states import InboxKind, InboxState, MountState, Role
from chat.ui.forms import html_name
from chat.views.files import MAX_FILES
from chat.views.intake import MAX_QUEUED

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


@pytest.fixture
def kept(conversation: Conversation, settings: Any, tmp_path: Any) -> Upload:
    settings.MEDIA_ROOT = tmp_path
    return Upload.objects.create(
        conversation=conversation,
        file=ContentFile(b"a,b\n1,2\n", "t.csv"),
        name="t.csv",
        content_type="text/csv",
        size=8,
    )


def upload(client: Client, conversation: Conversation, **data: Any) -> Any:
    """Post a file as a program does, which gets its handle."""
    return client.post(reverse("upload", args=[conversation.pk]), data)


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


# Forms


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


@pytest.mark.parametrize("name", ["m2", "m0", "m", "x1", "m-1", "m99999999999999999999999"])
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


def csv(content: bytes = b"a,b\n", name: str = "t.csv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content, "text/csv")


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


def many_files(conversation: Conversation) -> None:
    Upload.objects.bulk_create(
        Upload(conversation=conversation, file="x", name="x", content_type="x", size=1)
        for _ in range(MAX_FILES)
    )


def test_forms_keep_no_more_files_than_uploads(
    user_client: Client, conversation: Conversation, asks_for_file: Mount
) -> None:
    many_files(conversation)
    response = act(user_client, conversation, "submit", "m1", **{html_name("data"): csv()})
    assert response.status_code == 429
    assert Upload.objects.count() == MAX_FILES
    assert rows() == []


# Callbacks


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


# Uploads and files


def send(client: Client, conversation: Conversation, file: Any) -> Any:
    """Send a file as a program does; a page says that it is one."""
    return client.post(reverse("upload", args=[conversation.pk]), {"file": file})


def test_an_upload_is_kept_for_its_owner(
    user_client: Client, conversation: Conversation, settings: Any, tmp_path: Any
) -> None:
    settings.MEDIA_ROOT = tmp_path
    response = upload(user_client, conversation, file=csv(name="../../t.csv"))
    kept = Upload.objects.get()
    assert response.status_code == 201
    assert response.json() == {"id": str(kept.pk), "name": "t.csv", "size": 4, "type": "text/csv"}
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [str(kept.pk)]


def test_an_upload_that_is_too_large_is_refused(
    user_client: Client, conversation: Conversation, settings: Any
) -> None:
    settings.MAX_UPLOAD_SIZE = 3 * 1024 * 1024
    response = upload(user_client, conversation, file=csv(b"x" * (3 * 1024 * 1024 + 1)))
    assert response.status_code == 413
    assert "At most 3 MB" in response.content.decode()
    assert not Upload.objects.exists()


def test_an_upload_without_a_file_says_what_is_missing(
    user_client: Client, conversation: Conversation
) -> None:
    response = upload(user_client, conversation, file="just text")
    assert response.status_code == 400
    assert "form field" in response.content.decode()


def test_a_conversation_keeps_so_many_files(user_client: Client, conversation: Conversation) -> None:
    many_files(conversation)
    response = upload(user_client, conversation, file=csv())
    assert response.status_code == 429
    assert Upload.objects.count() == MAX_FILES


def address_of(upload: Upload) -> str:
    return reverse("file", args=[upload.conversation_id, upload.pk])


def test_a_file_is_downloaded_never_shown(user_client: Client, kept: Upload) -> None:
    Upload.objects.update(content_type="text/html", name='evil".html')
    response = user_client.get(address_of(kept))
    assert b"".join(response.streaming_content) == b"a,b\n1,2\n"
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"] == 'attachment; filename="evil\\".html"'
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert response["Cache-Control"].startswith("private")


@pytest.mark.parametrize(
    ("kind", "shown"), [("image/png", True), ("image/svg+xml", False), ("application/pdf", False)]
)
def test_only_plain_images_are_shown_in_place(
    user_client: Client, kept: Upload, kind: str, shown: bool
) -> None:
    Upload.objects.update(content_type=kind)
    response = user_client.get(address_of(kept))
    response.close()
    assert response["Content-Disposition"].startswith("inline" if shown else "attachment")
    assert response["Content-Type"] == (kind if shown else "application/octet-stream")


def test_a_file_belongs_to_its_conversation_and_its_owner(
    user_client: Client, other_client: Client, client: Client, kept: Upload
) -> None:
    another = Conversation.objects.create(owner=kept.conversation.owner)
    assert user_client.get(reverse("file", args=[another.pk, kept.pk])).status_code == 404
    assert user_client.get(reverse("file", args=[kept.conversation_id, uuid.uuid4()])).status_code == 404
    assert other_client.get(address_of(kept)).status_code == 404
    assert client.get(address_of(kept))["Location"].startswith("/accounts/login/")
    assert user_client.post(address_of(kept)).status_code == 405


def test_a_page_gets_the_list_of_files_and_what_was_not_taken(
    user_client: Client, conversation: Conversation, settings: Any, tmp_path: Any
) -> None:
    settings.MEDIA_ROOT, settings.MAX_UPLOAD_SIZE = tmp_path, 1024 * 1024
    large = SimpleUploadedFile("<b>big</b>.csv", b"x" * (1024 * 1024 + 1))
    response = user_client.post(
        reverse("upload", args=[conversation.pk]),
        {"file": [csv(name="one.csv"), large, csv(name="<i>two</i>.csv")]},
        headers={"HX-Request": "true"},
    )
    assert Upload.objects.count() == 2
    page = response.content.decode()
    assert response.status_code == 200
    assert page.count("<li ") == 2
    assert "is too large" in page
    assert "<b>" not in page
    assert "<i>" not in page


@pytest.mark.parametrize("what", ["conversation", "user"])
@pytest.mark.django_db(transaction=True)
def test_what_is_deleted_leaves_no_file(
    user_client: Client, conversation: Conversation, settings: Any, tmp_path: Any, what: str
) -> None:
    settings.MEDIA_ROOT = tmp_path
    for _ in range(2):
        assert send(user_client, conversation, csv()).status_code == 201
    owner = conversation.owner if what == "conversation" else User.objects.create_user("eve")
    another = Conversation.objects.create(owner=owner)
    kept = Upload.objects.create(conversation=another, file=csv(), name="k", content_type="x", size=4)
    (conversation if what == "conversation" else conversation.owner).delete()
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [str(kept.pk)]
    assert [path.name for path in (tmp_path / "uploads").iterdir()] == [str(another.pk)]
