import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chat.protocol.events import RunClosed, RunDelta, RunOpened, TextDelta
from chat.protocol.fences import FenceParser
from tests.protocol.reading import cut, cuts_of, many_cuts, parse, read, texts_of

HERE = Path(__file__).parent
CASES = [json.loads(line) for line in (HERE / "cases.jsonl").read_text().splitlines()]
REPLIES = sorted(path for path in (HERE.parent / "replies").glob("*.md") if path.name != "README.md")

# What a reply is made of, for the laws.
FRAGMENTS = (
    "```",
    "````",
    "`",
    "~~~",
    "~",
    "```python agent.run\n",
    "  ```py agent.run\n",
    "~~~agent.run\n",
    '```json agent.data => "x"\n',
    "```python agent.exec\n",
    "```js agent.run\n",
    "```js\n",
    "\n```\n",
    "\n~~~\n",
    "\n",
    "\n",
    "\r\n",
    "\r",
    " ",
    "  ",
    "    ",
    "\t",
    '"""',
    "'''",
    'f"""',
    '"',
    "'",
    "#",
    "\\",
    "{",
    "}",
    "(",
    "- ```js\n",
    "1. ~~~\n",
    "- ",
    "> ```",
    "x = 1\n",
    "agent.run",
    "agent.data",
    "\ud83d",
    "\0",
)
REPLY_TEXTS = texts_of(FRAGMENTS)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_shared_cases(case: dict) -> None:
    for pieces in many_cuts(case["reply"]):
        assert read(pieces) == case["events"]


def run(code: str, complete: bool = True) -> list:
    return ["run", code, complete]


def data(target: str, text: str = "[]\n") -> list:
    return ["data", target, text, True]


def text(content: str) -> list:
    return ["text", content]


