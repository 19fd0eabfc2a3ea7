"""What staff see of conversations, and that nobody else does."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import Block, Conversation, Inbox, Message, Mount, Piece, Statement
from chat.runtime.states import BlockKind, BlockState, InboxKind, MountState, Role, StatementState
from tests.conftest import client_of

LIST = "/admin/chat/conversation/"


def transcript_of(conversation: Conversation) -> str:
    return reverse("admin:chat_conversation_change", args=[conversation.pk])


@pytest.fixture
def told(conversation: Conversation, user: User) -> Conversation:
    """A conversation with some of everything in it."""
    start = timezone.now()
    Message.objects.create(
        conversation=conversation, position=0, role=Role.USER, text="Book <b>it</b>", created=start
    )
    reply = Message.objects.create(
        conversation=conversation,
        position=1,
        role=Role.ASSISTANT,
        text="Sure.\n```python agent.run\n…",
        reasoning="They want a table.",
        model="some-model",
        turn=1,
        input_tokens=120,
        output_tokens=34,
        created=start,
        first_token=start + timedelta(seconds=0.5),
        finished=start + timedelta(seconds=3.25),
    )
    text = Block.objects.create(
        message=reply, position=0, kind=BlockKind.TEXT, state=BlockState.DONE, source="Su"
    )
    Piece.objects.create(block=text, text="re.")
    run = Block.objects.create(message=reply, position=1, kind=BlockKind.RUN, state=BlockState.FAILED)
    Block.objects.create(message=reply, position=2, kind=BlockKind.DATA, target="films", source='["Alien"]')
    Statement.objects.create(
        conversation=conversation,
        block=run,
        position=0,
        source="print(6 * 7)",
        state=StatementState.DONE,
        output="42\n",
        started=start,
        finished=start,
    )
    Statement.objects.create(
        conversation=conversation, block=run, position=1, source="1 / 0", error="ZeroDivisionError: oh"
    )
    Statement.objects.create(conversation=conversation, position=2, source="more()", kind="callback")
    Mount.objects.create(
        conversation=conversation,
        number=1,
        message=reply,
        block=run,
        tree={"c": "Card", "p": {"title": "Booking"}, "n": []},
        state=MountState.SUBMITTED,
        answers={"name": "Ada"},
        answered_by=user,
        answered_at=start,
        created=start,
    )
    Mount.objects.create(
        conversation=conversation, number=2, message=reply, tree={"c": "Badge"}, created=start
    )
    Inbox.objects.create(
        conversation=conversation,
        key=conversation.pk,
        kind=InboxKind.SUBMIT,
        user=user,
        payload={"mount": "m1", "values": {"name": "Ada"}},
    )
    return conversation


def test_the_transcript_shows_everything(staff_client: Client, told: Conversation) -> None:
    page = staff_client.get(transcript_of(told)).content.decode()
    for part in [
        "Book &lt;b&gt;it&lt;/b&gt;",
        "<code>Sure.</code>",
        "They want a table.",
        "some-model",
        "120 tokens in",
        "34 tokens out",
        "first token after 0.5 s, all after 3.2 s",
        "print(6 * 7)",
        "<code>42\n</code>",
        "ZeroDivisionError: oh",
        "“films”",
        "[&quot;Alien&quot;]",
        "more()",
        "Mount m1",
        "Mount m2",
        "Answered by ada",
        "&#x27;Booking&#x27;",
        "submit",
    ]:
        assert part in page, part
    assert "<input" not in page.split('<div id="content-main"')[1].split("</main>")[0]
    assert " style=" not in page


def test_a_transcript_takes_few_queries(
    staff_client: Client, told: Conversation, django_assert_max_num_queries: Any
) -> None:
    for position in range(2, 30):
        Message.objects.create(
            conversation=told, position=position, role=Role.USER, text="hello", created=timezone.now()
        )
    with django_assert_max_num_queries(16):
        staff_client.get(transcript_of(told))


def found(client: Client, **query: str) -> list[str]:
    response = client.get(LIST, query)
    assert response.status_code == 200
    return [str(conversation) for conversation in response.context["cl"].result_list]


def test_search_by_user_text_title(staff_client: Client, told: Conversation, other: User) -> None:
    Conversation.objects.create(owner=other, title="Films")
    assert found(staff_client) == ["Films", "A table for two"]
    assert found(staff_client, q="ada") == ["A table for two"]
    assert found(staff_client, q="bob") == ["Films"]
    assert found(staff_client, q="book") == ["A table for two"]
    assert found(staff_client, q="table") == ["A table for two"]
    assert found(staff_client, q="nothing") == []


def test_filter_by_state_and_date(staff_client: Client, told: Conversation, other: User) -> None:
    old = Conversation.objects.create(owner=other, title="Films", state="waiting")
    Conversation.objects.filter(pk=old.pk).update(
        created=datetime(2024, 2, 3, tzinfo=timezone.get_current_timezone())
    )
    assert found(staff_client, state__exact="waiting") == ["Films"]
    assert found(staff_client, created__year="2024", created__month="2") == ["Films"]


def test_the_list_counts(staff_client: Client, told: Conversation) -> None:
    page = staff_client.get(LIST).content.decode()
    assert '<td class="field-said">2</td>' in page
    assert '<td class="field-tokens">154</td>' in page


def test_nobody_edits_or_adds(staff_client: Client, told: Conversation) -> None:
    assert staff_client.post(transcript_of(told), {"title": "mine"}).status_code == 403
    assert staff_client.get(f"{LIST}add/").status_code == 403
    told.refresh_from_db()
    assert told.title == "A table for two"


def test_delete_asks_and_deletes(staff_client: Client, told: Conversation) -> None:
    address = reverse("admin:chat_conversation_delete", args=[told.pk])
    assert address in staff_client.get(transcript_of(told)).content.decode()
    assert staff_client.post(address, {"post": "yes"}).status_code == 302
    assert not Conversation.objects.exists()


def test_staff_need_the_permission(told: Conversation, other: User) -> None:
    User.objects.filter(pk=other.pk).update(is_staff=True)
    client = client_of(other)
    assert client.get(LIST).status_code == 403
    assert client.get(transcript_of(told)).status_code == 403
    other.user_permissions.add(Permission.objects.get(codename="view_conversation"))
    assert client.get(LIST).status_code == 200
    page = client.get(transcript_of(told)).content.decode()
    assert "ZeroDivisionError" in page
    assert "deletelink" not in page


def test_others_see_nothing(user_client: Client, client: Client, told: Conversation) -> None:
    for anybody in [user_client, client]:
        for address in [LIST, transcript_of(told)]:
            response = anybody.get(address)
            assert response.status_code == 302
            assert "login" in response["Location"]
