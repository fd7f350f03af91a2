"""The drop-in for `importlib`: importing a module by name gives the same one as an `import` statement."""

from __future__ import annotations

import importlib as real
import importlib.util
import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

from dpor.core.operations import Accesses
from dpor.python.dropins.module_locks import load_modules
from dpor.python.dropins.modules import is_replaced
from dpor.python.effects import process_state
from dpor.python.effects.accesses import Touched, yield_before
from dpor.python.effects.dicts import reads_key
from dpor.python.effects.kinds import container_type_of
from dpor.python.effects.process_state import attribute_read
from dpor.python.hooks import attributes
from dpor.python.hooks.calls.registry import set_wrapper
from dpor.python.kernel import scheduler
from dpor.python.kernel.assumptions import about
from dpor.python.kernel.classes import is_a, namespace_of
from dpor.python.kernel.host_modules import DropInModule, shadow
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects
from dpor.python.sharing.shared_object import SharedObject

_ITSELF: Final = ("__class__",)
"""A name to import from a module, so that the import returns this and not its outermost package: all objects have it,
so it is never imported as a module."""


def importlib_module(drop_in_for: Callable[[str], ModuleType | None]) -> DropInModule:
    def import_module(name: str, package: str | None = None) -> ModuleType:
        wanted = importlib.util.resolve_name(name, package) if name.startswith(".") and package else name
        found = drop_in_for(wanted)
        if found is not None and not is_replaced(wanted):
            return found
        return _loaded(wanted, fromlist=_ITSELF)

    def __import__(
        name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> ModuleType:
        return import_statement(drop_in_for, name, globals, locals, fromlist, level)

    def reload(module: ModuleType) -> ModuleType:
        return module if isinstance(module, DropInModule) else real.reload(module)

    def find_spec(name: str, package: str | None = None) -> ModuleSpec | None:
        wanted = importlib.util.resolve_name(name, package) if name.startswith(".") and package else name
        found = drop_in_for(wanted)
        return importlib.util.find_spec(name, package) if found is None else ModuleSpec(wanted, _FillsIn(found))

    set_wrapper(importlib.util.find_spec, find_spec)
    return shadow(real, import_module=import_module, __import__=__import__, reload=reload)


class _FillsIn(Loader):
    """A loader for those who make a module themselves: it gets what the drop-in has."""

    def __init__(self, found: ModuleType) -> None:
        self._found = found

    def create_module(self, spec: ModuleSpec) -> None:
        """The usual one."""

    def exec_module(self, module: ModuleType) -> None:
        names = vars(self._found).items()
        vars(module).update((name, value) for name, value in names if not name.startswith("__"))


def import_statement(
    drop_in_for: Callable[[str], ModuleType | None],
    name: str,
    globals: Any = None,
    locals: Any = None,
    fromlist: Any = (),
    level: int = 0,
) -> ModuleType:
    """Like `__import__`, for code that gets the drop-ins."""
    found = drop_in_for(name) if level == 0 else None
    if found is not None and is_replaced(name):
        found = None
    if found is not None and (fromlist or "." not in name):
        _import_parts(drop_in_for, found, fromlist or ())
        return found
    if level or fromlist or "." not in name:
        return _imported(name, globals, locals, fromlist, level)
    # `import a.b` returns `a`, which then has an attribute `b`.
    package, _, rest = name.partition(".")
    top = drop_in_for(package)
    if top is None:
        return _imported(name, globals, locals, fromlist, level)
    if found is None:
        inside = rest.partition(".")[0]
        vars(top).setdefault(inside, getattr(_imported(name, globals, locals, fromlist, level), inside))
    return top


def _import_parts(drop_in_for: Callable[[str], ModuleType | None], package: ModuleType, names: Any) -> None:
    """Import the names that are modules, unless they are loaded: for `from package import names`."""
    if "__path__" in vars(package):
        for name in names:
            full_name = f"{package.__name__}.{name}"
            if name not in vars(package) and importlib.util.find_spec(full_name) is not None:
                vars(package)[name] = drop_in_for(full_name) or _loaded(full_name, fromlist=_ITSELF)


def _imported(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> ModuleType:
    if run.current is None or run.unwinding:
        return __import__(name, globals, locals, fromlist, level)
    module = _loaded(name, globals, locals, _ITSELF if fromlist else (), level)
    if fromlist:
        seen = NamesOf(module) if run.multi and not isinstance(module, DropInModule) else module
        if hasattr(seen, "__path__"):
            _import_missing(seen, fromlist)
    return module


def _import_missing(package: Any, names: Iterable[str]) -> None:
    """Import those of the names that the package does not have: they may be modules in it."""
    for name in names:
        if name == "*":
            _import_missing(package, [one for one in getattr(package, "__all__", ()) if one != "*"])
        elif not hasattr(package, name):
            full_name = f"{package.__name__}.{name}"
            try:
                _loaded(full_name, fromlist=_ITSELF)
            except ModuleNotFoundError as error:
                if error.name != full_name or sys.modules.get(full_name, full_name) is None:
                    raise


def _loaded(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> ModuleType:
    """Import the module in steps, and return what `__import__` does. `fromlist`: names that the module has."""
    if run.current is not None and not run.unwinding:
        _look_up(name, level)
        load_modules(name, _package(globals), level)
    with scheduler.atomic() if run.multi else nullcontext():
        return __import__(name, globals, locals, fromlist, level)


class NamesOf(ModuleType):
    """A module, or what is in `sys.modules` in its place, for code that is not the program's own: each look-up is an
    operation. It is for an `import` statement, which keeps nothing but the values."""

    def __init__(self, module: Any) -> None:
        object.__setattr__(self, "module", module)

    def __getattribute__(self, name: str) -> Any:
        module = object.__getattribute__(self, "module")
        return run.above.replacement_for(getattr(attributes.loaded(module, name), name))


def taken_from(module: Any, names: Any) -> Any:
    """Return what `from module import names` is to take the names from, each in one step, while several threads
    exist."""
    if "*" in names:
        yield_before("import", _reads_of_all(module))
        return module
    seen = [name for name in names if not is_a(module, ModuleType) or process_state.reads_of_module(module, name)]
    if len(seen) > 1:
        return NamesOf(module)
    for name in seen:
        attributes.loaded(module, name)
    return module


def look_up_parts(name: str) -> None:
    """Called at the end of `import a.b`: `import a.b as x` looks up `b` in `a`. (Which one it is, is not known.)"""
    parts = name.split(".")
    for length in range(1, len(parts) if run.multi else 0):
        attributes.read_global(".".join(parts[:length]), parts[length])


def _reads_of_all(module: Any) -> Touched:
    """Return the accesses of `from module import *`, which is one step."""
    names = namespace_of(module)
    written = sorted(name for home, name in about(run.facts, "global") if home == names.get("__name__"))
    touched = Touched(access for name in written for access in attribute_read(names["__name__"], name))
    touched.add(_reads_elements(names.get("__all__")))
    return touched


def _reads_elements(container: Any) -> Accesses:
    """Return the accesses of looking at all elements of a container, if the program has shared it."""
    shared, kind = shared_objects.table.get(id(container)), container_type_of(type(container))
    return kind.reads_all(shared) if kind is not None and isinstance(shared, SharedObject) else ()


def look_for(name: str, path: Any) -> None:
    """Called before a module is looked for in these folders: yield if threads change what says where it is. (An import
    that is one step has looked already.)"""
    if run.multi and not run.atomic:
        package = name.rpartition(".")[0]
        touched = Touched(attribute_read(package, "__path__") if package else ())
        kept = ("meta_path", "path_hooks") if package else ("meta_path", "path_hooks", "path")
        for container in (path, *(found for part in kept for found in process_state.objects_named("sys", part))):
            touched.add(_reads_elements(container))
        yield_before("import", touched)


def _look_up(name: str, level: int) -> None:
    """Read the places of the module and its packages in `sys.modules`, if the program names that: threads may change
    it."""
    for modules in process_state.objects_named("sys", "modules") if run.multi and not level else ():
        parts = name.split(".")
        shared = shared_objects.shared_object_of(modules)
        if shared is not None:
            names = [".".join(parts[:length]) for length in range(1, len(parts) + 1)]
            touched = Touched(access for one in names for access in reads_key(shared, modules, one))
            if touched:
                yield_before("import", touched)


def _package(globals: Any) -> str:
    """Return the package that contains the import statement."""
    names = globals or {}
    name = names.get("__package__")
    if name is None:
        name = str(names.get("__name__", ""))
        name = name if "__path__" in names else name.rpartition(".")[0]
    return str(name)
