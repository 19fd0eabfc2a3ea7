"""The lease by which one runner in one process drives a conversation. All here touches the database."""

from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from chat.models import Conversation

LEASE_SECONDS = 8.0  # a dead holder is replaced within this and one round of the supervisor
RENEW_SECONDS = 2.0  # three renewals may fail before the lease is lost


def acquire(conversation: UUID) -> str | None:
    """Return the token of a lease that is ours now; None while somebody else's is valid."""
    token = uuid4().hex
    now = timezone.now()
    free = Q(lease="") | Q(lease_until__lt=now) | Q(lease_until=None)
    taken = Conversation.objects.filter(free, pk=conversation).update(
        lease=token, lease_until=now + timedelta(seconds=LEASE_SECONDS)
    )
    return token if taken else None


def renew(leases: Mapping[UUID, str]) -> set[UUID]:
    """Make leases (token by conversation) last longer; returns the conversations whose lease is lost."""
    until = timezone.now() + timedelta(seconds=LEASE_SECONDS)
    rows = Conversation.objects.filter(pk__in=leases, lease__in=leases.values())
    with transaction.atomic():  # locked in the journal's order, or each could wait for the other
        held = dict(rows.order_by("pk").select_for_update().values_list("pk", "lease"))
        Conversation.objects.filter(pk__in=held).update(lease_until=until)
    return {pk for pk, token in leases.items() if held.get(pk) != token}


def release(conversation: UUID, token: str) -> None:
    """Let anybody else have the lease at once."""
    Conversation.objects.filter(pk=conversation, lease=token).update(lease="", lease_until=None)
