"""Skills that read what the user uploaded in this conversation."""

import asyncio
import csv
import io
import re
from itertools import islice
from typing import Any

from chat.skills.base import FileInfo, SkillContext, SkillError, skill

MAX_BYTES = 5_000_000  # of one file; more does not fit the sandbox beside everything else
MAX_CHARACTERS = 1_000_000  # of one text; a longer one is read in parts
MAX_ROWS = 20_000
MAX_LISTED = 500
DELIMITERS = ",;\t|"
SAMPLE, SAMPLE_ROWS = 20_000, 20  # characters and rows that tell which of them it is
# Numbers whose text a conversion keeps: no leading zeros (postal codes), no plus signs (telephone numbers).
WHOLE = re.compile(r"-?(0|[1-9]\d{0,14})")
DECIMAL = re.compile(r"-?(0|[1-9]\d{0,14})\.\d+")


@skill()
async def files_list(context: SkillContext) -> list[dict[str, Any]]:
    """Return the files of this conversation, oldest first, as [{"id", "name", "size", "type", "created"}]."""
    return [
        {
            "id": file.id,
            "name": file.name,
            "size": file.size,
            "type": file.content_type,
            "created": file.created,
        }
        for file in list(await context.files.list())[-MAX_LISTED:]
    ]


@skill()
async def files_read_text(context: SkillContext, file: Any, start: int = 0) -> str:
    """Return the text of a file, named by its name, its id or a value of a FileField.

    At most a million characters from `start` on.
    """
    info = await _find(context, file)
    if not isinstance(start, int) or start < 0:
        raise SkillError(f"files_read_text: start must be 0 or more, not {start!r}.")
    return (await _text(context, info))[start : start + MAX_CHARACTERS]


@skill()
async def files_read_csv(context: SkillContext, file: Any) -> list[dict[str, Any]]:
    """Return the rows of a CSV file as dicts by the names in its first line; number columns hold numbers."""
    info = await _find(context, file)
    text = await _text(context, info)
    # A large file takes most of a second, and the event loop serves everybody.
    return await asyncio.to_thread(_table, text, info.name)


async def _find(context: SkillContext, file: Any) -> FileInfo:
    wanted = file.get("id", file.get("name")) if isinstance(file, dict) else file
    files = list(await context.files.list())
    # The newest first: a corrected upload often has the name of the first one.
    for info in reversed(files):
        if wanted in (info.id, info.name):
            return info
    names = ", ".join(repr(info.name) for info in files[-20:])
    raise SkillError(
        f"There is no file {wanted!r} in this conversation. "
        + (f"There are: {names}." if names else "There are none.")
    )


async def _text(context: SkillContext, info: FileInfo) -> str:
    if info.size > MAX_BYTES:
        raise SkillError(f"The file {info.name!r} has {info.size:,} bytes; {MAX_BYTES:,} can be read.")
    data = await context.files.read(info.id, MAX_BYTES)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    if b"\0" in data[:4000]:
        raise SkillError(f"The file {info.name!r} is not text but {info.content_type or 'binary data'}.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")  # what spreadsheets on Windows write


def _table(text: str, name: str) -> list[dict[str, Any]]:
    rows = _rows(text, name)
    if not rows:
        return []
    names = _names(rows[0])
    body = [row for row in rows[1:] if any(row)]
    columns = [
        _column([row[place] if place < len(row) else "" for row in body]) for place in range(len(names))
    ]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _rows(text: str, name: str) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)):
            rows.append([cell.strip() for cell in row])
            if len(rows) > MAX_ROWS + 1:
                raise SkillError(
                    f"The file {name!r} has more than {MAX_ROWS:,} rows, the most that can be read."
                )
    except csv.Error as error:
        raise SkillError(f"The file {name!r} is no CSV that can be read: {error}.") from None
    return rows


def _delimiter(text: str) -> str:
    """Return the sign that splits most of the first rows into as many cells as the first one has."""

    def score(sign: str) -> tuple[int, int]:
        rows = list(islice(csv.reader(io.StringIO(text[:SAMPLE], newline=""), delimiter=sign), SAMPLE_ROWS))
        width = len(rows[0]) if rows else 0
        return (sum(len(row) == width for row in rows), width) if width > 1 else (0, 0)

    return max(DELIMITERS, key=score)


def _names(head: list[str]) -> list[str]:
    """Return the names of the columns, made different where the file has none or the same twice."""
    names: list[str] = []
    for place, name in enumerate(head, 1):
        name = name or f"column {place}"
        names.append(name if name not in names else f"{name} {place}")
    return names


def _column(cells: list[str]) -> list[Any]:
    """Return a column as numbers when all that it holds are numbers; then an empty cell is None."""
    filled = [cell for cell in cells if cell]
    if not filled:
        return list(cells)
    if all(WHOLE.fullmatch(cell) for cell in filled):
        return [int(cell) if cell else None for cell in cells]
    if all(WHOLE.fullmatch(cell) or DECIMAL.fullmatch(cell) for cell in filled):
        return [float(cell) if cell else None for cell in cells]
    return list(cells)
