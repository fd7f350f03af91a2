"""Functions on single objects: attributes by name, `len`, `id`, `hash`, text, and the namespaces of a program."""

from __future__ import annotations

import builtins
import sys
import types
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

from dpor.runtime import control, hooks, sharing
from dpor.runtime.builtins.executing import Names
from dpor.runtime.builtins.registry import set_wrapper, wrap, wrappers
from dpor.runtime.builtins.unknown import stand_to_read
from dpor.runtime.containers.identity import stable_id
from dpor.runtime.containers.kinds import static
from dpor.runtime.containers.reach import HASH, SHOW
from dpor.runtime.containers.taking import harmless_functions
from dpor.runtime.operators import SCALARS, shown, truth

# ---------------------------------------------------------------------- attributes by name


@wrap(getattr)
def _getattr(obj: Any, name: str, *default: Any) -> Any:
    return getattr(hooks.attr(obj, name) if isinstance(name, str) else obj, name, *default)


@wrap(hasattr)
def _hasattr(obj: Any, name: str) -> bool:
    return hasattr(hooks.attr(obj, name) if isinstance(name, str) else obj, name)


@wrap(setattr)
def _setattr(obj: Any, name: str, value: Any) -> None:
    if not isinstance(name, str):
        setattr(obj, name, value)
    hooks.setattr_(value, obj, name)


@wrap(delattr)
def _delattr(obj: Any, name: str) -> None:
    if not isinstance(name, str):
        delattr(obj, name)
    hooks.delattr_(obj, name)


@wrap(object.__getattribute__)
def _object_getattribute(obj: Any, name: str) -> Any:
    hooks.attr(obj, name)
    return object.__getattribute__(obj, name)


@wrap(object.__setattr__)
def _object_setattr(obj: Any, name: str, value: Any) -> None:
    _stand_to_write(obj, name)
    if control.multi:
        sharing.publish(value)
    object.__setattr__(obj, name, value)


@wrap(object.__delattr__)
def _object_delattr(obj: Any, name: str) -> None:
    _stand_to_write(obj, name)
    object.__delattr__(obj, name)


def _stand_to_write(obj: Any, name: str) -> None:
    """The operation of a store, without the store: the class may have a `__setattr__` of its own."""
    if control.multi:
        record = sharing.record_of(obj)
        operation = None if record is None else hooks._write_operation(record, obj, name)
        if operation is not None:
            control.access(operation)


# ---------------------------------------------------------------------- length, identity, text


_plain_len: Final = len
"""(Programs under test replace `builtins.len`.)"""


@wrap(len)
def _len(obj: Any, /) -> int:
    if control.multi:
        truth(obj)
    return _plain_len(obj)


@wrap(weakref.ref)
def _ref(*args: Any) -> Any:
    """Who has a weak reference can reach the object."""
    if args:
        sharing.publish(args[0])
    return weakref.ref(*args)


@wrap(bool)
def _bool(*args: Any) -> bool:
    if control.multi and args:
        truth(args[0])
    return bool(*args)


@wrap(id)
def _id(obj: Any, /) -> int:
    return stable_id(obj) if control.current is not None else id(obj)


@wrap(hash)
def _hash(obj: Any, /) -> int:
    if type(obj) in SCALARS:
        return hash(obj)
    if static(type(obj), "__hash__") is object.__hash__ and control.current is not None:
        return stable_id(obj) >> 4
    if control.multi:
        stand_to_read(hash, (obj,), HASH)
    return hash(obj)


def _showing(function: Any) -> Callable[..., Any]:
    """A function that makes text of its first argument."""

    def show(*args: Any, **kwargs: Any) -> Any:
        if not args or type(args[0]) in SCALARS:
            return function(*args, **kwargs)
        if control.multi:
            stand_to_read(function, args, SHOW)
        return function(shown(args[0]), *args[1:], **kwargs)

    return show


def showing_arguments(function: Any) -> Callable[..., Any]:
    """`"...".format`: makes text of all its arguments."""

    def show(*args: Any, **kwargs: Any) -> Any:
        if control.multi:
            stand_to_read(function, (*args, *kwargs.values()), SHOW)
        return function(*map(shown, args), **kwargs)

    return show


for _function in (str, repr, ascii, format):
    set_wrapper(_function, _showing(_function))
    harmless_functions.add(id(wrappers[id(_function)]))
harmless_functions.update(map(id, (_len, _bool, _hash)))

# ---------------------------------------------------------------------- namespaces
#
# Our own names, which begin with a dot, are not shown. (The dict of a module is: the program may write to it.)


@wrap(dir)
def _dir(*args: Any) -> list[str]:
    if args:
        return _visible(dir(*args))
    return sorted(_visible(list(_locals_of(sys._getframe(1)))))


@wrap(builtins.globals)
def _globals() -> Any:
    _module_dict("globals()")
    return sys._getframe(1).f_globals


def _module_dict(what: str) -> None:
    """The dict of a module: not every use of it is the use of a global that the hooks know."""
    control.dirty = True
    if control.multi:
        control.limit(
            f"{what} is asked for while several threads exist: what is done to globals through it is not seen"
        )


@wrap(vars)
def _vars(*args: Any) -> Any:
    if args and type(args[0]) is types.ModuleType:
        _module_dict("vars() of a module")
    return vars(hooks.attr(args[0], "__dict__")) if args else _locals_of(sys._getframe(1))


@wrap(builtins.locals)
def _locals() -> Any:
    return _locals_of(sys._getframe(1))


_OPTIMIZED: Final = 1
"""In `co_flags`: the locals of a function, of which one only gets a copy. (Those of a class body are its namespace.)"""


def _locals_of(frame: FrameType) -> Any:
    names: Any = frame.f_locals
    if not frame.f_code.co_flags & _OPTIMIZED:
        return names.globals if type(names) is Names else names
    return {name: value for name, value in names.items() if not name.startswith(".")}


def _visible(names: list[str]) -> list[str]:
    return [name for name in names if not (isinstance(name, str) and name.startswith("."))]
