"""What staff see of conversations: a list to search, and each one's whole transcript, to read only."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import Count, OuterRef, Prefetch, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from chat.models import Block, Conversation, Inbox, Message, Mount, Statement


@admin.register(Conversation)
class ConversationAdmin(admin.ModelAdmin):
    """Conversations, found by user, text, date and state. Nobody edits what was said."""

    list_display = ["__str__", "owner", "state", "said", "tokens", "created", "updated"]
    list_filter = ["state", "created", "updated"]
    list_select_related = ["owner"]
    search_fields = ["title", "owner__username", "owner__email", "messages__text"]
    search_help_text = _("Words in the title, in messages, or the name or mail address of the user")
    date_hierarchy = "created"
    ordering = ["-updated"]
    change_form_template = "admin/chat/conversation/transcript.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        """Return the conversations with what the list says about each."""
        # Subqueries: a search joins the messages, and would multiply what a join counts.
        own = Message.objects.filter(conversation=OuterRef("pk")).order_by().values("conversation")
        count, tokens = Count("pk"), Sum("input_tokens") + Sum("output_tokens")
        return (
            super()
            .get_queryset(request)
            .annotate(
                message_count=Coalesce(Subquery(own.annotate(count=count).values("count")), 0),
                token_count=Subquery(own.annotate(tokens=tokens).values("tokens")),
            )
        )

    @admin.display(description=_("messages"), ordering="message_count")
    def said(self, conversation: Any) -> int:
        """Return how many messages there are."""
        count: int = conversation.message_count
        return count

    @admin.display(description=_("tokens"), ordering="token_count", empty_value="–")
    def tokens(self, conversation: Any) -> int | None:
        """Return how many tokens its replies took, as far as the provider said."""
        count: int | None = conversation.token_count
        return count

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return that nobody makes conversations here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return that nobody edits conversations here."""
        return False

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any
    ) -> HttpResponse:
        """Show the transcript in place of a form; the permission has been checked by then."""
        context |= transcript(context["original"].pk)
        return super().render_change_form(request, context, *args, **options)


def transcript(conversation: UUID) -> dict[str, Any]:
    """Return everything that a conversation consists of, in order, in a few queries."""
    statements = Statement.objects.order_by("position")
    mounts = Mount.objects.select_related("answered_by").order_by("number")
    messages = (
        Message.objects.filter(conversation=conversation)
        .order_by("position")
        .prefetch_related(
            Prefetch("blocks", Block.objects.order_by("position")),
            Prefetch("blocks__statements", statements),
            Prefetch("blocks__mounts", mounts),
            Prefetch("blocks__pieces"),
            Prefetch("mounts", mounts.filter(block=None), to_attr="tail_mounts"),
        )
    )
    return {
        "messages": [{"row": message, "timing": timing(message)} for message in messages],
        "callbacks": Statement.objects.filter(conversation=conversation, block=None).order_by("started"),
        "inbox": Inbox.objects.filter(conversation=conversation).select_related("user").order_by("pk"),
    }


def timing(message: Message) -> str:
    """Return how long a reply took, such as `first token after 0.4 s, all after 3.1 s`."""
    parts = [
        f"first token after {seconds(message.created, message.first_token)} s" if message.first_token else "",
        f"all after {seconds(message.created, message.finished)} s" if message.finished else "",
    ]
    return ", ".join(part for part in parts if part)


def seconds(start: datetime, end: datetime) -> str:
    """Return the time between two moments, in seconds with one decimal."""
    return f"{(end - start).total_seconds():.1f}"
