"""The system prompt: what the model must know, from the same declarations that everything else comes from."""

from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.template.loader import get_template

from chat.llm.base import FEEDBACK_MARK
from chat.sandbox.limits import SandboxLimits
from chat.sandbox.modules import NATIVE, PROVIDED
from chat.skills import SKILLS, Skill
from chat.ui.components import CATALOGUE, GROUPS
from chat.ui.props import Component, Prop
from chat.ui.signatures import signature

TEMPLATE: Final = "prompt/system.md"
# Props whose words in the declaration the prompt repeats; the others are told by name and default.
NOTED: Final = frozenset({"accept", "current", "delta", "on_row", "pattern", "x", "y"})
# Modules that nobody needs to be told of; they are there when code imports them.
UNTOLD: Final = frozenset(
    {"asyncio", "binascii", "contextlib", "io", "time", "typing", "unicodedata", "urllib"}
)


@cache
def system_prompt() -> str:
    """Return the prompt; the same text in every call, since providers keep what many calls begin with."""
    limits: SandboxLimits = settings.SANDBOX_LIMITS or SandboxLimits()
    shared = shared_props()
    context: dict[str, Any] = {
        "mark": FEEDBACK_MARK,
        "groups": [
            (group, [describe(CATALOGUE[component.name], shared) for component in components])
            for group, components in GROUPS.items()
        ],
        "field_props": ", ".join(f"{prop.name}={prop.default!r}" for prop in shared),
        "exceptions": exceptions(shared),
        "skills": [{"signature": skill.signature, "text": told(skill)} for skill in SKILLS.values()],
        "modules": ", ".join(sorted((NATIVE | PROVIDED.keys()) - UNTOLD)),
        "seconds": f"{limits.statement_seconds:g}",
        "megabytes": limits.memory_bytes // 2**20,
    }
    return get_template(TEMPLATE).render(context).strip() + "\n"


def shared_props() -> list[Prop]:
    """Return the props that nearly all fields have alike, which the prompt says once."""
    fields = [component for component in CATALOGUE.values() if component.field]
    counted = Counter((prop.name, prop.type, repr(prop.default)) for field in fields for prop in field.props)
    common = {key for key, count in counted.items() if count > len(fields) / 2}
    found: dict[str, Prop] = {}
    for field in fields:
        for prop in field.props:
            if (prop.name, prop.type, repr(prop.default)) in common and not prop.positional:
                found.setdefault(prop.name, prop)
    return list(found.values())


def exceptions(shared: list[Prop]) -> list[str]:
    """Return which fields lack one of the shared props."""
    fields = [component for component in CATALOGUE.values() if component.field]
    return [
        f"not {component.name}: {prop.name}"
        for component in fields
        for prop in shared
        if component.prop(prop.name) is None
    ]


def describe(component: Component, shared: list[Prop]) -> str:
    """Return a component's line in the reference: its call, what it is, what must be said of its props."""
    shown = component
    if component.field:
        defaults = {prop.name: prop.default for prop in shared}
        own = [prop for prop in component.props if defaults.get(prop.name, prop) != prop.default]
        shown = replace(component, props=tuple(own))
    return " ".join([f"`{signature(shown)}`", component.doc, *notes(shown)])


def notes(component: Component) -> list[str]:
    """Return what is said about single props where name and default do not tell it."""
    return [
        f"{prop.name}: {prop.doc}{', each with ' + ', '.join(prop.fields) if prop.fields else ''}."
        for prop in component.props
        if prop.fields or (prop.doc and not prop.positional and prop.name in NOTED)
    ]


def told(skill: Skill) -> str:
    """Return a skill's documentation as one paragraph."""
    approval = ["The person is asked before each call."] if skill.needs_approval else []
    return " ".join([*skill.doc.split(), *approval])
