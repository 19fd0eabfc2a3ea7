"""Files of a conversation: taken up to limits, downloaded by their owner only, gone with it."""

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from chat.models import Conversation, Upload
from chat.views.files import MAX_FILES
from tests.views.conftest import (
    csv,
    many_files,
)


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


def send(client: Client, conversation: Conversation, file: Any) -> Any:
    """Send a file as a program does; a page says that it is one."""
    return client.post(reverse("upload", args=[conversation.pk]), {"file": file})


def test_an_upload_is_kept_for_its_owner(
    user_client: Client, conversation: Conversation, settings: Any, tmp_path: Any
) -> None:
    settings.MEDIA_ROOT = tmp_path
    response = send(user_client, conversation, csv(name="../../t.csv"))
    kept = Upload.objects.get()
    assert response.status_code == 201
    assert response.json() == {"id": str(kept.pk), "name": "t.csv", "size": 4, "type": "text/csv"}
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [str(kept.pk)]


def test_an_upload_that_is_too_large_is_refused(
    user_client: Client, conversation: Conversation, settings: Any
) -> None:
    settings.MAX_UPLOAD_SIZE = 3 * 1024 * 1024
    response = send(user_client, conversation, csv(b"x" * (3 * 1024 * 1024 + 1)))
    assert response.status_code == 413
    assert "At most 3 MB" in response.content.decode()
    assert not Upload.objects.exists()


def test_an_upload_without_a_file_says_what_is_missing(
    user_client: Client, conversation: Conversation
) -> None:
    response = send(user_client, conversation, "just text")
    assert response.status_code == 400
    assert "form field" in response.content.decode()


def test_a_conversation_keeps_so_many_files(user_client: Client, conversation: Conversation) -> None:
    many_files(conversation)
    response = send(user_client, conversation, csv())
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
