"""Skills that remember things about a user over conversations."""

import json
import re
from typing import Any

from chat.skills.base import SkillContext, SkillError, skill

MAX_KEY = 200  # as many characters as the database keeps
MAX_VALUE = 10_000  # characters as JSON; what is longer is a document, not something to remember
MAX_ENTRIES = 500  # per user; more would not be found again
MAX_FOUND = 20  # in one search; they go to the model
MAX_WORDS = 10
# In JSON, after an even number of backslashes; PostgreSQL keeps no such character.
NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


@skill()
async def memory_get(context: SkillContext, key: str, default: Any = None) -> Any:
    """Return what was remembered about the user under a key, or the default."""
    try:
        return await context.memory.get(_key(key))
    except KeyError:
        return default


@skill(changes_world=True)
async def memory_set(context: SkillContext, key: str, value: Any) -> None:
    """Remember plain data about the user for all later conversations; None forgets the key."""
    _key(key)
    if value is None:
        await context.memory.delete(key)
        return
    size = len(_json(key, value))
    if size > MAX_VALUE:
        raise SkillError(
            f"memory_set: the value under {key!r} has {size:,} characters; "
            f"{MAX_VALUE:,} are accepted. Keep a summary."
        )
    if await context.memory.count() >= MAX_ENTRIES:
        try:
            await context.memory.get(key)
        except KeyError:
            raise SkillError(
                f"memory_set: {MAX_ENTRIES} things are remembered, which is the limit. "
                "Forget one first: await memory_set(key, None)."
            ) from None
    await context.memory.set(key, value)


@skill()
async def memory_search(context: SkillContext, text: str = "") -> list[dict[str, Any]]:
    """Return up to 20 things remembered about the user, as [{"key": ..., "value": ...}].

    Only those that have all the words of the text; without words the newest ones.
    """
    if not isinstance(text, str):
        raise SkillError(f"memory_search: the text must be a text, not {text!r}.")
    found = await context.memory.search(text.replace("\0", " ").split()[:MAX_WORDS], MAX_FOUND)
    return [{"key": key, "value": value} for key, value in found]


@skill(needs_approval=True, changes_world=True)
async def memory_clear(context: SkillContext) -> int:
    """Forget everything that was remembered about the user. Returns how many keys that were."""
    return await context.memory.clear()


def _json(key: str, value: Any) -> str:
    """Return the value as the database keeps it."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        raise SkillError(
            f"memory_set: the value under {key!r} is no plain data ({error}). Texts, numbers, True, False, "
            "None, lists and dicts are accepted; write a date as text: day.isoformat()."
        ) from None
    if NUL.search(text):
        raise SkillError(f"memory_set: the value under {key!r} holds the character NUL.")
    return text


def _key(key: str) -> str:
    if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY or "\0" in key:
        raise SkillError(f"A key must be a text of 1 to {MAX_KEY} characters, not {key!r:.300}.")
    return key
