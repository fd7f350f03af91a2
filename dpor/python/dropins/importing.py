"""The drop-in for `importlib`: importing a module by name gives the same one as an `import` statement."""

from __future__ import annotations

import importlib as real
import importlib.util
from collections.abc import Callable
from contextlib import nullcontext
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from dpor.python.dropins.module_locks import load_modules
from dpor.python.dropins.modules import is_replaced
from dpor.python.effects import process_state
from dpor.python.effects.accesses import Touched, yield_before
from dpor.python.effects.dicts import reads_key
from dpor.python.hooks.calls.registry import set_wrapper
from dpor.python.kernel import scheduler
from dpor.python.kernel.host_modules import DropInModule, shadow
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects


def importlib_module(drop_in_for: Callable[[str], ModuleType | None]) -> DropInModule:
    def import_module(name: str, package: str | None = None) -> ModuleType:
        wanted = importlib.util.resolve_name(name, package) if name.startswith(".") and package else name
        found = drop_in_for(wanted)
        if found is not None and not is_replaced(wanted):
            return found
        return _imported(wanted, None, None, ("*",), 0)

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
                vars(package)[name] = drop_in_for(full_name) or _imported(full_name, None, None, ("*",), 0)


def _imported(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> ModuleType:
    if run.current is not None and not run.unwinding:
        _look_up(name, level)
        load_modules(name, _package(globals), level, fromlist)
    with scheduler.atomic() if run.multi else nullcontext():
        return __import__(name, globals, locals, fromlist, level)


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
