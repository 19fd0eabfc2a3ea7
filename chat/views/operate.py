"""What operators and their machines ask for: is the process alive, can it work, how is it doing."""

import logging
import secrets

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import Error as DatabaseError
from django.db import connection
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from chat.metrics import CONVERSATIONS
from chat.models import Conversation
from chat.runtime.states import ConversationState

logger = logging.getLogger(__name__)


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer that this process is alive; asks nothing of others, so that their trouble restarts nobody."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Return 200 when the database and the channel layer answer, else 503; the reasons go to the log."""
    parts = {"database": database_answers(), "layer": layer_answers()}
    return JsonResponse(parts, status=200 if all(parts.values()) else 503)


def database_answers() -> bool:
    """Return whether a query succeeds."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        logger.warning("Not ready: the database does not answer: %s", error)
        return False
    return True


def layer_answers() -> bool:
    """Return whether the channel layer takes a message; one to a group that nobody is in."""
    layer = get_channel_layer()
    try:
        async_to_sync(layer.group_send)("readiness", {"type": "readiness"})
    except Exception as error:  # noqa: BLE001 - each layer raises its own client's errors
        logger.warning("Not ready: the channel layer does not answer: %s", error)
        return False
    return True


@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the figures of this process in Prometheus' text format, for staff or the holder of the token."""
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    by_token = bool(settings.METRICS_TOKEN) and secrets.compare_digest(
        given.encode(), settings.METRICS_TOKEN.encode()
    )
    if not by_token and not (request.user.is_active and request.user.is_staff):
        return HttpResponse("Log in as staff, or send the METRICS_TOKEN as a bearer token.\n", status=403)
    count_conversations()
    return HttpResponse(generate_latest(), content_type=CONTENT_TYPE_LATEST)


def count_conversations() -> None:
    """Let the metrics say how many conversations are in which state."""
    found = dict(Conversation.objects.order_by().values_list("state").annotate(Count("pk")))
    for state in ConversationState:
        CONVERSATIONS.labels(str(state)).set(found.get(str(state), 0))
