from typing import Any

import pytest

from chat.skills import SKILLS, SkillContext, SkillError, files
from tests.skills.stores import Files, Memory


async def call(name: str, store: Files, *args: Any) -> Any:
    return await SKILLS[f"files_{name}"].call(SkillContext(Memory(), store), args, {})


async def csv(data: bytes) -> Any:
    store = Files()
    store.add("x.csv", data)
    return await call("read_csv", store, "x.csv")


async def test_list() -> None:
    store = Files(a=b"1", b=b"22")
    listed = await call("list", store)
    assert [(file["id"], file["name"], file["size"], file["type"]) for file in listed] == [
        ("id-0", "a", 1, "text/plain"),
        ("id-1", "b", 2, "text/plain"),
    ]
    assert listed[0]["created"].year == 2026
    assert await call("list", Files()) == []


async def test_read_text_by_name_id_and_field_value() -> None:
    store = Files(a="grün".encode())
    for file in ("a", "id-0", {"id": "id-0", "name": "other"}, {"name": "a"}):
        assert await call("read_text", store, file) == "grün"


async def test_the_newest_of_a_name() -> None:
    store = Files(a=b"old")
    store.add("a", b"new")
    assert await call("read_text", store, "a") == "new"
    assert await call("read_text", store, "id-0") == "old"


async def test_a_long_text_is_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_CHARACTERS", 4)
    store = Files(a=b"0123456789")
    assert [await call("read_text", store, "a", start) for start in (0, 4, 8, 12)] == [
        "0123",
        "4567",
        "89",
        "",
    ]
    with pytest.raises(SkillError, match="start must be 0 or more"):
        await call("read_text", store, "a", -1)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xef\xbb\xbfx", "x"),
        ("grün €".encode("cp1252"), "grün €"),
        ("grün".encode("utf-16"), "grün"),
        (b"", ""),
    ],
)
async def test_encodings(data: bytes, text: str) -> None:
    assert await call("read_text", Files(a=data), "a") == text


async def test_what_is_not_there() -> None:
    with pytest.raises(SkillError, match=r"no file 'c' in this conversation. There are: 'a', 'b'"):
        await call("read_text", Files(a=b"", b=b""), "c")
    with pytest.raises(SkillError, match="There are none"):
        await call("read_text", Files(), None)


async def test_what_is_no_text() -> None:
    with pytest.raises(SkillError, match="is not text"):
        await call("read_text", Files(a=b"\x89PNG\0"), "a")


async def test_what_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 10)
    with pytest.raises(SkillError, match="has 11 bytes; 10 can be read"):
        await call("read_text", Files(a=b"x" * 11), "a")


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (b"name,age\nAda,36\nBob,41\n", [{"name": "Ada", "age": 36}, {"name": "Bob", "age": 41}]),
        (b"name;age\r\nAda;36\r\nBob;41\r\n", [{"name": "Ada", "age": 36}, {"name": "Bob", "age": 41}]),
        (b"a\tb\n1\t2.5\n3\t4\n", [{"a": 1, "b": 2.5}, {"a": 3, "b": 4.0}]),
        (b'a,b\n"x, y","say ""hi"""\n', [{"a": "x, y", "b": 'say "hi"'}]),
        (b'a,b\n"two\nlines",1\n', [{"a": "two\nlines", "b": 1}]),
        (
            b"zip,phone\n01234,+49\n50667,030\n",
            [{"zip": "01234", "phone": "+49"}, {"zip": "50667", "phone": "030"}],
        ),
        (b"a,b\n1,\n,x\n", [{"a": 1, "b": ""}, {"a": None, "b": "x"}]),
        (b"a,b\n1,x,more\n2\n", [{"a": 1, "b": "x"}, {"a": 2, "b": ""}]),
        (b"a,,a\n1,2,3\n", [{"a": 1, "column 2": 2, "a 3": 3}]),
        (b"only\nx\ny\n", [{"only": "x"}, {"only": "y"}]),
        (b"a,b\n\n1,2\n\n", [{"a": 1, "b": 2}]),
        (b"a,b\n", []),
        (b"", []),
        (b"big,odd\n12345678901234567890,1e5\n", [{"big": "12345678901234567890", "odd": "1e5"}]),
    ],
)
async def test_csv(data: bytes, rows: list[dict[str, Any]]) -> None:
    assert await csv(data) == rows


async def test_csv_with_too_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_ROWS", 3)
    assert len(await csv(b"a,b\n" + b"1,2\n" * 3)) == 3
    with pytest.raises(SkillError, match="more than 3 rows"):
        await csv(b"a,b\n" + b"1,2\n" * 4)


async def test_csv_that_cannot_be_read() -> None:
    with pytest.raises(SkillError, match="no CSV that can be read"):
        await csv(b"a,b\n" + b'"' + b"x" * 200_000)
