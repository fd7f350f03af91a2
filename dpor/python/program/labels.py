"""The labels of `dpor.reached` in a program's source that its target may come to.

Those count that are written in the target, or in a function or class of a module that is named there, or in one of
these, and so on: names alone decide. So a label of another scenario in the same file counts only if both use what has
it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import CodeType
from typing import TypeAlias

NAME = "reached"


def labels_of(texts: Mapping[str, str], entry: str | None, code: CodeType | None) -> dict[str, str]:
    """Return the labels, each with its place.

    texts   the program's source by file
    entry   the target, as "path::dotted.name"; or else its `code`
    """
    if not any(f"{NAME}(" in text and "dpor" in text for text in texts.values()):
        return {}
    file, _, dotted = (entry or "").rpartition("::")
    name, line = dotted.rpartition(".")[2], 0
    if entry is None and code is not None:
        file, name, line = code.co_filename, "", code.co_firstlineno
    trees = {path: ast.parse(text) for path, text in texts.items()}
    scopes: list[tuple[str, ast.AST]] = [*trees.items()]
    left: list[tuple[str, ast.AST]] = []
    for function, around in _functions(trees[file], ()) if file in trees else ():
        begins = {function.lineno, *(each.lineno for each in getattr(function, "decorator_list", ()))}
        if (getattr(function, "name", "") == name and not around) if name else line in begins:
            left.append((file, function))
            scopes += [(file, each) for each in around]
    definitions: dict[str, list[tuple[str, ast.AST]]] = {}
    for path, scope in scopes:
        for statement in getattr(scope, "body", ()):
            for known in _names(statement):
                definitions.setdefault(known, []).append((path, statement))
    found: dict[str, str] = {}
    seen: set[int] = set()
    while left:
        path, node = left.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call):
                label = _label(inner)
                if label is not None:
                    found.setdefault(label, f"{path}:{inner.lineno}")
            used = inner.id if isinstance(inner, ast.Name) else inner.attr if isinstance(inner, ast.Attribute) else None
            if used is not None:
                left += definitions.get(used, ())
    return found


_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def _functions(node: ast.AST, around: tuple[ast.AST, ...]) -> Iterator[tuple[_Function, tuple[ast.AST, ...]]]:
    """Yield the functions in a part of the source, each with those around it."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, _Function):
            yield inner, around
            yield from _functions(inner, (*around, inner))
        else:
            yield from _functions(inner, around)


def _names(statement: ast.AST) -> Iterator[str]:
    """Yield the names that a statement of a module or function defines."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))


def _label(call: ast.Call) -> str | None:
    named = call.func
    name = named.id if isinstance(named, ast.Name) else named.attr if isinstance(named, ast.Attribute) else None
    if name != NAME or len(call.args) != 1 or not isinstance(call.args[0], ast.Constant):
        return None
    label = call.args[0].value
    return label if isinstance(label, str) else None
