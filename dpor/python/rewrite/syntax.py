"""Helpers for syntax: new nodes, each with the position of the source that it replaces, and questions that the syntax
alone can answer."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeVar

Placed = TypeVar("Placed", bound="ast.expr | ast.stmt")
PositionedNode = ast.expr | ast.stmt | ast.excepthandler | ast.pattern | ast.alias

LOAD = ast.Load()
STORE = ast.Store()
DELETE = ast.Del()


def at(node: Placed, place: PositionedNode) -> Placed:
    """Give the node the position of `place`, which tracebacks and `co_positions` show; returns the node."""
    node.lineno = place.lineno
    node.col_offset = place.col_offset
    node.end_lineno = place.end_lineno
    node.end_col_offset = place.end_col_offset
    return node


def name(id: str, place: PositionedNode) -> ast.Name:
    """Return a load of the name, at this place."""
    return at(ast.Name(id, LOAD), place)


def target(id: str, place: PositionedNode) -> ast.Name:
    """Return the name as the target of a store."""
    return at(ast.Name(id, STORE), place)


def constant(value: str | int | None, place: PositionedNode) -> ast.Constant:
    """Return a constant."""
    return at(ast.Constant(value), place)


def again(node: ast.expr) -> ast.expr:
    """Copy a name or constant."""
    if isinstance(node, ast.Constant):
        return at(ast.Constant(node.value), node)
    assert isinstance(node, ast.Name)
    return name(node.id, node)


def assign(to: ast.expr, value: ast.expr, place: PositionedNode) -> ast.Assign:
    """Return the statement that assigns the value."""
    return at(ast.Assign([to], value), place)


def delete_statement(names: list[str], place: PositionedNode) -> ast.Delete:
    """Return the statement that deletes these names."""
    return at(ast.Delete([at(ast.Name(id, DELETE), place) for id in names]), place)


def thunk(body: ast.expr, place: PositionedNode, *parameters: str) -> ast.Lambda:
    """Make `lambda parameters: body`."""
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(p, lineno=place.lineno, col_offset=place.col_offset) for p in parameters],
        vararg=None,
        kwonlyargs=[],
        kw_defaults=[],
        kwarg=None,
        defaults=[],
    )
    return at(ast.Lambda(arguments, body), place)


def is_number(node: ast.expr) -> bool:
    """True for a literal number: `1`, `-1`, `60 * 60`; also for True, False, None and `...`, which need no hook as
    operands."""
    kind = type(node)
    if kind is ast.Constant:
        return not isinstance(node.value, (str, bytes))  # type: ignore[attr-defined]
    if kind is ast.UnaryOp:
        return type(node.op) is not ast.Not and is_number(node.operand)  # type: ignore[attr-defined]
    if kind is ast.BinOp:
        return is_number(node.left) and is_number(node.right)  # type: ignore[attr-defined]
    return False


def is_fixed(node: ast.expr) -> bool:
    """True if it is built of constants only, so that the compiler may fold it."""
    kind = type(node)
    if kind is ast.Constant:
        return True
    if kind is ast.UnaryOp:
        return is_fixed(node.operand)  # type: ignore[attr-defined]
    if kind is ast.BinOp:
        return is_fixed(node.left) and is_fixed(node.right)  # type: ignore[attr-defined]
    return False


def repeats(op: ast.operator, left: ast.expr, right: ast.expr) -> bool:
    """True if this may be `[x] * 2`, which reads a container though the other operand is a number. Only an integer can
    repeat."""
    if type(op) is not ast.Mult:
        return False
    return not any(isinstance(n, ast.Constant) and isinstance(n.value, (float, complex)) for n in (left, right))


def compares_plainly(node: ast.expr) -> bool:
    """True if `==` or `<` with this operand never reads a container: None, numbers, strings, `...`."""
    return is_number(node) or is_text(node)


def is_text(node: ast.expr) -> bool:
    """True if the expression is a string, formatted or not."""
    return type(node) is ast.JoinedStr or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def is_plain_collection(node: ast.expr) -> bool:
    """True for a display of constants, or a string, on the right of `in`."""
    if type(node) is ast.Constant:
        return isinstance(node.value, str)
    return isinstance(node, (ast.Tuple, ast.List, ast.Set)) and all(map(compares_plainly, node.elts))


def may_run_code(argument: ast.expr) -> bool:
    """True if the evaluation of the argument may run code of the program, which may share the object that is called."""
    if isinstance(argument, (ast.Tuple, ast.List)):
        return any(map(may_run_code, argument.elts))
    return not isinstance(argument, (ast.Name, ast.Constant, ast.Lambda))


def is_super_call(node: ast.expr) -> bool:
    """True for `super()` and `super(C, self)`, which stay as written, because they depend on the compiler and the
    frame."""
    return type(node) is ast.Call and type(node.func) is ast.Name and node.func.id == "super"


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the node and all below it, in the order of the text."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from walk(child)


def binds_names(*nodes: ast.AST) -> bool:
    """True if there is a `:=` anywhere in these expressions."""
    return any(type(inner) is ast.NamedExpr for node in nodes for inner in walk(node))


def mangle(id: str, private: str | None) -> str:
    """Return the name as the compiler writes it inside a class: `__x` in class `_C` is `_C__x`.

    >>> mangle("__x", "_C"), mangle("__x__", "C"), mangle("__x", "__"), mangle("__x", None)
    ('_C__x', '__x__', '__x', '__x')
    """
    if not private or not id.startswith("__") or id.endswith("__") or "." in id:
        return id
    stripped = private.lstrip("_")
    return f"_{stripped}{id}" if stripped else id
