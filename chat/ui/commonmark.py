"""Blocks of Markdown to safe HTML; `markdown.py` makes whole and growing texts of it.

Raw HTML is shown as text, pictures become their description, links go to http, https and mailto only. What
markdown-it makes is cleaned by an allow-list once more.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from chat.ui.checks import LINK_SCHEMES, safe_url
from chat.ui.highlight import highlighted

# Headings in content come below the headings of the page: a conversation (1) and a message (2).
FIRST_LEVEL: Final = 3
LAST_LEVEL: Final = 6

_INLINE: Final = {"a", "br", "code", "del", "em", "s", "span", "strong"}
_BLOCKS: Final = {
    "blockquote",
    "chat-code",
    "div",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "ul",
}
_TABLES: Final = {"table", "tbody", "td", "th", "thead", "tr"}
_ATTRIBUTES: Final = {
    "a": {"href", "title", "target"},
    "chat-code": {"class"},
    "ol": {"start"},
    "div": {"class", "tabindex", "role", "aria-label"},
    "pre": {"class", "tabindex"},
    "code": {"class"},
    "span": {"class"},
    "td": {"class"},
    "th": {"class", "scope"},
}
_CLASSES: Final = ("md-scroll", "code", "align-right", "align-center")


def clean(html: str) -> SafeString:
    """Return the HTML with nothing in it but the allowed tags, attributes, classes and link schemes."""
    # What passed the allow-list is safe by construction; this is the only way from a string to markup here.
    return mark_safe(_cleaner().clean(html))  # noqa: S308


@cache
def _cleaner() -> nh3.Cleaner:
    """Return the allow-list, made once: making it costs more than cleaning a paragraph."""
    return nh3.Cleaner(
        tags=_INLINE | _BLOCKS | _TABLES,
        attributes=_ATTRIBUTES,
        attribute_filter=_attribute,
        url_schemes=set(LINK_SCHEMES),
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
    )


def _attribute(tag: str, name: str, value: str) -> str | None:
    if name == "href":
        return value if safe_url(value) else None
    if name == "class":
        kept = [word for word in value.split() if word in _CLASSES or _is_token_class(word)]
        return " ".join(kept) or None
    return value


def _is_token_class(word: str) -> bool:
    return word.startswith("hl-") and word[3:].isalnum() and len(word) <= 6


class _Renderer(RendererHTML):
    """Renders with scrollable tables and code, highlighted, and headings that fit below the page's."""

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        language = tokens[idx].info.strip().split(maxsplit=1)[:1]
        return _code(tokens[idx].content, language[0] if language else "")

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return _code(tokens[idx].content, "")

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        # A picture of another site would tell that site who reads what, so its description stands for it.
        return self.renderInlineAsText(tokens[idx].children or [], options, env)

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return '<div class="md-scroll" role="group" aria-label="Table" tabindex="0"><table>'

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return "</table></div>\n"


def _code(source: str, language: str) -> str:
    code = highlighted(source, language)
    return f'<chat-code class="code"><pre tabindex="0"><code>{code}</code></pre></chat-code>\n'


def _adjust(tokens: list[Token], env: dict[str, Any]) -> None:
    """Set heading levels, alignment classes and link targets, in place."""
    for token in tokens:
        if token.type == "heading_open":
            wanted = max(int(token.tag[1]), FIRST_LEVEL - 1) + 1
            # A level is never skipped, whatever the author did: screen readers navigate by levels.
            env["level"] = min(wanted, env.get("level", FIRST_LEVEL - 1) + 1, LAST_LEVEL)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{env['level']}"
        if token.type in ("th_open", "td_open"):
            align = str(token.attrs.pop("style", "")).partition(":")[2]
            if align in ("right", "center"):
                token.attrs["class"] = f"align-{align}"
        for child in token.children or []:
            if child.type == "link_open":
                child.attrs["target"] = "_blank"


@cache
def parser() -> MarkdownIt:
    """Return the Markdown parser of the site: CommonMark with tables and strikethrough, without HTML."""
    made = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer)
    made.enable(["table", "strikethrough"])
    made.disable(["html_block", "html_inline"])
    made.options["maxNesting"] = 20
    return made


def render_block(source: str, env: dict[str, Any]) -> SafeString:
    """Return the HTML of some blocks; `env` carries link references and heading levels along."""
    tokens = parser().parse(source, env)
    _adjust(tokens, env)
    return clean(parser().renderer.render(tokens, parser().options, env))


def render_inline(source: str, env: dict[str, Any]) -> SafeString:
    """Return the HTML of text that stands within a block."""
    tokens = parser().parseInline(source, env)
    _adjust(tokens, env)
    return clean(parser().renderer.render(tokens, parser().options, env))
