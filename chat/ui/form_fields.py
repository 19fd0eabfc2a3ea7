# ruff: noqa: D102 - what the methods of fields do is described by Django
"""Django form fields for what people answer: the types that agent code gets, errors that say the remedy."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from mimetypes import guess_type
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import EmailValidator, URLValidator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from chat.ui.patterns import matches
from chat.ui.shapes import Option, option_keys, words

# More than people type into one field; a TextField or TextArea may say less.
MAX_TEXT: Final = 20_000

# Digits of a number; beyond it arithmetic on the text gets slow.
MAX_DIGITS: Final = 50

MEGABYTE: Final = 1024 * 1024


class AnswerField(forms.Field):
    """A field whose emptiness has its own words."""

    missing: Any = gettext_lazy("Fill this in.")

    def __init__(self, **options: Any) -> None:
        super().__init__(error_messages={"required": self.missing}, **options)


class TextAnswer(AnswerField):
    """Text, stripped; answers a str."""

    def __init__(
        self, *, min_length: int | None, max_length: int | None, pattern: str | None = None, **options: Any
    ) -> None:
        self.min_length, self.max_length, self.pattern = min_length, max_length or MAX_TEXT, pattern
        super().__init__(**options)

    def to_python(self, value: Any) -> str:
        return "" if value is None else str(value).replace("\0", "").replace("\r\n", "\n").strip()

    def validate(self, value: str) -> None:
        super().validate(value)
        if not value:
            return
        if self.min_length and len(value) < self.min_length:
            raise ValidationError(
                ngettext(
                    "Enter at least %(count)d character.",
                    "Enter at least %(count)d characters.",
                    self.min_length,
                )
                % {"count": self.min_length}
            )
        if len(value) > self.max_length:
            raise ValidationError(
                _("Enter at most %(max)d characters; these are %(count)d.")
                % {"max": self.max_length, "count": len(value)}
            )
        if self.pattern and not matches(self.pattern, value):
            raise ValidationError(_("This does not have the expected form."))


class EmailAnswer(TextAnswer):
    """An e-mail address; answers a str."""

    default_validators = [EmailValidator(gettext_lazy("Enter an e-mail address such as name@example.com."))]


class URLAnswer(TextAnswer):
    """A web address; answers a str."""

    default_validators = [
        URLValidator(
            schemes=["http", "https"],
            message=gettext_lazy("Enter a web address such as https://example.com."),
        )
    ]

    def to_python(self, value: Any) -> str:
        text = super().to_python(value)
        return f"https://{text}" if text and "://" not in text else text


def _in_range(value: Any, low: Any, high: Any) -> None:
    if low is not None and value < low:
        raise ValidationError(_("Enter %(value)s or more.") % {"value": words(low)})
    if high is not None and value > high:
        raise ValidationError(_("Enter %(value)s or less.") % {"value": words(high)})


def _in_time(value: Any, low: Any, high: Any) -> None:
    if low is not None and value < low:
        raise ValidationError(_("Choose %(value)s or later.") % {"value": words(low)})
    if high is not None and value > high:
        raise ValidationError(_("Choose %(value)s or earlier.") % {"value": words(high)})


class NumberAnswer(AnswerField):
    """A number in a range and on a grid; answers an int where only whole numbers fit, else what was typed."""

    def __init__(self, *, low: Any, high: Any, step: Any, **options: Any) -> None:
        self.low, self.high, self.step = low, high, step
        super().__init__(**options)

    @property
    def whole(self) -> bool:
        """Whether only whole numbers fit."""
        return self.step is not None and self.step == int(self.step) and (self.low or 0) == int(self.low or 0)

    def to_python(self, value: Any) -> int | float | None:
        text = "" if value is None else str(value).strip()
        if not text:
            return None
        try:
            exact = Decimal(text) if len(text) <= MAX_DIGITS else Decimal("nan")
        except InvalidOperation:
            exact = Decimal("nan")
        if not exact.is_finite() or abs(exact.adjusted()) > MAX_DIGITS:
            raise ValidationError(_("Enter a number."))
        is_whole = exact == exact.to_integral_value()
        if self.whole and not is_whole:
            raise ValidationError(_("Enter a whole number."))
        _in_range(exact, *(None if limit is None else Decimal(str(limit)) for limit in (self.low, self.high)))
        self._check_step(exact)
        typed_whole = self.step is None and "." not in text and "e" not in text.lower()
        return int(exact) if is_whole and (self.whole or typed_whole) else float(exact)

    def _check_step(self, exact: Decimal) -> None:
        if not self.step or self.step < 0:
            return
        start, step = Decimal(str(self.low or 0)), Decimal(str(self.step))
        if (exact - start) % step:
            below = start + (exact - start) // step * step
            raise ValidationError(
                _("Enter a value in steps of %(step)s, such as %(below)s or %(above)s.")
                % {"step": words(self.step), "below": below, "above": below + step}
            )


class _MomentAnswer(AnswerField):
    """A date or time in a range."""

    missing = gettext_lazy("Choose one.")
    invalid: Any = ""
    parse: Callable[[str], Any]

    def __init__(self, *, low: Any, high: Any, **options: Any) -> None:
        self.low, self.high = low, high
        super().__init__(**options)

    def to_python(self, value: Any) -> Any:
        if value in (None, ""):
            return None
        try:
            moment = type(self).parse(str(value).strip())
        except ValueError:
            raise ValidationError(self.invalid) from None
        if isinstance(moment, datetime | time):
            moment = moment.replace(tzinfo=None)  # what people enter has no time zone
        _in_time(moment, self.low, self.high)
        return moment


class DateAnswer(_MomentAnswer):
    """A day; answers a date."""

    invalid = gettext_lazy("Enter a date such as 2026-01-31.")
    parse = staticmethod(date.fromisoformat)


class TimeAnswer(_MomentAnswer):
    """A time of day; answers a time."""

    invalid = gettext_lazy("Enter a time such as 18:30.")
    parse = staticmethod(time.fromisoformat)


class DateTimeAnswer(_MomentAnswer):
    """A day and time; answers a datetime."""

    invalid = gettext_lazy("Enter a date and time such as 2026-01-31 18:30.")
    parse = staticmethod(datetime.fromisoformat)


class CheckAnswer(AnswerField):
    """Yes or no; answers a bool. Required means yes."""

    missing = gettext_lazy("Tick this to go on.")

    def to_python(self, value: Any) -> bool:
        return value not in (None, "", "false", False)

    def validate(self, value: bool) -> None:
        if self.required and not value:
            raise ValidationError(self.error_messages["required"], code="required")


class ChoiceAnswer(AnswerField):
    """One of several options; answers its value, in its own type."""

    missing = gettext_lazy("Choose one.")

    def __init__(self, *, options: Sequence[Option], **rest: Any) -> None:
        self.values_by_key = dict(
            zip(option_keys(options), (option.value for option in options), strict=True)
        )
        super().__init__(**rest)

    def to_python(self, value: Any) -> Any:
        if value in (None, ""):
            return self.values_by_key.get("")
        if isinstance(value, str) and value in self.values_by_key:
            return self.values_by_key[value]
        raise ValidationError(_("%(value)s is not one of the options.") % {"value": value})

    def validate(self, value: Any) -> None:
        if value is None and None in self.values_by_key.values():
            return
        super().validate(value)


class ManyAnswer(ChoiceAnswer):
    """Any of several options; answers the list of their values in the order of the options."""

    missing = gettext_lazy("Choose at least one.")

    def to_python(self, value: Any) -> list[Any]:
        chosen = value if isinstance(value, list | tuple) else [] if value in (None, "") else [value]
        found = [super(ManyAnswer, self).to_python(item) for item in chosen]
        return [value for value in self.values_by_key.values() if value in found]


class ManyWidget(forms.SelectMultiple):
    """Takes all values that were posted under one name."""


class FilesWidget(forms.FileInput):
    """Takes all files that were posted under one name."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        return files.getlist(name) if hasattr(files, "getlist") else files.get(name)


