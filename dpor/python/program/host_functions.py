"""Translates what a function of the host refers to into what the program would have in its place.

A target that is a function of the host comes with a closure and defaults. The objects in them were made by code that is
not instrumented, and would carry the changes of one run into the next. So each run gets its own:

- functions and classes of the program's files become the instrumented ones (a class made inside a function is made
again from instrumented methods), functions and classes of `threading` and the like the drop-ins;
- containers, and objects of the program's classes, are copied with their contents; references to one object stay
references to one object;
- locks that nobody holds become new drop-ins, cached functions new ones with empty caches;
- everything else stays the host's own.
"""

from __future__ import annotations

import _thread
import functools
import importlib
import threading
import types
from collections import OrderedDict, defaultdict, deque
from enum import Enum
from typing import Any, Final

from dpor.core.errors import BadTarget
from dpor.python.dropins.stdlib import module_for_program, unused
from dpor.python.effects.kinds import is_immutable
from dpor.python.kernel.classes import is_a
from dpor.python.program.loader import Loader

_ATOMS: Final = frozenset({int, float, complex, bool, str, bytes, type(None), range, type(Ellipsis)})
_UNCHANGING: Final = frozenset({object, slice, types.FunctionType, types.BuiltinFunctionType, types.ModuleType})
_CONTAINERS: Final[tuple[Any, ...]] = (dict, list, set)
_OF_HOST: Final = frozenset({"threading", "queue", "concurrent.futures.thread", "concurrent.futures._base"})


