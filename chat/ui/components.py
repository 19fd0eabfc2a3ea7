"""The catalogue: every component that agent code may use, by name."""

from dataclasses import replace
from typing import Final

from chat.ui.declarations.actions import ACTIONS
from chat.ui.declarations.content import CONTENT
from chat.ui.declarations.data import DATA
from chat.ui.declarations.fields import FIELDS
from chat.ui.declarations.layout import LAYOUT
from chat.ui.props import REQUIRED, Component, Prop, PropType

GROUPS: Final[dict[str, tuple[Component, ...]]] = {
    "Layout": LAYOUT,
    "Content": CONTENT,
    "Data": DATA,
    "Actions": ACTIONS,
    "Fields": FIELDS,
}

CATALOGUE: Final[dict[str, Component]] = {
    component.name: replace(component, group=group)
    for group, components in GROUPS.items()
    for component in components
}

__all__ = ["CATALOGUE", "GROUPS", "REQUIRED", "Component", "Prop", "PropType"]
