"""Rewrites targets: values are stored to temporaries, and from there one after the other.

A target that is an attribute, a subscript or a hooked name cannot stay a target: its store is a call. So the value
is bound to temporaries first, which are then stored in Python's order, left to right:

    a.x, (b, c) = E     .t1, .t2 = .unpack(E);  .setattr(.t1, a, 'x');  b, c = .unpack(.t2);  del .t1, .t2

A comprehension has no statements, but `for x in [E]` in it is an assignment, for the compiler too:

    for a.x in E        for .t1 in .iter(E) for .g in [.setattr(.t1, a, 'x')]
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from dpor.python.rewrite.expressions import ExpressionRewriter
from dpor.python.rewrite.names import is_stored_specially
from dpor.python.rewrite.scopes import ScopeKind
from dpor.python.rewrite.syntax import (
    LOAD,
    STORE,
    PositionedNode,
    assign,
    at,
    constant,
    delete_statement,
    is_super_call,
    name,
    target,
)

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

Binding = tuple[ast.expr | None, ast.expr]
"""A plain target and the value to bind to it; or None and an expression to evaluate for its effect."""

YIELD_TUPLES = frozenset({"enumerate", "zip"})
"""Built-ins whose items are tuples, which cannot change: unpacking one is not an operation."""


class BindingRewriter(ExpressionRewriter):
    """The part of the rewriter for targets, and for the expressions that have some: comprehensions."""

    def is_plain(self, to: ast.expr) -> bool:
        """True for a name that needs no hook."""
        return type(to) is ast.Name and not (self.frame.scope.hooked and self.hooked_store(to.id))

    def steps(self, to: ast.expr, value: ast.expr, temporaries: list[str]) -> Iterator[Binding]:
        """Yield the bindings that store the value, evaluated once and first, to the target. `temporaries` gets those to
        delete."""
        if isinstance(to, ast.Name):
            yield to, self.stored(to.id, value, to)
        elif isinstance(to, ast.Attribute):
            yield self.attribute_store(to, value)
        elif isinstance(to, ast.Subscript):
            yield None, self.call(".setitem", to, value, self.visit(to.value), self.index(to.slice))
        elif isinstance(to, (ast.Tuple, ast.List)):
            yield from self._unpacking(to, value, temporaries)
        else:
            raise AssertionError(f"no target: {ast.dump(to)}")

    def attribute_store(self, to: ast.Attribute, value: ast.expr) -> Binding:
        if type(to.value) is ast.Name and to.value.id == "self":
            self.frame.stored[to.attr] = None
        obj = self.visit(to.value)
        if is_super_call(obj):
            to.value = obj
            return to, value
        hook = ".setspecial" if is_stored_specially(to.attr) else ".setattr"
        return None, self.call(hook, to, value, obj, constant(self.mangled(to.attr), to))

    def _unpacking(self, to: ast.Tuple | ast.List, value: ast.expr, temporaries: list[str]) -> Iterator[Binding]:
        """Unpack into several targets: from the first that is not plain, all go through temporaries, which are stored
        in order."""
        if not _is_display_for(value, to):
            value = self.call(".unpack", value, value)
        first = next((i for i, item in enumerate(to.elts) if not self.is_plain(_item(item))), len(to.elts))
        later = to.elts[first:]
        names = [self.temporary() for _ in later]
        temporaries += names
        for i, (item, temporary) in enumerate(zip(later, names, strict=True), first):
            bound: ast.expr = target(temporary, item)
            to.elts[i] = at(ast.Starred(bound, STORE), item) if type(item) is ast.Starred else bound
        yield to, value
        for item, temporary in zip(later, names, strict=True):
            yield from self.steps(_item(item), name(temporary, item), temporaries)

    def loop_target(self, to: ast.expr, yields_tuples: bool, temporaries: list[str]) -> tuple[ast.expr, list[Binding]]:
        """Return the target that the `for` itself binds, and the bindings that follow in its body."""
        if self.is_plain(to):
            return to, []
        if yields_tuples and isinstance(to, (ast.Tuple, ast.List)):
            (bound, _), *steps = self.steps(to, to, temporaries)
            assert bound is to
            return to, steps
        return self.through_temporary(to, temporaries)

    def through_temporary(self, to: ast.expr, temporaries: list[str]) -> tuple[ast.Name, list[Binding]]:
        temporary = self.temporary()
        temporaries.append(temporary)
        return target(temporary, to), list(self.steps(to, name(temporary, to), temporaries))

    def yields_tuples(self, node: ast.expr) -> bool:
        return (
            type(node) is ast.Call
            and type(node.func) is ast.Name
            and node.func.id in YIELD_TUPLES
            and self.scopes.is_builtin(node.func.id, self.frame.scope)
        )

    # ------------------------------------------------------------------ as statements

    def statements(self, steps: list[Binding], temporaries: list[str], place: PositionedNode) -> list[ast.stmt]:
        done: list[ast.stmt] = [
            at(ast.Expr(value), value) if to is None else assign(to, value, to) for to, value in steps
        ]
        if temporaries:
            done.append(delete_statement(temporaries, place))
        return done

    # ------------------------------------------------------------------ in comprehensions

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp) -> ast.expr:
        with self._comprehension(node, ScopeKind.COMPREHENSION):
            node.elt = self.visit(node.elt)
        return node

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> ast.expr:
        with self._comprehension(node, ScopeKind.COMPREHENSION):
            if node.value is None:  # from 3.15 on, `{**key for ...}`
                node.key = self.call(".unpackmap", node.key, self.visit(node.key))
            else:
                node.key, node.value = self.visit(node.key), self.visit(node.value)
        return node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        with self._comprehension(node, ScopeKind.GENERATOR):
            if type(node.elt) is ast.Starred:  # from 3.15 on; the items come one by one
                node.elt.value = self.call(".iter", node.elt.value, self.visit(node.elt.value))
            else:
                node.elt = self.visit(node.elt)
        return node

    @contextmanager
    def _comprehension(self, node: Comprehension, kind: ScopeKind) -> Iterator[None]:
        """Rewrite the generators; within the context the elements are rewritten, in their scope. The first iterable
        belongs to the outer scope."""
        first = node.generators[0]
        tuples = [self.yields_tuples(generator.iter) for generator in node.generators]
        self._iterable(first)
        with self.inside(node, kind):
            rewritten: list[ast.comprehension] = []
            for generator, yields_tuples in zip(node.generators, tuples, strict=True):
                if generator is not first:
                    self._iterable(generator)
                rewritten += self._clauses(generator, yields_tuples)
            node.generators = rewritten
            yield

    def _iterable(self, generator: ast.comprehension) -> None:
        frame = self.frame
        before, frame.in_iterable = frame.in_iterable, True
        value = self.visit(generator.iter)
        frame.in_iterable = before
        generator.iter = value if generator.is_async else self.call(".iter", value, value)

    def _clauses(self, generator: ast.comprehension, yields_tuples: bool) -> list[ast.comprehension]:
        generator.target, steps = self.loop_target(generator.target, yields_tuples, [])
        tests, generator.ifs = generator.ifs, []
        clauses = [generator]
        for to, value in steps:
            bound = target(".g", value) if to is None else to
            clauses.append(ast.comprehension(bound, at(ast.List([value], LOAD), value), [], 0))
        clauses[-1].ifs = [self.truth(test) for test in tests]
        return clauses


def _item(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Starred) else node


def _is_display_for(value: ast.expr, to: ast.Tuple | ast.List) -> bool:
    """True for `a, b = 1, 2`, which reads nothing from a container."""
    return (
        isinstance(value, (ast.Tuple, ast.List))
        and len(value.elts) == len(to.elts)
        and not any(type(item) is ast.Starred for item in (*value.elts, *to.elts))
    )
