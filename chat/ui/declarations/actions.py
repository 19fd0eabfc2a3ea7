"""Components that do something when they are pressed."""

from chat.ui.props import REQUIRED, SIZES, Component, Prop, callback, choice, flag, text

BUTTON_KINDS = ("primary", "secondary", "danger", "plain")


def _label(default: object = REQUIRED) -> Prop:
    return text("label", "its words", default, positional=True)


_CLICK = callback("on_click", "called without arguments")
_DISABLED = flag("disabled", "cannot be pressed")
_SIZE = choice("size", SIZES, "medium")

ACTIONS = (
    Component(
        "Button",
        "Calls a function.",
        (_label(), _CLICK, choice("kind", BUTTON_KINDS, "primary"), _SIZE, _DISABLED),
    ),
    Component(
        "SubmitButton",
        "Submits the fields around it.",
        (_label("Submit"), choice("kind", BUTTON_KINDS, "primary"), _SIZE, _DISABLED),
    ),
    Component(
        "Confirm",
        "A button that asks before it calls its function.",
        (
            _label(),
            text("question", "what it asks", "Are you sure?"),
            _CLICK,
            choice("kind", BUTTON_KINDS, "danger"),
            _SIZE,
            _DISABLED,
        ),
    ),
    Component(
        "Menu",
        "A button that opens a list of Buttons.",
        (text("label", "its words", "Actions"), _DISABLED),
        children=True,
        only=("Button", "Confirm", "Link", "CopyButton", "Divider"),
    ),
    Component(
        "CopyButton",
        "Copies a text.",
        (
            text("text", "what is copied", REQUIRED, positional=True),
            text("label", "its words", "Copy"),
            _SIZE,
        ),
    ),
)
