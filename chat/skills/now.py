"""A skill that tells the time."""

import datetime
import difflib
from zoneinfo import ZoneInfo, available_timezones

from chat.skills.base import SkillContext, SkillError, skill


@skill()
async def now(context: SkillContext, tz: str = "UTC") -> datetime.datetime:
    """Return the current date and time in a time zone such as "Europe/Berlin"."""
    try:
        return datetime.datetime.now(ZoneInfo(tz))
    except (KeyError, ValueError, TypeError, OSError):
        near = difflib.get_close_matches(str(tz), available_timezones(), n=3, cutoff=0.4)
        hint = f"Similar ones: {', '.join(near)}." if near else 'Names look like "Europe/Berlin" or "UTC".'
        raise SkillError(f"There is no time zone {tz!r}. {hint}") from None
