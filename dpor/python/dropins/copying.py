"""Copies of library source, instrumented like the program's own, made so that no run depends on when they were made."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from importlib.util import resolve_name, spec_from_file_location
from types import CodeType, ModuleType
from typing import Any

from dpor.python.hooks import attributes
from dpor.python.hooks.table import all_hooks
from dpor.python.kernel.host_modules import DropInModule
from dpor.python.kernel.run import run
from dpor.python.rewrite import instrument
from dpor.python.rewrite.cache import cached
from dpor.python.sharing import shared_objects

copies: list[DropInModule] = []
"""Modules of the standard library that were executed again, instrumented, in the order in which they were made."""
_facts: tuple[object, int] = (None, 0)


def execute(
    name: str,
    source: str,
    path: str,
    names: dict[str, Any],
    drop_in_for: Callable[[str], ModuleType | None],
    *,
    visible: frozenset[str] = frozenset(),
) -> DropInModule:
    """Execute this source as a module that imports through `drop_in_for`, and return it.

    names     what its globals contain beforehand
    visible   the globals that its functions rebind
    """

    def import_(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> ModuleType:
        name = resolve_name("." * level + name, module.__name__)  # only packages use relative names
        found = drop_in_for(name)
        if found is not None and (fromlist or "." not in name):
            return found
        return builtins.__import__(name, globals, locals, fromlist)

    module = DropInModule(name)
    module.__file__ = path
    spec = spec_from_file_location(name, path)  # tracebacks find its source by that
    if spec is not None:
        module.__spec__, module.__loader__ = spec, spec.loader
    vars(module).update(names, __builtins__=dict(vars(builtins), __import__=import_))
    _supply(module)
    copies.append(module)
    with unnoticed():
        exec(_compiled(source, path, visible), vars(module))
    return module


@lru_cache(maxsize=32)
def _compiled(source: str, path: str, visible: frozenset[str]) -> CodeType:
    return cached(lambda: instrument(source, path, visible_globals=visible), "copy", source, path, sorted(visible))


def _supply(module: ModuleType) -> None:
    """Put the hooks where instrumented code finds them."""

    vars(module).update(all_hooks(run.facts, module.__name__))
    vars(module)[".gstore"] = _storing(module.__name__)


def _storing(module: str) -> Callable[[str, Any], Any]:
    """Return the hook that stores a global. Globals of a copy are restored before each run, so a store does not set
    `run.dirty`."""

    def gstore(name: str, value: Any) -> Any:
        if run.multi:
            attributes.write_global(module, name)
            shared_objects.publish(value)
        return value

    return gstore


def in_steps(plain: Any, step_by_step: Any, concerns: Callable[..., bool] = lambda *_, **__: True) -> Any:
    """Return a function of the library that runs step by step, as instrumented copy, if several threads exist.

    concerns   given the arguments: False if what the function goes through belongs to one thread
    """

    @wraps(plain)
    def function(*args: Any, **kwargs: Any) -> Any:
        return (step_by_step if run.multi and concerns(*args, **kwargs) else plain)(*args, **kwargs)

    return function


def begin_run() -> None:
    """Before each run: renew the hooks if the search has learnt something, because some depend on it."""
    global _facts
    known = (run.facts, len(run.facts))
    if known[0] is not _facts[0] or known[1] != _facts[1]:
        _facts = known
        for module in copies:
            _supply(module)


@contextmanager
def unnoticed() -> Iterator[None]:
    """Context for what may happen in one run and not in another, without leaving a trace in either: it is no operation,
    and objects made later have the same names as without it."""
    thread = run.current
    names = (0, 0) if thread is None else (thread.named_at, thread.count)
    multi, dirty = run.multi, run.dirty
    run.multi = False
    try:
        yield
    finally:
        run.multi, run.dirty = multi, dirty
        if thread is not None:
            thread.named_at, thread.count = names


def pinned(obj: Any, name: str) -> Any:
    """Give a module's own synchronisation object the same location in all runs; return it."""
    obj.dpor_location = run.operations.location(("module", name))
    return obj
