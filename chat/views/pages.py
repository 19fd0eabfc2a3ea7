"""The pages of conversations: the list, one conversation, and what is done to it as a whole."""

import uuid
from datetime import UTC, datetime
from typing import Any

from asgiref.sync import async_to_sync
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from chat.forms import MessageForm, RenameForm
from chat.fragments import page
from chat.fragments.consistent import consistent
from chat.llm.demo import EXAMPLES
from chat.models import Conversation, Inbox, Message
from chat.runner import supervisor
from chat.runtime.states import InboxKind, Role

PAGE_SIZE = 20  # conversations shown at once; about two screens
SIDEBAR_SIZE = 30  # more are found by the list's search
TITLE_LENGTH = 80  # of the title made from the first message; one line of the list


def own(request: HttpRequest, pk: uuid.UUID) -> Conversation:
    """Return the user's conversation; other people's do not exist for them."""
    return get_object_or_404(Conversation, pk=pk, owner_id=request.user.pk)


def is_fragment(request: HttpRequest) -> bool:
    """Return whether htmx asks for a part of a page; going back in the history needs the whole page."""
    return bool(request.htmx) and not request.htmx.history_restore_request  # type: ignore[attr-defined]


MOST_WORDS = 10  # of a search; databases refuse conditions of thousands


def found(conversations: QuerySet[Conversation], query: str) -> QuerySet[Conversation]:
    """Return the conversations that have each word of the query in their title or in a message."""
    for word in query.split()[:MOST_WORDS]:
        # SQLite ignores case for ASCII letters only, so the usual forms of the word are looked for.
        forms = {word, word.lower(), word.upper(), word.capitalize()}
        in_title, in_text = Q(), Q()
        for form in forms:
            in_title |= Q(title__icontains=form)
            in_text |= Q(text__icontains=form)
        said = Message.objects.filter(in_text, conversation=OuterRef("pk")).exclude(role=Role.FEEDBACK)
        conversations = conversations.filter(in_title | Exists(said))
    return conversations


def listing(request: HttpRequest) -> dict[str, Any]:
    """Return some of the user's conversations, newest first, and the time that the next ones start at."""
    query = request.GET.get("q", "").strip()
    conversations = found(Conversation.objects.filter(owner_id=request.user.pk), query)
    before = moment(request.GET.get("before", ""))
    if before:
        conversations = conversations.filter(updated__lt=before)
    rows = list(conversations.order_by("-updated")[: PAGE_SIZE + 1])
    more = rows[PAGE_SIZE - 1].updated if len(rows) > PAGE_SIZE else None
    return {"conversations": rows[:PAGE_SIZE], "query": query, "before": before, "more": more}


def moment(text: str) -> datetime | None:
    """Return the time that an address names, or None when it names none."""
    try:
        value = parse_datetime(text)
        return value.astimezone(UTC) if value and timezone.is_aware(value) else None
    except (ValueError, OverflowError):  # no time, or one before the first year
        return None


@never_cache
@vary_on_headers("HX-Request")
@require_safe
def conversations(request: HttpRequest) -> HttpResponse:
    """Show the list of conversations and the box that starts one; to htmx only the list."""
    context = listing(request)
    if is_fragment(request):
        return render(request, "chat/_conversations.html", context)
    form = MessageForm(initial={"key": uuid.uuid4()})
    return render(request, "chat/list.html", {**context, "form": form, "examples": EXAMPLES})


@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """Start a conversation with its first message and go there; a repeat goes to the same one."""
    form = MessageForm(request.POST)
    if not form.is_valid():
        context = {**listing(request), "form": form, "examples": EXAMPLES}
        return render(request, "chat/list.html", context, status=422)
    key, text, user_id = form.cleaned_data["key"], form.cleaned_data["text"], request.user.pk
    assert user_id is not None  # the middleware lets nobody else in
    try:
        with transaction.atomic():
            conversation = Conversation.objects.create(
                pk=key, owner_id=user_id, title=title_of(text), updated=timezone.now()
            )
            Inbox.objects.create(
                conversation=conversation,
                key=key,
                kind=InboxKind.MESSAGE,
                payload={"text": text},
                user_id=user_id,
            )
    except IntegrityError:
        conversation = own(request, key)
    async_to_sync(supervisor.wake)(conversation.pk)
    return redirect(conversation)


def title_of(text: str) -> str:
    """Return the first line of a text, cut at a word where it is too long for a title."""
    line = text.strip().splitlines()[0].strip()
    if len(line) <= TITLE_LENGTH:
        return line
    cut = line[:TITLE_LENGTH].rsplit(" ", 1)[0]
    return f"{cut}…"


@never_cache
@require_safe
def conversation(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Show a conversation as it is now."""
    with consistent():  # what is shown and the frame's number must be of the same moment
        shown = own(request, pk)
        context = {
            "conversation": shown,
            "seq": shown.seq,
            "messages": page.timeline(shown.pk),
            "notice": page.notice(shown),
            "queue": page.queue(shown.pk),
            "files": list(page.files(shown.pk)),
        }
    context["form"] = MessageForm(initial={"key": uuid.uuid4()})
    context["recent"] = Conversation.objects.filter(owner_id=request.user.pk).order_by("-updated")[
        :SIDEBAR_SIZE
    ]
    return render(request, "chat/conversation.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def rename(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Show the field for another title in place of the title, and take it."""
    named = own(request, pk)
    place = place_of(request)
    if "cancel" in request.GET:
        return shown_in(request, place, named, focus="rename")
    form = RenameForm(request.POST or None, instance=named)
    if request.method == "POST" and form.is_valid():
        Conversation.objects.filter(pk=named.pk).update(title=form.cleaned_data["title"])
        return shown_in(request, place, named, focus="rename") if is_fragment(request) else redirect(named)
    context = {"conversation": named, "form": form, "place": place}
    template = "chat/_rename.html" if is_fragment(request) else "chat/rename.html"
    return render(request, template, context, status=422 if form.errors else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Ask whether a conversation shall be deleted, and delete it."""
    doomed = own(request, pk)
    place = place_of(request)
    if "cancel" in request.GET:
        return shown_in(request, place, doomed, focus="delete")
    if request.method == "POST":
        doomed.delete()
        if not is_fragment(request):
            return redirect("conversations")
        if place == "list":
            return HttpResponse()  # the entry gives way to nothing
        return HttpResponse(status=204, headers={"HX-Redirect": "/"})
    template = "chat/_delete.html" if is_fragment(request) else "chat/delete.html"
    return render(request, template, {"conversation": doomed, "place": place})


def place_of(request: HttpRequest) -> str:
    """Return where on the site a conversation is renamed or deleted: in the `list`, or on its own `page`."""
    place = request.POST.get("place") or request.GET.get("place")
    if place not in (None, "", "list", "page"):
        raise Http404("Conversations are shown in the list or on a page.")
    return place or "page"


def shown_in(request: HttpRequest, place: str, conversation: Conversation, focus: str) -> HttpResponse:
    """Return a conversation's entry in the list, or the head of its page, with the focus back on a link."""
    template = "chat/_conversation_item.html" if place == "list" else "chat/_renamed.html"
    return render(request, template, {"conversation": conversation, "focus": focus})
