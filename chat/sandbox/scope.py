"""Which names a statement gives a meaning in the namespace, and where its code runs at once."""

import ast
from collections.abc import Iterator

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
BUILT_AT_RUN_TIME = frozenset(("exec", "eval"))


def bound(tree: ast.Module) -> set[str]:
    """Return the names that running the statement can define in the namespace."""
    found: set[str] = set()
    for node in _at_once(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found |= {alias.asname or alias.name.partition(".")[0] for alias in names}
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                found.add(name)
            case ast.MatchMapping(rest=str(name)):
                found.add(name)
    return found | global_names(tree)


def global_names(tree: ast.Module) -> set[str]:
    """Return the names that functions in the statement may define or change."""
    return {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}


def builds_names(tree: ast.Module) -> bool:
    """Whether it may define names that only running it can tell."""
    return any(isinstance(node, ast.Name) and node.id in BUILT_AT_RUN_TIME for node in ast.walk(tree))


def _at_once(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes outside of function bodies."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(node, FUNCTIONS) and child is not node.args and child not in decorators(node):
            continue
        yield from _at_once(child)


def decorators(node: ast.AST) -> list[ast.expr]:
    """Return what decorates a function."""
    return list(getattr(node, "decorator_list", []))


def bodies(tree: ast.Module) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the ranges of source, as (line, column in bytes), that run later: the bodies of functions."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            parts = [node.body]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            parts = [*node.body]  # type: ignore[list-item]
        else:
            continue
        first, last = parts[0], parts[-1]
        found.append(
            ((first.lineno, first.col_offset), (last.end_lineno or last.lineno, last.end_col_offset or 0))
        )
    return found
