"""Finds the names of a module that need a hook: rebound globals, and closure cells that are rebound while other code
may see it.

This is our own analysis of the syntax tree rather than `symtable`: the question is not only whose a name is but *when*
it is bound, and comprehensions are scopes of their own in every version of Python here (3.12 inlines them). Time is a
number that grows along the text. Only `for` and `while` go back, so:

    a binding may happen until   its own moment, or the end of the outermost loop around it
    a cell is effectively final  if no binding may happen after the first moment at which a closure that refers to it
                                 and can leak (a function, a lambda, a generator expression) exists,
                                 and no nested scope rebinds it

A list comprehension or a class body runs at once and leaks nothing by itself. A `def` without decorators binds its name
at the moment in which it makes its function, so a function that refers to itself is final.
"""

from __future__ import annotations

import ast
import enum
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from dpor.python.rewrite.syntax import mangle

CONSUMERS = frozenset({"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"})
"""Built-ins that consume a generator expression before they return, so that it does not leak."""


class ScopeKind(enum.Enum):
    """The kind of a scope.

    FUNCTION: also a lambda. COMPREHENSION: of a list, set or dict. TYPES: of type parameters (3.12).
    """

    MODULE = enum.auto()
    FUNCTION = enum.auto()
    CLASS = enum.auto()
    COMPREHENSION = enum.auto()
    GENERATOR = enum.auto()
    TYPES = enum.auto()


LEAKING = (ScopeKind.FUNCTION, ScopeKind.GENERATOR)
IMMEDIATE = (ScopeKind.COMPREHENSION, ScopeKind.GENERATOR)


class Hooked(enum.Enum):
    """How a name has to be hooked.

    CLASS_ONLY: a class binds it, but its loads fall back to a rebound global. STORED: a global that only the module
    itself binds, while other threads may see that.
    """

    GLOBAL = enum.auto()
    STORED = enum.auto()
    CELL = enum.auto()
    CLASS_ONLY = enum.auto()


class Scope:
    """A scope, as the analysis fills it in. Moments are counted along the text, from 0.

    private         the class whose name mangles, if any (the bases of a generic class: in 3.12 its own, in 3.13 none)
    names           all names used or bound here; `bound`: name -> the last moment at which a binding may happen
    globals         names declared global, `nonlocals` likewise
    created         the moment from which other code may have the closure of this scope
    consumer        the built-in that consumes this generator expression at once
    captured        name -> the first moment at which a closure that can leak refers to this scope's variable
    foreign         this scope's variables that a nested scope rebinds
    hooked          the result: names that need a hook when they are used *here*
    """

    __slots__ = (
        "bound", "captured", "consumer", "created", "foreign", "globals", "hooked", "in_loop", "kind", "loops", "names",
        "nonlocals", "parent", "private",
    )  # fmt: skip

    def __init__(self, kind: ScopeKind, parent: Scope | None, private: str | None, created: int) -> None:
        self.kind = kind
        self.parent = parent
        self.private = private
        self.created = created
        self.consumer: str | None = None
        self.names: set[str] = set()
        self.bound: dict[str, int] = {}
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.captured: dict[str, int] = {}
        self.foreign: set[str] = set()
        self.hooked: dict[str, Hooked] = {}
        self.loops = 0
        self.in_loop: set[str] = set()

    def owns(self, name: str) -> bool:
        return name in self.bound and name not in self.globals and name not in self.nonlocals

    def is_final(self, name: str) -> bool:
        """True if this variable is never bound while other code may have a closure that refers to it."""
        first = self.captured.get(name)
        return first is None or (name not in self.foreign and self.bound[name] < first)

    def owner(self, name: str) -> Scope:
        """Return the scope whose variable this name means here; the module's for globals and built-ins."""
        scope: Scope = self
        if name not in scope.globals:
            if scope.owns(name):
                return scope
            while scope.parent is not None:
                scope = scope.parent
                if scope.kind is ScopeKind.CLASS:
                    continue
                if name in scope.globals:
                    break
                if scope.owns(name):
                    return scope
        while scope.parent is not None:
            scope = scope.parent
        return scope


