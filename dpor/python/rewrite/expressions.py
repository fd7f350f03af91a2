"""Rewrites expressions: every construct that can touch an object becomes a call of its hook.

The order of evaluation is Python's, everything is evaluated once, and each new node has the position of the source
that it replaces. A call is hooked at the lookup (`.meth(E, 'm').m(x)`, never `.meth(E, 'm', x)`), so that no frame of
ours stands between caller and callee.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dpor.core.errors import Unsupported
from dpor.python.rewrite import syntax
from dpor.python.rewrite.formats import as_fstring
from dpor.python.rewrite.names import BINARY, COMPARE, LOADED_SPECIALLY, OPERAND, UNARY
from dpor.python.rewrite.scopes import IMMEDIATE, Hooked, Scope, ScopeKind, Scopes
from dpor.python.rewrite.syntax import (
    LOAD,
    PositionedNode,
    at,
    constant,
    is_super_call,
    mangle,
    may_run_code,
    name,
    target,
    thunk,
)

ONLY_PARTS = (
    # statements
    *("Expr", "Return"),
    # expressions
    *("Yield", "Tuple", "List", "Set", "TemplateStr", "Interpolation"),
)
"""Nodes that touch nothing themselves: only their parts are rewritten."""

NATURAL = {
    "a constant": ("Constant",),
    "control": ("Pass", "Break", "Continue"),
    "a declaration": ("Global", "Nonlocal"),
    "rewritten with what is around it": (
        *("alias", "arg", "arguments", "comprehension", "keyword", "withitem", "ExceptHandler", "match_case", "Slice"),
        "FormattedValue",
    ),
    "a type, evaluated later or not at all": ("TypeAlias", "TypeVar", "ParamSpec", "TypeVarTuple"),
    "a pattern: `.subject` reads for it": (
        *("MatchValue", "MatchSingleton", "MatchSequence", "MatchMapping", "MatchClass", "MatchStar", "MatchAs"),
        "MatchOr",
    ),
    "an operator: its expression is hooked": (
        *("And", "Or", "Not", "Invert", "UAdd", "USub", "Add", "Sub", "Mult", "MatMult", "Div", "Mod", "Pow", "LShift"),
        *("RShift", "BitOr", "BitXor", "BitAnd", "FloorDiv", "Eq", "NotEq", "Lt", "LtE", "Gt", "GtE", "Is", "IsNot"),
        *("In", "NotIn"),
    ),
    "how a name is used": ("Load", "Store", "Del"),
    "not the syntax of a module": ("Module", "Interactive", "Expression", "FunctionType", "TypeIgnore"),
}
"""Nodes that are left as they are, by reason."""

_INLINED_SINCE = {"all": (3, 14), "any": (3, 14), "tuple": (3, 14), "list": (3, 15), "set": (3, 15)}
"""Built-in functions for which the compiler makes a loop over a generator expression, and since which Python."""


class Frame:
    """The state of the rewriter in the current scope.

    temporaries   how many the current statement has used
    kept          temporaries of a class body, which live in the enclosing scope
    hooks         names of hooks that a class body uses
    in_iterable   True inside an iterable of a comprehension, at any depth: `:=` is not allowed there
    stored        attributes of `self` that this function stores
    """

    __slots__ = ("hooks", "in_iterable", "kept", "outer", "scope", "stored", "temporaries")

    def __init__(self, scope: Scope, outer: Frame | None) -> None:
        self.scope = scope
        self.outer = outer
        self.temporaries = 0
        self.kept: dict[str, None] = {}
        self.hooks: set[str] = set()
        self.stored: dict[str, None] = {}
        self.in_iterable: bool = outer is not None and outer.in_iterable


class ExpressionRewriter:
    """The part of the rewriter for expressions."""

    def __init__(self, scopes: Scopes, numbers: bool = False, unhooked: frozenset[str] = frozenset()) -> None:
        self.scopes = scopes
        self.numbers = numbers
        self.unhooked = unhooked
        self.frame = Frame(scopes.module, None)
        self._visitors: dict[type[ast.AST], Callable[[Any], Any]] = {}
        for method in dir(self):
            if method.startswith("visit_") and hasattr(ast, method[6:]):
                self._visitors[getattr(ast, method[6:])] = getattr(self, method)
        for kind in ONLY_PARTS:
            if hasattr(ast, kind):
                self._visitors[getattr(ast, kind)] = self._parts
        for kinds in NATURAL.values():
            for kind in kinds:
                if hasattr(ast, kind):
                    self._visitors[getattr(ast, kind)] = _same

    # ------------------------------------------------------------------ walking

    def visit(self, node: Any) -> Any:
        """Return the rewritten expression; for a statement, the statement or list of statements that replaces it."""
        visitor = self._visitors.get(type(node))
        if visitor is None:
            raise Unsupported(f"line {node.lineno}: {type(node).__name__} is newer than this version of dpor knows")
        return visitor(node)

    def _parts(self, node: Any) -> Any:
        for field in node._fields:
            value = getattr(node, field)
            if isinstance(value, list):
                value[:] = [item if item is None else self.visit(item) for item in value]
            elif isinstance(value, ast.AST) and field != "ctx":
                setattr(node, field, self.visit(value))
        return node

    @contextmanager
    def inside(self, node: ast.AST, kind: ScopeKind) -> Iterator[Frame]:
        outer = self.frame
        self.frame = Frame(self.scopes.of(node, kind), outer)
        try:
            yield self.frame
        finally:
            self.frame = outer

    # ------------------------------------------------------------------ hooks and names

    def hook(self, hook: str, place: PositionedNode) -> ast.Name:
        """Make a node with the hook's name. A class body looks it up as a global, past a namespace of the program's
        own."""
        frame = self.frame
        while frame.scope.kind in IMMEDIATE and frame.outer is not None:
            frame = frame.outer
        if frame.scope.kind is ScopeKind.CLASS:
            frame.hooks.add(hook)
        return name(hook, place)

    def call(self, hook: str, place: PositionedNode, *args: ast.expr) -> ast.Call:
        return at(ast.Call(self.hook(hook, place), list(args), []), place)

    def mangled(self, id: str) -> str:
        return mangle(id, self.frame.scope.private)

    def hooked(self, id: str) -> Hooked | None:
        return self.frame.scope.hooked.get(self.mangled(id))

    def hooked_store(self, id: str) -> bool:
        return self.hooked(id) in (Hooked.GLOBAL, Hooked.STORED, Hooked.CELL)

    def temporary(self) -> str:
        """Return a name for a temporary of this statement.

        In a class body it would show in the namespace, so it is a variable of the function around, or of the module:
        see `declare_names`.
        """
        frame = self.frame
        frame.temporaries += 1
        if frame.scope.kind is ScopeKind.CLASS:
            id = f".k{frame.temporaries}"
            frame.kept[id] = None
            return id
        return f".t{frame.temporaries}"

    def stored(self, id: str, value: ast.expr, place: PositionedNode) -> ast.expr:
        """Wrap a value that is about to be stored in the variable: the hook performs the store's operation."""
        hooked = self.hooked(id)
        if hooked is Hooked.GLOBAL or hooked is Hooked.STORED:
            return self.call(".gstore", place, constant(self.mangled(id), place), value)
        if hooked is Hooked.CELL:
            return self.call(".cstore", place, thunk(name(id, place), place), value)
        return value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if type(node.ctx) is not ast.Load:
            return node
        hooked = self.hooked(node.id)
        if hooked is None or hooked is Hooked.STORED:
            return node
        if hooked is Hooked.CELL:
            announced = self.call(".cload", node, thunk(name(node.id, node), node))
        else:
            announced = self.call(".gload", node, constant(self.mangled(node.id), node))
        return at(ast.BoolOp(ast.Or(), [announced, node]), node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        node.value = self.stored(node.target.id, self.visit(node.value), node)
        return node

    # ------------------------------------------------------------------ objects

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self._attribute(node, ".attr")

    def _attribute(self, node: ast.Attribute, hook: str) -> ast.expr:
        value = self.visit(node.value)
        if sys.version_info >= (3, 12) and is_super_call(value):
            ast.copy_location(value, node)  # of which an error of `super()` tells there
        if hook == ".attr":
            if is_super_call(value):
                hook = ".getsuper"
            elif node.attr in LOADED_SPECIALLY:
                hook = ".getspecial"
            elif node.attr in self.unhooked:
                node.value = value
                return node
        node.value = self.call(hook, node, value, constant(self.mangled(node.attr), value))
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        func = node.func
        after = "_after" if any(map(may_run_code, [*node.args, *[keyword.value for keyword in node.keywords]])) else ""
        if type(func) is ast.Attribute:
            node.func = self._attribute(func, f".meth{after}")
        elif not is_super_call(node):
            node.func = self.call(f".call{after}", func, self.visit(func))
        makes_type = self._makes_type(func, node)
        node.args = [self.visit(arg) for arg in node.args]
        if makes_type:
            node.args[2] = self.call(".unpackmap", node.args[2], node.args[2])
        self.keywords(node.keywords)
        if self._is_inlined(func, node):
            ast.copy_location(node, func)
        return node

    def _is_inlined(self, func: ast.expr, node: ast.Call) -> bool:
        """True for `list(x for x in y)` and the like: the compiler makes a loop, and an error in it is told there."""
        only = len(node.args) == 1 and not node.keywords and type(node.args[0]) is ast.GeneratorExp
        if not only or type(func) is not ast.Name:
            return False
        since = _INLINED_SINCE.get(func.id)
        return since is not None and sys.version_info >= since and self.scopes.is_builtin(func.id, self.frame.scope)

    def _makes_type(self, func: ast.expr, node: ast.Call) -> bool:
        """True for `type(name, bases, namespace)`."""
        if type(func) is not ast.Name or func.id != "type" or len(node.args) != 3:
            return False
        starred = any(isinstance(arg, ast.Starred) for arg in node.args)
        return not starred and self.scopes.is_builtin("type", self.frame.scope)

    def keywords(self, keywords: list[ast.keyword]) -> None:
        for keyword in keywords:
            value = self.visit(keyword.value)
            keyword.value = self.call(".unpackmap", value, value) if keyword.arg is None else value

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        value = self.visit(node.value)
        node.value = self.call(".unpack", value, value)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        for i, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
            if key is None:
                node.values[i] = self.call(".unpackmap", value, self.visit(value))
            else:
                node.keys[i], node.values[i] = self.visit(key), self.visit(value)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return self.call(".getitem", node, self.visit(node.value), self.index(node.slice))

    def index(self, node: ast.expr) -> ast.expr:
        """Rewrite what is between the brackets of a subscript, with slices as objects."""
        if type(node) is ast.Slice:
            bounds = (node.lower, node.upper, node.step)
            return self.call(".slice", node, *(constant(None, node) if b is None else self.visit(b) for b in bounds))
        if type(node) is ast.Tuple:
            node.elts = [self.index(item) for item in node.elts]
            return node
        value: ast.expr = self.visit(node)
        return value

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        for part in node.values:
            if type(part) is ast.FormattedValue:
                value = part.value
                part.value = value if type(value) is ast.Constant else self.call(".format", value, self.visit(value))
                if part.format_spec is not None:
                    part.format_spec = self.visit(part.format_spec)
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.expr:
        node.value = self.call(".iter", node.value, self.visit(node.value))
        return node

    def visit_Await(self, node: ast.Await) -> ast.expr:
        node.value = self.call(".awaited", node.value, self.visit(node.value))
        return node

    # ------------------------------------------------------------------ truth

    def truth(self, node: ast.expr) -> ast.expr:
        """Rewrite an expression of which only the truth matters. Without `.truth` if its value is never a container."""
        kind = type(node)
        if kind is ast.BoolOp:
            node.values = [self.truth(value) for value in node.values]  # type: ignore[attr-defined]
            return node
        if isinstance(node, ast.IfExp):
            node.test, node.body, node.orelse = map(self.truth, (node.test, node.body, node.orelse))
            return node
        value: ast.expr = self.visit(node)
        if kind in (ast.Compare, ast.Constant) or (kind is ast.UnaryOp and type(node.op) is ast.Not):  # type: ignore[attr-defined]
            return value
        if kind is ast.Name and node.id == "__debug__":  # type: ignore[attr-defined]
            return value
        return self.call(".truth", node, value)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        last = self.visit(node.values[-1])
        node.values = [*(self.truth(value) for value in node.values[:-1]), last]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        node.test, node.body, node.orelse = self.truth(node.test), self.visit(node.body), self.visit(node.orelse)
        return node

    # ------------------------------------------------------------------ operators

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if type(node.op) is ast.Not:
            node.operand = self.truth(node.operand)
            return node
        if syntax.is_number(node.operand):
            return node
        return self.call(UNARY[type(node.op)], node, self.visit(node.operand))

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if syntax.is_fixed(node):
            return node
        formatted = as_fstring(node)
        if formatted is not None:
            return self.visit_JoinedStr(formatted)
        left, right = node.left, node.right
        number = not self.numbers and (syntax.is_number(left) or syntax.is_number(right))
        if number and not syntax.repeats(node.op, left, right):
            node.left, node.right = self.visit(left), self.visit(right)
            return node
        return self.call(BINARY[type(node.op)], node, self.visit(left), self.visit(right))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        operands = [node.left, *node.comparators]
        plain = [self._is_plain(op, *operands[i : i + 2]) for i, op in enumerate(node.ops)]
        if all(plain):
            node.left, *node.comparators = map(self.visit, operands)
            return node
        if len(plain) == 1:
            return self.compare(node.ops[0], self.visit(operands[0]), self.visit(operands[1]), node, plain[0])
        frame = self.frame
        if frame.scope.kind is ScopeKind.FUNCTION and not frame.in_iterable:
            return self._chain(node, operands, plain)
        return self._chain_of_operands(node, operands)

    def _is_plain(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> bool:
        """True if this comparison never reads a container."""
        if isinstance(op, (ast.Is, ast.IsNot)):
            return True
        if self.numbers:
            return False
        if isinstance(op, (ast.In, ast.NotIn)):
            return syntax.is_plain_collection(right)
        return syntax.compares_plainly(left) or syntax.compares_plainly(right)

    def compare(self, op: ast.cmpop, left: ast.expr, right: ast.expr, place: PositionedNode, plain: bool) -> ast.expr:
        if plain:
            return at(ast.Compare(left, [op], [right]), place)
        if isinstance(op, (ast.In, ast.NotIn)):
            found = self.call(".contains", place, left, right)
            return found if type(op) is ast.In else at(ast.UnaryOp(ast.Not(), found), place)
        return self.call(COMPARE[type(op)], place, left, right)

    def _chain(self, node: ast.Compare, operands: list[ast.expr], plain: list[bool]) -> ast.expr:
        """Rewrite `a < f() < c` as `(a < (t := f()) and t < c, t := None)[0]`: no temporary keeps an object alive.

        (If a comparison returns something that is not a bool, its truth may be asked once more or once less than
        before.)
        """
        temporaries: list[str] = []
        left: ast.expr = self.visit(operands[0])
        links: list[ast.expr] = []
        for op, operand, is_plain in zip(node.ops, operands[1:], plain, strict=True):
            right = self.visit(operand)
            following = right
            if operand is not operands[-1]:
                if self.is_steady(operand):
                    following = syntax.again(operand)
                else:
                    temporaries.append(self.temporary())
                    right = at(ast.NamedExpr(target(temporaries[-1], operand), right), operand)
                    following = name(temporaries[-1], operand)
            links.append(self.compare(op, left, right, node, is_plain))
            left = following
        chain = at(ast.BoolOp(ast.And(), links), node)
        if not temporaries:
            return chain
        cleared = [at(ast.NamedExpr(target(t, node), constant(None, node)), node) for t in temporaries]
        return at(ast.Subscript(at(ast.Tuple([chain, *cleared], LOAD), node), constant(0, node), LOAD), node)

    def _chain_of_operands(self, node: ast.Compare, operands: list[ast.expr]) -> ast.expr:
        wrapped: list[ast.expr] = []
        for operand, op in zip(operands, node.ops, strict=False):
            parts = [self.hook(OPERAND[type(op)], operand), self.visit(operand)]
            if isinstance(op, (ast.NotIn, ast.IsNot)):
                parts.append(at(ast.Constant(True), operand))
            wrapped.append(self.call(".operand", operand, *parts))
        node.left, *node.comparators = [*wrapped, self.visit(operands[-1])]
        node.ops = [ast.Lt() for _ in node.ops]
        return node

    def is_steady(self, node: ast.expr) -> bool:
        """True for a constant, or a name that only this function binds: evaluated again, it gives the same object.

        That holds unless a `:=` is evaluated in between.
        """
        scope = self.frame.scope
        if type(node) is ast.Constant:
            return True
        if type(node) is not ast.Name or scope.kind is not ScopeKind.FUNCTION:
            return False
        return scope.owns(self.mangled(node.id)) and self.hooked(node.id) is None

    # ------------------------------------------------------------------ scopes in expressions

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self.defaults(node.args)
        with self.inside(node, ScopeKind.FUNCTION):
            node.body = self.visit(node.body)
        return node

    def defaults(self, args: ast.arguments) -> None:
        """Rewrite the default values of parameters; annotations stay as they are."""
        args.defaults = [self.visit(value) for value in args.defaults]
        args.kw_defaults = [value if value is None else self.visit(value) for value in args.kw_defaults]


def _same(node: ast.AST) -> ast.AST:
    return node
