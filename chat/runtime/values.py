"""Values that JSON lacks, for rows: dates and times are tagged as in component trees."""

from datetime import date, datetime, time
from typing import Any

TAGS = {"$date": date.fromisoformat, "$time": time.fromisoformat, "$datetime": datetime.fromisoformat}


def to_native(value: Any) -> Any:
    """Return a JSON value with its tagged dates and times as Python has them."""
    if isinstance(value, list):
        return [to_native(item) for item in value]
    if isinstance(value, dict):
        if len(value) == 1:
            tag, content = next(iter(value.items()))
            if tag in TAGS and isinstance(content, str):
                return TAGS[tag](content)
            if tag == "$d":  # data that has a tag's name as its only key
                return content
        return {key: to_native(item) for key, item in value.items()}
    return value


def to_json(value: Any) -> Any:
    """Return a plain value as JSON can hold it; what is neither plain nor a date becomes its text."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case datetime():
            return {"$datetime": value.isoformat()}
        case date():
            return {"$date": value.isoformat()}
        case time():
            return {"$time": value.isoformat()}
        case dict():
            return {str(key): to_json(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [to_json(item) for item in value]
    return str(value)
