"""Components that arrange others."""

from chat.ui.props import GAPS, REQUIRED, TONES, Component, Prop, PropType, choice, flag, integer, text

_GAP = choice("gap", GAPS, "medium", "space between the children")

LAYOUT = (
    Component(
        "Card",
        "A framed panel; the usual root of an interface.",
        (text("title", "its heading"), text("help", "a quiet line under the title")),
        children=True,
    ),
    Component(
        "Row",
        "Children side by side; they wrap on narrow screens.",
        (_GAP, choice("align", ("start", "center", "end", "stretch"), "center", "vertical alignment")),
        children=True,
    ),
    Component("Stack", "Children below each other.", (_GAP,), children=True),
    Component(
        "Grid",
        "Children in equal columns, fewer on narrow screens.",
        (integer("columns", "how many on a wide screen", 2, choices=(1, 2, 3, 4, 5, 6)), _GAP),
        children=True,
    ),
    Component("Stats", "A grid of Metrics.", (), children=True),
    Component(
        "Form",
        "Its fields are submitted together; only needed for several forms in one mount.",
        (text("name", "tells the forms of a mount apart", ""),),
        children=True,
    ),
    Component("Tabs", "One of several Tabs at a time.", (), children=True, only=("Tab",)),
    Component(
        "Tab",
        "One page of Tabs.",
        (text("title", "the label of the tab", REQUIRED),),
        children=True,
        inside="Tabs",
    ),
    Component("Accordion", "Sections that fold.", (), children=True, only=("Section",)),
    Component(
        "Section",
        "A folding part of an Accordion.",
        (text("title", "always visible", REQUIRED), flag("open", "unfolded at first")),
        children=True,
        inside="Accordion",
    ),
    Component(
        "Callout",
        "Highlighted content.",
        (text("title"), choice("kind", TONES, "info")),
        children=True,
    ),
    Component(
        "Tooltip",
        "Content with a hint that appears on hover and focus.",
        (text("help", "the hint", REQUIRED),),
        children=True,
    ),
    Component("Divider", "A thin line.", (text("label", "words in the line", positional=True),)),
    Component(
        "Slot",
        "A place that `panel.slot(name, content)` fills later.",
        (
            text("name", "unique in its mount", REQUIRED, positional=True),
            Prop("fallback", PropType.NODE, "shown until then", None),
        ),
        fills=True,
    ),
)
