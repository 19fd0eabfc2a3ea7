"""A conversation is deleted while its runner saves."""

import threading
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection
from django.db.models.deletion import Collector
from django.utils import timezone

from chat.models import Conversation, Message


@pytest.mark.django_db(transaction=True)
def test_what_is_saved_meanwhile_does_not_stand_in_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = Conversation.objects.create(owner=User.objects.create_user("ada"))
    refused: list[IntegrityError] = []

    def save() -> None:
        try:
            Message.objects.create(
                conversation_id=conversation.pk, position=0, role="user", created=timezone.now()
            )
        except IntegrityError as error:
            refused.append(error)
        finally:
            connection.close()

    runner = threading.Thread(target=save)
    collect = Collector.collect

    def collect_while_it_saves(self: Collector, objects: Any, *args: Any, **kwargs: Any) -> None:
        collect(self, objects, *args, **kwargs)
        if self.origin is conversation and not runner.ident:
            runner.start()
            runner.join(0.3)  # it comes to its end when nothing holds it up

    monkeypatch.setattr(Collector, "collect", collect_while_it_saves)
    conversation.delete()
    runner.join()
    assert refused
    assert not Conversation.objects.exists()
    assert not Message.objects.exists()
