"""Rewrites statements: each becomes one or several, and leaves no new name behind.

Temporaries are deleted as soon as they are used (an exception in between leaves them to the end of the function). A
class body keeps its temporaries in the function around it, as nonlocals, or in the module, so that its namespace, which
may be any object, does not get them.
"""

from __future__ import annotations

import ast
import copy
import sys
from typing import Any

from dpor.python.rewrite import syntax
from dpor.python.rewrite.bindings import BindingRewriter
from dpor.python.rewrite.names import INPLACE, LOADED_SPECIALLY, is_stored_specially
from dpor.python.rewrite.patterns import classes_looked_up, hook_values, rename_captures, subject_names
from dpor.python.rewrite.scopes import Hooked, ScopeKind
from dpor.python.rewrite.syntax import (
    LOAD,
    PositionedNode,
    assign,
    at,
    constant,
    delete_statement,
    is_super_call,
    name,
    target,
    thunk,
)

Statements = ast.stmt | list[ast.stmt]


class StatementRewriter(BindingRewriter):
    """The whole rewriter: statements, on top of targets and expressions."""

    def module(self, tree: ast.Module) -> ast.Module:
        tree.body = self.block(tree.body)
        return tree

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        frame = self.frame
        for statement in body:
            frame.temporaries = 0
            rewritten: Statements = self.visit(statement)
            if isinstance(rewritten, list):
                done += rewritten
            else:
                done.append(rewritten)
        return done

    # ------------------------------------------------------------------ assignments

    def visit_Assign(self, node: ast.Assign) -> Statements:
        value = self.visit(node.value)
        if all(map(self.is_plain, node.targets)):
            node.value = value
            return node
        temporaries: list[str] = []
        if len(node.targets) == 1:
            steps = list(self.steps(node.targets[0], value, temporaries))
            return self.statements(steps, temporaries, node)
        temporaries.append(self.temporary())
        steps = [(target(temporaries[0], node.value), value)]
        for to in node.targets:
            steps += self.steps(to, name(temporaries[0], to), temporaries)
        return self.statements(steps, temporaries, node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Statements:
        """The annotation stays where Python evaluates it: after the store."""
        to = node.target
        if isinstance(to, ast.Name):
            if node.value is not None:
                node.value = self.stored(to.id, self.visit(node.value), node)
            return node
        if node.value is None:
            to.value = self.visit(to.value)
            if isinstance(to, ast.Subscript):
                to.slice = self.visit(to.slice) if type(to.slice) is not ast.Slice else to.slice
            return node
        temporaries: list[str] = []
        stores = self.statements(list(self.steps(to, self.visit(node.value), temporaries)), temporaries, node)
        if self.frame.scope.kind is ScopeKind.FUNCTION:
            return stores
        evaluated = at(ast.AnnAssign(_nowhere(node), node.annotation, None, 0), node)
        return [*stores, evaluated]

    def visit_AugAssign(self, node: ast.AugAssign) -> Statements:
        """Evaluate the target's parts once; then load, value, operation, store."""
        to, hook = node.target, INPLACE[type(node.op)]
        number = (
            not self.numbers and syntax.is_number(node.value) and not syntax.repeats(node.op, node.value, node.value)
        )
        if isinstance(to, ast.Name):
            if number and self.hooked(to.id) is None:
                return node
            load = self.visit(name(to.id, to))
            value = self.call(hook, node, load, self.visit(node.value))
            return assign(to, self.stored(to.id, value, to), node)
        if is_super_call(to.value):
            node.value = self.visit(node.value)
            return node
        before: list[ast.stmt] = []
        temporaries: list[str] = []
        if isinstance(to, ast.Attribute):
            obj, again = self._twice(to.value, [node.value], before, temporaries)
            load_hook = ".getspecial" if to.attr in LOADED_SPECIALLY else ".attr"
            held = self.call(load_hook, to, obj, constant(self.mangled(to.attr), to))
            load = at(ast.Attribute(held, to.attr, LOAD), to)
            parts: tuple[ast.expr, ...] = (again, constant(self.mangled(to.attr), to))
            store = ".setspecial" if is_stored_specially(to.attr) else ".setattr"
        else:
            between = [to.slice, node.value]
            obj, again = self._twice(to.value, between, before, temporaries, steady=self.is_steady(to.slice))
            key, key_again = self._twice(to.slice, [node.value], before, temporaries)
            load = self.call(".getitem", to, obj, key)
            parts = (again, key_again)
            store = ".setitem"
        value = self.call(hook, node, load, self.visit(node.value))
        done = [*before, self._effect(self.call(store, to, value, *parts))]
        return [*done, delete_statement(temporaries, node)] if temporaries else done

    def _twice(
        self,
        node: ast.expr,
        between: list[ast.expr],
        before: list[ast.stmt],
        temporaries: list[str],
        steady: bool = True,
    ) -> tuple[ast.expr, ast.expr]:
        """Return (first, again): `first` evaluates into a temporary, `again` re-reads it.

        `between`: what is evaluated between the two. `before` gets statements to run first, `temporaries` those to
        delete. `steady`: nothing is evaluated before `first`.
        """
        if steady and self.is_steady(node) and not syntax.binds_names(*between):
            return node, syntax.again(node)
        temporary = self.temporary()
        temporaries.append(temporary)
        before.append(assign(target(temporary, node), self.index(node), node))
        return name(temporary, node), name(temporary, node)

    def visit_Delete(self, node: ast.Delete) -> Statements:
        done: list[ast.stmt] = []
        for to in node.targets:
            self._delete(to, done)
        return done or at(ast.Pass(), node)

    def _delete(self, to: ast.expr, done: list[ast.stmt]) -> None:
        if isinstance(to, (ast.Tuple, ast.List)):
            for item in to.elts:
                self._delete(item, done)
            return
        if isinstance(to, ast.Name):
            hooked = self.hooked(to.id)
            if hooked is Hooked.GLOBAL or hooked is Hooked.STORED:
                done.append(self._effect(self.call(".gdel", to, constant(self.mangled(to.id), to))))
            elif hooked is Hooked.CELL:
                done.append(self._effect(self.stored(to.id, constant(None, to), to)))
        elif isinstance(to, ast.Attribute) and not is_super_call(to.value):
            hook = ".delspecial" if is_stored_specially(to.attr) else ".delattr"
            gone = self.call(hook, to, self.visit(to.value), constant(self.mangled(to.attr), to))
            done.append(self._effect(gone))
            return
        elif isinstance(to, ast.Subscript):
            done.append(self._effect(self.call(".delitem", to, self.visit(to.value), self.index(to.slice))))
            return
        done.append(at(ast.Delete([to]), to))

    def _effect(self, value: ast.expr) -> ast.stmt:
        return at(ast.Expr(value), value)

    # ------------------------------------------------------------------ control

    def visit_If(self, node: ast.If) -> Statements:
        node.test = self.truth(node.test)
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> Statements:
        test = self.truth(node.test)
        node.test = at(ast.BoolOp(ast.Or(), [self.call(".tick", test), test]), test)
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        return node

    def visit_For(self, node: ast.For | ast.AsyncFor) -> Statements:
        yields_tuples = self.yields_tuples(node.iter)
        iterable = self.visit(node.iter)
        node.iter = self.call(".iter", iterable, iterable) if type(node) is ast.For else iterable
        temporaries: list[str] = []
        node.target, steps = self.loop_target(node.target, yields_tuples, temporaries)
        stores = self.statements(steps, temporaries, node.target)
        node.body = stores + self.block(node.body)
        node.orelse = self.block(node.orelse)
        return node

    visit_AsyncFor = visit_For

    def visit_With(self, node: ast.With | ast.AsyncWith) -> ast.With | ast.AsyncWith:
        """Store a target that cannot stay at the start of the body; the items after it move into the body, too."""
        for i, item in enumerate(node.items):
            manager = self.visit(item.context_expr)
            item.context_expr = self.call(".managed", manager, manager) if type(node) is ast.With else manager
            to = item.optional_vars
            if to is None or self.is_plain(to):
                continue
            temporaries: list[str] = []
            item.optional_vars, steps = self.through_temporary(to, temporaries)
            stores = self.statements(steps, temporaries, to)
            if i + 1 < len(node.items):
                node.body = [*stores, self.visit_With(at(type(node)(node.items[i + 1 :], node.body), node))]
            else:
                node.body = stores + self.block(node.body)
            node.items = node.items[: i + 1]
            return node
        node.body = self.block(node.body)
        return node

    visit_AsyncWith = visit_With

    def visit_Assert(self, node: ast.Assert) -> Statements:
        node.test = self.truth(node.test)
        if node.msg is not None:
            node.msg = self.visit(node.msg)
        return node

    def visit_Raise(self, node: ast.Raise) -> Statements:
        if node.exc is not None:
            node.exc = self.call(".raises", node.exc, self.visit(node.exc))
        if node.cause is not None:
            node.cause = self.call(".raises", node.cause, self.visit(node.cause))
        return node

    def visit_Try(self, node: Any) -> Any:
        node.body = self.block(node.body)
        for handler in node.handlers:
            self._handler(handler)
        node.orelse, node.finalbody = self.block(node.orelse), self.block(node.finalbody)
        return node

    visit_TryStar = visit_Try

    def _handler(self, node: ast.ExceptHandler) -> None:
        """Rewrite a handler. `except E as x` deletes `x` when the handler ends, however it ends; so must the rewritten
        handler if `x` needs a hook."""
        if node.type is not None:
            node.type = self.visit(node.type)
        id = node.name
        if id is None or not self.hooked_store(id):
            node.body = self.block(node.body)
            return
        node.name = self.temporary()
        store = assign(target(id, node), self.stored(id, name(node.name, node), node), node)
        forget = assign(target(id, node), self.stored(id, constant(None, node), node), node)
        gone: list[ast.stmt] = []
        self._delete(at(ast.Name(id, syntax.DELETE), node), gone)
        body = self.block(node.body)
        rest = at(ast.Try(body=body, handlers=[], orelse=[], finalbody=[forget, *gone]), node.body[0])
        node.body = [store, delete_statement([node.name], node), rest]

    def visit_Match(self, node: ast.Match) -> Statements:
        names = at(ast.Tuple([constant(n, node.subject) for n in subject_names(node)], LOAD), node.subject)
        node.subject = self._with_reads(self.call(".subject", node.subject, self.visit(node.subject), names), node)
        for case in node.cases:
            captures: dict[str, str] = {}
            rename_captures(case.pattern, self.hooked_store, self.temporary, captures)
            hook_values(case.pattern, self.visit)
            stores = [(id, self.stored(id, name(t, case.pattern), case.pattern)) for id, t in captures.items()]
            if case.guard is not None:
                guard = self.truth(case.guard)
                case.guard = self._after(stores, list(captures.values()), guard) if stores else guard
                case.body = self.block(case.body)
            else:
                bound = [assign(target(id, case.pattern), value, case.pattern) for id, value in stores]
                gone = [delete_statement(list(captures.values()), case.pattern)] if stores else []
                case.body = [*bound, *gone, *self.block(case.body)]
        return node

    def _with_reads(self, subject: ast.expr, node: ast.Match) -> ast.expr:
        """Return `(subject, hooks)[0]`: patterns stay as written, so hooks for the names that they look up run
        before."""
        reads: list[ast.expr] = []
        for read in map(copy.deepcopy, classes_looked_up(node)):
            announced = self.visit(read)
            if isinstance(announced, ast.Attribute):
                reads.append(announced.value)
            elif isinstance(announced, ast.BoolOp):
                reads.append(announced.values[0])
        if not reads:
            return subject
        return at(ast.Subscript(at(ast.Tuple([subject, *reads], LOAD), subject), constant(0, subject), LOAD), subject)

    def _after(self, stores: list[tuple[str, ast.expr]], temporaries: list[str], guard: ast.expr) -> ast.expr:
        """Return `(x := hook(t), t := None) and guard`: captures are bound before the guard is evaluated."""
        parts: list[ast.expr] = [at(ast.NamedExpr(target(id, guard), value), guard) for id, value in stores]
        parts += [at(ast.NamedExpr(target(t, guard), constant(None, guard)), guard) for t in temporaries]
        return at(ast.BoolOp(ast.And(), [at(ast.Tuple(parts, LOAD), guard), guard]), guard)

    # ------------------------------------------------------------------ imports

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> Statements:
        """Bind a hooked name by a store of its own, from what was imported.

        (`import a.b` binds `a`, and no alias can do that: there the name is bound shortly before the operation.) What
        the library imports lazily, from 3.15 on, is imported at once; programs that do so are refused.
        """
        if hasattr(node, "is_lazy"):
            node.is_lazy = 0
        if len(node.names) > 1 and isinstance(node, ast.ImportFrom) and self.frame.scope.kind is ScopeKind.FUNCTION:
            each = [at(ast.ImportFrom(node.module, [alias], node.level), node) for alias in node.names]
            done = [self.visit_Import(one) for one in each]
            return [part for one in done for part in (one if isinstance(one, list) else [one])]
        stores: list[ast.stmt] = []
        temporaries: list[str] = []
        for alias in node.names:
            bound = alias.asname or alias.name.split(".")[0]
            if not self.hooked_store(bound):
                continue
            value = bound
            if alias.asname or isinstance(node, ast.ImportFrom) or "." not in alias.name:
                value = alias.asname = self.temporary()
                temporaries.append(value)
            stores.append(assign(target(bound, node), self.stored(bound, name(value, node), node), node))
        if not stores:
            return node
        return [node, *stores, *([delete_statement(temporaries, node)] if temporaries else [])]

    visit_ImportFrom = visit_Import

    # ------------------------------------------------------------------ functions and classes

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Statements:
        node.decorator_list = [self._decorator(decorator) for decorator in node.decorator_list]
        self.defaults(node.args)
        with self.inside(node, ScopeKind.FUNCTION) as frame:
            node.body = self.block(node.body)
            node.body += _note_attributes(frame.stored, node)
        self._announce_definition(node)
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def _decorator(self, node: ast.expr) -> ast.expr:
        """Rewrite a decorator, which is called with what is below it (`@handlers.append`)."""
        return self.call(".call_after", node, self.visit(node))

    def visit_ClassDef(self, node: ast.ClassDef) -> Statements:
        node.decorator_list = [self._decorator(decorator) for decorator in node.decorator_list]
        if self.frame.scope.kind is not ScopeKind.MODULE:
            node.decorator_list.append(self.hook(".made", node))
        if getattr(node, "type_params", None):
            with self.inside(node, ScopeKind.TYPES):
                kept = self._class(node)
        else:
            kept = self._class(node)
        self._announce_definition(node)
        if not kept:
            return node
        if self.frame.scope.kind is ScopeKind.CLASS:
            self.frame.kept |= kept
        elif self.frame.scope.kind is ScopeKind.FUNCTION:
            variables: list[ast.expr] = [target(id, node) for id in kept]
            return [at(ast.Assign(variables, constant(None, node)), node), node]
        return node

    def _class(self, node: ast.ClassDef) -> dict[str, None]:
        """Rewrite a class; returns the temporaries that its body keeps elsewhere."""
        node.bases = [
            base if isinstance(base, ast.Starred) else self.call(".base", base, base)
            for base in map(self.visit, node.bases)
        ]
        self.keywords(node.keywords)
        for keyword in node.keywords:
            if keyword.arg == "metaclass":
                keyword.value = self.call(".base", keyword.value, keyword.value)
        with self.inside(node, ScopeKind.CLASS) as frame:
            body = self.block(node.body)
            in_function = any(outer.scope.kind is ScopeKind.FUNCTION for outer in _outers(frame))
            declarations = _declarations(sorted(frame.hooks), list(frame.kept), in_function, node.body[0])
            after_docstring = 1 if ast.get_docstring(node, clean=False) is not None else 0
            node.body = [*body[:after_docstring], *declarations, *body[after_docstring:]]
        return frame.kept

    def _announce_definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        """Hook the store of a name by `def` or `class`: as the outermost decorator, which runs just before it."""
        if self.hooked_store(node.name):
            place = node.decorator_list[0] if node.decorator_list else node
            decorator = thunk(self.stored(node.name, name(".v", place), place), place, ".v")
            node.decorator_list.insert(0, decorator)


def _outers(frame: Any) -> list[Any]:
    found = []
    while frame.outer is not None:
        frame = frame.outer
        found.append(frame)
    return found


def _declarations(hooks: list[str], kept: list[str], in_function: bool, place: PositionedNode) -> list[ast.stmt]:
    """Declare where a class body finds hooks and temporaries: never in its own namespace."""
    declared: list[ast.stmt] = []
    if hooks:
        declared.append(at(ast.Global(hooks), place))
    if kept:
        declared.append(at(ast.Nonlocal(kept) if in_function else ast.Global(kept), place))
    return declared


def _note_attributes(stored: dict[str, None], place: ast.stmt) -> list[ast.stmt]:
    """Make code that never runs, for `__static_attributes__` of Python 3.13: the compiler collects stores to
    `self.x`."""
    if not stored or sys.version_info < (3, 13):
        return []
    attributes: list[ast.expr] = [
        at(ast.Attribute(name("self", place), attr, syntax.STORE), place) for attr in sorted(stored)
    ]
    never = constant(0, place)
    return [at(ast.If(never, [at(ast.Assign(attributes, constant(None, place)), place)], []), place)]


def _nowhere(node: ast.AnnAssign) -> ast.Name:
    return target(".a", node)
