import io
import re
import tokenize

import pytest
from hypothesis import assume, given, settings

from chat.protocol.lexer import PythonLexer
from tests.protocol.reading import texts_of

# Lines after which a logical line has ended.
WHOLE = (
    "x = 1",
    "x = 'a' \"b\" ''",
    'x = ""',
    "x = '\\''",
    "x = '\\\\'",
    "x = r'\\'' rb'' Rb\"\\\"\" u'' B''",
    "x = '''a''' + \"\"\"b\"\"\"",
    'x = """a\\"""" """b""" """"c"""',
    "x = '[' + '(' + \"{\"",
    "x = 1 # ( [ { ' \" \\",
    "x = f(a, [1, {2: (3, 4)}])",
    "x = ((((1))))",
    "x = f'{a}' rf'{a}' Fr'{a}' F\"{a}\"",
    "x = f'{{' f'}}' f'{{{a}}}'",
    "x = f'{a!r:>{w}.{p}}' f'{a:{b:{c}}}'",
    "x = f'{d['k']}' f\"{d[\"k\"]}\" f'{f'{f'{1}'}'}'",
    "x = f'{a:%H:%M}' f'{a:=^9}' f'{(lambda: 1)()}' f'{a[1:2]}' f'{ {1: 2}[1] }'",
    "x = f'\\N{BULLET} {a}' f'\\{a}' rf'\\N{a}' f'\\'{a}'",
    "x = f'{a:\\N{BULLET}}' f'{'\\n'}'",
    "x = '{' f'{'{'}' '}'",
    "if'a'in b: pass",
    "\u0301f'{'",
    "x = 1 if'{'else'{'",
    "x = a<b>c; y = a != b; z: int = 1",
    "x = )",
    "x = '",
    "x = 'a\\'",
    "x = f'{{",
    "x = f'a",
    "x = f'}'",
    "x = ]]]]",
    "\u540d = '\u540d' # \u540d",
)


@pytest.mark.parametrize("code", WHOLE)
def test_whole_lines(code: str) -> None:
    lexer = PythonLexer()
    lexer.feed(code + "\n")
    assert lexer.idle
    assert not lexer.in_triple_quotes
    lexer.feed("y\n")
    assert lexer.idle


# Lines after which it goes on, with what ends it.
OPEN = {
    "x = (": ")",
    "x = [": "]",
    "x = {": "}",
    "x = ( # )": ")",
    "x = '\\": "'",
    "x = 1 + \\": "1",
    "x = '''": "'''",
    'x = """a"': '"""',
    "x = \"\"\"'''": '"""',
    'x = """\\"""': '"""',
    'x = r"""\\': '"""',
    "x = f'''{": "}'''",
    "x = f'''{{": "'''",
    "x = f'{": "}'",
    "x = f'{a # }'": "}'",
    "x = f'{a:{": "}}'",
    "x = f'''{a:": "}'''",
    "x = f'''{a:{b}": "}'''",
    "x = f'''{'''": "'''}'''",
    "x = f'{a[": "]}'",
    "x = rf'''\\N{": "}'''",
    "x = f'''\\N{BULLET} {": "}'''",
    "x = ('a' '''": "''')",
    "x = (')'": ")",
    "x = f(a, [": "])",
}


@pytest.mark.parametrize("code", OPEN)
def test_open_lines(code: str) -> None:
    lexer = PythonLexer()
    lexer.feed(code + "\n")
    assert not lexer.idle
    lexer.feed(OPEN[code] + "\n")
    assert lexer.idle


COLONS = {
    "if x:": True,
    "if x: # y": True,
    "if x:  \t\f": True,
    "if x: \\\n": True,
    "if x: y": False,
    "x = 'a:'": False,
    "x = 1 # a:": False,
    "x = f'{a:}'": False,
    "x = {a:\n1}": False,
    "x = ((((a:))))": False,
    "x[a:]": False,
    "def f(\n) -> int:": True,
    "if x: \\\n((((y))))": False,
    "if x: \\\n'y'": False,
    "lambda:": True,
}


@pytest.mark.parametrize("code", COLONS)
def test_colon_at_the_end(code: str) -> None:
    lexer = PythonLexer()
    for line in (code + "\n").splitlines(keepends=True):
        lexer.feed(line)
    assert lexer.ends_with_colon is COLONS[code]


CLOSING = {")": "(", "]": "[", "}": "{"}
FRAGMENTS = (
    *("'", '"', "'''", '"""', "f'", 'f"""', "rf'", "r'", "b'", "(", ")", "[", "]", "{", "}", "{{", "}}", ":"),
    *("\\", "\\\n", "\n", "\n", "#", "x", "if ", " ", "=", "!r", "\\N{BULLET}", "\\N", "\\'", ";", "1"),
)


def is_balanced(tokens: list[tokenize.TokenInfo]) -> bool:
    opened = ""
    for token in tokens:
        if token.type == tokenize.OP and token.string in CLOSING.values():
            opened += token.string
        elif token.type == tokenize.OP and token.string in CLOSING:
            if not opened.endswith(CLOSING[token.string]):
                return False
            opened = opened[:-1]
    return not opened


# The tokenizer is lenient with some broken code: new examples in every run would now and then find a
# difference that means nothing.
@settings(max_examples=1500, deadline=None, derandomize=True)
@given(texts_of(FRAGMENTS, max_size=14))
def test_logical_lines_end_where_the_tokenizer_of_python_ends_them(code: str) -> None:
    code = "x = " + code.replace("\r", "\n").replace("\0", "").strip(" \t\f\n") + "\n"
    assume(not re.search(r"^[ \t\f]*\\\n", code, re.MULTILINE))  # such lines are the splitter's affair
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError):
        return
    assume(is_balanced(tokens))  # in code that compiles brackets match
    expected = {token.start[0] for token in tokens if token.type == tokenize.NEWLINE}
    lexer = PythonLexer()
    ends = set()
    for number, line in enumerate(io.StringIO(code), start=1):
        before = lexer.idle
        lexer.feed(line)
        has_code = not before or bool(line.split("#")[0].strip())
        if lexer.idle and has_code:
            ends.add(number)
    assert ends == expected


@settings(max_examples=300, deadline=None)
@given(texts_of(FRAGMENTS))
def test_never_raises_and_lines_may_come_together(code: str) -> None:
    together, one_by_one = PythonLexer(), PythonLexer()
    together.feed(code)
    for line in code.split("\n")[:-1]:
        one_by_one.feed(line + "\n")
    one_by_one.feed(code.split("\n")[-1])
    assert together.idle == one_by_one.idle
    assert together.in_triple_quotes == one_by_one.in_triple_quotes
    assert together.ends_with_colon == one_by_one.ends_with_colon
