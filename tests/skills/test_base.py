import datetime
from typing import Any

import pytest

from chat.skills import SKILLS, Skill, SkillContext, SkillError, discover, skill
from tests.skills.stores import Files, Memory

CONTEXT = SkillContext(Memory(), Files())


async def example(
    context: SkillContext, a: int, *more: str, b: list[int] | None = None, **rest: Any
) -> datetime.date:
    """Do it.

    And more.
    """
    return datetime.date(2026, 1, a)


EXAMPLE = Skill("example", example, needs_approval=False, changes_world=False)


def test_what_comes_from_the_function() -> None:
    assert (
        EXAMPLE.signature
        == "example(a: int, *more: str, b: list[int] | None = None, **rest: Any) -> datetime.date"
    )
    assert EXAMPLE.stub == f"async def {EXAMPLE.signature}: ..."
    assert EXAMPLE.doc == "Do it.\n\nAnd more."


async def test_calls() -> None:
    assert await EXAMPLE.call(CONTEXT, [3], {}) == datetime.date(2026, 1, 3)


@pytest.mark.parametrize(("args", "kwargs"), [([], {}), ([1], {"a": 2})])
async def test_wrong_arguments(args: list[Any], kwargs: dict[str, Any]) -> None:
    with pytest.raises(SkillError, match=r"example: .*'a'.* called as example\(a: int"):
        await EXAMPLE.call(CONTEXT, args, kwargs)


def test_every_module_is_found() -> None:
    discover()
    assert set(SKILLS) == {
        "fetch",
        "fetch_json",
        "files_list",
        "files_read_csv",
        "files_read_text",
        "memory_clear",
        "memory_get",
        "memory_search",
        "memory_set",
        "now",
    }


def test_flags() -> None:
    assert {name for name, found in SKILLS.items() if found.changes_world} == {"memory_set", "memory_clear"}
    assert {name for name, found in SKILLS.items() if found.needs_approval} == {"memory_clear"}


@pytest.mark.parametrize("found", SKILLS.values(), ids=lambda found: found.name)
def test_stubs_are_python_that_needs_only_known_names(found: Skill) -> None:
    names: dict[str, Any] = {"datetime": datetime, "Any": Any}
    exec(found.stub, names)
    assert names[found.name].__name__ == found.name
    assert found.doc[0].isupper()
    assert "." in found.doc.splitlines()[0]


def test_declarations_that_are_refused() -> None:
    async def bare(context: SkillContext) -> None: ...

    async def now(context: SkillContext) -> None:
        """Tell the time again."""

    with pytest.raises(TypeError, match="bare must be an async function with a docstring"):
        skill()(bare)
    with pytest.raises(TypeError, match=r"now is declared twice, in chat\.skills\.now too"):
        skill()(now)
