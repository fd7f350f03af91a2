"""Determines from the source of a module which of its globals a run may change.

A global that no run changes is neither shared data nor part of a state.
"""

from __future__ import annotations

import ast
import builtins
from typing import Final

from dpor.python.kernel.library import STDLIB

_PLAIN_DECORATORS: Final = ("staticmethod", "classmethod", "property")


def changing_globals(tree: ast.Module) -> frozenset[str] | None:
    """Return the globals that a run may rebind, or that hold an object that a run may change; None: it may be any.

    All others are modules, or are bound by statements that make only immutable objects, and are mentioned by no other
    statement at the top level, which could pass them to code that adds something to them. (If the program itself stores
    something in a module, class or function, that is noted when it happens: `run.dirty`.)
    """
    changing = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    mentioned: set[str] = set()
    modules: set[str] = set()
    plain: set[str] = set()  # classes of the module, bound so far
    for statement in tree.body:
        if not _is_constant_statement(statement, plain):
            changing |= _bound_in(statement)
            mentioned |= {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        elif isinstance(statement, ast.ClassDef):
            plain.add(statement.name)
        elif isinstance(statement, ast.Import):
            modules |= _bound_in(statement)
        for node in ast.walk(statement):
            if isinstance(node, ast.ImportFrom) and not _is_of_library(node):
                changing |= _bound_in(node)
        plain -= changing | mentioned
    return None if "*" in changing else frozenset(changing | (mentioned - modules))


def _bound_in(tree: ast.AST) -> set[str]:
    """Return the names that the code may bind or delete."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.alias(name=name, asname=other):
                names.add(other or name.partition(".")[0])
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                names.add(name)
            case ast.MatchMapping(rest=str(name)):
                names.add(name)
    return names


def _is_of_library(statement: ast.ImportFrom) -> bool:
    return not statement.level and statement.module is not None and statement.module.partition(".")[0] in STDLIB


def _is_constant_statement(statement: ast.stmt, own: set[str]) -> bool:
    """True if all that the statement makes is constant. `own`: the classes of the module that are. (Bases from
    elsewhere may do anything with a class: an enum makes objects.)"""
    if isinstance(statement, (ast.Import, ast.ImportFrom, ast.Pass)):
        return True
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names = all(isinstance(target, ast.Name) for target in targets)
        return names and (statement.value is None or _is_constant_value(statement.value))
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        defaults = [*statement.args.defaults, *[d for d in statement.args.kw_defaults if d is not None]]
        plain = all(isinstance(d, ast.Name) and d.id in _PLAIN_DECORATORS for d in statement.decorator_list)
        return plain and all(_is_constant_value(d) for d in defaults)
    if isinstance(statement, ast.ClassDef):
        plain = not statement.decorator_list and not statement.keywords
        known = all(_is_plain_base(base, own) for base in statement.bases)
        return plain and known and all(_is_constant_statement(inner, own) for inner in statement.body)
    if isinstance(statement, ast.If):
        inside = statement.orelse if is_main(statement.test) else [*statement.body, *statement.orelse]
        calls = any(isinstance(node, ast.Call) for node in ast.walk(statement.test))
        return not calls and all(_is_constant_statement(inner, own) for inner in inside)
    return False


def _is_plain_base(base: ast.expr, own: set[str]) -> bool:
    if isinstance(base, ast.Attribute):
        return isinstance(base.value, ast.Name) and base.value.id == "threading"
    return isinstance(base, ast.Name) and (base.id in own or isinstance(getattr(builtins, base.id, None), type))


def is_main(test: ast.expr) -> bool:
    """True if the test asks whether the module is the program that was started. Under control it never is."""
    return ast.unparse(test) in ("__name__ == '__main__'", "'__main__' == __name__")


def _is_constant_value(value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple):
        return all(_is_constant_value(element) for element in value.elts)
    if isinstance(value, ast.UnaryOp):
        return isinstance(value.operand, ast.Constant)
    return isinstance(value, ast.Constant)
