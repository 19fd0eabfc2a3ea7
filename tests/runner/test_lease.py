"""One runner for a conversation over all processes: the lease, on SQLite and on PostgreSQL."""

import asyncio
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone

from chat.models import Conversation, Piece
from chat.runner import lease
from chat.runner.supervisor import LOOK_SECONDS, left_alone
from chat.runtime.states import ConversationState, InboxKind
from tests.live import ROOT
from tests.live import Site as Live
from tests.runner.conftest import Site


@pytest.fixture
def made(transactional_db: None) -> UUID:
    owner = User.objects.create_user("ada")
    return Conversation.objects.create(owner=owner).pk


def held_by_one(conversation: UUID) -> None:
    first = lease.acquire(conversation)
    assert first
    assert lease.acquire(conversation) is None
    assert lease.renew({conversation: first}) == set()
    assert lease.renew({conversation: "another"}) == {conversation}
    lease.release(conversation, "another")
    assert lease.acquire(conversation) is None
    lease.release(conversation, first)
    second = lease.acquire(conversation)
    assert second not in (None, first)


def taken_over_when_its_holder_died(conversation: UUID) -> None:
    first = lease.acquire(conversation)
    assert first
    assert conversation not in left_alone()
    long_ago = timezone.now() - timedelta(seconds=1)
    Conversation.objects.filter(pk=conversation).update(lease_until=long_ago)
    assert conversation in left_alone()
    second = lease.acquire(conversation)
    assert second
    assert lease.renew({conversation: first}) == {conversation}
    lease.release(conversation, first)  # comes too late
    assert Conversation.objects.get(pk=conversation).lease == second


def test_a_lease_is_held_by_one(made: UUID) -> None:
    held_by_one(made)


def test_a_lease_is_taken_over_when_its_holder_died(made: UUID) -> None:
    taken_over_when_its_holder_died(made)


def renewed_in_the_order_of_the_journal(owner: User) -> None:
    """Whoever locks rows in another order than the journal waits for it, and the journal for him."""
    last, first = sorted([uuid4(), uuid4()], reverse=True)
    Conversation.objects.bulk_create(Conversation(pk=pk, owner=owner) for pk in (last, first))
    leases = {pk: lease.acquire(pk) or "" for pk in (last, first)}
    with ThreadPoolExecutor(1) as beside:
        with transaction.atomic():
            locked(first)
            renewal = beside.submit(lambda: (lease.renew(leases), connection.close()))
            while not waiting_for_a_row() and not renewal.done():
                time.sleep(0.01)
            locked(last)
        lost, _ = renewal.result(20)
    assert lost == set()


def locked(conversation: UUID) -> None:
    assert Conversation.objects.select_for_update().filter(pk=conversation).get()


def waiting_for_a_row() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        return bool(cursor.fetchone()[0])


ON_POSTGRES = """
from django.db import connection
from django.contrib.auth.models import User
from chat.models import Conversation, Piece
from tests.runner.test_lease import (
    held_by_one, renewed_in_the_order_of_the_journal, taken_over_when_its_holder_died
)
owner = User.objects.create_user("lease-{name}")
for law in (held_by_one, taken_over_when_its_holder_died):
    law(Conversation.objects.create(owner=owner).pk)
renewed_in_the_order_of_the_journal(owner)
owner.delete()
print(connection.vendor)
"""


def test_on_postgresql_too(postgres_url: str, tmp_path: Path) -> None:
    site = Live(tmp_path, DATABASE_URL=postgres_url)
    site.manage("migrate", "--verbosity=0")
    script = ON_POSTGRES.format(name=uuid4().hex)
    assert site.manage("shell", "--verbosity=0", "-c", script).strip() == "postgresql"


def test_a_dead_holder_is_replaced_in_time() -> None:
    assert lease.LEASE_SECONDS + LOOK_SECONDS < 10
    assert lease.RENEW_SECONDS * 3 < lease.LEASE_SECONDS


async def test_what_a_dead_process_left_is_found(running: Site) -> None:
    """A conversation in the middle of a turn, whose holder is gone."""
    running.model.replies.append("Here I am.")
    long_ago = timezone.now() - timedelta(seconds=1)
    conversation = await Conversation.objects.acreate(
        owner=running.owner, lease="of the dead", lease_until=long_ago, state=ConversationState.RUNNING
    )
    await conversation.inbox.acreate(key=uuid4(), kind=InboxKind.MESSAGE, payload={"text": "hello"})
    await running.until(lambda: conversation.messages.filter(text="Here I am.").exists())


async def test_a_runner_stops_when_its_lease_is_lost(running: Site) -> None:
    gate = running.model.gates["wait"] = asyncio.Event()
    conversation = await running.start("So far §wait§ and further")
    await running.until(lambda: conversation.messages.filter(blocks__pieces__isnull=False).exists())
    until = timezone.now() + timedelta(seconds=60)
    await Conversation.objects.filter(pk=conversation.pk).aupdate(lease="another", lease_until=until)
    gate.set()
    async with asyncio.timeout(20):
        while conversation.pk in running.running.drivers:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    row = await Conversation.objects.aget(pk=conversation.pk)
    assert row.lease == "another"
    saved = [piece.text async for piece in Piece.objects.filter(block__message__conversation=conversation)]
    assert "".join(saved) == "So far "


def test_a_command_on_postgresql_ends_when_it_is_done(postgres_url: str, tmp_path: Path) -> None:
    site = Live(tmp_path, DATABASE_URL=postgres_url)
    done = subprocess.run(
        [sys.executable, "manage.py", "showmigrations", "chat"],
        cwd=ROOT,
        env=site.environment,
        text=True,
        capture_output=True,
        check=True,
    )
    assert "0001_initial" in done.stdout
    assert "couldn't stop thread" not in done.stderr  # the pool says so of each that it waited for