OWN_CASES = {
    # What opens a fence
    "three spaces": ("   ```python agent.run\n   x\n   ```\n", [run("x\n")]),
    "tab before": ("\t```python agent.run\nx\n", [text("\t```python agent.run\nx\n")]),
    "two backticks": ("``python agent.run\nx\n``\n", [text("``python agent.run\nx\n``\n")]),
    "two tildes": ("~~python agent.run\nx\n", [text("~~python agent.run\nx\n")]),
    "mixed fence": ("``~python agent.run\nx\n", [text("``~python agent.run\nx\n")]),
    "interrupts a paragraph": ("so\n```agent.run\nx\n```", [text("so\n"), run("x\n")]),
    "backtick in a tilde info": ("~~~python agent.run `a` ~~~\nx\n~~~\n", [run("x\n")]),
    "after a carriage return": ("a\r```agent.run\rx\ry\r```\rb", [text("a\r"), run("x\ny\n"), text("b")]),
    "line separators are no line ends": ("a\u2028```agent.run\n", [text("a\u2028```agent.run\n")]),
    "form feed before": ("\f```agent.run\nx\n", [text("\f```agent.run\nx\n")]),
    "byte order mark before": ("\ufeff```agent.run\nx\n", [text("\ufeff```agent.run\nx\n")]),
    "only fence marks": ("```", [text("```")]),
    "only spaces": ("  ", [text("  ")]),
    # What closes it
    "shorter closing": ("````agent.run\na\n```\nb\n````\n", [run("a\n```\nb\n")]),
    "other mark": ("```agent.run\na\n~~~\n```\n", [run("a\n~~~\n")]),
    "mixed closing": ("```agent.run\na\n```~\n```\n", [run("a\n```~\n")]),
    "closing with words": ("```agent.run\na\n``` b\n```\n", [run("a\n``` b\n")]),
    "closing with tabs": ("```agent.run\na\n```\t \t\nb", [run("a\n"), text("b")]),
    "closing with other blanks": ("```agent.run\na\n```\u00a0\n```\n", [run("a\n```\u00a0\n")]),
    "closing indented three": ("```agent.run\na\n   ```\nb", [run("a\n"), text("b")]),
    "closing indented four": ("```agent.run\na\n    ```\n```\n", [run("a\n    ```\n")]),
    "closing indented by tab": ("```agent.run\na\n\t```\n```\n", [run("a\n\t```\n")]),
    "closing less indented": ("  ```agent.run\n  a\n```\n", [run("a\n")]),
    "closing at the end": ("```agent.run\na\n```", [run("a\n")]),
    "closing with blanks at the end": ("```agent.run\na\n```  ", [run("a\n")]),
    "blank line at the end": ("```agent.run\na\n  ", [run("a\n  ", False)]),
    "part of a closing at the end": ("```agent.run\na\n``", [run("a\n``", False)]),
    "sample closed by a longer fence": (
        "```js\na\n`````\n```agent.run\nx\n```\n",
        [text("```js\na\n`````\n"), run("x\n")],
    ),
    "sample not closed by its own line again": ("```js\n```js\nb\n", [text("```js\n```js\nb\n")]),
    "sample in tildes": ("~~~\n```\n~~~\n```agent.run\nx\n```", [text("~~~\n```\n~~~\n"), run("x\n")]),
    # The fence's indent
    "indent of content": ("  ```agent.run\n a\n  b\n   c\n\td\n  ```\n", [run("a\nb\n c\n\td\n")]),
    "indent in a string": (
        '  ```agent.run\n  s = """\n  ```\n    x\n  """\n  ```',
        [run('s = """\n```\n  x\n"""\n')],
    ),
    "indent of a blank line": ("   ```agent.run\n \n\n     \n   ```", [run("\n\n  \n")]),
    "indent of a sample stays": ("  ```js\n  a\n  ```\n", [text("  ```js\n  a\n  ```\n")]),
    "indent of data": ('  ```agent.data => "x"\n  [\n   1]\n  ```\n', [data("x", "[\n 1]\n")]),
    # Line ends
    "carriage return in the info": ("```agent.run\r\na\r\r\nb\r\n```\r\n", [run("a\n\nb\n")]),
    "lone carriage return at the end": ("```agent.run\na\r", [run("a\n", False)]),
    "line end after the closing": ("```agent.run\r\na\r\n```\r\n\r\nb", [run("a\n"), text("\r\nb")]),
    "lines of text keep their ends": ("a\r\nb\rc\nd", [text("a\r\nb\rc\nd")]),
    # Containers and prose
    "quoted closing": ("```agent.run\na\n> ```\n```\n", [run("a\n> ```\n")]),
    "quote without space": (">```agent.run\n>x\n>```\n", [text(">```agent.run\n>x\n>```\n")]),
    "marker line never acts": (
        "- ```python agent.run\n  evil()\n  ```\n```agent.run\nx\n```\n",
        [text("- ```python agent.run\n  evil()\n  ```\n"), run("x\n")],
    ),
    "sample on a numbered line": (
        "1. ```js\n   a\n   ```\n2. b\n\n```agent.run\nx\n```\n",
        [text("1. ```js\n   a\n   ```\n2. b\n\n"), run("x\n")],
    ),
    "echo in a sample on a list line": (
        "* ```\n  ```python agent.run\n  evil()\n  ```\n",
        [text("* ```\n  ```python agent.run\n  evil()\n  ```\n")],
    ),
    "list item ends with its sample open": (
        "- ~~~\n  a\n\n```agent.run\nx\n```\n",
        [text("- ~~~\n  a\n\n"), run("x\n")],
    ),
    "nested list markers": (
        "- 1. ```\n     a\n     ```\n```agent.run\nx\n```",
        [text("- 1. ```\n     a\n     ```\n"), run("x\n")],
    ),
    "inline code on a list line": ("- ```a``` b\n```agent.run\nx\n```", [text("- ```a``` b\n"), run("x\n")]),
    "emphasis is no list": ("*```*\n```agent.run\nx\n```", [text("*```*\n"), run("x\n")]),
    "fence in a list item acts": ("1. do\n   ```agent.run\n   x\n   ```\n", [text("1. do\n"), run("x\n")]),
    # Near misses
    "refused content is not shown": (
        "a\n```js agent.run\n1\n~~~\n    ```\n```\nb",
        [text("a\n"), ["problem", "unsupported_language"], text("b")],
    ),
    "refused without end": ("```js agent.run\n1\n", [["problem", "unsupported_language"]]),
    "refused at the end": ("```js agent.run", [["problem", "unsupported_language"]]),
    "refused python knows strings": (
        'a\n```python agent.exec\ns = """\n```\n"""\n```\nb',
        [text("a\n"), ["problem", "unknown_verb"], text("b")],
    ),
    "refused blocks have no number": (
        "```js agent.run\n```\n```agent.run\nx\n```\n",
        [["problem", "unsupported_language"], run("x\n")],
    ),
    "verb in a longer info": ("```python title agent.run\nx\n```\n", [["problem", "misplaced_verb"]]),
    # Strings that hold fence lines
    "string with apostrophes": ("```agent.run\ns = '''\n```\n'''\n```\n", [run("s = '''\n```\n'''\n")]),
    "escaped quotes": (
        '```agent.run\ns = """\\"""\n```\n"""\n```\n',
        [run('s = """\\"""\n```\n"""\n')],
    ),
    "raw string": ('```agent.run\ns = r"""\\\n```\n"""\n```\n', [run('s = r"""\\\n```\n"""\n')]),
    "quotes in a comment": ('```agent.run\n# """\n```\n"""\n', [run('# """\n'), text('"""\n')]),
    "quotes in a string": ('```agent.run\ns = \'"""\'\n```\n', [run('s = \'"""\'\n')]),
    "field of a triple-quoted f-string": (
        '```agent.run\ns = f"""{\n```\n}"""\n```\n',
        [run('s = f"""{\n```\n}"""\n')],
    ),
    "nested quotes in a field": (
        '```agent.run\ns = f"""{d["a"]:{w}}\n```\n{f\'{1}\'}"""\n```\n',
        [run('s = f"""{d["a"]:{w}}\n```\n{f\'{1}\'}"""\n')],
    ),
    "doubled braces": ('```agent.run\ns = f"""{{\n```\n"""\n```\n', [run('s = f"""{{\n```\n"""\n')]),
    "string that never ends": ('```agent.run\ns = """\n```\nx', [run('s = """\n```\nx', False)]),
    "single-quoted string that never ends": ('```agent.run\ns = "\n```\nx', [run('s = "\n'), text("x")]),
    "open bracket": ("```agent.run\nf(\n```\nx", [run("f(\n"), text("x")]),
    "data knows no strings": ('```agent.data x\n"""\n```\n', [data("x", '"""\n')]),
    "string over many lines": (
        '```agent.run\ns = """\n' + "```\n" * 5 + '"""\n```\n',
        [run('s = """\n' + "```\n" * 5 + '"""\n')],
    ),
}


