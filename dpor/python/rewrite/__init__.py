"""The program's source, rewritten so that each construct that can touch an object calls a hook.

The table of constructs and hooks is in ARCHITECTURE.md. What is guaranteed beside it: with hooks that do the plain
thing the code behaves as before (results, order of evaluation, names, docstrings, lines of tracebacks), and no name of
ours can be written by the program: all begin with a dot.

    names.py        the hooks' names
    scopes.py       which globals and closure cells need a hook
    expressions.py  bindings.py  statements.py  patterns.py   the rewriter
    syntax.py       nodes, and what the syntax alone tells
    operand.py      links of chained comparisons

What is not hooked: annotations, type parameters and type aliases, which stay as they are; the binding of a rebound
global by `from m import *` or `type`; an operator, or `+=` of a plain local name, whose other operand is a number that
is written out (no built-in container takes part in it; an array in C of somebody else's may).
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
from dpor.python.rewrite.scopes import analyse
from dpor.python.rewrite.statements import StatementRewriter

__all__ = ["HOOK_NAMES", "SUPPORT", "instrument", "rewrite"]

SUPPORT: dict[str, object] = {".slice": slice, ".operand": Operand, ".is": operator.is_}
"""The hooks that are the same whatever the others do."""

DEPTH = 20_000
"""Nested expressions of generated code go deep, and the rewriter calls itself for each."""


def instrument(
    source: str | ast.Module,
    filename: str,
    *,
    visible_globals: frozenset[str] = frozenset(),
    numbers: bool = False,
    starts_threads: bool = False,
    unhooked: frozenset[str] = frozenset(),
) -> CodeType:
    """The compiled module, whose globals must contain the hooks. `visible_globals`: hooked beside those that a function
    declares `global` and binds. `numbers`: hook also operators with a number that is written out. `starts_threads`:
    when it is imported, so hook all stores of globals. `unhooked`: attributes of which loads are left as they are.

    Assertions are what is checked, so they are carried out under `python -O`, too."""
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
    """The tree, rewritten in place."""
    return StatementRewriter(analyse(tree, visible_globals, starts_threads), numbers, unhooked).module(tree)


@contextmanager
def deep_recursion() -> Iterator[None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEPTH))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