class Scopes:
    """The scopes of a module, by the node that opens them."""

    def __init__(
        self, module: Scope, nodes: dict[tuple[ast.AST, ScopeKind], Scope], visible: frozenset[str], star: bool
    ) -> None:
        self.module = module
        self._nodes = nodes
        self._visible = visible
        self._star = star

    def items(self) -> list[tuple[ast.AST, Scope]]:
        """List all scopes, with the nodes that open them, in the order of the text."""
        return [(node, scope) for (node, _), scope in self._nodes.items()]

    def of(self, node: ast.AST, kind: ScopeKind) -> Scope:
        return self._nodes[node, kind]

    def is_builtin(self, name: str, scope: Scope) -> bool:
        """True if nothing in this module binds that name of a built-in."""
        owner = scope.owner(name)
        return owner is self.module and name not in owner.bound and name not in self._visible and not self._star


def scopes_of(tree: ast.Module, visible_globals: frozenset[str] = frozenset(), starts_threads: bool = False) -> Scopes:
    """Return the scopes of a module, each with the names that need hooks in it.

    `visible_globals`: globals that other modules rebind. `starts_threads`: importing the module starts threads.
    """
    collector = _Collector()
    collector.module(tree)
    visible = visible_globals | collector.rebound_globals
    scopes = Scopes(collector.root, collector.scopes, visible, collector.star)
    for _, scope in scopes.items():
        _note_captures(scope, scopes)
    for _, scope in scopes.items():
        for name in scope.names:
            owner = scope.owner(name)
            if owner is scopes.module:
                if name in visible:
                    scope.hooked[name] = Hooked.GLOBAL
                elif starts_threads:
                    scope.hooked[name] = Hooked.STORED
            elif owner.kind is not ScopeKind.CLASS:
                if not owner.is_final(name):
                    scope.hooked[name] = Hooked.CELL
            elif name in visible:
                scope.hooked[name] = Hooked.CLASS_ONLY
    return scopes


def _note_captures(scope: Scope, scopes: Scopes) -> None:
    """Record with the owners of variables that this scope refers to them."""
    for name in scope.names:
        owner = scope.owner(name)
        if owner is scope or owner is scopes.module:
            continue
        if name in scope.nonlocals and name in scope.bound:
            owner.foreign.add(name)
        leaks, step = False, scope
        while True:
            leaks = leaks or _leaks(step, scopes)
            assert step.parent is not None
            if step.parent is owner:
                break
            step = step.parent
        if leaks:
            owner.captured[name] = min(step.created, owner.captured.get(name, step.created))


def _leaks(scope: Scope, scopes: Scopes) -> bool:
    if scope.kind is ScopeKind.GENERATOR and scope.consumer is not None:
        assert scope.parent is not None
        return not scopes.is_builtin(scope.consumer, scope.parent)
    return scope.kind in LEAKING


