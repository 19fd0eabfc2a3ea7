"""The modules that agent code can use: the interpreter's own, and those that this package provides.

A provided module is a file in `inside/modules`: sandbox Python that is loaded into a namespace when a
statement first needs it. It holds only what behaves as in CPython; the rest stays out, so that a lack shows
as an error.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent / "inside" / "modules"

PROVIDED: Final[Mapping[str, tuple[str, ...]]] = {
    path.stem: (path.stem,) for path in sorted(FOLDER.glob("*.monty")) if path.stem != "urllib_parse"
} | {"urllib": ("urllib_parse",), "urllib.parse": ("urllib_parse",)}
"""Importable names, with the files that make them."""

NATIVE: Final = frozenset(
    [
        "base64",
        "binascii",
        "bisect",
        "copy",
        "csv",
        "decimal",
        "hashlib",
        "itertools",
        "math",
        "random",
        "typing",
        "unicodedata",
    ]
)
"""The interpreter's own, as far as they are of use; what else it has (os, sys, pathlib) leads nowhere."""

AMBIENT: Final = NATIVE | frozenset(name for name in PROVIDED if "." not in name)
"""Modules that may be used without importing them."""


def needs(name: str) -> tuple[str, ...]:
    """Return the files that make a provided module."""
    return PROVIDED[name]


@cache
def source(file: str) -> str:
    """Return the sandbox Python of a provided module."""
    return (FOLDER / f"{file}.monty").read_text()


def loading(file: str) -> str:
    """Return the program that puts a provided module into a namespace."""
    return f"{source(file)}\n_provide(_module)\n_module = None\n"


def binding(name: str) -> str:
    """Return the program that gives a module its name, unless the name is taken."""
    bind = f"{name} = _import({name!r})" if name in PROVIDED else f"import {name}"
    return f"try:\n    {name}\nexcept NameError:\n    {bind}\n"
