"""Lowers expressions to three-address code. What an operator does to an object is a call of its special method."""

from __future__ import annotations

import ast
import sys
from typing import Final

from dpor.statics.ir import (
    Allocate,
    Call,
    Copy,
    Function,
    Import,
    Invoke,
    LoadAttribute,
    LoadItem,
    LoadVariable,
    MakeFunction,
    Parameters,
    StoreItem,
    StoreVariable,
    Super,
    Value,
    Variable,
    Yield,
)
from dpor.statics.names import NameEmitter
from dpor.statics.scopes import FunctionNode

BINARY: Final = {
    "Add": "add", "Sub": "sub", "Mult": "mul", "MatMult": "matmul", "Div": "truediv", "FloorDiv": "floordiv",
    "Mod": "mod", "Pow": "pow", "LShift": "lshift", "RShift": "rshift", "BitAnd": "and", "BitOr": "or", "BitXor": "xor",
}  # fmt: skip
_UNARY: Final = {"USub": "__neg__", "UAdd": "__pos__", "Invert": "__invert__"}
_COMPARE: Final = {
    "Eq": ("__eq__",), "NotEq": ("__ne__", "__eq__"), "Lt": ("__lt__", "__gt__"), "Gt": ("__gt__", "__lt__"),
    "LtE": ("__le__", "__ge__"), "GtE": ("__ge__", "__le__"),
}  # fmt: skip
ITERATES: Final = ("__iter__", "__aiter__", "__getitem__")
CONTAINS: Final = ("__contains__", "__iter__", "__getitem__", "__eq__", "__hash__")
TRUTH: Final = ("__bool__", "__len__")
TEXT: Final = ("__format__", "__str__", "__repr__")

WHOLE_STATEMENT: Final = sys.version_info < (3, 13)
"""Whether `for`, `with` and comprehensions call special methods at the position of the whole, not of their
expression."""