class _Collector:
    """One walk over the tree, in the order of evaluation."""

    def __init__(self) -> None:
        self.scopes: dict[tuple[ast.AST, ScopeKind], Scope] = {}
        self.rebound_globals: set[str] = set()
        self.star = False
        self._now = 0
        self._consumer: str | None = None
        self._visitors: dict[type[ast.AST], Callable[[Any], None]] = {
            kind: getattr(self, "_" + kind.__name__) for kind in _special_nodes()
        }

    # ------------------------------------------------------------------ scopes

    def module(self, tree: ast.Module) -> None:
        self.root = self.scope = Scope(ScopeKind.MODULE, None, None, 0)
        self.scopes[tree, ScopeKind.MODULE] = self.root
        self._all(tree.body)

    @contextmanager
    def _inside(self, node: ast.AST, kind: ScopeKind, private: str | None = None) -> Iterator[Scope]:
        outer = self.scope
        self.scope = Scope(kind, outer, outer.private if private is None else private, self._moment())
        self.scopes[node, kind] = self.scope
        try:
            yield self.scope
        finally:
            self.scope = outer

    def _moment(self) -> int:
        self._now += 1
        return self._now

    @contextmanager
    def _loop(self) -> Iterator[None]:
        """Context of a loop: a binding in it may happen until the outermost loop of its scope ends."""
        scope = self.scope
        scope.loops += 1
        try:
            yield
        finally:
            scope.loops -= 1
            if not scope.loops:
                end = self._moment()
                for name in scope.in_loop:
                    scope.bound[name] = end
                scope.in_loop.clear()

    def _use(self, name: str) -> None:
        self.scope.names.add(mangle(name, self.scope.private))

    def _bind(self, name: str, scope: Scope | None = None) -> None:
        scope = scope or self.scope
        name = mangle(name, scope.private)
        scope.names.add(name)
        scope.bound[name] = self._moment()
        if scope.loops:
            scope.in_loop.add(name)
        if name in scope.globals:
            self.rebound_globals.add(name)

    # ------------------------------------------------------------------ walking

    def _all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def visit(self, node: ast.AST) -> None:
        visitor = self._visitors.get(type(node))
        if visitor is not None:
            visitor(node)
            return
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, list):
                for item in value:
                    if isinstance(item, ast.AST):
                        self.visit(item)
            elif isinstance(value, ast.AST):
                self.visit(value)

    def _nothing(self, node: ast.AST) -> None:
        pass

    _Load = _Store = _Del = _Constant = _nothing

    # ------------------------------------------------------------------ names

    def _Name(self, node: ast.Name) -> None:
        if type(node.ctx) is ast.Load:
            self._use(node.id)
        else:
            self._bind(node.id)

    def _Global(self, node: ast.Global) -> None:
        names = {mangle(name, self.scope.private) for name in node.names}
        self.scope.names |= names
        if self.scope is not self.root:
            self.scope.globals |= names

    def _Nonlocal(self, node: ast.Nonlocal) -> None:
        names = {mangle(name, self.scope.private) for name in node.names}
        self.scope.names |= names
        self.scope.nonlocals |= names

    def _NamedExpr(self, node: ast.NamedExpr) -> None:
        """The name is bound in the nearest scope that is not a comprehension."""
        self.visit(node.value)
        scope, later = self.scope, False
        self._use(node.target.id)
        while scope.kind in IMMEDIATE and scope.parent is not None:
            later = later or scope.kind is ScopeKind.GENERATOR
            scope = scope.parent
        self._bind(node.target.id, scope)
        if later:
            scope.foreign.add(mangle(node.target.id, scope.private))

    def _MatchAs(self, node: ast.MatchAs) -> None:
        if node.pattern is not None:
            self.visit(node.pattern)
        if node.name is not None:
            self._bind(node.name)

    def _MatchStar(self, node: ast.MatchStar) -> None:
        if node.name is not None:
            self._bind(node.name)

    def _MatchMapping(self, node: ast.MatchMapping) -> None:
        self._all([*node.keys, *node.patterns])
        if node.rest is not None:
            self._bind(node.rest)

    def _Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name == "*":
                self.star = True
            else:
                self._bind(alias.asname or alias.name.split(".")[0])

    _ImportFrom = _Import

    # ------------------------------------------------------------------ statements

    def _Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        self._all(node.targets)
        if type(node.value) is ast.Lambda and len(node.targets) == 1:
            self.scopes[node.value, ScopeKind.FUNCTION].created = self._moment()

    def _AugAssign(self, node: ast.AugAssign) -> None:
        if type(node.target) is ast.Name:
            self._use(node.target.id)
        self.visit(node.value)
        self.visit(node.target)

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
        if node.value is not None or node.simple or type(node.target) is not ast.Name:
            self.visit(node.target)
        self.visit(node.annotation)

    def _For(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        with self._loop():
            self.visit(node.target)
            self._all(node.body)
        self._all(node.orelse)

    _AsyncFor = _For

    def _While(self, node: ast.While) -> None:
        with self._loop():
            self.visit(node.test)
            self._all(node.body)
        self._all(node.orelse)

    def _ExceptHandler(self, node: ast.ExceptHandler) -> None:
        """The name is bound, and deleted when the handler ends."""
        if node.type is not None:
            self.visit(node.type)
        if node.name is not None:
            self._bind(node.name)
        self._all(node.body)
        if node.name is not None:
            self._bind(node.name)

    # ------------------------------------------------------------------ functions and classes

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._all(node.decorator_list)
        self._defaults(node.args)
        if getattr(node, "type_params", None):
            with self._inside(node, ScopeKind.TYPES) as opened:
                self._type_params(node)
                self._annotations(node)
                self._function(node)
        else:
            self._annotations(node)
            opened = self._function(node)
        self._bind(node.name)
        if not node.decorator_list:
            opened.created = self._moment()

    _AsyncFunctionDef = _FunctionDef

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Scope:
        with self._inside(node, ScopeKind.FUNCTION) as scope:
            self._parameters(node.args)
            self._all(node.body)
        return scope

    def _Lambda(self, node: ast.Lambda) -> None:
        self._defaults(node.args)
        with self._inside(node, ScopeKind.FUNCTION):
            self._parameters(node.args)
            self.visit(node.body)

    def _defaults(self, args: ast.arguments) -> None:
        self._all([*args.defaults, *args.kw_defaults])

    def _parameters(self, args: ast.arguments) -> None:
        for arg in _all_args(args):
            self._bind(arg.arg)

    def _annotations(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._all([*(arg.annotation for arg in _all_args(node.args)), node.returns])

    def _type_params(self, node: ast.AST) -> None:
        private = node.name if isinstance(node, ast.ClassDef) else self.scope.private
        for parameter in getattr(node, "type_params", ()):
            self._bind(mangle(parameter.name, private))
        for parameter in getattr(node, "type_params", ()):
            self._all([getattr(parameter, "bound", None), getattr(parameter, "default_value", None)])

    def _ClassDef(self, node: ast.ClassDef) -> None:
        self._all(node.decorator_list)
        if getattr(node, "type_params", None):
            with self._inside(node, ScopeKind.TYPES, node.name if sys.version_info < (3, 13) else "") as opened:
                self._type_params(node)
                self._class(node)
        else:
            opened = self._class(node)
        self._bind(node.name)
        if _is_quiet(node):
            opened.created = self._moment()

    def _class(self, node: ast.ClassDef) -> Scope:
        self._all([*node.bases, *node.keywords])
        with self._inside(node, ScopeKind.CLASS, node.name) as scope:
            self._all(node.body)
        return scope

    def _TypeAlias(self, node: Any) -> None:
        with self._inside(node, ScopeKind.TYPES):
            self._type_params(node)
            self.visit(node.value)
        self.visit(node.name)

    # ------------------------------------------------------------------ comprehensions

    def _Call(self, node: ast.Call) -> None:
        self.visit(node.func)
        first = node.args[0] if node.args else None
        self._all([*node.args, *node.keywords])
        if type(first) is ast.GeneratorExp and type(node.func) is ast.Name and node.func.id in CONSUMERS:
            self.scopes[first, ScopeKind.GENERATOR].consumer = node.func.id

    def _ListComp(self, node: ast.ListComp | ast.SetComp) -> None:
        self._comprehension(node, ScopeKind.COMPREHENSION, node.generators, [node.elt])

    _SetComp = _ListComp

    def _DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node, ScopeKind.COMPREHENSION, node.generators, [node.key, node.value])

    def _GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node, ScopeKind.GENERATOR, node.generators, [node.elt])

    def _comprehension(
        self, node: ast.expr, kind: ScopeKind, generators: list[ast.comprehension], elements: list[ast.expr]
    ) -> None:
        """The first iterable belongs to the enclosing scope, for which all of this counts as a loop, too."""
        self.visit(generators[0].iter)
        with self._loop(), self._inside(node, kind), self._loop():
            for generator in generators:
                if generator is not generators[0]:
                    self.visit(generator.iter)
                self.visit(generator.target)
                self._all(generator.ifs)
            self._all(elements)


def _special_nodes() -> Iterator[type[ast.AST]]:
    for name in vars(_Collector):
        kind = getattr(ast, name[1:], None) if name[:1] == "_" else None
        if isinstance(kind, type) and issubclass(kind, ast.AST):
            yield kind


def _all_args(args: ast.arguments) -> list[ast.arg]:
    found = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    return found + [arg for arg in (args.vararg, args.kwarg) if arg is not None]


def _is_quiet(node: ast.ClassDef) -> bool:
    """True if no other code can get this class's methods before its name is bound.

    That is so for a class without bases or decorators whose body only defines methods and constants, and calls nothing.
    """
    return not (node.decorator_list or node.bases or node.keywords) and all(map(_is_quiet_statement, node.body))


def _is_quiet_statement(node: ast.stmt) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return not (node.decorator_list or node.args.defaults or any(node.args.kw_defaults))
    if isinstance(node, (ast.Assign, ast.Expr)):
        return type(node.value) is ast.Constant
    return isinstance(node, ast.Pass)
