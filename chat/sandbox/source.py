"""Prepares a statement for the interpreter: says it in its subset where that changes nothing, line by line.

What is put in another way: imports of modules that this package provides (`inside/modules`), `del` of an
item, a built-in's method as a value, an iterator made by a generator expression, and `class A(object)`.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from chat.sandbox import modules

# Methods of built-in types that agent code passes as values; names that data often has are left out.
METHODS: Final = frozenset(
    [
        "add",
        "append",
        "capitalize",
        "casefold",
        "discard",
        "endswith",
        "extend",
        "get",
        "isalnum",
        "isalpha",
        "isdigit",
        "islower",
        "isnumeric",
        "isspace",
        "isupper",
        "join",
        "lower",
        "lstrip",
        "pop",
        "remove",
        "rstrip",
        "setdefault",
        "split",
        "splitlines",
        "startswith",
        "strip",
        "swapcase",
        "upper",
    ]
)
REWRITTEN: Final = re.compile(r"_method\(([^()]*), '(\w+)'\)")


class NotPythonError(Exception):
    """The source is no Python at all."""

    def __init__(self, message: str, line: int, source_line: str) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.source_line = source_line


@dataclass(frozen=True)
class Prepared:
    """A statement as the interpreter gets it, and what must be there before it runs."""

    source: str
    tree: ast.Module
    modules: tuple[str, ...]
    """Provided modules that it imports."""
    mentioned: tuple[str, ...]
    """Modules that it mentions without having imported them itself."""


def parse(source: str) -> ast.Module:
    """Return the tree; raises NotPythonError with what is wrong and where."""
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise NotPythonError(error.msg, error.lineno or 1, (error.text or "").rstrip()) from error
    except ValueError as error:
        raise NotPythonError(str(error), 1, "") from error
    except (RecursionError, MemoryError) as error:
        raise NotPythonError("the code is nested too deep", 1, "") from error


def prepare(source: str) -> Prepared:
    """Return the statement in the interpreter's words; raises NotPythonError."""
    tree = parse(source)
    edits: list[tuple[int, int, str]] = []
    text = source.encode()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    rewriter = _Rewriter(text, starts, edits)
    try:
        rewriter.visit(tree)
    except RecursionError as error:
        raise NotPythonError("the code is nested too deep", 1, "") from error
    mentioned = [
        name for name in dict.fromkeys(_names(tree)) if name in modules.AMBIENT and name not in rewriter.bound
    ]
    return Prepared(edited(text, edits), tree, tuple(dict.fromkeys(rewriter.modules)), tuple(mentioned))


def edited(text: bytes, edits: list[tuple[int, int, str]]) -> str:
    """Return the text with the ranges replaced; none of them overlap."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new.encode() + text[end:]
    return text.decode()


def shown(line: str) -> str:
    """Return a line of prepared source as it was written, near enough to recognise it."""
    return REWRITTEN.sub(r"\1.\2", line)


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id


class _Rewriter(ast.NodeVisitor):
    def __init__(self, text: bytes, starts: list[int], edits: list[tuple[int, int, str]]) -> None:
        self.text = text
        self.starts = starts
        self.edits = edits
        self.modules: list[str] = []
        self.bound: set[str] = set()
        self.done: set[ast.expr] = set()

    def span(self, node: ast.stmt | ast.expr) -> tuple[int, int]:
        start = self.starts[node.lineno - 1] + node.col_offset
        return start, self.starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)

    def segment(self, node: ast.stmt | ast.expr) -> str:
        start, end = self.span(node)
        return self.text[start:end].decode()

    def replace(self, node: ast.stmt, new: str) -> None:
        """Put something else in the place of a simple statement; the lines after it keep their numbers."""
        missing = self.segment(node).count("\n") - new.count("\n")
        if missing > 0:
            new = f"{new};({chr(10) * missing}None)"
        self.edits.append((*self.span(node), new))

    # --- imports
    # -------------------------------------------------------------------------------------------------

    def visit_Import(self, node: ast.Import) -> None:
        parts = []
        for name in node.names:
            bound = name.asname or name.name.partition(".")[0]
            self.bound.add(bound)
            if name.name in modules.PROVIDED:
                whole = name.name if name.asname else bound
                self.modules += modules.needs(name.name)
                parts.append(f"{bound} = _import({whole!r})")
            else:
                parts.append(f"import {name.name}" + (f" as {name.asname}" if name.asname else ""))
        if any(name.name in modules.PROVIDED for name in node.names):
            self.replace(node, "; ".join(parts))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level or module not in modules.PROVIDED or any(name.name == "*" for name in node.names):
            return
        self.modules += modules.needs(module)
        bound = [name.asname or name.name for name in node.names]
        self.bound.update(bound)
        values = [f"_import_from({module!r}, {name.name!r})" for name in node.names]
        # As a list, since the interpreter takes `match = …` for the start of a match statement.
        self.replace(node, f"[{', '.join(bound)}] = [{', '.join(values)}]")

    # --- the rest
    # ------------------------------------------------------------------------------------------------

    def visit_Delete(self, node: ast.Delete) -> None:
        parts = []
        for target in node.targets:
            if not isinstance(target, ast.Subscript):
                return
            where = target.slice
            if isinstance(where, ast.Slice):
                ends = [self.said(end) if end else "None" for end in (where.lower, where.upper, where.step)]
                key = f"slice({', '.join(ends)})"
            else:
                key = self.said(where)
            parts.append(f"_delete({self.said(target.value)}, ({key}))")
        self.replace(node, "; ".join(parts))

    def said(self, node: ast.expr) -> str:
        """Return an expression in the interpreter's words."""
        inner = _Rewriter(self.text, self.starts, [])
        inner.visit(node)
        start, end = self.span(node)
        edits = [(first - start, last - start, new) for first, last, new in inner.edits]
        return edited(self.text[start:end], edits)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        base = node.bases[0] if len(node.bases) == 1 and not node.keywords else None
        if isinstance(base, ast.Name) and base.id == "object":
            start, end = self.span(base)
            self.edits.append((start, end, ""))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id == "next" and node.args:
            self.iterator(node.args[0])
        for value in [*node.args, *(keyword.value for keyword in node.keywords)]:
            self.method(value)
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.iterator(node.value)
        self.method(node.value)
        self.generic_visit(node)

    def iterator(self, node: ast.expr) -> None:
        """A generator expression is a list here; where it is used as an iterator, make it one."""
        if isinstance(node, ast.GeneratorExp):
            start, end = self.span(node)
            self.edits += [(start, start, "(iter"), (end, end, ")")]

    def method(self, node: ast.expr) -> None:
        """A method of a built-in is no value here; where it is used as one, make a function of it."""
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            self.done.add(node)
            self.edits.append((*self.span(node), f"_method({self.said(node.value)}, {node.attr!r})"))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node not in self.done:
            self.generic_visit(node)
