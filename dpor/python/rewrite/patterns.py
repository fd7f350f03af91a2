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


def classes_looked_up(node: ast.Match) -> list[ast.expr]:
    """Return the names of the classes that the patterns look up; each once."""
    found: dict[str, ast.expr] = {}
    for case in node.cases:
        for inner in walk(case.pattern):
            if isinstance(inner, ast.MatchClass):
                found.setdefault(ast.unparse(inner.cls), inner.cls)
    return list(found.values())


def hook_values(pattern: ast.pattern, hooked: Callable[[ast.expr], ast.expr]) -> None:
    """Let the dotted names of values (`case Color.RED`) and keys be looked up as other attributes are, each when its
    pattern is tried."""
    for inner in walk(pattern):
        if isinstance(inner, ast.MatchValue):
            inner.value = hooked(inner.value)
        elif isinstance(inner, ast.MatchMapping):
            inner.keys = [hooked(key) for key in inner.keys]


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
