import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.fragments.growing import addition
from chat.ui.commonmark import render_block
from chat.ui.growing_line import GrowingLine, one_line
from chat.ui.highlight import MAX_HIGHLIGHTED
from chat.ui.markdown import MarkdownStream, render_blocks, render_markdown
from tests.ui.injections import INJECTIONS, assert_harmless

# Every construct beside every other: (source, a piece of what it must give).
CONSTRUCTS = [
    ("plain", "<p>plain</p>"),
    ("**bold** and *slanted*", "<strong>bold</strong> and <em>slanted</em>"),
    ("~~gone~~", "<s>gone</s>"),
    ("`a < b`", "<code>a &lt; b</code>"),
    ("# One", "<h3>One</h3>"),
    ("###### Six", "<h3>Six</h3>"),
    ("# One\n\n#### Four", "<h4>Four</h4>"),
    ("Title\n===", "<h3>Title</h3>"),
    ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
    ("- a\n\n- b", "<li>\n<p>a</p>\n</li>"),
    ("- a\n  - b\n    - c", "<ul>\n<li>c</li>\n</ul>"),
    ("3. a\n4. b", '<ol start="3">'),
    ("- a\n\n      code in it", "<code>code in it"),
    ("> quoted\nlazily", "<blockquote>\n<p>quoted\nlazily</p>"),
    ("> - a\n> - b", "<blockquote>\n<ul>"),
    ("---", "<hr>"),
    ("a  \nb", "a<br>\nb"),
    ("a\\\nb", "a<br>\nb"),
    ("    indented\n\n    code", "indented\n\ncode"),
    ("```\nplain <b>\n```", "plain &lt;b&gt;"),
    ("```python\nx = 1\n```", '<span class="hl-n">x</span>'),
    ("```nosuchlanguage\nx\n```", "<code>x\n</code>"),
    ("~~~\na\n\nb\n~~~", "a\n\nb"),
    ("```\nnever closed\n\nstill code", "never closed\n\nstill code"),
    ("| a | b |\n| --- | ---: |\n| 1 | 2 |", '<td class="align-right">2</td>'),
    ("| a |\n| :-: |\n| 1 |", '<th class="align-center">a</th>'),
    ("[a](https://example.com/x?y=1&z=2)", 'href="https://example.com/x?y=1&amp;z=2"'),
    ("[a](https://example.com)", 'rel="noopener noreferrer nofollow"'),
    ("<https://example.com>", 'href="https://example.com"'),
    ("[mail](mailto:ada@example.com)", 'href="mailto:ada@example.com"'),
    ("[a][b]\n\n[b]: https://example.com/ref", 'href="https://example.com/ref"'),
    ("[b]: https://example.com/before\n\n[a][b]", 'href="https://example.com/before"'),
    ("![a cat](https://example.com/cat.png)", "<p>a cat</p>"),
    ("&copy; &amp; &lt;", "© &amp; &lt;"),
    ("\\*not slanted\\*", "*not slanted*"),
    ("<b>html</b>", "&lt;b&gt;html&lt;/b&gt;"),
    ("<div>\n\nx\n\n</div>", "&lt;div&gt;"),
    ("<!-- comment -->", "&lt;!-- comment"),
    ("a\n- list right after", "<li>list right after</li>"),
    ("a\n```\ncode right after\n```\nb", "<p>b</p>"),
    ("- a\n```\ncode ends the list\n\n- not a list\n```", "- not a list"),
    ("1. a\n   ```\n   code\n   ```\n2. b", "<li>b</li>"),
    ("* a\n\n\n+ b", "</ul>\n<ul>"),
    ("Amélie 🎬 日本語", "Amélie 🎬 日本語"),
    ("a\r\n\r\nb", "<p>a</p>\n<p>b</p>"),
]


@pytest.mark.parametrize(("source", "expected"), CONSTRUCTS)
def test_constructs(source, expected):
    assert expected in render_markdown(source)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("source", [source for source, _ in CONSTRUCTS])
def test_pieces_give_what_the_whole_gives(source, size):
    stream = MarkdownStream()
    for start in range(0, len(source), size):
        stream.feed(source[start : start + size])
    stream.close()
    assert stream.finished == render_blocks(source)


documents = st.lists(st.sampled_from([source for source, _ in CONSTRUCTS]), min_size=1, max_size=6).map(
    lambda parts: "\n\n".join(parts)
)


@given(documents, st.lists(st.integers(1, 40), min_size=1, max_size=8))
def test_documents_stream_to_the_same_blocks(source, sizes):
    stream, place, seen = MarkdownStream(), 0, []
    while place < len(source):
        for size in sizes:
            seen += stream.feed(source[place : place + size])
            place += size
    assert stream.finished == seen
    so_far = "".join(stream.finished) + stream.open
    stream.close()
    whole = "".join(render_blocks(source))
    assert "".join(stream.finished) == whole
    # Without forward references the open rest is the truth at every moment.
    if "][" not in source:
        assert so_far == whole
        assert whole == render_block(source.replace("\r\n", "\n"), {})


SIGNS = [
    *"ab1 .,;:!?()*_~`[]<>&\\-\"'é#|\t\u00a0日🎬",
    *("word", " and ", "**", " ** ", "***", "``", "~~", ". ", "![", "](", "a*b", "&amp;"),
    *("**bold**", " **bold** ", "(**b**)", "*em*", " *em* ", "`code`", "[x](http://a.b)", "<http://x.y>"),
]
signs = st.sampled_from(SIGNS)


