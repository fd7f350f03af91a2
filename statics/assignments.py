"""Lowers assignments, plain, annotated and augmented, and `del` to three-address code."""

from __future__ import annotations

import ast

from dpor.statics.expressions import BINARY
from dpor.statics.ir import (
    Allocate,
    Copy,
    DeleteAttribute,
    DeleteItem,
    LoadAttribute,
    LoadItem,
    StoreAttribute,
    StoreItem,
    StoreVariable,
)
from dpor.statics.patterns import Patterns


class Assignments(Patterns):
    """Lowers statements that bind or unbind targets."""

    def assign(self, target: ast.expr, src: str) -> None:
        if isinstance(target, ast.Name):
            self.at(target)
            self.store(target.id, src)
        elif isinstance(target, ast.Attribute):
            base = self.value(target.value)
            self.at(target)
            self.emit(StoreAttribute("", base, self.private(target.attr), src))
            self._declare(target)
        elif isinstance(target, ast.Subscript):
            base, key = self.value(target.value), self.value(target.slice)
            self.at(target)
            self.emit(StoreItem("", base, key, src))
        elif isinstance(target, ast.Starred):
            self.assign(target.value, src)
        else:
            assert isinstance(target, (ast.Tuple, ast.List))
            self._unpack(target, src)

    def _declare(self, target: ast.Attribute) -> None:
        function = self.function
        plain = function.parameters.plain
        if function.klass is not None and plain and isinstance(target.value, ast.Name) and target.value.id == plain[0]:
            function.klass.declares.add(self.private(target.attr))

    def _unpack(self, target: ast.Tuple | ast.List, src: str) -> None:
        iterator = self.invoke(target, ("__iter__", "__getitem__"), src)
        item = self.invoke(target, ("__next__",), iterator)
        for part in target.elts:
            if isinstance(part, ast.Starred):
                self.at(part)
                made = self.emit(Allocate(self.temporary(), "list", (item,)))
                self.assign(part.value, made)
            else:
                self.assign(part, item)

    def _lay_Assign(self, node: ast.Assign) -> None:
        targets, values = _parts(node.targets[0]), _parts(node.value)
        if len(node.targets) == 1 and targets and len(targets) == len(values):
            self._assign_each(targets, values)
            return
        unpacks = any(isinstance(target, (ast.Tuple, ast.List)) for target in node.targets)
        src = self.iterated(node.value) if unpacks else self.value(node.value)
        for target in node.targets:
            self.assign(target, src)

    def _assign_each(self, targets: list[ast.expr], values: list[ast.expr]) -> None:
        """Lower `a, b = x, y` without a tuple, which would lose which value goes where."""
        copies = [self.emit(Copy(self.temporary(), self.value(part))) for part in values]
        for target, src in zip(targets, copies, strict=True):
            self.assign(target, src)

    def _lay_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.value(node.annotation)
        if node.value is not None:
            self.assign(node.target, self.value(node.value))
        elif self.scope.kind == "class" and isinstance(node.target, ast.Name) and self.klass is not None:
            self.klass.declares.add(self.private(node.target.id))

    def _lay_AugAssign(self, node: ast.AugAssign) -> None:
        name = BINARY[type(node.op).__name__]
        methods = (f"__i{name}__", f"__{name}__", f"__r{name}__")
        target = node.target
        if isinstance(target, ast.Name):
            old = self.value(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            self.assign(target, self.invoke(node, methods, old, self.value(node.value)))
            return
        base = self.value(target.value)
        if isinstance(target, ast.Attribute):
            self.at(target)
            old = self.emit(LoadAttribute(self.temporary(), base, self.private(target.attr)))
            new = self.invoke(node, methods, old, self.value(node.value))
            self.at(target)
            self.emit(StoreAttribute("", base, self.private(target.attr), new))
            self._declare(target)
        else:
            key = self.value(target.slice)
            self.at(target)
            old = self.emit(LoadItem(self.temporary(), base, key))
            new = self.invoke(node, methods, old, self.value(node.value))
            self.at(target)
            self.emit(StoreItem("", base, key, new))

    def _lay_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self._delete(target)

    def _delete(self, target: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                self._delete(part)
        elif isinstance(target, ast.Attribute):
            base = self.value(target.value)
            self.at(target)
            self.program.deleted.add(self.private(target.attr))
            self.emit(DeleteAttribute("", base, self.private(target.attr)))
        elif isinstance(target, ast.Subscript):
            base, key = self.value(target.value), self.value(target.slice)
            self.at(target)
            self.emit(DeleteItem("", base, key))
        else:
            assert isinstance(target, ast.Name)
            self._unbind(target.id)

    def _unbind(self, name: str) -> None:
        found = self.scope.find(name)
        if found.kind == "class":
            self.program.deleted.add(self.private(name))
            self.emit(DeleteAttribute("", self.class_namespace[found], self.private(name)))
            return
        variable = self.variable(found, name)
        if variable is not None:
            self.emit(StoreVariable("", variable, ""))


def _parts(side: ast.expr) -> list[ast.expr]:
    """The elements of a display of a tuple or list; empty if their number depends on what is unpacked."""
    parts = side.elts if isinstance(side, (ast.Tuple, ast.List)) else []
    return [] if any(isinstance(part, ast.Starred) for part in parts) else parts