class FileAnswer(AnswerField):
    """Uploads of limited size and kind; answers a list of UploadedFile, also for one."""

    widget = FilesWidget
    missing = gettext_lazy("Choose a file.")

    def __init__(self, *, accept: str, multiple: bool, max_bytes: int, **options: Any) -> None:
        self.accept, self.multiple, self.max_bytes = accept, multiple, max_bytes
        super().__init__(**options)

    def to_python(self, value: Any) -> "list[UploadedFile[Any]]":
        files = value if isinstance(value, list) else [value] if value else []
        if len(files) > 1 and not self.multiple:
            raise ValidationError(_("Choose one file only."))
        for file in files:
            self._check(file)
        return files

    def _check(self, file: "UploadedFile[Any]") -> None:
        name, size = file.name or "", file.size or 0
        if not size:
            raise ValidationError(_("%(name)s is empty.") % {"name": name})
        if size > self.max_bytes:
            raise ValidationError(
                _("%(name)s has %(size).1f MB; at most %(max).1f MB are accepted.")
                % {"name": name, "size": size / MEGABYTE, "max": self.max_bytes / MEGABYTE}
            )
        if not accepts(self.accept, name, file.content_type or ""):
            raise ValidationError(
                _("%(name)s is of another kind; accepted: %(accept)s.")
                % {"name": name, "accept": self.accept}
            )


def accepts(accept: str, name: str, content_type: str) -> bool:
    """Tell whether a file fits an `accept` list of endings and media types; both name and type must agree."""
    wanted = [item.strip().lower() for item in accept.split(",") if item.strip()]
    if not wanted:
        return True
    guessed = guess_type(name)[0] or ""
    for item in wanted:
        if item.startswith(".") and name.lower().endswith(item):
            return True
        if item.endswith("/*") and all(kind.startswith(item[:-1]) for kind in (guessed, content_type)):
            return True
        if item in (guessed, content_type) and guessed in ("", item):
            return True
    return False
