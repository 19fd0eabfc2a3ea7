import datetime
from typing import Any

import pytest

from chat.skills import SKILLS, SkillContext, SkillError
from chat.skills.memory import MAX_ENTRIES, MAX_KEY, MAX_VALUE
from tests.skills.stores import Files, Memory


class Caller:
    def __init__(self) -> None:
        self.memory = Memory()

    async def __call__(self, name: str, *args: Any) -> Any:
        return await SKILLS[f"memory_{name}"].call(SkillContext(self.memory, Files()), args, {})


@pytest.fixture
def memory() -> Caller:
    return Caller()


async def test_get_and_set(memory: Caller) -> None:
    value = {"city": "Köln", "size": 1.5, "pets": ["cat", None, True], "code": "\\u0000"}
    await memory("set", "home", value)
    assert await memory("get", "home") == value
    assert await memory("get", "work") is None
    assert await memory("get", "work", "none") == "none"


async def test_none_forgets(memory: Caller) -> None:
    await memory("set", "home", 1)
    await memory("set", "home", None)
    await memory("set", "never", None)
    assert await memory("get", "home", "gone") == "gone"


async def test_search(memory: Caller) -> None:
    await memory("set", "dog", "likes Apples")
    await memory("set", "cat", "likes fish")
    assert await memory("search", "LIKES apples") == [{"key": "dog", "value": "likes Apples"}]
    assert [found["key"] for found in await memory("search")] == ["cat", "dog"]


async def test_search_is_limited(memory: Caller) -> None:
    for number in range(50):
        await memory("set", f"k{number}", number)
    assert len(await memory("search", "k")) == 20


async def test_clear(memory: Caller) -> None:
    await memory("set", "a", 1)
    await memory("set", "b", 1)
    assert await memory("clear") == 2
    assert await memory("search") == []


@pytest.mark.parametrize("key", ["", "x" * (MAX_KEY + 1), "a\0b", 5, None])
async def test_keys_that_are_refused(memory: Caller, key: Any) -> None:
    for call in (("get", key), ("set", key, 1)):
        with pytest.raises(SkillError, match="1 to 200 characters"):
            await memory(*call)


async def test_values_that_are_refused(memory: Caller) -> None:
    around: list[Any] = []
    around.append(around)
    for value, words in [
        ("x" * MAX_VALUE, "10,002 characters"),
        (around, "no plain data"),
        ({(1, 2): 3}, "no plain data"),
        (float("nan"), "no plain data"),
        (datetime.date(2026, 1, 2), r"write a date as text: day\.isoformat"),
        (["a\0b"], "the character NUL"),
    ]:
        with pytest.raises(SkillError, match=words):
            await memory("set", "k", value)
    assert await memory("search") == []


async def test_the_number_of_things_is_limited(memory: Caller) -> None:
    for number in range(MAX_ENTRIES):
        await memory.memory.set(f"k{number}", number)
    with pytest.raises(SkillError, match="Forget one first"):
        await memory("set", "one more", 1)
    await memory("set", "k7", "changed")
    assert await memory("get", "k7") == "changed"


async def test_a_text_to_search_for(memory: Caller) -> None:
    with pytest.raises(SkillError, match="must be a text"):
        await memory("search", 5)
