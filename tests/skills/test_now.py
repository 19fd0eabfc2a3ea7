import datetime
from typing import Any

import pytest

from chat.skills import SKILLS, SkillContext, SkillError
from tests.skills.stores import Files, Memory

CONTEXT = SkillContext(Memory(), Files())


async def now(*args: Any) -> datetime.datetime:
    moment: datetime.datetime = await SKILLS["now"].call(CONTEXT, args, {})
    return moment


async def test_in_the_world_and_somewhere() -> None:
    before = datetime.datetime.now(datetime.UTC)
    anywhere = await now()
    berlin = await now("Europe/Berlin")
    after = datetime.datetime.now(datetime.UTC)
    assert before <= anywhere <= berlin <= after
    assert anywhere.utcoffset() == datetime.timedelta(0)
    assert berlin.utcoffset() in (datetime.timedelta(hours=1), datetime.timedelta(hours=2))


async def test_suggests_what_was_meant() -> None:
    with pytest.raises(SkillError, match=r"no time zone 'Europ/Berln'.*Europe/Berlin"):
        await now("Europ/Berln")


@pytest.mark.parametrize("zone", ["", "../etc/passwd", "/etc/passwd", "x" * 5000, 5, None, "Europe", "a\0b"])
async def test_what_is_no_zone(zone: Any) -> None:
    with pytest.raises(SkillError, match="no time zone"):
        await now(zone)
