"""Skills as one conversation's code may call them, with their stores in the database."""

import json
import logging
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings

from chat.models import Memory, Upload
from chat.runtime.approvals import SkillInfo
from chat.runtime.records import Conversation
from chat.sandbox.base import Raise, Settled, Value
from chat.skills import SKILLS, FileInfo, HttpPolicy, SkillContext, SkillError

logger = logging.getLogger(__name__)


class ConversationSkills:
    """Implements `chat.runtime.host.Skills`."""

    def __init__(self, conversation: Conversation) -> None:
        self.context = SkillContext(
            memory=UserMemory(conversation.owner_id),
            files=ConversationFiles(conversation.id),
            http=HttpPolicy(**settings.FETCH_POLICY),
        )

    def needs_approval(self, name: str) -> bool:
        """Whether a person decides about each call."""
        return name in SKILLS and SKILLS[name].needs_approval

    def describe(self, name: str) -> SkillInfo:
        """Return what a person who decides about a call is told."""
        if name not in SKILLS:
            return SkillInfo()
        skill = SKILLS[name]
        return SkillInfo(skill.doc.partition("\n")[0], skill.parameters)

    def changes_world(self, name: str) -> bool:
        """Whether a call must be known of after a crash."""
        return name in SKILLS and SKILLS[name].changes_world

    async def run(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Settled:
        """Return the result of a skill, or its failure as the code gets it."""
        if name not in SKILLS:
            return Raise("NameError", f"There is no skill {name!r}; there are: {', '.join(SKILLS)}.")
        try:
            return Value(await SKILLS[name].call(self.context, args, kwargs))
        except SkillError as error:
            return Raise("RuntimeError", str(error))
        except Exception:
            logger.exception("Skill %s failed", name)
            return Raise(
                "RuntimeError", f"{name}() failed because of a mistake of this site; it is in its log."
            )


class UserMemory:
    """What is remembered about a user, as rows."""

    def __init__(self, user_id: int) -> None:
        self.user_id = user_id

    async def get(self, key: str) -> Any:
        """Return a value; raises KeyError when there is none."""
        try:
            return (await Memory.objects.aget(user=self.user_id, key=key)).value
        except Memory.DoesNotExist:
            raise KeyError(key) from None

    async def set(self, key: str, value: Any) -> None:
        """Keep a value in place of an older one."""
        await Memory.objects.aupdate_or_create(user_id=self.user_id, key=key, defaults={"value": value})

    async def delete(self, key: str) -> None:
        """Forget a value, if there is one."""
        await Memory.objects.filter(user=self.user_id, key=key).adelete()

    async def count(self) -> int:
        """Return how many values are kept."""
        return await Memory.objects.filter(user=self.user_id).acount()

    async def clear(self) -> int:
        """Forget everything; returns how many values that were."""
        deleted, _ = await Memory.objects.filter(user=self.user_id).adelete()
        return deleted

    async def search(self, words: Sequence[str], limit: int) -> Sequence[tuple[str, Any]]:
        """Return the entries that have all words in their key or value, newest first."""
        # Not by the database: SQLite knows the cases of ASCII only, and values are JSON with escapes in it.
        wanted = [word.casefold() for word in words]
        found: list[tuple[str, Any]] = []
        async for memory in Memory.objects.filter(user=self.user_id).order_by("-updated", "-pk"):
            text = f"{memory.key}\n{json.dumps(memory.value, ensure_ascii=False)}".casefold()
            if all(word in text for word in wanted):
                found.append((memory.key, memory.value))
            if len(found) == limit:
                break
        return found


class ConversationFiles:
    """The uploads of a conversation."""

    def __init__(self, conversation: UUID) -> None:
        self.conversation = conversation

    async def list(self) -> Sequence[FileInfo]:
        """Return all files, oldest first."""
        uploads = Upload.objects.filter(conversation=self.conversation).order_by("created")
        return [
            FileInfo(str(upload.pk), upload.name, upload.size, upload.content_type, upload.created)
            async for upload in uploads
        ]

    async def read(self, file_id: str, limit: int) -> bytes:
        """Return the first `limit` bytes of a file."""
        upload = await Upload.objects.aget(conversation=self.conversation, pk=file_id)

        def contents() -> bytes:
            with upload.file.open("rb") as file:
                return bytes(file.read(limit))

        return await sync_to_async(contents)()
