"""Values as the page shows them: dates in the site's format, data in short."""

import json
from datetime import date, datetime, time
from typing import Any

from django.utils.formats import date_format, time_format

from chat.ui.nodes import encode
from chat.ui.shapes import words


def shown(value: Any) -> str:
    """Return a value as it reads in a sentence or cell."""
    match value:
        case datetime():
            return f"{date_format(value, 'DATE_FORMAT')}, {time_format(value, 'H:i')}"
        case date():
            return date_format(value, "DATE_FORMAT")
        case time():
            return time_format(value, "H:i")
        case dict() | list():
            return json.dumps(encode(value), ensure_ascii=False, default=str)
        case _:
            return words(value)
