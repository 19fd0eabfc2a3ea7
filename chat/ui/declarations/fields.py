"""Fields: components with a name and a value that a person gives."""

from typing import Any

from chat.ui.props import REQUIRED, Component, Prop, PropType, callback, flag, integer, number, text

_NAME = text("name", "the key of the value in the answer", REQUIRED, positional=True)
_LABEL = text("label", "what is asked for; the name when missing", positional=True)
_OPTIONS = Prop("options", PropType.OPTIONS, "strings, (value, label) pairs or a dict")
_PLACEHOLDER = text("placeholder", "an example in the empty field")
_LENGTHS = (integer("min_length"), integer("max_length"))


def _field(
    name: str, doc: str, *props: Prop, value: PropType, required: bool = True, default: Any = None
) -> Component:
    common = (
        _NAME,
        _LABEL,
        *props,
        Prop("value", value, "the value at first", default),
        text("help", "a hint below the field"),
        flag("required", "must be filled in", required),
        flag("disabled"),
        callback("on_change", "called with the new value"),
    )
    return Component(name, doc, common, field=True)


def _limits(kind: PropType) -> tuple[Prop, Prop]:
    return Prop("min", kind, "", None), Prop("max", kind, "", None)


FIELDS = (
    _field(
        "TextField",
        "One line of text; answers a str.",
        _PLACEHOLDER,
        *_LENGTHS,
        text("pattern", "a regular expression that the whole text must match"),
        text("autocomplete", "such as name, tel, street-address"),
        value=PropType.TEXT,
    ),
    _field(
        "TextArea",
        "Several lines of text; answers a str.",
        _PLACEHOLDER,
        *_LENGTHS,
        integer("rows", "its height", 4),
        value=PropType.TEXT,
    ),
    _field("EmailField", "An e-mail address; answers a str.", _PLACEHOLDER, value=PropType.TEXT),
    _field("URLField", "A web address; answers a str.", _PLACEHOLDER, value=PropType.TEXT),
    _field(
        "NumberField",
        "A number; answers an int when step is whole, else a float.",
        *_limits(PropType.NUMBER),
        number("step", "the distance of allowed values"),
        _PLACEHOLDER,
        value=PropType.NUMBER,
    ),
    _field(
        "Slider",
        "A number to drag; answers an int or float like NumberField.",
        number("min", "", 0),
        number("max", "", 100),
        number("step", "", 1),
        value=PropType.NUMBER,
    ),
    _field(
        "Rating",
        "Stars; answers an int.",
        integer("max", "how many stars", 5, choices=tuple(range(2, 11))),
        value=PropType.INTEGER,
    ),
    _field(
        "Select", "One of several options; answers its value.", _OPTIONS, _PLACEHOLDER, value=PropType.ANY
    ),
    _field(
        "RadioGroup", "One of a few options, all visible; answers its value.", _OPTIONS, value=PropType.ANY
    ),
    _field("Checkbox", "Yes or no; answers a bool.", value=PropType.BOOLEAN, required=False, default=False),
    _field(
        "CheckboxGroup",
        "Any of a few options; answers a list of values.",
        _OPTIONS,
        value=PropType.ANY,
        required=False,
    ),
    _field(
        "MultiSelect",
        "Any of many options, with search; answers a list of values.",
        _OPTIONS,
        _PLACEHOLDER,
        value=PropType.ANY,
        required=False,
    ),
    _field("DateField", "A day; answers a date.", *_limits(PropType.DATE), value=PropType.DATE),
    _field("TimeField", "A time of day; answers a time.", *_limits(PropType.TIME), value=PropType.TIME),
    _field(
        "DateTimeField",
        "A day and time; answers a datetime.",
        *_limits(PropType.DATETIME),
        value=PropType.DATETIME,
    ),
    Component(
        "FileField",
        "An upload; answers a file (id, name, size, type), or a list of files.",
        (
            _NAME,
            _LABEL,
            text("accept", "file endings or media types, such as .csv,image/*", ""),
            flag("multiple", "several files"),
            number("max_size", "megabytes of one file", 10),
            text("help", "a hint below the field"),
            flag("required", "must be filled in", True),
            flag("disabled"),
        ),
        field=True,
    ),
)
