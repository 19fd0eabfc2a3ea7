"""What to write instead, for errors that come from what the sandbox's Python lacks."""

import re
from typing import Final

HINTS: Final[tuple[tuple[str, str], ...]] = (
    (r"class inheritance", "write a class without a base; share code by functions or by an attribute."),
)
COMPILED: Final = tuple((re.compile(pattern), hint) for pattern, hint in HINTS)


def for_error(kind: str, message: str, source_line: str) -> str:
    """Return the hint for an error, or an empty text."""
    told = f"{kind}: {message}"
    for pattern, hint in COMPILED:
        found = pattern.search(told)
        if found:
            return found.expand(hint) if "\\" in hint else hint
    return ""
