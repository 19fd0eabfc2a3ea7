"""Stores that keep everything in memory, for skills without a database."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from chat.skills import FileInfo


class Memory:
    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    async def get(self, key: str) -> Any:
        return self.values[key]

    async def set(self, key: str, value: Any) -> None:
        self.values.pop(key, None)
        self.values[key] = value

    async def delete(self, key: str) -> None:
        self.values.pop(key, None)

    async def count(self) -> int:
        return len(self.values)

    async def clear(self) -> int:
        count = len(self.values)
        self.values.clear()
        return count

    async def search(self, words: Sequence[str], limit: int) -> list[tuple[str, Any]]:
        found = [
            (key, value)
            for key, value in reversed(self.values.items())
            if all(word.lower() in f"{key} {value}".lower() for word in words)
        ]
        return found[:limit]


class Files:
    def __init__(self, **files: bytes) -> None:
        self.files: list[tuple[str, bytes]] = []
        for name, data in files.items():
            self.add(name, data)

    def add(self, name: str, data: bytes) -> str:
        self.files.append((name, data))
        return f"id-{len(self.files) - 1}"

    async def list(self) -> list[FileInfo]:
        return [
            FileInfo(f"id-{number}", name, len(data), "text/plain", datetime(2026, 1, number + 1, tzinfo=UTC))
            for number, (name, data) in enumerate(self.files)
        ]

    async def read(self, file_id: str, limit: int) -> bytes:
        return self.files[int(file_id.removeprefix("id-"))][1][:limit]
