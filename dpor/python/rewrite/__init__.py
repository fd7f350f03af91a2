"""Rewrites the program's source so that each construct that can touch an object calls a hook.

ARCHITECTURE.md has the table of constructs and hooks. Beside it this is guaranteed: with hooks that only do what the
construct does, the code behaves as before (results, order of evaluation, names, docstrings, lines of tracebacks), and
the program cannot write any name of ours: all begin with a dot.

    names.py        the hooks' names
    scopes.py       which globals and closure cells need a hook
    expressions.py  bindings.py  statements.py  patterns.py   the rewriter
    syntax.py       new nodes, and questions that the syntax alone can answer
    operand.py      links of chained comparisons

These are not hooked: annotations, type parameters and type aliases, which stay as they are; the binding of a rebound
global by `from m import *` or `type`; an operator, or `+=` of a plain local name, with a literal number as operand (no
built-in container takes part in it; somebody else's array in C may).
"""

from __future__ import annotations

import ast
import copy
import operator
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType

from dpor.python.rewrite.names import HOOK_NAMES
from dpor.python.rewrite.operand import Operand
from dpor.python.rewrite.scopes import scopes_of
from dpor.python.rewrite.statements import StatementRewriter

__all__ = ["HOOK_NAMES", "SUPPORT", "instrument", "rewrite"]

SUPPORT: dict[str, object] = {".slice": slice, ".operand": Operand, ".is": operator.is_}
"""The hooks that do not depend on a runtime."""

DEPTH = 20_000
"""The limit on recursion while rewriting: generated code nests expressions deeply, and the rewriter calls itself for
each."""


def instrument(
    source: str | ast.Module,
    filename: str,
    *,
    visible_globals: frozenset[str] = frozenset(),
    numbers: bool = False,
    starts_threads: bool = False,
    unhooked: frozenset[str] = frozenset(),
) -> CodeType:
    """Rewrite and compile a module; returns its code, whose globals must contain the hooks.

    visible_globals  globals to hook, besides those that a function declares `global` and binds
    numbers          hook also operators with a literal number as operand
    starts_threads   importing the module starts threads, so hook all stores of globals
    unhooked         attributes whose loads are left as they are

    Assertions are what a check is about, so they stay under `python -O`, too. Raises SyntaxError as `compile` does.
    """
    tree = ast.parse(source, filename) if isinstance(source, str) else copy.deepcopy(source)
    with deep_recursion():
        tree = rewrite(
            tree, visible_globals=visible_globals, numbers=numbers, starts_threads=starts_threads, unhooked=unhooked
        )
        code: CodeType = compile(tree, filename, "exec", dont_inherit=True, optimize=0)
    return code


def rewrite(
    tree: ast.Module,
    *,
    visible_globals: frozenset[str] = frozenset(),
    numbers: bool = False,
    starts_threads: bool = False,
    unhooked: frozenset[str] = frozenset(),
) -> ast.Module:
    """Rewrite the tree in place and return it. Parameters as those of `instrument`."""
    return StatementRewriter(scopes_of(tree, visible_globals, starts_threads), numbers, unhooked).module(tree)


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Context with room on the stack for deeply nested source."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEPTH))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
