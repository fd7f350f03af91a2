"""`exec`, `eval` and `compile`: source that the program makes at run time is instrumented like its files.

The code must find the hooks where it looks up names. Globals of the program's modules contain them. Any other dict that
is used as globals gets them in its `__builtins__`, which `exec` adds anyway, so that they are not among its own keys.
There, each top-level name is a key of the dict, which others may read and write as a key; so it is hooked like a
rebound global, by a `.gload` and `.gstore` of that dict.

Code that was compiled elsewhere runs as it is, and the verdict says so.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import copy
import sys
import types
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any, Final, Literal

from dpor.python.effects.accesses import yield_before
from dpor.python.effects.dicts import moves_key, reads_key, writes_key
from dpor.python.effects.kinds import is_hooked
from dpor.python.hooks.calls.registry import wrap
from dpor.python.hooks.calls.unknown import yield_before_call
from dpor.python.kernel.classes import is_a
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.run import run
from dpor.python.rewrite import HOOK_NAMES, deep_recursion, rewrite
from dpor.python.rewrite.cache import cached, source_of
from dpor.python.rewrite.scopes import scopes_of
from dpor.python.sharing import children, shared_objects

_Mode = Literal["exec", "eval", "single"]
_FUTURE: Final = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names})
"""Flags that code inherits from the code that compiles it."""

_compiled: set[CodeType] = set()
"""Code that was compiled here and needs no hooks: it can so be told from code of which nothing is known."""


@wrap(exec)
def _exec(*args: Any, **others: Any) -> Any:
    return _run(exec, args, others)


@wrap(eval)
def _eval(*args: Any, **others: Any) -> Any:
    return _run(eval, args, others)


def _run(function: Callable[..., Any], args: tuple[Any, ...], others: dict[str, Any]) -> Any:
    frame = _caller()
    source, globals, locals = (*args, None, None, None)[:3]
    globals, locals = others.get("globals", globals), others.get("locals", locals)
    known = 1 <= len(args) <= 3 and is_a(globals, (dict, types.NoneType)) and _NAMED.issuperset(others)
    if frame is None or not known:
        return function(*args, **others)
    if globals is None:
        globals = frame.f_globals
        if locals is None:
            locals = _snapshot(frame)
    elif locals is None:
        locals = globals
    if is_a(source, (str, bytes, bytearray, memoryview)):
        text = source if is_a(source, str) else bytes(source)
        mode: _Mode = "exec" if function is exec else "eval"
        if mode == "eval":
            text = text.lstrip(" \t" if isinstance(text, str) else b" \t")  # type: ignore[arg-type]
        code = instrumented(text, "<string>", mode, _inherited(frame), -1, locals is globals)
    elif is_a(source, CodeType):
        code = source
        if run.multi and not is_hooked(code) and code not in _compiled:
            incomplete(f"code of {code.co_filename} was compiled elsewhere, and what it touches is not seen")
    else:
        return function(*args, **others)
    if run.multi and locals is not globals and shared_objects.shared_object_of(locals) is not None:
        incomplete("code is run by exec or eval in locals that threads share: what it does to them is not seen")
    others = {name: value for name, value in others.items() if name == "closure"}
    if is_hooked(code):
        supply(globals, frame)
        if locals is globals:
            locals = GlobalsAsLocals(globals)
    else:
        dict.setdefault(globals, "__builtins__", frame.f_builtins)  # the program's, by which it imports
    return function(code, globals, locals, **others)


_NAMED: Final = frozenset({"globals", "locals", "closure"})


@wrap(compile)
def _compile(
    source: Any,
    filename: Any,
    mode: Any,
    flags: int = 0,
    dont_inherit: bool = False,
    optimize: int = -1,
    **others: Any,
) -> Any:
    if run.multi and is_a(source, ast.AST):
        yield_before_call(compile, (source,))
    frame = _caller()
    if frame is None or others or mode not in ("exec", "eval", "single") or flags & ast.PyCF_ONLY_AST:
        return compile(source, filename, mode, flags, dont_inherit, optimize, **others)
    if not dont_inherit:
        flags |= _inherited(frame)
    if is_a(source, (str, bytes)) and is_a(filename, str):
        return instrumented(source, filename, mode, flags, optimize, True)
    return _instrument(source, filename, mode, flags, optimize, True)


@wrap(types.FunctionType)
def _function(*args: Any, **kwargs: Any) -> Any:
    code, namespace = (*args, None, None)[:2]
    namespace = kwargs.get("globals", namespace)
    frame = _caller()
    if is_a(code, CodeType) and is_a(namespace, dict) and frame is not None and is_hooked(code):
        supply(namespace, frame)
    return types.FunctionType(*args, **kwargs)


# ---------------------------------------------------------------------- the caller


def _caller() -> FrameType | None:
    """Return the innermost frame of instrumented code; None if no program is running."""
    frame: FrameType | None = sys._getframe(2)
    while run.current is not None and frame is not None:
        if ".call" in frame.f_globals or ".call" in frame.f_builtins:
            return frame
        frame = frame.f_back
    return None


def _inherited(frame: FrameType) -> int:
    flags: int = frame.f_code.co_flags & _FUTURE
    return flags


def _snapshot(frame: FrameType) -> Any:
    """Return the locals to use if none are given: the namespace itself, or a copy in a function."""
    names: Any = frame.f_locals
    if type(names) is GlobalsAsLocals:
        return names.globals
    return dict(names) if frame.f_code.co_flags & _OPTIMIZED and sys.version_info >= (3, 13) else names


_OPTIMIZED: Final = 1

# ---------------------------------------------------------------------- the code


def _instrument(
    source: Any, filename: Any, mode: _Mode, flags: int, optimize: int, own_locals: bool | None
) -> CodeType:
    """Compile the source, with hooks.

    own_locals   True: what its top level binds is in its globals; False: in other locals; None: in globals that nobody
                 else uses
    """
    optimize = max(optimize, 0)  # as the program's modules
    compile(source, filename, mode, flags, True, optimize)  # raises the errors that the program is to see
    how = (source, filename, mode, flags, optimize, own_locals)
    if is_a(source, (str, bytes)):
        code = cached(lambda: _rewritten(*how), "text", source_of(__file__), *how, sorted(vars(builtins)))
    else:
        code = _rewritten(*how)
    if not is_hooked(code):
        _compiled.add(code)
    return code


def _rewritten(source: Any, filename: Any, mode: _Mode, flags: int, optimize: int, own_locals: bool | None) -> CodeType:
    tree: Any = (
        copy.deepcopy(source)
        if is_a(source, ast.AST)
        else compile(source, filename, mode, flags | ast.PyCF_ONLY_AST, True)
    )
    body = [ast.copy_location(ast.Expr(tree.body), tree.body)] if mode == "eval" else tree.body
    module = ast.Module(body, getattr(tree, "type_ignores", []))
    with deep_recursion():
        visible = frozenset[str]() if own_locals is None else frozenset(_visible(module, own_locals))
        rewritten = rewrite(module, visible_globals=visible)
    if mode == "eval":
        (expression,) = rewritten.body
        assert isinstance(expression, ast.Expr)
        tree.body = expression.value
    elif mode == "single":
        tree.body = rewritten.body
    else:
        tree = rewritten
    code: CodeType = compile(tree, filename, mode, flags, True, optimize)
    return code


instrumented = lru_cache(maxsize=1024)(_instrument)


def _visible(module: ast.Module, own_locals: bool) -> Iterator[str]:
    """Yield the names that are, or may be, keys of the globals."""
    scopes = scopes_of(module)
    declared = {name for node in ast.walk(module) if isinstance(node, ast.Global) for name in node.names}
    for name in {name for _, scope in scopes.items() for name in scope.names}:
        if own_locals or name in declared if name in scopes.module.bound else not hasattr(builtins, name):
            yield name


# ---------------------------------------------------------------------- the globals


class GlobalsAsLocals:
    """The locals of code whose locals are its globals. Temporaries are kept apart because threads may share the
    rest."""

    __slots__ = ("globals", "own")

    def __init__(self, globals: dict[str, Any]) -> None:
        self.globals = globals
        self.own: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        return (self.own if name.startswith(".") else self.globals)[name]

    def __setitem__(self, name: str, value: Any) -> None:
        (self.own if name.startswith(".") else self.globals)[name] = value

    def __delitem__(self, name: str) -> None:
        del (self.own if name.startswith(".") else self.globals)[name]


def supply(namespace: dict[str, Any], frame: FrameType) -> None:
    """Let code with these globals find the hooks that the calling code has."""
    if ".call" in namespace:
        return
    present = dict.get(namespace, "__builtins__")
    if isinstance(present, types.ModuleType):
        present = vars(present)
    if isinstance(present, dict) and present.get(children.HOOKS_OF) == id(namespace):
        return
    base = frame.f_builtins if present is None or present is vars(builtins) else present
    hooks = {name: frame.f_globals.get(name, frame.f_builtins.get(name)) for name in HOOK_NAMES}
    made = {**base, **hooks, **_hooks_of(namespace), children.HOOKS_OF: id(namespace)}
    dict.__setitem__(namespace, "__builtins__", made)


def _hooks_of(namespace: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    """Return the hooks for top-level names, which are keys of the dict."""
    of_namedtuple = str(dict.get(namespace, "__name__")).startswith("namedtuple_")  # which nobody else has

    def touch(kind: str, touches: Callable[..., Any], name: str) -> None:
        if run.multi and not of_namedtuple:
            shared = shared_objects.shared_object_of(namespace)
            if shared is not None:
                yield_before(kind, touches(shared, namespace, name))

    def gload(name: str) -> None:
        touch("read", reads_key, name)

    def gstore(name: str, value: Any) -> Any:
        touch("write", writes_key, name)
        shared_objects.publish(value)
        return value

    def gdel(name: str) -> None:
        touch("delete", moves_key, name)

    return {".gload": gload, ".gstore": gstore, ".gdel": gdel}
