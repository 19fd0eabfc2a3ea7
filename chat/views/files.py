"""Files of a conversation: taken over HTTP, served to their owner only, never shown as a page."""

import uuid
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST, require_safe

from chat.models import Conversation, Upload
from chat.views.pages import own

# What a browser may show in place; everything else is downloaded. No SVG: it can hold scripts.
SHOWN_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
MAX_FILES = 200  # per conversation


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


def has_room(conversation: Conversation, files: int = 1) -> bool:
    """Whether the conversation may have so many files more."""
    return not files or conversation.uploads.count() + files <= MAX_FILES


def no_room() -> HttpResponse:
    """Return the answer to files that are too many."""
    return _refusal(f"A conversation keeps {MAX_FILES} files at most. Start another one for these.", 429)


@require_POST
def upload(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Take a file into the conversation; answers its handle."""
    conversation = own(request, pk)
    file = request.FILES.get("file")
    if file is None:
        return _refusal("There is no file in this request. Send it as the form field “file”.", 400)
    if (file.size or 0) > settings.MAX_UPLOAD_SIZE:
        most = settings.MAX_UPLOAD_SIZE // 1024 // 1024
        return _refusal(
            f"“{file.name}” is too large ({file.size} bytes). At most {most} MB are accepted.", 413
        )
    if not has_room(conversation):
        return no_room()
    return JsonResponse(keep_file(conversation, file), status=201)


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