class Expressions(NameEmitter):
    """Lowers expressions; `value` returns the variable that holds the result."""

    # -------------------------------------------------------------- expressions

    def value(self, node: ast.expr) -> str:
        """Lower the expression; returns the variable of its value."""
        lay = getattr(self, f"_lay_{type(node).__name__}")
        result: str = lay(node)
        return result

    def plain_value(self) -> str:
        return self.emit(Value(self.temporary()))

    def invoke(self, node: ast.expr | ast.stmt | ast.pattern, methods: tuple[str, ...], *operands: str) -> str:
        self.at(node)
        return self.emit(Invoke(self.temporary(), methods, operands))

    def iterated(self, node: ast.expr) -> str:
        """Lower an expression that is iterated over.

        A program under control calls `__iter__` at the expression's own position, before the construct around it does.
        """
        value = self.value(node)
        self.invoke(node, ITERATES, value)
        return value

    def truth(self, node: ast.expr) -> str:
        """Lower a condition."""
        if isinstance(node, ast.BoolOp):
            return self._short_circuit(node.values, node.values)
        value = self.value(node)
        if not isinstance(node, ast.Compare) or len(node.ops) > 1:
            self.invoke(node, TRUTH, value)
        return value

    def _lay_Constant(self, node: ast.Constant) -> str:
        self.at(node)
        return self.plain_value()

    def _lay_Name(self, node: ast.Name) -> str:
        self.at(node)
        return self.load(node.id)

    def _lay_Attribute(self, node: ast.Attribute) -> str:
        base = self.value(node.value)
        self.at(node)
        return self.emit(LoadAttribute(self.temporary(), base, self.private(node.attr)))

    def _lay_Subscript(self, node: ast.Subscript) -> str:
        base, key = self.value(node.value), self.value(node.slice)
        self.at(node)
        return self.emit(LoadItem(self.temporary(), base, key))

    def _lay_Slice(self, node: ast.Slice) -> str:
        parts = [self.value(part) for part in (node.lower, node.upper, node.step) if part is not None]
        self.at(node)
        return self.emit(Allocate(self.temporary(), "tuple", tuple(parts)))

    def _lay_Starred(self, node: ast.Starred) -> str:
        return self.value(node.value)

    def _display(self, node: ast.List | ast.Tuple | ast.Set, kind: str) -> str:
        starred = tuple(self.iterated(e.value) for e in node.elts if isinstance(e, ast.Starred))
        elements = tuple(self.value(e) for e in node.elts if not isinstance(e, ast.Starred))
        self.at(node)
        return self.emit(Allocate(self.temporary(), kind, elements, (), starred))

    def _lay_List(self, node: ast.List) -> str:
        return self._display(node, "list")

    def _lay_Tuple(self, node: ast.Tuple) -> str:
        return self._display(node, "tuple")

    def _lay_Set(self, node: ast.Set) -> str:
        return self._display(node, "set")

    def _lay_Dict(self, node: ast.Dict) -> str:
        keys = tuple(self.value(key) for key in node.keys if key is not None)
        values = [
            (key, self.iterated(value) if key is None else self.value(value))
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        self.at(node)
        plain = tuple(value for key, value in values if key is not None)
        starred = tuple(value for key, value in values if key is None)
        return self.emit(Allocate(self.temporary(), "dict", plain, keys, starred))

    def _lay_BinOp(self, node: ast.BinOp) -> str:
        left, right = self.value(node.left), self.value(node.right)
        name = BINARY[type(node.op).__name__]
        if name == "mod" and isinstance(node.left, (ast.Constant, ast.JoinedStr)):  # formatted where they stand
            for part in node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]:
                self.invoke(part, TEXT, right)
        return self.invoke(node, (f"__{name}__", f"__r{name}__"), left, right)

    def _lay_UnaryOp(self, node: ast.UnaryOp) -> str:
        if isinstance(node.op, ast.Not):
            self.truth(node.operand)
            return self.plain_value()
        return self.invoke(node, (_UNARY[type(node.op).__name__],), self.value(node.operand))

    def _lay_Compare(self, node: ast.Compare) -> str:
        dst = self.temporary()
        left = self.value(node.left)
        short: list[int] = []
        for operator, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.value(comparator)
            kind = type(operator).__name__
            if kind in _COMPARE:
                result = self.invoke(node, _COMPARE[kind], left, right)
            elif kind in ("In", "NotIn"):
                result = self.invoke(node, CONTAINS, right, left)
            else:
                result = self.plain_value()
            self.emit(Copy(dst, result))
            short += self.ends
            left = right
        self.ends = short
        return dst

    def _lay_BoolOp(self, node: ast.BoolOp) -> str:
        return self._short_circuit(node.values, node.values[:-1])

    def _short_circuit(self, parts: list[ast.expr], tested: list[ast.expr]) -> str:
        dst = self.temporary()
        short: list[int] = []
        for part in parts:
            self.emit(Copy(dst, self.truth(part) if part in tested else self.value(part)))
            short += self.ends
        self.ends = short
        return dst

    def _lay_IfExp(self, node: ast.IfExp) -> str:
        dst = self.temporary()
        self.truth(node.test)
        at = self.ends
        self.emit(Copy(dst, self.value(node.body)))
        first, self.ends = self.ends, list(at)
        self.emit(Copy(dst, self.value(node.orelse)))
        self.ends += first
        return dst

    def _lay_NamedExpr(self, node: ast.NamedExpr) -> str:
        src = self.value(node.value)
        self.at(node)
        self.store(node.target.id, src)
        return src

    def _lay_JoinedStr(self, node: ast.JoinedStr) -> str:
        for part in node.values:
            self.value(part)
        self.at(node)
        return self.plain_value()

    def _lay_FormattedValue(self, node: ast.FormattedValue) -> str:
        value = self.value(node.value)
        self.invoke(node.value, TEXT, value)
        if node.format_spec is not None:
            self.value(node.format_spec)
        self.invoke(node, TEXT, value)
        return self.plain_value()

    def _lay_TemplateStr(self, node: ast.expr) -> str:
        """An object of the library has the values."""
        parts = tuple(self.value(part) for part in node.values)  # type: ignore[attr-defined]
        self.at(node)
        library = self.emit(Import(self.temporary(), "string.templatelib"))
        made = self.emit(LoadAttribute(self.temporary(), library, "Template"))
        return self.emit(Call(self.temporary(), made, parts))

    def _lay_Interpolation(self, node: ast.expr) -> str:
        value = self.value(node.value)  # type: ignore[attr-defined]
        if node.format_spec is not None:  # type: ignore[attr-defined]
            self.value(node.format_spec)  # type: ignore[attr-defined]
        return value

    def _lay_Call(self, node: ast.Call) -> str:
        found = self.scope.find("super")
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args and found.parent is None:
            return self._super(node)
        receiver = ""
        if isinstance(node.func, ast.Attribute):
            receiver = self.value(node.func.value)
            self.at(node.func)
            callee = self.emit(LoadAttribute(self.temporary(), receiver, self.private(node.func.attr)))
        else:
            callee = self.value(node.func)
        args = tuple(self.value(a) for a in node.args if not isinstance(a, ast.Starred))
        if isinstance(node.func, ast.Name) and node.func.id == "type" and len(args) == 3:
            self.invoke(node.args[2], ITERATES, args[2])
        starred = [self.iterated(a.value) for a in node.args if isinstance(a, ast.Starred)]
        if starred:  # which of the others comes where is not known
            starred.append(self.emit(Allocate(self.temporary(), "tuple", args)))
            args = ()
        keywords = tuple((k.arg, self.value(k.value)) for k in node.keywords if k.arg is not None)
        starred += [self.iterated(k.value) for k in node.keywords if k.arg is None]
        self.at(node)
        return self.emit(Call(self.temporary(), callee, args, keywords, tuple(starred), receiver))

    def _super(self, node: ast.Call) -> str:
        self.at(node)
        first = self.function.parameters.plain[:1]
        klass = self.load("__class__") if self.klass is None else self.klass_variable()
        return self.emit(Super(self.temporary(), klass, self.load(first[0]) if first else klass))

    def klass_variable(self) -> str:
        """Load the class whose body the function is in; returns the variable."""
        assert self.klass is not None
        variable = Variable(self.path, f"class {self.klass.name}:{self.klass.line}", False)
        return self.emit(LoadVariable(self.temporary(), variable))

    def _lay_Await(self, node: ast.Await) -> str:
        return self.invoke(node, ("__await__", "__iter__", "__next__"), self.value(node.value))

    def _lay_Yield(self, node: ast.Yield) -> str:
        src = self.plain_value() if node.value is None else self.value(node.value)
        self.at(node)
        return self.emit(Yield(self.temporary(), src))

    def _lay_YieldFrom(self, node: ast.YieldFrom) -> str:
        source = self.invoke(node, ("__iter__",), self.iterated(node.value))
        head = self.here()
        item = self.invoke(node, ("__next__", "send", "throw"), source)
        self.emit(Yield(self.temporary(), item))
        end = list(self.ends)
        self.link(head)
        self.ends = end
        return item

    # -------------------------------------------------------------- functions within

    def parameters(self, arguments: ast.arguments) -> Parameters:
        return Parameters(
            tuple(a.arg for a in (*arguments.posonlyargs, *arguments.args)),
            tuple(a.arg for a in arguments.kwonlyargs),
            arguments.vararg.arg if arguments.vararg else "",
            arguments.kwarg.arg if arguments.kwarg else "",
        )

    def defaults(self, arguments: ast.arguments) -> tuple[tuple[str, str], ...]:
        names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        first = len(names) - len(arguments.defaults)
        found = [(names[first + i], self.value(d)) for i, d in enumerate(arguments.defaults)]
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if default is not None:
                found.append((argument.arg, self.value(default)))
        return tuple(found)

    def _lay_Lambda(self, node: ast.Lambda) -> str:
        return self.make_function(node, "<lambda>", self.defaults(node.args), node)

    def make_function(self, node: FunctionNode, name: str, defaults: tuple[tuple[str, str], ...], body: ast.AST) -> str:
        function = self.inner(node, name, self.parameters(node.args))
        function.suspends = isinstance(node, ast.AsyncFunctionDef) or _yields(node)
        self.at(node)
        return self.emit(MakeFunction(self.temporary(), function, defaults))

    def inner(self, node: FunctionNode | ast.GeneratorExp, name: str, parameters: Parameters) -> Function:
        """Lower the function that the node defines."""
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        qualified = f"{self.qualified}.{name}" if self.qualified else name
        in_body = self.scope.kind == "class"
        function = Function(self.path, qualified, first, parameters, klass=self.klass if in_body else None)
        self.program.functions.append(function)
        scope = self.scopes[node]
        self.keys[scope] = function.key
        laying = type(self)(self.program, self.path, function, self.scopes, scope)
        laying.keys, laying.class_namespace = self.keys, self.class_namespace
        laying.klass, laying.qualified = self.klass, f"{qualified}.<locals>"
        laying.at(node)
        for parameter in parameters.all():
            variable = laying.variable(scope, parameter)
            if variable is not None:
                laying.emit(StoreVariable("", variable, parameter))
        laying.body_of(node)
        return function

    def body_of(self, node: FunctionNode | ast.GeneratorExp) -> None:
        """Lower the body of the present function."""
        if isinstance(node, ast.Lambda):
            self.give_back(self.value(node.body))
        elif isinstance(node, ast.GeneratorExp):
            self._comprehend(node, node.generators, ".0", node.elt)
            self.give_back(self.plain_value())
        else:
            raise NotImplementedError

    def _lay_GeneratorExp(self, node: ast.GeneratorExp) -> str:
        source = self.iterated(node.generators[0].iter)
        function = self.inner(node, "<genexpr>", Parameters((".0",)))
        function.suspends = True
        self.at(node)
        made = self.emit(MakeFunction(self.temporary(), function, ()))
        return self.emit(Call(self.temporary(), made, (source,)))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp, kind: str) -> str:
        source = self.value(node.generators[0].iter)
        self.at(node)
        made = self.emit(Allocate(self.temporary(), kind, ()))
        outside, self.scope = self.scope, self.scopes[node]
        if isinstance(node, ast.DictComp):
            self._comprehend(node, node.generators, source, node.value, made, node.key)
        else:
            self._comprehend(node, node.generators, source, node.elt, made)
        self.scope = outside
        return made

    def _lay_ListComp(self, node: ast.ListComp) -> str:
        return self._comprehension(node, "list")

    def _lay_SetComp(self, node: ast.SetComp) -> str:
        return self._comprehension(node, "set")

    def _lay_DictComp(self, node: ast.DictComp) -> str:
        return self._comprehension(node, "dict")

    def _comprehend(
        self,
        node: ast.expr,
        generators: list[ast.comprehension],
        source: str,
        element: ast.expr | None,
        made: str = "",
        key: ast.expr | None = None,
    ) -> None:
        first = generators[0]
        iterator = self.invoke(first.iter, ITERATES, source)
        head = self.here()
        done = list(self.ends)
        item = self.invoke(node if WHOLE_STATEMENT else first.iter, ("__next__", "__anext__"), iterator)
        done += self.ends
        self.assign(first.target, item)
        for condition in first.ifs:
            self.truth(condition)
            before = list(self.ends)
            self.link(head)
            self.ends = before
        if generators[1:]:
            self._comprehend(node, generators[1:], self.value(generators[1].iter), element, made, key)
        else:
            if isinstance(element, ast.Starred):
                index, value = self._unpacked("list", element.value)
            elif element is None and key is not None:
                index, value = self._unpacked("dict", key)
            elif element is not None:
                index = self.plain_value() if key is None else self.value(key)
                value = self.value(element)
            self.at(element or key or node)
            self.emit(StoreItem("", made, index, value) if made else Yield(self.temporary(), value))
        self.link(head)
        self.ends = done

    def _unpacked(self, kind: str, node: ast.expr) -> tuple[str, str]:
        """Lower what a comprehension unpacks, from 3.15 on; returns the variables of an index and an item in it."""
        made = self.emit(Allocate(self.temporary(), kind, (), (), (self.iterated(node),)))
        index = self.invoke(node, ("__next__",), self.invoke(node, ITERATES, made))
        return index, self.emit(LoadItem(self.temporary(), made, index)) if kind == "dict" else index

    def assign(self, target: ast.expr, src: str) -> None:
        """Lower the assignment of `src` to the target."""
        raise NotImplementedError


def _yields(node: ast.AST) -> bool:
    """True if the function's own body yields."""
    todo: list[ast.AST] = list(ast.iter_child_nodes(node))
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        todo = list(node.body)
    while todo:
        inner = todo.pop()
        if isinstance(inner, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            todo += ast.iter_child_nodes(inner)
    return False
