"""Expressions of abstract programs: a small, safe part of Python's, over the registers of one thread.

A text is parsed by Python's own `ast`, checked against a list of the nodes that are allowed, and compiled to a function
of the thread's list of registers. Nothing that is not on the list is ever compiled.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import attrs

from dpor.core.errors import BadProgram

Value: TypeAlias = Any
"""The value of a register or variable: a number or a truth value."""

Evaluate: TypeAlias = Callable[[Sequence[Value]], Value]
"""A compiled expression: it takes the registers of a thread and returns the value."""

FUNCTIONS: Final = {"min": min, "max": max, "abs": abs, "int": int}

_ALLOWED: Final = (
    *(ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Call),
    *(ast.BoolOp, ast.And, ast.Or, ast.IfExp, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE),
    *(ast.UnaryOp, ast.Not, ast.USub, ast.UAdd, ast.Invert),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow),
    *(ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift),
)


@attrs.frozen
class Expression:
    """A checked expression. `names`: the registers that it reads, in order of appearance."""

    text: str
    names: tuple[str, ...]

    def compile(self, positions: Mapping[str, int]) -> Evaluate:
        """Return a function that evaluates the expression.

        positions   by name, the position of each register in the list that the function takes
        """
        tree = _PutRegisters(positions).visit(_parse(self.text))
        function = ast.parse("lambda R: 0", mode="eval")
        assert isinstance(function.body, ast.Lambda)
        function.body.body = tree.body
        code = compile(ast.fix_missing_locations(function), f"<{self.text}>", "eval")
        evaluate: Evaluate = eval(code, {"__builtins__": {}, **FUNCTIONS})
        return evaluate


def parse_expression(text: str) -> Expression:
    """Check the text of an expression and return the expression. Raises `BadProgram` if it is not one.

    >>> parse_expression("(a+1)%2==tid").names
    ('a', 'tid')
    >>> parse_expression("open('x')")
    Traceback (most recent call last):
        ...
    dpor.core.errors.BadProgram: 'open' is not a function of expressions (they are min, max, abs, int)
    """
    tree = _parse(text)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        _check(node, text, called)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called]
    names.sort(key=lambda node: node.col_offset)
    return Expression(text, tuple(dict.fromkeys(node.id for node in names)))


def _parse(text: str) -> ast.Expression:
    try:
        return ast.parse(text, mode="eval")
    except (SyntaxError, ValueError) as error:
        raise BadProgram(f"{text!r} is not an expression") from error


def _check(node: ast.AST, text: str, called: set[int]) -> None:
    if not isinstance(node, _ALLOWED):
        raise BadProgram(f"{text!r} is more than an expression of numbers and registers ({type(node).__name__})")
    if isinstance(node, ast.Constant) and not isinstance(node.value, int | float):
        raise BadProgram(f"{node.value!r} in {text!r} is not a number")
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
            raise BadProgram(
                f"{ast.unparse(node.func)!r} is not a function of expressions (they are {', '.join(FUNCTIONS)})"
            )
        if node.keywords or not node.args:
            raise BadProgram(f"{node.func.id!r} in {text!r} takes plain arguments")
    if isinstance(node, ast.Name) and node.id in FUNCTIONS and id(node) not in called:
        raise BadProgram(f"{node.id!r} in {text!r} is a function, not a register")


class _PutRegisters(ast.NodeTransformer):
    """Replaces each register by its place in the list `R`."""

    def __init__(self, positions: Mapping[str, int]) -> None:
        self._positions = positions

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.args = [self.visit(argument) for argument in node.args]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Subscript(ast.Name("R", ast.Load()), ast.Constant(self._positions[node.id]), ast.Load())
