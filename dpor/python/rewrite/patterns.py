"""Patterns of `match`: the attributes and names that they may read, and the names that they bind."""

from __future__ import annotations

import ast
from collections.abc import Callable

from dpor.python.rewrite.syntax import walk


def subject_names(node: ast.Match) -> list[str]:
    """List the attributes that the patterns name, of the subject or of objects found in it, in the order of the text.

    Positional sub-patterns of a class pattern stand for names that only the class knows: they appear as
    `__match_args__`.
    """
    found: dict[str, None] = {}
    for case in node.cases:
        for inner in walk(case.pattern):
            if isinstance(inner, ast.MatchClass):
                if inner.patterns:
                    found["__match_args__"] = None
                found.update(dict.fromkeys(inner.kwd_attrs))
    return list(found)


def read_names(node: ast.Match) -> list[ast.expr]:
    """List the names that the patterns look up: values (`case Color.RED`), keys and classes; each once."""
    found: dict[str, ast.expr] = {}
    for case in node.cases:
        for inner in walk(case.pattern):
            if isinstance(inner, (ast.Attribute, ast.Name)):
                found.setdefault(ast.unparse(inner), inner)
    parts = {ast.unparse(name.value) for name in found.values() if isinstance(name, ast.Attribute)}
    return [name for text, name in found.items() if text not in parts]


def rename_captures(
    pattern: ast.pattern, hooked: Callable[[str], bool], temporary: Callable[[], str], captures: dict[str, str]
) -> None:
    """Make the patterns capture hooked names in temporaries; adds name -> temporary to `captures`. Alternatives share
    them."""

    def renamed(id: str) -> str:
        if id not in captures:
            captures[id] = temporary()
        return captures[id]

    for inner in walk(pattern):
        if isinstance(inner, (ast.MatchAs, ast.MatchStar)) and inner.name is not None and hooked(inner.name):
            inner.name = renamed(inner.name)
        elif isinstance(inner, ast.MatchMapping) and inner.rest is not None and hooked(inner.rest):
            inner.rest = renamed(inner.rest)