@pytest.mark.parametrize("name", OWN_CASES)
def test_own_cases(name: str) -> None:
    reply, expected = OWN_CASES[name]
    for pieces in many_cuts(reply):
        assert read(pieces) == expected


@pytest.mark.parametrize("path", REPLIES, ids=[path.stem for path in REPLIES])
def test_golden_replies_are_without_problems(path: Path) -> None:
    reply = path.read_text().split("-->\n", 1)[1]
    expected = read([reply])
    assert expected
    assert not [block for block in expected if block[0] == "problem"]
    assert all(block[-1] is True for block in expected if block[0] != "text")
    for pieces in many_cuts(reply):
        assert read(pieces) == expected


@settings(max_examples=400, deadline=None)
@given(cuts_of(REPLY_TEXTS))
def test_any_cuts_give_the_same(text_and_pieces: tuple[str, list[str]]) -> None:
    reply, pieces = text_and_pieces
    assert read(pieces) == read([reply]) == read(cut(reply, 1))


@settings(max_examples=200, deadline=None)
@given(REPLY_TEXTS.filter(lambda reply: "agent." not in reply))
def test_text_comes_out_as_it_went_in(reply: str) -> None:
    assert "".join(event.text for event in parse(cut(reply, 3)) if isinstance(event, TextDelta)) == reply


