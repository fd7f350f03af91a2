"""The scope that each name belongs to, and the variables of a function that other functions see.

Comprehensions are scopes, but part of the function around them: their variables get names of their own (`x@2`).
"""

from __future__ import annotations

import ast
from typing import TypeAlias

import attrs

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@attrs.define(eq=False)
class LexicalScope:
    """A scope.

    kind        module, function, class or comprehension
    parent      the scope around it
    captured    names bound here that functions inside use
    """

    kind: str
    parent: LexicalScope | None
    number: int
    bound: set[str] = attrs.field(factory=set)
    of_module: set[str] = attrs.field(factory=set)
    outer: set[str] = attrs.field(factory=set)
    used: set[str] = attrs.field(factory=set)
    captured: set[str] = attrs.field(factory=set)

    def function(self) -> LexicalScope:
        """The function (or module) that the scope is part of."""
        scope = self
        while scope.kind in ("class", "comprehension"):
            assert scope.parent is not None
            scope = scope.parent
        return scope

    def find(self, name: str) -> LexicalScope:
        """The scope that the name belongs to; the module's if no other binds it."""
        scope: LexicalScope | None = self
        first = True
        while scope is not None and scope.parent is not None:
            if name in scope.of_module:
                break
            if name in scope.bound and name not in scope.outer and (first or scope.kind != "class"):
                return scope
            first = False
            scope = scope.parent
        while scope is not None and scope.parent is not None:
            scope = scope.parent
        assert scope is not None
        return scope

    def plain(self, name: str) -> str:
        """The name as a variable of the function."""
        return f"{name}@{self.number}" if self.kind == "comprehension" else name


class LexicalScopes(ast.NodeVisitor):
    """The scopes of a module, by the node that opens each."""

    def __init__(self, tree: ast.Module) -> None:
        self.of: dict[ast.AST, LexicalScope] = {}
        self._all: list[LexicalScope] = []
        self._here = self._open(tree, "module", None)
        for statement in tree.body:
            self.visit(statement)
        for scope in self._all:
            for name in scope.used | scope.outer:
                found = scope.find(name)
                if found.kind != "class" and found.function() is not scope.function():
                    found.captured.add(name)

    def _open(self, node: ast.AST, kind: str, parent: LexicalScope | None) -> LexicalScope:
        scope = LexicalScope(kind, parent, len(self._all))
        self._all.append(scope)
        self.of[node] = scope
        return scope

    def _within(self, node: ast.AST, kind: str, parts: list[ast.AST]) -> None:
        outside = self._here
        self._here = self._open(node, kind, outside)
        for part in parts:
            self.visit(part)
        self._here = outside

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._here.used.add(node.id)
        else:
            self._here.bound.add(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        scope = self._here
        while scope.kind == "comprehension":
            assert scope.parent is not None
            scope = scope.parent
        scope.bound.add(node.target.id)
        self._here.used.add(node.target.id)
        self.visit(node.value)

    def visit_Global(self, node: ast.Global) -> None:
        self._here.of_module.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self._here.outer.update(node.names)

    def visit_alias(self, node: ast.alias) -> None:
        self._here.bound.add(node.asname or node.name.split(".")[0])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._bind(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self._bind(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self._bind(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self._bind(node.rest)
        self.generic_visit(node)

    def _bind(self, name: str | None) -> None:
        if name is not None:
            self._here.bound.add(name)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._here.bound.add(node.name)
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        self._within(node, "class", list(node.body))

    def _function(self, node: FunctionNode, body: list[ast.AST]) -> None:
        arguments = node.args
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self.visit(default)
        if not isinstance(node, ast.Lambda):
            for annotation in annotations_of(node):
                self.visit(annotation)
        names = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        names += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
        self._within(node, "function", body)
        self.of[node].bound.update(a.arg for a in names)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._here.bound.add(node.name)
        for decorator in node.decorator_list:
            self.visit(decorator)
        self._function(node, list(node.body))

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._here.bound.add(node.name)
        for decorator in node.decorator_list:
            self.visit(decorator)
        self._function(node, list(node.body))

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._function(node, [node.body])

    def _comprehension(
        self, node: ast.AST, kind: str, generators: list[ast.comprehension], parts: list[ast.AST]
    ) -> None:
        self.visit(generators[0].iter)
        rest: list[ast.AST] = [generators[0].target, *generators[0].ifs, *generators[1:], *parts]
        self._within(node, kind, rest)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node, "comprehension", node.generators, [node.elt])

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node, "comprehension", node.generators, [node.elt])

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node, "comprehension", node.generators, [part for part in (node.key, node.value) if part])

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node, "function", node.generators, [node.elt])


def annotations_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    """The annotations of the function's parameters and of its result."""
    arguments = node.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    found = [argument.annotation for argument in named if argument is not None]
    return [annotation for annotation in (*found, node.returns) if annotation is not None]
