"""Python code as statements, each as soon as it is certain that it is whole."""

import re
from dataclasses import dataclass
from enum import Enum

from chat.protocol import problems
from chat.protocol.events import Problem
from chat.protocol.lexer import NAME_CHARACTER, PythonLexer
from chat.protocol.limits import MAX_STATEMENT_CHARS


@dataclass(frozen=True, slots=True)
class Statement:
    """One top-level statement, or several on one line: exact source, and its first line counted from 1."""

    source: str
    line: int


class _Stage(Enum):
    """How far the current statement is at the start of a logical line."""

    NONE = "none"  # none has begun
    DECORATED = "decorated"  # after a decorator: the definition must follow
    BLOCK = "block"  # after a header: indented lines belong to it, then perhaps a further clause
    CLAUSE = "clause"  # after a clause on one line: perhaps a further clause


# Which clauses may follow a clause that begins with this word. After all others the statement ends.
_FOLLOWERS: dict[str, tuple[str, ...]] = {
    "if": ("elif", "else"),
    "elif": ("elif", "else"),
    "for": ("else",),
    "while": ("else",),
    "async": ("else",),  # an async for; an async def or with is known by its second word
    "try": ("except", "finally"),
    "except": ("except", "else", "finally"),
}
_FOLLOWERS_OF_ELSE_IN_TRY = ("finally",)

_BLANKS = re.compile(r"[ \t\f]*")
_WORD = re.compile(rf"{NAME_CHARACTER}*")
_FIRST_WORD = re.compile(rf"(?:async[ \t\f]+(?=(?:def|with)(?!{NAME_CHARACTER})))?({NAME_CHARACTER}*)")


