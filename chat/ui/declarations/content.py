"""Components that show words, pictures and states."""

from chat.ui.props import (
    REQUIRED,
    SIZES,
    TONES,
    Component,
    Prop,
    PropType,
    choice,
    flag,
    integer,
    number,
    text,
)


def _text(doc: str = "") -> Prop:
    return text("text", doc, REQUIRED, positional=True)


_URL = Prop("url", PropType.URL, "http, https or mailto", positional=True)

CONTENT = (
    Component(
        "Heading", "A heading.", (_text(), integer("level", "1 is the largest", 2, choices=(1, 2, 3, 4)))
    ),
    Component(
        "Text",
        "A paragraph of plain text.",
        (
            _text(),
            choice("kind", ("normal", "muted", "strong", "success", "warning", "danger"), "normal"),
            choice("size", SIZES, "medium"),
        ),
    ),
    Component("Markdown", "Text with Markdown formatting.", (_text("Markdown source"),)),
    Component("Code", "Source text, highlighted.", (_text(), text("language", "such as python", ""))),
    Component("Quote", "Somebody's words.", (_text(), text("source", "who said it"))),
    Component("Badge", "A small label.", (_text(), choice("kind", TONES, "neutral"))),
    Component("Alert", "A message that stands out.", (_text(), choice("kind", TONES, "info"), text("title"))),
    Component("Link", "A link to another site.", (_text(), _URL)),
    Component(
        "Image",
        "A picture from the files of the conversation.",
        (
            Prop("file", PropType.FILE, "a file from a FileField or a skill", positional=True),
            text("alt", "what it shows, for people who cannot see it", ""),
            text("caption"),
        ),
    ),
    Component(
        "Avatar",
        "A person's picture or initials.",
        (
            text("name", "", REQUIRED, positional=True),
            Prop("file", PropType.FILE, "a picture", None),
            choice("size", SIZES, "medium"),
        ),
    ),
    Component(
        "Metric",
        "A number with its label.",
        (
            text("label", "", REQUIRED, positional=True),
            text("value", "", REQUIRED, positional=True),
            text("delta", "the change, such as +15; minus is shown as bad"),
            text("help", "a quiet line below"),
        ),
    ),
    Component(
        "Progress",
        "A bar that fills; without value it is busy.",
        (number("value", "", None, positional=True), number("max", "the full bar", 100), text("label")),
    ),
    Component("Spinner", "Something is going on.", (text("label", "", "Working…", positional=True),)),
    Component(
        "Skeleton",
        "A grey place holder for what is still to come.",
        (integer("lines", "", 3, choices=tuple(range(1, 13))),),
    ),
    Component(
        "Countdown",
        "The time that is left.",
        (
            Prop("until", PropType.DATETIME, "the moment it ends", positional=True),
            text("label"),
            text("done", "shown afterwards", "Time is up"),
        ),
    ),
    Component(
        "Steps",
        "Where one is in a sequence.",
        (
            Prop("items", PropType.ITEMS, "the names", positional=True, fields=("title", "text")),
            integer("current", "index of the current one", 0),
        ),
    ),
    Component(
        "Timeline",
        "Events in order of time.",
        (Prop("items", PropType.ITEMS, "dicts", positional=True, fields=("title", "time", "text", "kind")),),
    ),
    Component(
        "List",
        "A list of texts or nodes.",
        (
            Prop("items", PropType.ITEMS, "", positional=True),
            flag("ordered", "numbered"),
            text("empty", "shown when there are none", "Nothing here yet"),
        ),
    ),
)
