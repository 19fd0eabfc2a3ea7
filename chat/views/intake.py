"""What a person does in a conversation: each becomes a row of its inbox before it is answered.

A row has a key that the browser made, so a repeat, by a double click or a lost answer, changes nothing.
"""

import json
import uuid
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from chat.forms import MessageForm
from chat.fragments.shapes import invalid_form
from chat.models import Conversation, Inbox, Mount
from chat.runner import supervisor
from chat.runner.groups import frame_group
from chat.runtime.states import InboxKind, InboxState, MountState
from chat.ui.forms import build_form, callback_arguments, values_json
from chat.ui.nodes import form_names, stored_tree, walk
from chat.views.files import has_room, keep_file, no_room, show_files
from chat.views.pages import own

NO_CONTENT = 204
MAX_QUEUED = 100  # things that wait in one inbox; more is no person


def put(
    request: HttpRequest,
    conversation: Conversation,
    kind: InboxKind,
    payload: dict[str, Any],
    *,
    latest: bool = False,
) -> HttpResponse:
    """Store a row, wake the runner, and answer; a row that is there already is answered like a new one.

    With `latest` the row takes the place of queued ones of the same callback.
    """
    key = key_of(request) or uuid.uuid4()
    if kind is not InboxKind.STOP and is_full(conversation, key):
        text = f"{MAX_QUEUED} things wait to be handled here. Wait until some are done, or press Stop."
        return HttpResponse(text, status=429, content_type="text/plain; charset=utf-8")
    try:
        with transaction.atomic():
            row = Inbox.objects.create(
                conversation=conversation, key=key, kind=kind, payload=payload, user_id=request.user.pk
            )
            if latest:
                withdraw_older(row)
    except IntegrityError:
        return HttpResponse(status=NO_CONTENT)
    if kind is InboxKind.MESSAGE:
        Conversation.objects.filter(pk=conversation.pk).update(updated=timezone.now())
        show_queue(conversation)
    async_to_sync(supervisor.wake)(conversation.pk)
    return HttpResponse(status=NO_CONTENT)


def key_of(request: HttpRequest) -> uuid.UUID | None:
    """Return the key that the browser made for what it sends."""
    try:
        return uuid.UUID(request.POST.get("key", ""))
    except ValueError:
        return None


def is_full(conversation: Conversation, key: uuid.UUID) -> bool:
    """Whether too much waits already; a repeat of what waits is no more than it was."""
    waiting = Inbox.objects.filter(conversation=conversation, state=InboxState.QUEUED)
    return waiting.exclude(key=key).count() >= MAX_QUEUED


def withdraw_older(row: Inbox) -> None:
    """Take back queued values of the same field: the latest one wins."""
    Inbox.objects.filter(
        conversation=row.conversation_id,
        kind=row.kind,
        state=InboxState.QUEUED,
        payload__callback=row.payload["callback"],
        payload__mount=row.payload["mount"],
        pk__lt=row.pk,
    ).update(state=InboxState.WITHDRAWN, settled=timezone.now())


def show_queue(conversation: Conversation) -> None:
    """Let all open pages of the conversation show its queue."""
    layer = get_channel_layer()
    if layer is not None:
        async_to_sync(layer.group_send)(frame_group(conversation.pk), {"type": "queue"})