@given(st.lists(signs, max_size=30), st.lists(st.integers(1, 12), min_size=1))
def test_a_line_grows_as_the_parser_reads_it(parts, sizes):
    text, line, end = "w" + "".join(parts), GrowingLine(), 0
    for size in itertools.cycle(sizes):
        end += size
        assert one_line(text[:end])
        assert line.paragraph(text[:end], {}) == render_block(text[:end], {})
        if end >= len(text):
            break


@given(documents, st.lists(st.integers(1, 40), min_size=1, max_size=8))
def test_an_addition_makes_the_new_html_of_the_old(source, sizes):
    old, end = render_block("", {}), 0
    for size in itertools.cycle(sizes):
        end += size
        new = render_block(source[:end], {})
        if (found := addition(old, new)) is not None:
            depth, added = found
            place = [match.start() for match in re.finditer(r"</[^>]*>\s*", old)][-depth]
            assert old[:place] + added + old[place:] == new
        old = new
        if end >= len(source):
            break


def test_words_are_added_to_the_last_element():
    assert addition("<p>a</p>\n", "<p>a b</p>\n") == (1, " b")
    assert addition("<p><em>a</em></p>", "<p><em>a</em><em>b</em></p>") == (1, "<em>b</em>")
    assert addition("<ul><li>a</li></ul>", "<ul><li>a b</li></ul>") == (2, " b")
    assert addition("<ul><li>a</li></ul>", "<ul><li>a</li><li>b</li></ul>") == (1, "<li>b</li>")
    assert addition("<p>a *b</p>", "<p>a <em>b</em></p>") is None
    assert addition("", "<p>a</p>") is None


def test_finished_blocks_appear_early():
    stream = MarkdownStream()
    assert stream.feed("First.\n\n") == []
    assert stream.feed("S") == ["<p>First.</p>\n"]
    assert stream.open == "<p>S</p>\n"
    assert stream.feed("econd.\n\n1") == []  # may go on as a number, or as a list
    assert stream.feed(".\n\nThird") == ["<p>Second.</p>\n", "<ol>\n<li></li>\n</ol>\n"]


def test_a_list_is_open_until_something_else_starts():
    stream = MarkdownStream()
    stream.feed("- a\n\n- b\n\n")
    assert stream.finished == []
    assert stream.open.count("<li>") == 2
    stream.feed("After.\n\n")
    assert stream.finished[0].count("<li>") == 2


def test_a_reference_waits_for_its_definition_but_not_for_ever():
    stream = MarkdownStream()
    stream.feed("[a][b]\n\nnext\n\n")
    assert stream.finished == []
    stream.feed("[b]: https://example.com/\n\nmore\n\n")
    assert 'href="https://example.com/"' in stream.finished[0]
    stream = MarkdownStream()
    stream.feed("[a][nowhere]\n\n" + "word " * 2000 + "\n\nnext\n\n")
    assert stream.finished[0] == "<p>[a][nowhere]</p>\n"


def work_of(source: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many characters are parsed in all while the text streams in small pieces."""
    done = 0
    parse = render_block

    def counted(text, env):
        nonlocal done
        done += len(text)
        return parse(text, env)

    monkeypatch.setattr("chat.ui.markdown.render_block", counted)
    starts = 0
    block_starts = __import__("chat.ui.markdown", fromlist=["_block_starts"])._block_starts

    def counted_starts(text):
        nonlocal starts
        starts += len(text)
        return block_starts(text)

    monkeypatch.setattr("chat.ui.markdown._block_starts", counted_starts)
    stream = MarkdownStream()
    for start in range(0, len(source), 50):
        stream.feed(source[start : start + 50])
        assert isinstance(stream.open, str)
    stream.close()
    monkeypatch.undo()
    return done + starts


@pytest.mark.parametrize(
    "line", ["- item of one long list\n", "a line of one long paragraph\n", "A paragraph.\n\n", "| a | b |\n"]
)
def test_the_work_grows_linearly(line, monkeypatch):
    head = "```\n" if line.startswith("|") else ""
    once = work_of(head + line * 1000, monkeypatch)
    twice = work_of(head + line * 2000, monkeypatch)
    assert twice < 2.6 * once


def test_long_code_is_shown_without_colours():
    assert "<span" not in render_markdown("```python\n" + "x = 1\n" * (MAX_HIGHLIGHTED // 5) + "```")


@pytest.mark.parametrize("injection", INJECTIONS)
@pytest.mark.parametrize(
    "place",
    [
        "{}",
        "# {}",
        "- {}",
        "> {}",
        "`{}`",
        "```{}\nx\n```",
        "```\n{}\n```",
        "| {} |\n| --- |\n| {} |",
        "[{}](https://example.com)",
        "[a]({})",
        "[a](<{}>)",
        '[a](https://example.com "{}")',
        "![{}](https://example.com)",
        "<{}>",
        "[a][b]\n\n[b]: {}",
    ],
)
def test_nothing_becomes_markup(injection, place):
    assert_harmless(render_markdown(place.replace("{}", injection)))


def test_classes_come_only_from_the_renderer():
    html = render_markdown("```python\nx = 'a'\n```")
    assert set(re.findall(r'class="([^"]*)"', html)) <= {"code", *re.findall(r"hl-\w+", html)}
