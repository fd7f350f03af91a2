"""Lowers statements to three-address code."""

from __future__ import annotations

import ast
from pathlib import PurePath

from dpor.statics import ir
from dpor.statics.assignments import Assignments
from dpor.statics.emitting import OpenLoop
from dpor.statics.expressions import ITERATES, WHOLE_STATEMENT
from dpor.statics.ir import (
    Call,
    Caught,
    ClassDefinition,
    Copy,
    Import,
    Invoke,
    LoadAttribute,
    MakeClass,
    StoreVariable,
    Variable,
)
from dpor.statics.scopes import FunctionNode, annotations_of


class Statements(Assignments):
    """Lowers statements."""

    def body_of(self, node: FunctionNode | ast.GeneratorExp) -> None:
        if isinstance(node, (ast.Lambda, ast.GeneratorExp)):
            super().body_of(node)
        else:
            self.block(node.body)
            self.give_back(self.plain_value())

    def block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            getattr(self, f"_lay_{type(statement).__name__}")(statement)

    # -------------------------------------------------------------- simple statements

    def _lay_Expr(self, node: ast.Expr) -> None:
        self.value(node.value)

    def _lay_Pass(self, node: ast.stmt) -> None:
        self.at(node)
        self.here()

    _lay_Global = _lay_Nonlocal = _lay_Pass

    def _lay_Return(self, node: ast.Return) -> None:
        src = self.plain_value() if node.value is None else self.value(node.value)
        self.at(node)
        self.emit(Copy("%returned", src))
        self.leave("return")

    def _lay_Break(self, node: ast.Break) -> None:
        self.leave("break")

    def _lay_Continue(self, node: ast.Continue) -> None:
        self.leave("continue")

    def _lay_Raise(self, node: ast.Raise) -> None:
        cause = "" if node.cause is None else self.value(node.cause)
        src = "" if node.exc is None else self.value(node.exc)
        if node.exc is not None:
            self.invoke(node.exc, (ir.RAISED,), src, *filter(None, [cause]))
        if node.cause is not None:
            self.invoke(node.cause, (ir.RAISED,), src, cause)
        self.at(node)
        if cause:
            self.throw_also(cause)
        self.throw(src)

    def throw_also(self, cause: str) -> None:
        """Let the cause go where the exception goes."""
        before = list(self.ends)
        self.throw(cause)
        self.ends = before

    def _lay_Assert(self, node: ast.Assert) -> None:
        self.truth(node.test)
        passed = list(self.ends)
        message = self.plain_value() if node.msg is None else self.value(node.msg)
        self.at(node)
        self.throw(message)
        self.ends = passed

    def _lay_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.at(node)
            whole = self.emit(Import(self.temporary(), alias.name))
            if alias.asname is None and "." in alias.name:
                whole = self.emit(Import(self.temporary(), alias.name.split(".")[0]))
            self.store(alias.asname or alias.name.split(".")[0], whole)

    def _lay_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = node.module or ""
        if node.level:
            parts = self.program.names[self.path].split(".")
            if PurePath(self.path).name != "__init__.py":
                parts = parts[:-1]
            base = ".".join([*parts[: len(parts) - node.level + 1], *([base] if base else [])])
        self.at(node)
        module = self.emit(Import(self.temporary(), base))
        for alias in node.names:
            if alias.name == "*":
                self.emit(Invoke("", (ir.IMPORTED,), (module,)))
                continue
            dst = self.temporary()
            before = list(self.ends)
            self.emit(LoadAttribute(dst, module, alias.name))
            ends, self.ends = self.ends, before
            self.emit(Import(dst, f"{base}.{alias.name}"))
            self.ends += ends
            self.store(alias.asname or alias.name, dst)

    # -------------------------------------------------------------- definitions

    def _lay_TypeAlias(self, node: ast.stmt) -> None:
        self._type_parameters(node)
        self.value(node.value)  # type: ignore[attr-defined]
        self.store(node.name.id, self.plain_value())  # type: ignore[attr-defined]

    def _type_parameters(self, node: ast.stmt) -> None:
        """Lower bounds and defaults as if they were evaluated at once; in fact they are when they are first asked
        for."""
        for parameter in getattr(node, "type_params", ()):
            for part in ("bound", "default_value"):
                if getattr(parameter, part, None) is not None:
                    self.value(getattr(parameter, part))

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        decorators = [self.value(decorator) for decorator in node.decorator_list]
        self._type_parameters(node)
        defaults = self.defaults(node.args)
        for annotation in annotations_of(node):
            self.value(annotation)
        made = self.make_function(node, node.name, defaults, node)
        self._decorate(node, made, decorators)

    _lay_FunctionDef = _lay_AsyncFunctionDef = _define

    def _decorate(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, made: str, decorators: list[str]
    ) -> None:
        for decorator, of in zip(reversed(decorators), reversed(node.decorator_list), strict=True):
            self.at(of)
            made = self.emit(Call(self.temporary(), decorator, (made,)))
        self.at(node)
        self.store(node.name, made)

    def _lay_ClassDef(self, node: ast.ClassDef) -> None:
        decorators = [self.value(decorator) for decorator in node.decorator_list]
        self._type_parameters(node)
        bases = tuple(self.value(base) for base in node.bases if not isinstance(base, ast.Starred))
        others = [self.value(base.value) for base in node.bases if isinstance(base, ast.Starred)]
        others += [
            self.iterated(keyword.value) if keyword.arg is None else self.value(keyword.value)
            for keyword in node.keywords
        ]
        qualified = f"{self.qualified}.{node.name}" if self.qualified else node.name
        klass = ClassDefinition(self.path, qualified, node.lineno)
        self.program.classes.append(klass)
        self.at(node)
        made = self.emit(MakeClass(self.temporary(), klass, bases, tuple(others)))
        self.emit(StoreVariable("", Variable(self.path, f"class {klass.name}:{klass.line}", False), made))
        outside = self.scope, self.klass, self.qualified
        self.scope, self.klass, self.qualified = self.scopes[node], klass, qualified
        self.class_namespace[self.scope] = made
        klass.defines.update(_certain(node.body))
        klass.declares.update(self.private(name) for name in self.scope.bound)
        self.block(node.body)
        self.scope, self.klass, self.qualified = outside
        self._decorate(node, made, decorators)

    # -------------------------------------------------------------- control

    def _lay_If(self, node: ast.If) -> None:
        self.truth(node.test)
        before = list(self.ends)
        self.block(node.body)
        first, self.ends = self.ends, before
        self.block(node.orelse)
        self.ends = first + self.ends

    def _lay_While(self, node: ast.While) -> None:
        self.at(node)
        loop = OpenLoop(self.here())
        self.truth(node.test)
        ends = [] if isinstance(node.test, ast.Constant) and node.test.value else list(self.ends)
        self._loop(loop, node, ends)

    def _loop(self, loop: OpenLoop, node: ast.While | ast.For | ast.AsyncFor, over: list[int]) -> None:
        self.surroundings.append(loop)
        self.block(node.body)
        self.link(loop.head)
        self.surroundings.pop()
        self.ends = over
        self.block(node.orelse)
        self.ends += loop.breaks

    def _lay_For(self, node: ast.For | ast.AsyncFor) -> None:
        where = node if WHOLE_STATEMENT else node.iter
        iterator = self.invoke(where, ITERATES, self.iterated(node.iter))
        loop = OpenLoop(self.here())
        over = list(self.ends)
        item = self.invoke(where, ("__next__", "__anext__"), iterator)
        over += self.ends
        self.assign(node.target, item)
        self._loop(loop, node, over)

    _lay_AsyncFor = _lay_For

    def _lay_With(self, node: ast.With | ast.AsyncWith) -> None:
        self._with(node, list(node.items))

    _lay_AsyncWith = _lay_With

    def _with(self, node: ast.With | ast.AsyncWith, items: list[ast.withitem]) -> None:
        if not items:
            self.block(node.body)
            return
        item = items[0]
        where = node if WHOLE_STATEMENT else item.context_expr
        manager = self.value(item.context_expr)
        entered = self.invoke(where, ("__enter__", "__aenter__"), manager)
        swallowed: list[int] = []

        def body() -> None:
            if item.optional_vars is not None:
                self.assign(item.optional_vars, entered)
            self._with(node, items[1:])

        def leave() -> None:
            self.at(where)
            error = self.emit(Caught(self.temporary()))
            self.invoke(where, ("__exit__", "__aexit__"), manager, error, error, error)
            swallowed.extend(self.ends)

        self.with_cleanup(body, leave)
        self.ends = [*self.ends, *(end for end in swallowed if end not in self.ends)]

    def _lay_Try(self, node: ast.Try) -> None:
        if not node.finalbody:
            self._try(node)
            return
        self.with_cleanup(lambda: self._try(node), lambda: self.block(node.finalbody))

    _lay_TryStar = _lay_Try

    def _try(self, node: ast.Try) -> None:
        if not node.handlers:
            self.block(node.body)
            return
        entry = self.label()
        outside, self.handler = self.handler, entry
        self.block(node.body)
        self.handler = outside
        self.block(node.orelse)
        over = self.ends
        self.ends = [entry]
        self.at(node)
        error = self.emit(Caught(self.temporary()))
        for clause in node.handlers:
            if clause.type is not None:
                self.invoke(clause.type, ("__instancecheck__",), self.value(clause.type))
            before = list(self.ends)
            if clause.name is not None:
                self.at(clause)
                self.store(clause.name, error)
            self.block(clause.body)
            over += self.ends
            self.ends = before
            if clause.type is None:
                self.ends = []
        self.throw("")
        self.ends = over

    def _lay_Match(self, node: ast.Match) -> None:
        subject = self.value(node.subject)
        inside = self._matched(node.subject, subject, [case.pattern for case in node.cases])
        over: list[int] = []
        for case in node.cases:
            before = list(self.ends)
            self._pattern(case.pattern, subject, inside)
            if case.guard is not None:
                self.truth(case.guard)
            failed = [*before, *self.ends]
            self.block(case.body)
            over += self.ends
            self.ends = failed
        self.ends += over


def _certain(body: list[ast.stmt]) -> list[str]:
    """Names that the statements of a class body bind, none of them in a branch."""
    found: list[str] = []
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.append(statement.name)
        elif isinstance(statement, ast.Assign):
            found += [target.id for target in statement.targets if isinstance(target, ast.Name)]
    return found
