"""Where and in which state a tree is shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote

INTERACTIVE: Final = ("open", "dismissed")  # a submit of a dismissed mount starts a turn


@dataclass(frozen=True)
class MountContext:
    """What the HTML of a mount depends on besides its tree."""

    mount: str
    url: str = ""
    state: str = "open"
    answers: Mapping[str, Any] | None = None  # as `forms.values_json` gives them
    answered_by: str = ""
    answered_at: datetime | None = None
    errors: Mapping[str, list[str]] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    form: str = ""  # the form that errors and values belong to
    token: str = ""  # changes when the form may be submitted anew; the page then clears it
    files_url: str = ""

    @property
    def interactive(self) -> bool:
        """Whether fields can be filled in and buttons pressed."""
        return self.state in INTERACTIVE

    @property
    def answered(self) -> bool:
        """Whether the fields show what was answered."""
        return self.state == "submitted"

    def file_url(self, file: Any) -> str:
        """Return the address of a file of the conversation, given its id or handle."""
        base = self.files_url or self.url.rpartition("m/")[0] + "files/"
        ident = file.get("id") if isinstance(file, Mapping) else file
        return f"{base}{quote(str(ident), safe='')}/"
