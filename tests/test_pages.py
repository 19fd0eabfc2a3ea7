"""The pages of conversations: who gets which; the list, starting, renaming, deleting."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import Block, Conversation, Inbox, Message, Statement
from chat.runtime.states import BlockKind, BlockState, InboxKind, MessageState, Role, StatementState
from chat.views.pages import PAGE_SIZE, title_of

HTMX = {"HX-Request": "true", "HX-Current-URL": "http://testserver/c/there/"}


def text_of(response: Any) -> str:
    return str(response.content.decode())


def said(conversation: Conversation, text: str, role: Role = Role.USER) -> Message:
    return Message.objects.create(
        conversation=conversation,
        position=conversation.messages.count(),
        role=role,
        text=text,
        created=timezone.now(),
    )


# Who gets what

PAGES = ["conversation", "rename", "delete"]
ACTIONS = ["rename", "delete", "message", "stop", "retry", "continue"]


@pytest.mark.parametrize("name", PAGES)
def test_the_owner_sees_the_page(user_client: Client, conversation: Conversation, name: str) -> None:
    assert user_client.get(reverse(name, args=[conversation.pk])).status_code == 200


@pytest.mark.parametrize("name", PAGES)
def test_other_users_get_404(other_client: Client, conversation: Conversation, name: str) -> None:
    assert other_client.get(reverse(name, args=[conversation.pk])).status_code == 404


@pytest.mark.parametrize("name", ACTIONS)
def test_other_users_change_nothing(other_client: Client, conversation: Conversation, name: str) -> None:
    data = {"key": uuid.uuid4(), "text": "hello", "title": "mine now"}
    assert other_client.post(reverse(name, args=[conversation.pk]), data).status_code == 404
    conversation.refresh_from_db()
    assert conversation.title == "A table for two"
    assert not Inbox.objects.exists()


def test_staff_are_other_users_too(staff_client: Client, conversation: Conversation) -> None:
    assert staff_client.get(conversation.get_absolute_url()).status_code == 404


@pytest.mark.parametrize("name", PAGES)
def test_anonymous_people_get_the_login_page(client: Client, conversation: Conversation, name: str) -> None:
    address = reverse(name, args=[conversation.pk])
    response = client.get(address)
    assert (response.status_code, response["Location"]) == (302, f"/accounts/login/?next={address}")


@pytest.mark.parametrize("name", ACTIONS)
def test_an_anonymous_htmx_request_sends_the_page_to_the_login(
    client: Client, conversation: Conversation, name: str
) -> None:
    response = client.post(reverse(name, args=[conversation.pk]), headers=HTMX)
    assert (response.status_code, response["HX-Redirect"]) == (204, "/accounts/login/?next=/c/there/")
    assert response.content == b""


def test_an_unknown_conversation_is_not_found(user_client: Client) -> None:
    response = user_client.get(reverse("conversation", args=[uuid.uuid4()]))
    assert response.status_code == 404
    assert "not yours" in text_of(response)


def test_private_pages_are_not_stored(user_client: Client, conversation: Conversation) -> None:
    for address in ["/", conversation.get_absolute_url()]:
        assert "no-store" in user_client.get(address)["Cache-Control"]


def test_the_content_policy_allows_nothing_inline(user_client: Client) -> None:
    policy = user_client.get("/")["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy


def test_a_stale_token_reloads_an_htmx_page(user: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    response = client.post("/start/", headers=HTMX)
    assert (response.status_code, response["HX-Refresh"]) == (403, "true")
    assert "try again" in text_of(client.post("/start/"))


# Starting


def test_starting_stores_the_message_and_goes_to_the_page(user_client: Client, user: User) -> None:
    key = uuid.uuid4()
    response = user_client.post("/start/", {"key": key, "text": "  Book a table\nfor two "})
    assert response["Location"] == f"/c/{key}/"
    started = Conversation.objects.get()
    assert (started.pk, started.owner, started.title) == (key, user, "Book a table")
    row = Inbox.objects.get()
    assert (row.kind, row.payload, row.user) == (InboxKind.MESSAGE, {"text": "Book a table\nfor two"}, user)


def test_starting_twice_is_harmless(user_client: Client) -> None:
    data = {"key": uuid.uuid4(), "text": "hello"}
    first, second = user_client.post("/start/", data), user_client.post("/start/", data)
    assert first["Location"] == second["Location"]
    assert Inbox.objects.count() == 1


def test_starting_under_the_id_of_somebody_elses(other_client: Client, conversation: Conversation) -> None:
    assert other_client.post("/start/", {"key": conversation.pk, "text": "hello"}).status_code == 404
    assert not Inbox.objects.exists()


@pytest.mark.parametrize("text", ["", "  \n ", "x" * 100_001])
def test_nothing_or_too_much_is_refused(user_client: Client, text: str) -> None:
    response = user_client.post("/start/", {"key": uuid.uuid4(), "text": text})
    assert response.status_code == 422
    assert 'aria-invalid="true"' in text_of(response)
    assert not Conversation.objects.exists()


def test_an_examples_button_wins_over_the_text_box(user_client: Client) -> None:
    user_client.post("/start/", {"key": uuid.uuid4(), "text": ["half a thought", "Book a table"]})
    assert Conversation.objects.get().title == "Book a table"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Short", "Short"),
        ("First line\nsecond", "First line"),
        ("word " * 30, "word " * 15 + "word…"),
        ("x" * 100, "x" * 80 + "…"),
    ],
)
def test_titles(text: str, title: str) -> None:
    assert title_of(text) == title


# The list


def test_an_empty_list_says_what_to_do(user_client: Client) -> None:
    page = text_of(user_client.get("/"))
    assert "No conversations yet" in page
    assert "Book a table" in page  # an example
    assert 'type="search"' not in page


def test_the_list_is_newest_first_and_ones_own(user_client: Client, user: User, other: User) -> None:
    now = timezone.now()
    for number, owner in enumerate([user, user, user, other]):
        made = Conversation.objects.create(owner=owner, title=f"Number {number}")
        Conversation.objects.filter(pk=made.pk).update(updated=now + timedelta(minutes=number))
    page = text_of(user_client.get("/"))
    assert page.index("Number 2") < page.index("Number 1") < page.index("Number 0")
    assert "Number 3" not in page


def test_older_conversations_come_on_demand(user_client: Client, user: User) -> None:
    now = timezone.now()
    for number in range(PAGE_SIZE + 2):
        made = Conversation.objects.create(owner=user, title=f"<{number}>")
        Conversation.objects.filter(pk=made.pk).update(updated=now - timedelta(minutes=number))
    first = user_client.get("/")
    assert len(first.context["conversations"]) == PAGE_SIZE
    assert "Show older conversations" in text_of(first)
    more = user_client.get("/", {"before": first.context["more"].isoformat()}, headers=HTMX)
    assert [shown.title for shown in more.context["conversations"]] == ["<20>", "<21>"]
    assert "<html" not in text_of(more)
    assert "Show older" not in text_of(more)
    assert "<20>" not in text_of(more)  # escaped


def test_a_wrong_time_shows_the_newest(user_client: Client, conversation: Conversation) -> None:
    for wrong in ["yesterday", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00"]:
        assert conversation.title in text_of(user_client.get("/", {"before": wrong}))


def test_search_in_titles_and_messages(user_client: Client, user: User) -> None:
    trip = Conversation.objects.create(owner=user, title="Trip")
    said(trip, "Ärger with the Hotel in LISBON")
    said(trip, "secret feedback", Role.FEEDBACK)
    Conversation.objects.create(owner=user, title="Hotel")

    def found(query: str) -> set[str]:
        response = user_client.get("/", {"q": query}, headers=HTMX)
        return {conversation.title for conversation in response.context["conversations"]}

    assert found("hotel") == {"Trip", "Hotel"}
    assert found("hotel lisbon") == {"Trip"}
    assert found("ärger") == {"Trip"}
    assert found("trip hotel") == {"Trip"}
    assert found("secret") == set()
    assert found("100%") == set()
    assert "Nothing found for “100%”" in text_of(user_client.get("/", {"q": "100%"}))


def test_going_back_in_the_history_gets_the_whole_page(user_client: Client) -> None:
    page = text_of(user_client.get("/", headers={**HTMX, "HX-History-Restore-Request": "true"}))
    assert "<html" in page


# Renaming and deleting


def test_rename_in_the_list(user_client: Client, conversation: Conversation) -> None:
    address = reverse("rename", args=[conversation.pk])
    field = text_of(user_client.get(address, {"place": "list"}, headers=HTMX))
    assert field.startswith("\n  <li") or field.lstrip().startswith("<li")
    assert "autofocus" in field
    entry = text_of(user_client.post(address, {"place": "list", "title": "Dinner"}, headers=HTMX))
    assert entry.lstrip().startswith("<li")
    assert "autofocus" in entry  # the focus returns to where it was
    conversation.refresh_from_db()
    assert conversation.title == "Dinner"


def test_rename_on_the_page(user_client: Client, conversation: Conversation) -> None:
    address = reverse("rename", args=[conversation.pk])
    head = text_of(user_client.post(address, {"title": "<b>Dinner</b>"}, headers=HTMX))
    assert '<h1 id="title">&lt;b&gt;Dinner&lt;/b&gt;</h1>' in head
    assert "<title>&lt;b&gt;Dinner&lt;/b&gt; · Agent</title>" in head
    assert f'hx-target="#recent-{conversation.pk}"' in head


def test_rename_without_scripts(user_client: Client, conversation: Conversation) -> None:
    address = reverse("rename", args=[conversation.pk])
    assert "<html" in text_of(user_client.get(address))
    assert user_client.post(address, {"title": "Dinner"})["Location"] == conversation.get_absolute_url()


def test_a_title_that_is_too_long_is_refused(user_client: Client, conversation: Conversation) -> None:
    address = reverse("rename", args=[conversation.pk])
    response = user_client.post(address, {"title": "x" * 201}, headers=HTMX)
    assert response.status_code == 422
    assert "at most 200" in text_of(response)
    conversation.refresh_from_db()
    assert conversation.title == "A table for two"


def test_renaming_leaves_what_the_runner_writes(user_client: Client, conversation: Conversation) -> None:
    Conversation.objects.filter(pk=conversation.pk).update(seq=7, lease="somebody")
    user_client.post(reverse("rename", args=[conversation.pk]), {"title": "Dinner"})
    conversation.refresh_from_db()
    assert (conversation.seq, conversation.lease) == (7, "somebody")


@pytest.mark.parametrize("name", ["rename", "delete"])
@pytest.mark.parametrize(("place", "start"), [("list", "<li"), ("page", "<title")])
def test_cancel_changes_nothing(
    user_client: Client, conversation: Conversation, name: str, place: str, start: str
) -> None:
    address = reverse(name, args=[conversation.pk])
    shown = text_of(user_client.get(address, {"place": place, "cancel": "1"}, headers=HTMX))
    assert shown.lstrip().startswith(start)
    assert "A table for two" in shown


def test_delete_asks_first(user_client: Client, conversation: Conversation) -> None:
    address = reverse("delete", args=[conversation.pk])
    asked = text_of(user_client.get(address, {"place": "list"}, headers=HTMX))
    assert "Delete “A table for two” for good?" in asked
    assert Conversation.objects.exists()
    response = user_client.post(address, {"place": "list"}, headers=HTMX)
    assert (response.status_code, response.content) == (200, b"")
    assert not Conversation.objects.exists()


def test_delete_on_the_page_goes_to_the_list(user_client: Client, conversation: Conversation) -> None:
    response = user_client.post(reverse("delete", args=[conversation.pk]), headers=HTMX)
    assert (response.status_code, response["HX-Redirect"]) == (204, "/")


def test_delete_without_scripts(user_client: Client, conversation: Conversation) -> None:
    said(conversation, "hello")
    assert user_client.post(reverse("delete", args=[conversation.pk]))["Location"] == "/"
    assert not Message.objects.exists()


# The conversation's page


def test_the_page_shows_everything_that_was_said_and_done(
    user_client: Client, conversation: Conversation
) -> None:
    said(conversation, "Add **one** <script>")
    reply = said(conversation, "…", Role.ASSISTANT)
    text, run = (
        Block.objects.create(
            message=reply, position=position, kind=kind, state=state, source=source, closed=True
        )
        for position, kind, state, source in [
            (0, BlockKind.TEXT, BlockState.DONE, "Adding."),
            (1, BlockKind.RUN, BlockState.FAILED, "print(1 + 1)\n1 / 0\n"),
        ]
    )
    for position, source, state, output, error in [
        (0, "print(1 + 1)", StatementState.DONE, "2\n", ""),
        (1, "1 / 0", StatementState.FAILED, "", "ZeroDivisionError: division by zero"),
    ]:
        Statement.objects.create(
            conversation=conversation,
            block=run,
            position=position,
            source=source,
            state=state,
            output=output,
            error=error,
        )
    Message.objects.filter(pk=reply.pk).update(state=MessageState.STOPPED, note="Stopped by you.")
    page = text_of(user_client.get(conversation.get_absolute_url()))
    assert "Add <strong>one</strong> &lt;script&gt;" in page
    assert page.count('<article class="message"') == 2
    assert 'data-role="assistant"' in page
    assert 'data-state="stopped"' in page
    assert "Stopped by you." in page
    assert page.index("Adding.") < page.index('<details class="run"') < page.index("ZeroDivisionError")
    assert 'data-state="failed"' in page
    assert f'id="b{text.pk.hex[:12]}"' in page


def test_the_pages_names(user_client: Client, conversation: Conversation) -> None:
    page = text_of(user_client.get(conversation.get_absolute_url()))
    for part in [
        'id="timeline" role="log"',
        '<div id="conversation" data-state="idle">',
        'id="connection" data-state="reconnecting"',
        '<textarea id="text"',
        'name="text"',
        ">Send</button>",
        f'hx-ws:connect="/ws/c/{conversation.pk}/',
        "hx-headers:inherited",
    ]:
        assert part in page
    assert ">Stop</button>" not in page
    Conversation.objects.filter(pk=conversation.pk).update(state="waiting")
    assert ">Stop</button>" in text_of(user_client.get(conversation.get_absolute_url()))


def test_nothing_on_a_page_is_inline(user_client: Client, conversation: Conversation) -> None:
    for address in ["/", conversation.get_absolute_url(), "/accounts/password/"]:
        page = text_of(user_client.get(address))
        assert "<style" not in page
        assert " style=" not in page
        assert "hx-on" not in page
        assert page.count("<script") == page.count("<script src=")


@pytest.mark.parametrize(
    "query", ["q=" + "a+" * 2000, "q=%00", "before=0001-01-01T00:00:00%2B14:00", "before=9999-99-99"]
)
def test_odd_searches_are_answered(user_client: Client, query: str) -> None:
    assert user_client.get(f"/?{query}").status_code == 200