@require_POST
def message(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Take a message of the user."""
    conversation = own(request, pk)
    form = MessageForm(request.POST)
    if not form.is_valid():
        return render(request, "chat/_form_errors.html", {"form": form}, status=422)
    response = put(request, conversation, InboxKind.MESSAGE, {"text": form.cleaned_data["text"]})
    if request.htmx or response.status_code != NO_CONTENT:  # type: ignore[attr-defined]
        return response
    return redirect(conversation)


@require_POST
def stop(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Stop what the agent does."""
    return put(request, own(request, pk), InboxKind.STOP, {})


@require_POST
def retry(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Call the model again after a reply that is not complete."""
    return put(request, own(request, pk), InboxKind.RETRY, {})


@require_POST
def go_on(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Let the agent have more turns."""
    return put(request, own(request, pk), InboxKind.CONTINUE, {})


@require_http_methods(["GET", "POST"])
def queued(request: HttpRequest, pk: uuid.UUID, row: int) -> HttpResponse:
    """Show a queued message to be edited; keep its new text, or take it back."""
    conversation = own(request, pk)
    item = get_object_or_404(Inbox, pk=row, conversation=conversation, kind=InboxKind.MESSAGE)
    still = Inbox.objects.filter(pk=row, state=InboxState.QUEUED)
    context: dict[str, Any] = {"conversation": conversation, "row": {"pk": row, "text": item.payload["text"]}}
    if item.state != InboxState.QUEUED:
        return HttpResponse()  # it was sent meanwhile, so there is nothing in the queue any more
    if request.method == "GET":
        partial = "chat/_queued.html" if "cancel" in request.GET else "chat/_queued_edit.html"
        return render(request, partial, context)
    if "withdraw" in request.POST:
        still.update(state=InboxState.WITHDRAWN, settled=timezone.now())
    else:
        form = MessageForm({"text": request.POST.get("text", ""), "key": uuid.uuid4()})
        if not form.is_valid():
            context["error"] = " ".join(map(str, form.errors.get("text", [])))
            return render(request, "chat/_queued_edit.html", context, status=422)
        if not still.update(payload={"text": form.cleaned_data["text"]}):
            return HttpResponse()  # just now
        context["row"]["text"] = form.cleaned_data["text"]
    async_to_sync(supervisor.wake)(conversation.pk)
    show_queue(conversation)
    return HttpResponse() if "withdraw" in request.POST else render(request, "chat/_queued.html", context)


MOUNT_DIGITS = 12  # of a mount's name; Python refuses to read numbers of thousands of digits


def own_mount(request: HttpRequest, pk: uuid.UUID, name: str) -> Mount:
    """Return a mount of the user's conversation by its name, such as `m3`."""
    conversation = own(request, pk)
    digits = name[1:MOUNT_DIGITS]
    number = int(digits) if name == f"m{digits}" and digits.isdecimal() else 0
    return get_object_or_404(Mount, conversation=conversation, number=number)


@require_POST
def submit(request: HttpRequest, pk: uuid.UUID, mount: str) -> HttpResponse:
    """Take a form: wrong values are answered at their fields, right ones go to the inbox.

    A form that was answered already, here or in another tab, is answered with nothing: the page shows its
    state.
    """
    shown = own_mount(request, pk, mount)
    if shown.state in (MountState.CLOSED, MountState.SUBMITTED):
        return HttpResponse(status=NO_CONTENT)
    key = key_of(request)
    if key and Inbox.objects.filter(conversation=shown.conversation_id, key=key).exists():
        return HttpResponse(status=NO_CONTENT)  # its files are kept already
    tree = stored_tree(shown.tree)
    name = request.POST.get("form_name", "")
    if name not in form_names(tree):
        return HttpResponse(status=NO_CONTENT)  # the interface has changed since; the page is about to
    form = build_form(tree, request.POST, request.FILES, form=name)
    if not form.is_valid():
        return HttpResponse(invalid_form(pk, shown, tree, form, name), status=422)
    if not has_room(shown.conversation, sum(len(files) for _, files in request.FILES.lists())):
        return no_room()
    values = values_json(form, lambda file: keep_file(shown.conversation, file))
    payload = {"mount": shown.name, "form": name, "values": values, "token": request.POST.get("token", "")}
    if request.FILES:
        show_files(shown.conversation)
    return put(request, shown.conversation, InboxKind.SUBMIT, payload)


def value_of(request: HttpRequest) -> Any:
    """Return the value that a callback came with; raises ValueError when it is no JSON that can be kept."""
    if "value" not in request.POST:
        return None
    value = json.loads(request.POST["value"])
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()  # no halves of characters, no NaN
    return value


@require_POST
def callback(request: HttpRequest, pk: uuid.UUID, mount: str) -> HttpResponse:
    """Take a click or a change; what the mount does not offer (any more) has no effect."""
    shown = own_mount(request, pk, mount)
    if shown.state == MountState.CLOSED:
        return HttpResponse(status=NO_CONTENT)
    tree = stored_tree(shown.tree)
    wanted = request.POST.get("callback", "")
    try:
        args = callback_arguments(tree, wanted, value_of(request))
    except LookupError:
        return HttpResponse(status=NO_CONTENT)
    except (ValueError, RecursionError, ValidationError) as error:
        words = " ".join(error.messages) if isinstance(error, ValidationError) else str(error)
        text = f"That value is not accepted: {words}"
        return HttpResponse(text, status=400, content_type="text/plain; charset=utf-8")
    payload = {"mount": shown.name, "callback": wanted, "args": args}
    is_value = any(node.props.get("on_change") == wanted for node in walk(tree))
    return put(request, shown.conversation, InboxKind.CALLBACK, payload, latest=is_value)
