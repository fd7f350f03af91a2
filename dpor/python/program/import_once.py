"""Determines from their source which modules need not be executed again before each run: they make nothing that runs
change, and change nothing themselves that is restored after a run (as `gc.disable()` and `math.hits = 0` do).

Such a module imports, defines functions and classes, and binds immutable objects. If a run does store something in a
class or a function, that is noted when it happens (`run.dirty`), and then all modules are executed again.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from typing import Final

from dpor.python.program.changing_globals import is_main

_MAKERS: Final = frozenset(
    {
        "builtins.object", "builtins.frozenset", "builtins.tuple", "builtins.int", "builtins.float", "builtins.str",
        "builtins.bytes", "builtins.range", "builtins.complex", "builtins.len", "re.compile", "collections.namedtuple",
        "typing.TypeVar", "typing.ParamSpec", "typing.NewType", "typing.NamedTuple", "decimal.Decimal",
        "fractions.Fraction", "struct.Struct", "struct.calcsize", "operator.itemgetter", "operator.attrgetter",
        "pathlib.Path", "pathlib.PurePath", "dataclasses.field", "dataclasses.dataclass",
    }
)  # fmt: skip
"""Given immutable arguments, these make immutable objects or classes. (Loggers are not among them: those that the
program makes are made again, not restored.)"""
_DECORATORS: Final = frozenset(
    {
        "builtins.staticmethod", "builtins.classmethod", "builtins.property", "dataclasses.dataclass",
        "contextlib.contextmanager", "typing.overload", "typing.final", "typing.override", "abc.abstractmethod",
    }
)  # fmt: skip
_BASES: Final = frozenset({"typing.Generic", "typing.Protocol", "typing.NamedTuple", "typing.TypedDict"})


def can_import_once(tree: ast.Module) -> bool:
    """True if everything that the module makes is the same after a run as before."""
    if any(isinstance(node, ast.Global) for node in ast.walk(tree)):
        return False
    return _Reader().all_last(tree.body)


class _Reader:
    """Reads the statements of a module in order.

    names   what global names stand for: the full name of something in the library, or "" for something that the module
            has bound and that does not change
    """

    def __init__(self) -> None:
        self.names: dict[str, str] = {"__name__": "", "__file__": "", "__doc__": ""}

    def all_last(self, statements: Iterable[ast.stmt]) -> bool:
        return all(map(self._statement, statements))

    def _statement(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Pass():
                return True
            case ast.Import(names=names):
                for name in names:
                    top = name.name.partition(".")[0]
                    self.names[name.asname or top] = name.name if name.asname else top
                return True
            case ast.ImportFrom(module=module, names=names, level=level):
                for name in names:
                    self.names[name.asname or name.name] = "" if level else f"{module}.{name.name}"
                return "*" not in self.names
            case ast.Expr(value=value):
                return isinstance(value, ast.Constant)
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=parts)):
                return all(map(self._value, parts))
            case ast.Assign(targets=targets, value=value):
                return self._value(value) and all(map(self._bind, targets))
            case ast.AnnAssign(target=target, value=value):
                return (value is None or self._value(value)) and self._bind(target)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                plain = self._arguments(statement.args) and all(map(self._decorator, statement.decorator_list))
                self.names[name] = ""
                return plain
            case ast.ClassDef(name=name, bases=bases, keywords=keywords, body=body):
                plain = (
                    not keywords and all(map(self._base, bases)) and all(map(self._decorator, statement.decorator_list))
                )
                inner = _Reader()
                inner.names = self.names.copy()
                plain = plain and inner.all_last(body)
                self.names[name] = ""
                return plain
            case ast.If(test=test, body=body, orelse=orelse):
                if is_main(test):
                    return self.all_last(orelse)
                return self._value(test) and self.all_last(body) and self.all_last(orelse)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
                caught = all(self.all_last(handler.body) for handler in handlers)
                return self.all_last(body) and caught and self.all_last(orelse) and self.all_last(finalbody)
        return False

    def _bind(self, target: ast.expr) -> bool:
        if isinstance(target, ast.Tuple):
            return all(map(self._bind, target.elts))
        if isinstance(target, ast.Name):
            self.names[target.id] = ""
        return isinstance(target, ast.Name)

    def _value(self, value: ast.expr) -> bool:
        """True if what the expression makes, if anything, never changes."""
        match value:
            case ast.Constant():
                return True
            case ast.Name():
                return self._full_name(value) is not None
            case ast.Attribute(value=owner):
                return self._value(owner)
            case ast.Tuple(elts=parts) | ast.BoolOp(values=parts) | ast.JoinedStr(values=parts):
                return all(map(self._value, parts))
            case ast.UnaryOp(operand=operand) | ast.FormattedValue(value=operand):
                return self._value(operand)
            case ast.BinOp(left=left, right=right):
                return self._value(left) and self._value(right)
            case ast.Compare(left=left, comparators=others):
                return self._value(left) and all(map(self._value, others))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._value(test) and self._value(body) and self._value(orelse)
            case ast.Subscript(value=owner, slice=index):
                return self._value(owner) and self._value(index)
            case ast.Slice(lower=lower, upper=upper, step=step):
                return all(self._value(part) for part in (lower, upper, step) if part is not None)
            case ast.Lambda(args=args):
                return self._arguments(args)
            case ast.Call(func=function, args=args, keywords=keywords):
                known = self._full_name(function) in _MAKERS
                return known and all(map(self._value, args)) and all(self._value(k.value) for k in keywords)
        return False

    def _arguments(self, args: ast.arguments) -> bool:
        return all(self._value(default) for default in (*args.defaults, *args.kw_defaults) if default is not None)

    def _decorator(self, decorator: ast.expr) -> bool:
        if isinstance(decorator, ast.Call):
            return self._value(decorator) and self._full_name(decorator.func) in _DECORATORS
        if isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "deleter", "getter"):
            return self._full_name(decorator.value) == ""  # of a property of the class
        return self._full_name(decorator) in _DECORATORS

    def _base(self, base: ast.expr) -> bool:
        if isinstance(base, ast.Subscript):
            return self._value(base.slice) and self._base(base.value)
        name = self._full_name(base)
        return name == "" or name in _BASES or (name or "").startswith(("builtins.", "threading."))

    def _full_name(self, expression: ast.expr) -> str | None:
        """Return the full name of something in the library; "" for the module's own, None if nothing is known."""
        if isinstance(expression, ast.Name):
            known = self.names.get(expression.id)
            if known is None and hasattr(builtins, expression.id):
                return f"builtins.{expression.id}"
            return known
        if isinstance(expression, ast.Attribute):
            owner = self._full_name(expression.value)
            return f"{owner}.{expression.attr}" if owner else owner
        return None