class StatementSplitter:
    """Cuts the code of one run block, fed in any pieces, into statements. Never raises, loses no code.

    The statements are those of `ast` for the whole code, without the blank lines and comments around them. A
    simple statement comes with its newline, a compound one with the first character that shows it has ended.
    What can't be a statement comes out too, at the close if not before, for the sandbox to refuse.
    `problem` is set when a statement is too long; nothing comes out after that.
    """

    def __init__(self) -> None:
        self.problem: Problem | None = None
        self._lexer = PythonLexer()
        self._pieces: list[str] = []  # of the current line
        self._settled = True  # nothing can be learnt before the current line ends
        self._skip_lf = False
        self._line = 1
        self._joined: list[str] = []  # lines before a logical line that hold nothing but a backslash
        self._stage = _Stage.NONE
        self._lines: list[str] = []  # of the current statement
        self._code_lines = 0  # how many of them reach up to its last line of code
        self._first_line = 1
        self._opener = ""  # first word of the statement
        self._word = ""  # first word of its latest clause
        self._at_top = True  # the logical line is no part of an indented block
        self._is_decorator = False

    def feed(self, code: str) -> list[Statement]:
        """The statements of which this piece makes certain that they are whole."""
        # Most pieces are a few characters within a line: they take this short way.
        if self._settled and "\n" not in code and "\r" not in code and not self._skip_lf:
            self._pieces.append(code)
            return []
        if self._skip_lf or "\r" in code:
            code = self._with_lf(code)
        self._pieces.append(code)
        return self._read("".join(self._pieces))

    def close(self) -> list[Statement]:
        """What is left: the last statement, whole or not."""
        found: list[Statement] = []
        rest = "".join(self._pieces)
        self._pieces = []
        if rest:
            self._take_line(rest, found)
        if self._joined:
            self._start_logical_line("", True, found)
            self._take_joined(True)
            self._code_lines = len(self._lines)
        self._end_statement(found)
        return found

    def _with_lf(self, code: str) -> str:
        """The code with each CR and CRLF as LF, also where a CRLF was cut in two."""
        if not code:
            return code
        if self._skip_lf and code[0] == "\n":
            code = code[1:]
        self._skip_lf = code.endswith("\r")
        return code.replace("\r\n", "\n").replace("\r", "\n")

    def _read(self, text: str) -> list[Statement]:
        found: list[Statement] = []
        pos = 0
        while (newline := text.find("\n", pos)) >= 0:
            self._take_line(text[pos : newline + 1], found)
            pos = newline + 1
        rest = text[pos:]
        self._pieces = [rest] if rest else []
        self._settled = self._glance(rest, found)
        return found

    def _glance(self, start: str, found: list[Statement]) -> bool:
        """Judge by the start of a line whether the statement ends before it; True if that is settled."""
        if self._stage not in (_Stage.BLOCK, _Stage.CLAUSE) or not self._lexer.idle or self._joined:
            return True
        if not start:
            return False
        if start[0] in " \t\f#\\":
            return True  # a part of the block, or no code: the end of the line will tell
        match = _WORD.match(start)
        word = match[0] if match else ""
        if len(word) == len(start):
            if any(follower.startswith(word) for follower in self._followers()):
                return False
        elif word in self._followers():
            return True
        self._end_statement(found)
        return True

    def _followers(self) -> tuple[str, ...]:
        if self._word == "else" and self._opener == "try":
            return _FOLLOWERS_OF_ELSE_IN_TRY
        return _FOLLOWERS.get(self._word, ())

    def _take_line(self, line: str, found: list[Statement]) -> None:
        """Take a physical line with its newline, or what is left at the close."""
        if self._lexer.idle and not self._starts_code(line, found):
            self._line += 1
            return
        self._lines.append(line)
        self._code_lines = len(self._lines)
        self._line += 1
        self._lexer.feed(line)
        if self._lexer.idle:
            self._end_logical_line(found)

    def _starts_code(self, line: str, found: list[Statement]) -> bool:
        """Begin a logical line; False for a line without code, or with nothing but a backslash."""
        match = _BLANKS.match(line)
        start = match.end() if match else 0
        first = line[start : start + 1]
        if first in ("", "\n", "#"):
            if self._lines:
                self._lines += [*self._joined, line]
            self._joined.clear()
            return False
        if first == "\\" and line[start + 1 :] == "\n":
            self._joined.append(line)
            return False
        indented = _is_indented(line, start)
        if self._joined:
            indented = indented or any(_is_indented(joined, len(joined) - 2) for joined in self._joined)
        self._start_logical_line(line[start:], indented, found)
        if self._joined:
            self._take_joined(indented)
        return True

    def _take_joined(self, indented: bool) -> None:
        """Put joined lines before the code. At the left margin they mean nothing where a statement begins."""
        if self._lines or indented:
            if not self._lines:
                self._first_line -= len(self._joined)
            self._lines += self._joined
        self._joined.clear()

    def _start_logical_line(self, code: str, indented: bool, found: list[Statement]) -> None:
        """Decide whether the logical line goes on with the current statement or begins another one."""
        if indented and self._stage is _Stage.BLOCK:
            self._at_top = False
            return
        match = _FIRST_WORD.match(code)
        word = match[1] if match else ""
        if self._stage in (_Stage.BLOCK, _Stage.CLAUSE) and (indented or word not in self._followers()):
            self._end_statement(found)
        if not self._lines:
            self._first_line = self._line
            self._opener = word
        elif self._stage is _Stage.DECORATED:
            self._opener = word
        self._word = word
        self._at_top = True
        self._is_decorator = code.startswith("@")

    def _end_logical_line(self, found: list[Statement]) -> None:
        if not self._at_top:
            return
        if self._is_decorator:
            self._stage = _Stage.DECORATED
        elif self._lexer.ends_with_colon:
            self._stage = _Stage.BLOCK
        elif self._followers():
            self._stage = _Stage.CLAUSE
        else:
            self._end_statement(found)

    def _end_statement(self, found: list[Statement]) -> None:
        """Give the current statement, if there is one, without what is blank at its end."""
        if not self._lines:
            return
        source = "".join(self._lines[: self._code_lines])
        self._lines = []
        self._code_lines = 0
        self._stage = _Stage.NONE
        if len(source) > MAX_STATEMENT_CHARS and self.problem is None:
            self.problem = problems.statement_too_long(self._first_line)
        if self.problem is None:
            found.append(Statement(source, self._first_line))


def _is_indented(line: str, start: int) -> bool:
    """True if the code at `start` is not at the left margin; a form feed begins the margin anew."""
    return start > 0 and line[start - 1] != "\f"
