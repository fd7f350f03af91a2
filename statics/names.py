"""Names in a scope, as variables: plain ones, and those that other functions see."""

from __future__ import annotations

import ast

from dpor.statics.emitting import Emitter
from dpor.statics.ir import (
    ClassDefinition,
    Copy,
    Function,
    LoadAttribute,
    LoadVariable,
    LoweredProgram,
    Position,
    StoreAttribute,
    StoreVariable,
    Variable,
)
from dpor.statics.scopes import LexicalScope


class NameEmitter(Emitter):
    """Emits loads and stores of names."""

    def __init__(
        self,
        program: LoweredProgram,
        path: str,
        function: Function,
        scopes: dict[ast.AST, LexicalScope],
        scope: LexicalScope,
    ) -> None:
        super().__init__(function)
        self.program = program
        self.path = path
        self.scopes = scopes
        self.scope = scope
        self.keys: dict[LexicalScope, str] = {}
        """By scope, the key of the function that it is part of."""
        self.class_namespace: dict[LexicalScope, str] = {}
        """By scope, the variable that holds the class whose body is being lowered."""
        self.klass: ClassDefinition | None = None
        self.qualified = ""

    def at(self, node: ast.expr | ast.stmt | ast.pattern | ast.excepthandler | ast.keyword | ast.arg) -> None:
        self.position = Position(
            node.lineno, node.end_lineno or node.lineno, node.col_offset, node.end_col_offset or node.col_offset
        )

    def private(self, name: str) -> str:
        """Mangle the name as the compiler does in a class."""
        if self.klass is None or not name.startswith("__") or name.endswith("__"):
            return name
        owner = self.klass.name.rpartition(".")[2].lstrip("_")
        return f"_{owner}{name}" if owner else name

    def variable(self, found: LexicalScope, name: str) -> Variable | None:
        """The variable as other functions know it; None if it is plain."""
        if found.parent is None:
            return Variable(self.path, self.private(name), True)
        if name in found.captured:
            return Variable(self.keys[found.function()], found.plain(name), False)
        return None

    def load(self, name: str) -> str:
        found = self.scope.find(name)
        if found.kind == "class":
            dst = self.temporary()
            before = list(self.ends)
            self.emit(LoadAttribute(dst, self.class_namespace[found], self.private(name)))
            ends, self.ends = self.ends, before
            assert found.parent is not None
            outside, self.scope = self.scope, found.parent
            self.emit(Copy(dst, self.load(name)))
            self.scope = outside
            self.ends += ends
            return dst
        variable = self.variable(found, name)
        if variable is None:
            return found.plain(name)
        return self.emit(LoadVariable(self.temporary(), variable))

    def store(self, name: str, src: str) -> None:
        found = self.scope.find(name)
        if found.kind == "class":
            self.emit(StoreAttribute("", self.class_namespace[found], self.private(name), src))
            return
        variable = self.variable(found, name)
        if variable is None:
            self.emit(Copy(found.plain(name), src))
        else:
            self.emit(StoreVariable("", variable, src))
