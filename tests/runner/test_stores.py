"""What skills keep in the database: memories of a user, files of a conversation."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile

from chat.models import Conversation, Memory, Upload
from chat.runner.skills import ConversationFiles, UserMemory

pytestmark = pytest.mark.django_db(transaction=True)


async def user(name: str = "ada") -> User:
    return await User.objects.acreate(username=name)


async def test_memories_are_kept_by_user() -> None:
    ada, bob = UserMemory((await user()).pk), UserMemory((await user("bob")).pk)
    await ada.set("home", {"city": "Köln"})
    await ada.set("home", {"city": "Bern"})
    assert await ada.get("home") == {"city": "Bern"}
    with pytest.raises(KeyError):
        await bob.get("home")
    assert (await ada.count(), await bob.count()) == (1, 0)
    await ada.delete("home")
    await ada.delete("home")
    assert await ada.count() == 0
    await ada.set("a", 1)
    await ada.set("b", [])
    await bob.set("a", 2)
    assert await ada.clear() == 2
    assert await bob.get("a") == 2


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["köln"], ["home"]),
        (["KÖLN"], ["home"]),
        (["bahn"], ["home"]),
        (["home"], ["home"]),
        (["köln", "home"], ["home"]),
        (["köln", "cat"], []),
        (["tabby"], ["cats"]),
        (["3"], ["cats"]),
        (["100%"], ["discount"]),
        (["1_0"], []),
        (["u00f6"], []),
        (["city"], ["home"]),
        ([], ["discount", "cats", "home"]),
    ],
)
async def test_search_in_keys_and_values(words: list[str], found: list[str]) -> None:
    memory = UserMemory((await user()).pk)
    await memory.set("home", {"city": "Köln", "near": "Bahnhof"})
    await memory.set("cats", ["Tabby", 3])
    await memory.set("discount", "100%")
    assert [key for key, _ in await memory.search(words, 20)] == found


async def test_search_gives_so_many() -> None:
    memory = UserMemory((await user()).pk)
    for number in range(5):
        await memory.set(f"key {number}", number)
    assert [key for key, _ in await memory.search(["key"], 2)] == ["key 4", "key 3"]
    assert await Memory.objects.acount() == 5


async def test_files_belong_to_their_conversation(settings: Any, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path
    owner = await user()
    one, two = [await Conversation.objects.acreate(owner=owner) for _ in range(2)]
    upload = await Upload.objects.acreate(
        conversation=one,
        file=ContentFile(b"a,b\n1,2\n", "t.csv"),
        name="t.csv",
        content_type="text/csv",
        size=8,
    )
    files = ConversationFiles(one.pk)
    (info,) = await files.list()
    assert (info.id, info.name, info.size, info.content_type) == (str(upload.pk), "t.csv", 8, "text/csv")
    assert await files.read(info.id, 3) == b"a,b"
    assert await ConversationFiles(two.pk).list() == []
