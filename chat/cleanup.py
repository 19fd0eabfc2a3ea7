"""What is left outside of the database when rows go: the files of deleted uploads."""

import logging
from contextlib import suppress
from typing import Any

from django.db import transaction
from django.db.models.signals import post_delete
from django.dispatch import receiver

from chat.models import Conversation, Upload

logger = logging.getLogger(__name__)


@receiver(post_delete, sender=Upload)
def remove_file(sender: type[Upload], instance: Upload, **kwargs: Any) -> None:
    """Remove an upload's file once it is certain that the row is gone."""
    storage, name = instance.file.storage, instance.file.name or ""

    def remove() -> None:
        try:
            storage.delete(name)
        except OSError:
            logger.exception("The file %s of a deleted upload could not be removed", name)

    if name:
        transaction.on_commit(remove)


@receiver(post_delete, sender=Conversation)
def remove_folder(sender: type[Conversation], instance: Conversation, **kwargs: Any) -> None:
    """Remove the folder of a conversation's files, which is empty by then."""
    storage, folder = Upload._meta.get_field("file").storage, f"uploads/{instance.pk}"

    def remove() -> None:
        with suppress(OSError):  # there may be none, or a file that could not be removed
            storage.delete(folder)

    transaction.on_commit(remove)
