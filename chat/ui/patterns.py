"""Regular expressions that agent code wrote, matched in linear time.

Python's own engine can take for ever on some pattern and text; this one cannot, for want of look-around and
back references.
"""

from functools import lru_cache

from pydantic_core import SchemaError, SchemaValidator, core_schema

from chat.ui.shapes import Malformed, show


@lru_cache(maxsize=256)
def _validator(pattern: str) -> SchemaValidator:
    # The engine of pydantic, which the model client brings; its texts must match as a whole, as in HTML.
    return SchemaValidator(core_schema.str_schema(pattern=f"^(?:{pattern})$", regex_engine="rust-regex"))


def check_pattern(pattern: str) -> None:
    """Raise Malformed unless it is a pattern that can be used."""
    try:
        _validator(pattern)
    except SchemaError:
        raise Malformed(
            f"pattern must be a regular expression without look-around and references, not {show(pattern)}"
        ) from None


def matches(pattern: str, text: str) -> bool:
    """Tell whether the whole text matches."""
    return bool(_validator(pattern).isinstance_python(text))
