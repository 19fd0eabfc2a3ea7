"""What component templates share."""

from typing import Any, Final

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from chat.ui import values
from chat.ui.chart_data import MAX_SERIES

register = template.Library()

# What a screen reader says before an alert; people who see have colour and icon.
_KINDS: Final = {"success": "Success:", "warning": "Warning:", "danger": "Error:", "info": "Note:"}


@register.simple_tag(takes_context=True)
def children(context: template.Context) -> SafeString:
    """Return the children in an element of their own; that of a shell tells a morph to keep what is there."""
    keep = SafeString(" data-keep") if context["shell"] else ""
    return format_html('<div class="ui-items" id="{}_c"{}>{}</div>', context["id"], keep, context["children"])


@register.filter
def shown(value: Any) -> str:
    """Return a value as people read it."""
    return values.shown(value)


@register.filter
def kind_word(kind: str) -> str:
    """Return what a kind of message is called."""
    return _KINDS.get(kind, "")


@register.filter
def series(index: int) -> int:
    """Return the number of the colour that the series or slice at the index has."""
    return index % MAX_SERIES
