"""Makes a program that shows a fault smaller: an abstract program, or the source of a Python program."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from dpor.core.errors import BadProgram
from dpor.model.syntax import parse
from dpor.testing.abstract import Spec, without_unused


def shrink(spec: Spec, fails: Callable[[Spec], bool]) -> Spec:
    """Return a smaller program that still fails: no thread or statement of it can be left out, and no block replaced by
    its statements. `fails`: returns True for programs that show the fault.

    >>> spec = {"vars": {"x": 0}, "threads": [["r x a", ["if", "a==0", ["w x 1"]]], ["r x a"], ["w x 2"]]}
    >>> shrink(spec, lambda p: "w x 1" in str(p))
    {'vars': {'x': 0}, 'threads': [['w x 1']]}
    """
    while True:
        for smaller in _smaller(spec):
            if _valid(smaller) and fails(smaller):
                spec = without_unused(smaller)
                break
        else:
            return spec


def _valid(spec: Spec) -> bool:
    try:
        parse(spec)
    except BadProgram:
        return False
    return True


def _smaller(spec: Spec) -> Iterator[Spec]:
    threads = spec["threads"]
    for t in reversed(range(len(threads) if len(threads) > 1 else 0)):
        yield {**spec, "threads": threads[:t] + threads[t + 1 :]}
    for t, body in enumerate(threads):
        for smaller in _smaller_bodies(body):
            yield {**spec, "threads": [*threads[:t], smaller, *threads[t + 1 :]]}


def _smaller_bodies(body: list[Any]) -> Iterator[list[Any]]:
    for i, statement in enumerate(body):
        before, after = body[:i], body[i + 1 :]
        yield before + after
        if isinstance(statement, list):
            for j, block in enumerate(statement[2:], 2):
                yield before + block + after
                for smaller in _smaller_bodies(block):
                    yield [*before, [*statement[:j], smaller, *statement[j + 1 :]], *after]


# ---------------------------------------------------------------------- Python


def shrink_source(source: str, fails: Callable[[str], bool]) -> str:
    """Return smaller source that still fails: no statement of it can be left out, and no block replaced by its
    statements. Comments are lost. `fails`: returns True for source that shows the fault.

    >>> print(shrink_source("x = 1  # one\\nif x:\\n    y = 2\\n    z = 3", lambda text: "z = 3" in text))
    z = 3
    """
    while True:
        tree = ast.parse(source)
        smaller = _pass(tree, fails)
        if not smaller:
            return ast.unparse(tree)
        source = ast.unparse(tree)


def _pass(tree: ast.Module, fails: Callable[[str], bool]) -> bool:
    """Try to leave out each statement once, later ones first, so that definitions go after their uses. Returns True if
    anything was left out."""
    changed = False
    for block in reversed(list(_blocks(tree))):
        for index in reversed(range(len(block))):
            statement = block[index]
            for instead in ([], *_inner(statement)):
                block[index : index + 1] = instead
                if _compiles(tree) and fails(ast.unparse(tree)):
                    changed = True
                    break
                block[index : index + len(instead)] = [statement]
    return changed


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield block


def _inner(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the blocks that a compound statement could be replaced by; none for a definition, whose body has a scope of
    its own."""
    if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        for name in ("body", "orelse", "finalbody"):
            if block := getattr(statement, name, None):
                yield block


def _compiles(tree: ast.Module) -> bool:
    try:
        compile(ast.unparse(tree), "<shrunk>", "exec")
    except SyntaxError:  # an empty block
        return False
    return True
