"""Source text with classes for its kinds of token; the style sheet gives them colours in both themes."""

from functools import lru_cache
from typing import Final

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

PREFIX: Final = "hl-"

# Longer sources are shown without colours: lexers take about 1 ms per 1,000 characters, some of them more.
MAX_HIGHLIGHTED: Final = 20_000

# Names that models use and pygments does not know.
_ALIASES: Final = {"py3": "python", "shell-session": "console", "htm": "html", "django": "html+django"}


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(_ALIASES.get(language, language), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def highlighted(source: str, language: str = "") -> SafeString:
    """Return the source as escaped HTML with a `span` per token, plain when the language is not known."""
    lexer = _lexer(language.lower()[:40]) if language and len(source) <= MAX_HIGHLIGHTED else None
    if lexer is None:
        return escape(source)
    html = str(highlight(source, lexer, HtmlFormatter(nowrap=True, classprefix=PREFIX))).rstrip("\n")
    # The formatter has escaped the source; what it added are its own spans.
    return mark_safe(html + ("\n" if source.endswith("\n") else ""))  # noqa: S308