class ProgramCopies:
    """The program's copies of host objects, for one run. `module`: the instrumented copy of the target's own module."""

    def __init__(self, module: types.ModuleType, loader: Loader) -> None:
        self.module = module
        self._loader = loader
        self._made: dict[int, Any] = {}
        self.left: set[type] = set()
        """Types of objects of the host that were not copied, although they may change."""

    def function(self, plain: types.FunctionType) -> types.FunctionType | None:
        """Return the instrumented function; None if its source is not the program's."""
        known = self._made.get(id(plain))
        if known is not None:
            return known  # type: ignore[no-any-return]
        code = self._loader.counterparts.code_at(plain.__code__)
        if code is None:
            return None
        cells = dict(zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=True))
        closure = {name: self._made.setdefault(id(cell), types.CellType()) for name, cell in cells.items()}
        made = types.FunctionType(
            code,
            self._loader.counterparts.globals_of(code.co_filename, self.module),
            plain.__name__,
            None,
            tuple(closure[name] for name in code.co_freevars),
        )
        self._made[id(plain)] = made
        made.__qualname__, made.__doc__ = plain.__qualname__, plain.__doc__
        made.__defaults__ = None if plain.__defaults__ is None else tuple(self.value(v) for v in plain.__defaults__)
        made.__kwdefaults__ = {name: self.value(v) for name, v in (plain.__kwdefaults__ or {}).items()}
        made.__dict__.update({name: self.value(held) for name, held in plain.__dict__.items()})
        for name, cell in cells.items():
            if not _is_empty(cell) and _is_empty(closure[name]):
                closure[name].cell_contents = self.value(cell.cell_contents)
        return made

    def value(self, value: Any) -> Any:
        kind = type(value)
        if kind in _ATOMS:
            return value
        if id(value) in self._made:
            return self._made[id(value)]
        drop_in = drop_ins_by_id().get(id(value))
        if drop_in is not None:
            module, found = drop_in
            module_for_program(module)  # note that the drop-in is in use from now on
            return found
        if kind is types.FunctionType:
            return self.function(value) or value
        if is_a(value, type):
            return self._class(value)
        if kind is types.ModuleType:
            loaded = self._loader.modules.get(value.__name__)
            return value if loaded is None else loaded.module
        container = self._container(value, kind)
        if container is not None:
            return container
        if kind is types.MethodType:
            return types.MethodType(self.value(value.__func__), self.value(value.__self__))
        if kind is types.BuiltinMethodType and not isinstance(value.__self__, types.ModuleType | type | None):
            return getattr(self.value(value.__self__), value.__name__)
        if kind is functools.partial:
            args = [self.value(v) for v in value.args]
            return functools.partial(
                self.value(value.func), *args, **{k: self.value(v) for k, v in value.keywords.items()}
            )
        if is_a(value, (_thread.LockType, _thread.RLock)):
            real = threading.Lock if is_a(value, _thread.LockType) else threading.RLock
            return self._keep(value, drop_ins_by_id()[id(real)][1]())
        if is_a(value, functools._lru_cache_wrapper):
            decorate = drop_ins_by_id()[id(functools.lru_cache)][1](**value.cache_parameters())
            return self._keep(value, decorate(self.value(value.__wrapped__)))
        if kind.__module__ in _OF_HOST:
            raise BadTarget(
                f"a {kind.__name__} was made outside of the program: make it in the function that is checked"
            )
        own = self._class(kind)
        if own is not kind:
            return getattr(own, value.name) if is_a(value, Enum) else self._copy(value, own)
        if kind not in _UNCHANGING and not is_immutable(kind):
            self.left.add(kind)
        return value

    def _keep(self, value: Any, made: Any) -> Any:
        self._made[id(value)] = made
        return made

    # ------------------------------------------------------------------ containers and objects

    def _container(self, value: Any, kind: type) -> Any:
        """Return a copy of a built-in container, or None if the value is not one."""
        if kind in (list, set, deque):
            made: Any = self._keep(value, deque(maxlen=value.maxlen) if kind is deque else kind())
            parts = [self.value(part) for part in value]
            made.update(parts) if kind is set else made.extend(parts)
            return made
        if kind in (dict, defaultdict, OrderedDict):
            made = self._keep(value, defaultdict(self.value(value.default_factory)) if kind is defaultdict else kind())
            made.update({self.value(k): self.value(v) for k, v in value.items()})
            return made
        if kind in (tuple, frozenset):
            return kind(self.value(part) for part in value)
        return bytearray(value) if kind is bytearray else None

    def _copy(self, value: Any, own: type) -> Any:
        """Return an object of the program's class with the fields of the host's object."""
        for kind in _CONTAINERS:
            if isinstance(value, kind):
                made = self._keep(value, kind.__new__(own))
                parts = self._container(kind(value), kind)
                kind.extend(made, parts) if kind is list else kind.update(made, parts)
                break
        else:
            try:
                made = self._keep(value, object.__new__(own))
            except TypeError:
                return value  # its type is in C
        for base in type(value).__mro__:
            slots = base.__dict__.get("__slots__", ())
            for slot in [slots] if isinstance(slots, str) else slots:
                if hasattr(value, slot) and slot not in ("__dict__", "__weakref__"):
                    object.__setattr__(made, slot, self.value(getattr(value, slot)))
        for name, held in getattr(value, "__dict__", {}).items():
            made.__dict__[name] = self.value(held)
        return made

    # ------------------------------------------------------------------ classes

    def _class(self, plain: type) -> type:
        known = self._made.get(id(plain))
        if known is not None:
            return known  # type: ignore[no-any-return]
        if not self._loader.counterparts.has_module(plain.__module__, self.module):
            return plain
        if "<locals>" in plain.__qualname__:
            return self._made_again(plain)
        found: Any = self._loader.counterparts.module_named(plain.__module__, self.module)
        for name in plain.__qualname__.split("."):
            found = getattr(found, name, None)
        return found if isinstance(found, type) else plain

    def _made_again(self, plain: type) -> type:
        """Make a class again, from instrumented methods, that was made inside a function of the host."""
        if type(plain) is not type:
            return plain  # a metaclass may do anything
        slots = plain.__dict__.get("__slots__", ())
        left_out = {"__dict__", "__weakref__", *([slots] if isinstance(slots, str) else slots)}
        body = {name: held for name, held in plain.__dict__.items() if name not in left_out}
        bases = tuple(self._class(base) for base in plain.__bases__)
        made: type = self._keep(plain, type(plain.__name__, bases, {"__qualname__": plain.__qualname__}))
        if slots:
            made = self._keep(plain, type(plain.__name__, bases, {"__slots__": slots}))
        for name, held in body.items():
            if name not in ("__slots__", "__qualname__"):
                setattr(made, name, self._member(held))
        return made

    def _member(self, held: Any) -> Any:
        if isinstance(held, (staticmethod, classmethod)):
            return type(held)(self.value(held.__func__))
        if type(held) is property:
            return property(self.value(held.fget), self.value(held.fset), self.value(held.fdel), held.__doc__)
        return self.value(held)


def _is_empty(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return True
    return False


@functools.cache
def drop_ins_by_id() -> dict[int, tuple[str, Any]]:
    """Return what the program imports in place of what the host imports, by identity, with the module's name."""
    found: dict[int, tuple[str, Any]] = {}
    with unused():
        for name in ("threading", "queue", "concurrent.futures", "functools", "time", "random"):
            host, ours = importlib.import_module(name), module_for_program(name)
            if ours is not None:
                found[id(host)] = name, ours
                for key, value in vars(host).items():
                    if callable(value) and not key.startswith("__") and getattr(ours, key, value) is not value:
                        found[id(value)] = name, getattr(ours, key)
    return found