PLAIN_FRAGMENTS = [part for part in FRAGMENTS if "agent." not in part and part[0] not in "-1"]
MAY_BE_FENCE_LINE = re.compile(r" {0,3}(?:`{0,2}|~{0,2}|`{3,}[^`\r\n]*|~{3,}[^\r\n]*)")


@settings(max_examples=200, deadline=None)
@given(texts_of(PLAIN_FRAGMENTS))
def test_text_is_withheld_only_while_it_may_be_a_fence_line(reply: str) -> None:
    parser = FenceParser()
    withheld = ""
    for character in reply:
        given = "".join(event.text for event in parser.feed(character) if isinstance(event, TextDelta))
        withheld += character
        assert withheld.startswith(given)
        withheld = withheld[len(given) :]
        assert MAY_BE_FENCE_LINE.fullmatch(withheld)


MAY_BE_CLOSING_LINE = re.compile(r" {0,3}(?:`{0,2}|`{3,}[ \t]*)")
CODE_TEXTS = texts_of(("x", "`", "```", "\n", "\n    ", "\n  ", " ", "~~~", "# ", "(", "\t"))


@settings(max_examples=200, deadline=None)
@given(CODE_TEXTS)
def test_code_is_withheld_only_while_it_may_be_the_closing_line(code: str) -> None:
    code = re.sub(r"[\r'\"]", "", code)
    parser = FenceParser()
    assert parser.feed("```agent.run\n") == [RunOpened(0)]
    withheld = ""
    for character in code:
        events = parser.feed(character)
        if RunClosed(complete=True) in events:
            return
        withheld += character
        given = "".join(event.code for event in events if isinstance(event, RunDelta))
        assert withheld.startswith(given)
        withheld = withheld[len(given) :]
        assert MAY_BE_CLOSING_LINE.fullmatch(withheld)


def test_code_comes_character_by_character() -> None:
    parser = FenceParser()
    parser.feed("```python agent.run\n")
    code = 'x = f(1)\n\tif y:\n\t\tz = """\n```\n   \n"""\n'
    assert [parser.feed(character) for character in code] == [[RunDelta(character)] for character in code]


def test_block_opens_with_the_end_of_its_line() -> None:
    parser = FenceParser()
    assert parser.feed("a\n```python agent.run") == [TextDelta("a\n")]
    assert parser.feed("\n") == [RunOpened(0)]


def test_inline_code_is_shown_once_it_can_be_no_fence() -> None:
    parser = FenceParser()
    assert [parser.feed(piece) for piece in ("```", "npm", " i", "`", "``")] == [
        [],
        [],
        [],
        [TextDelta("```npm i`")],
        [TextDelta("``")],
    ]


# CommonMark itself as the judge: the fences at top level are the same ones, with the same content.

COMMONMARK = MarkdownIt("commonmark", {"html": False}).disable(["html_block", "list", "reference"])
LINES = st.sampled_from(
    [
        "```",
        "````",
        "~~~",
        "~~~~",
        " ```",
        "   ~~~",
        "    ```",
        "```agent.run",
        "````py agent.run",
        "~~~ python  agent.run",
        "  ```agent.run",
        "```js",
        "~~~ js ```",
        "```a`",
        "``` ",
        "````   ",
        "> ```",
        "> x",
        ">     ```",
        "x",
        "  x",
        "      x",
        "",
        " ",
        "a ```",
        "``",
        "# x",
        "---",
    ]
)


@settings(max_examples=500, deadline=None)
@given(st.lists(LINES, max_size=14))
def test_fences_are_those_of_commonmark(lines: list[str]) -> None:
    reply = "\n".join(lines)
    expected = [
        token.content.rstrip()
        for token in COMMONMARK.parse(reply)
        if token.type == "fence" and token.level == 0 and "agent.run" in token.info
    ]
    assert [str(block[1]).rstrip() for block in read([reply]) if block[0] == "run"] == expected
