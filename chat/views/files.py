"""Files of a conversation: taken over HTTP, served to their owner only, never shown as a page."""

import uuid
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST, require_safe

from chat.fragments import page
from chat.models import Conversation, Upload
from chat.runner.groups import frame_group
from chat.views.pages import own

# What a browser may show in place; everything else is downloaded. No SVG: it can hold scripts.
SHOWN_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
MAX_FILES = 200  # per conversation
NO_ROOM = f"A conversation keeps {MAX_FILES} files at most. Start another one for these."


def keep_file(conversation: Conversation, file: UploadedFile) -> dict[str, Any]:
    """Store an upload; returns its handle, as agent code gets it."""
    upload = Upload.objects.create(
        conversation=conversation,
        file=file,
        name=(file.name or "file")[:255],
        content_type=(file.content_type or "application/octet-stream")[:100],
        size=file.size or 0,
    )
    return {"id": str(upload.pk), "name": upload.name, "size": upload.size, "type": upload.content_type}


def show_files(conversation: Conversation) -> None:
    """Let all open pages of the conversation show its files."""
    layer = get_channel_layer()
    if layer is not None:
        async_to_sync(layer.group_send)(frame_group(conversation.pk), {"type": "files"})


def has_room(conversation: Conversation, files: int = 1) -> bool:
    """Whether the conversation may have so many files more."""
    return not files or conversation.uploads.count() + files <= MAX_FILES


def no_room() -> HttpResponse:
    """Return the answer to files that are too many."""
    return _refusal(NO_ROOM, 429)


@require_POST
def upload(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Take files into the conversation; answers the handle of one, or to a page the list of all of them."""
    conversation = own(request, pk)
    if request.htmx:  # type: ignore[attr-defined]
        return _attached(request, conversation)
    file = request.FILES.get("file")
    if file is None:
        return _refusal("There is no file in this request. Send it as the form field “file”.", 400)
    if wrong := _wrong(file):
        return _refusal(wrong, 413)
    if not has_room(conversation):
        return no_room()
    handle = keep_file(conversation, file)
    show_files(conversation)
    return JsonResponse(handle, status=201)


def _attached(request: HttpRequest, conversation: Conversation) -> HttpResponse:
    """Keep what fits of the files that somebody chose, and say what does not."""
    errors = []
    for file in request.FILES.getlist("file"):
        if wrong := _wrong(file):
            errors.append(wrong)
        elif not has_room(conversation):
            errors.append(NO_ROOM)
            break
        else:
            keep_file(conversation, file)
    show_files(conversation)
    context = {"conversation": conversation, "files": page.files(conversation.pk), "errors": errors}
    return render(request, "chat/_attached.html", context)


def _wrong(file: "UploadedFile[Any]") -> str:
    """Return why a file is not accepted; nothing when it is."""
    if (file.size or 0) <= settings.MAX_UPLOAD_SIZE:
        return ""
    most = settings.MAX_UPLOAD_SIZE // 1024 // 1024
    return f"“{file.name}” is too large ({file.size} bytes). At most {most} MB are accepted."


@require_safe
def file(request: HttpRequest, pk: uuid.UUID, upload: uuid.UUID) -> FileResponse:
    """Return a file of the user's conversation."""
    kept = get_object_or_404(Upload, pk=upload, conversation=own(request, pk))
    shown = kept.content_type in SHOWN_TYPES
    response = FileResponse(
        kept.file.open("rb"),
        as_attachment=not shown,
        filename=kept.name,
        content_type=kept.content_type if shown else "application/octet-stream",
    )
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["Cache-Control"] = "private, max-age=3600"
    return response


def _refusal(text: str, status: int) -> HttpResponse:
    return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")
