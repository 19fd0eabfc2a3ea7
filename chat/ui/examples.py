"""Examples of every component, as agent code writes them; the gallery shows them, tests render them."""

from dataclasses import dataclass
from datetime import date, datetime, time
from functools import cache
from pathlib import Path
from typing import Any, Final

from chat.ui.build import namespace


@dataclass(frozen=True)
class Example:
    """A piece of agent code and the JSON tree that it gives."""

    component: str
    source: str
    tree: dict[str, Any]


FILE_ID: Final = "5f0c3f0e-4d2c-4b43-9a55-8d1c7c6d2f10"

# What the examples may use besides components.
_DATA: Final[dict[str, Any]] = {
    "date": date,
    "time": time,
    "datetime": datetime,
    "picture": {"id": FILE_ID, "name": "harbour.png", "size": 48_213, "type": "image/png"},
    "films": [
        {"name": "Blade Runner", "year": 1982, "rating": 4.5},
        {"name": "Amélie 🎬", "year": 2001, "rating": 4.4},
        {"name": "Solaris", "year": 1972, "rating": 4.1},
    ],
    "sales": [
        {"month": month, "north": north, "south": south}
        for month, north, south in [
            ("Jan", 12, 9), ("Feb", 19, 12), ("Mar", 8, 15), ("Apr", 23, 18), ("May", 27, 14),
            ("Jun", 21, 20),
        ]
    ],
    "people": [
        {"id": number, "name": f"{first} {last}", "city": city, "age": 24 + number * 7 % 40}
        for number, (first, last, city) in enumerate(
            (first, last, city)
            for city in ("Porto", "Graz", "Turku")
            for first in ("Ada", "Grace", "Alan", "Edsger")
            for last in ("Reed", "Stone", "Lake")
        )
    ],
}  # fmt: skip


def sources() -> list[tuple[str, str]]:
    """Return (component, code) of each example in `examples.txt`, which lists those of every component."""
    parts = Path(__file__).with_name("examples.txt").read_text(encoding="utf-8").split("%% ")
    return [(name.strip(), code.strip()) for name, _, code in (part.partition("\n") for part in parts[1:])]


@cache
def examples() -> list[Example]:
    """Return all examples, in the order of the catalogue's groups."""
    known = {**namespace(), **_DATA, "go": print, "choose": print}
    return [
        # The sources are our own, and written for exactly this.
        Example(name, source, eval(source, {"__builtins__": {"range": range}}, known))  # noqa: S307
        for name, source in sources()
    ]
