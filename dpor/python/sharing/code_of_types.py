"""What is known of the methods of types: which are uninstrumented Python code, which operators are in C. And classes in
use whose operators may run such code, though nothing shared is touched."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any, Final

from dpor.python.kernel import opaque_code
from dpor.python.kernel.classes import is_a, module_of_class
from dpor.python.kernel.library import CONSTANT, package_of
from dpor.python.kernel.run import run
from dpor.python.kernel.type_caches import type_cache
from dpor.python.sharing.fields import is_instrumented

MOST_TYPES: Final = 5000
"""How many types each cache remembers: classes that a program makes anew in every run must not be kept for ever."""


def modules_of_unseen_code(kind: type) -> tuple[str, ...]:
    """Return the modules of those methods of the class, and of its descriptors, that are uninstrumented Python code.
    Operators, built-in functions, callbacks and loads of attributes call them without a hook."""
    found = _unseen.get(kind)
    if found is None:
        if len(_unseen) > MOST_TYPES:
            _unseen.clear()
        functions = (f for base in kind.__mro__ for held in vars(base).values() for f in _functions_of(held))
        modules = {str(f.__globals__.get("__name__")) for f in functions if not is_instrumented(f)}
        found = _unseen[kind] = tuple(sorted(modules))
    return found


def modules_of_descriptors(kind: type) -> tuple[str, ...]:
    """Return the modules of the descriptors of the class that are uninstrumented Python code: loads of attributes of
    the class itself call them, too."""
    found = _describing.get(kind)
    if found is None:
        if len(_describing) > MOST_TYPES:
            _describing.clear()
        functions = (function for base in kind.__mro__ for held in vars(base).values() for function in _accessors(held))
        modules = {str(f.__globals__.get("__name__")) for f in functions if not is_instrumented(f)}
        found = _describing[kind] = tuple(sorted(modules))
    return found


_unseen: dict[type, tuple[str, ...]] = type_cache({})
_describing: dict[type, tuple[str, ...]] = type_cache({})


def _functions_of(held: Any) -> Iterator[types.FunctionType]:
    """Yield the Python functions behind a class attribute: those that an access to it may call."""
    kind = type(held)
    if kind is types.FunctionType:
        yield held
        return
    if is_a(held, (staticmethod, classmethod)):
        yield from _python([held.__func__])
    elif is_a(held, property):
        yield from _python([held.fget, held.fset, held.fdel])
    yield from _accessors(held)


def _accessors(held: Any) -> Iterator[types.FunctionType]:
    """Yield the Python functions by which a class attribute is a descriptor."""
    return _python(vars(base).get(name) for base in type(held).__mro__[:-1] for name in _OF_DESCRIPTORS)


def _python(parts: Iterable[Any]) -> Iterator[types.FunctionType]:
    return (part for part in parts if type(part) is types.FunctionType)


_OF_DESCRIPTORS: Final = ("__get__", "__set__", "__delete__")


# ---------------------------------------------------------------------- classes in use


def note_made(kind: type) -> None:
    """Called when a thread makes an object of the class: if it is not shared, no hook sees most of its operators."""
    for module in modules_of_unseen_code(kind):
        _demand(module, f"threads make objects of type {module}.{kind.__qualname__}")


def _demand(module: str, why: str) -> None:
    if package_of(module) not in CONSTANT:  # else what it does to objects of one thread is seen by nobody
        opaque_code.demand(module, why)


class _Bases:
    """What is remembered during a run: of the classes that the program derived from while it had one thread, the
    modules of the code of their metaclasses that is not instrumented, each with the name of such a class."""

    __slots__ = ("modules",)

    def __init__(self) -> None:
        self.modules: dict[str, str] = {}


_bases: Final = run.attach(_Bases)


def base(found: Any) -> Any:
    """Called with each base of a class statement, and the metaclass that it names; returns it. Both may run code when
    the class is made. From then on operators of the class (`len(C)`, `C.x`, `isinstance(x, C)`) run that of its
    metaclass, and no hook sees them if nothing is shared."""
    kinds = (type(found), found) if is_a(found, type) else (type(found),)
    for kind in kinds:
        if kind is type or kind is object:
            continue
        for module in modules_of_unseen_code(kind):
            if not run.multi:
                if issubclass(kind, type):
                    _bases.modules[module] = kind.__qualname__
            else:
                _demand(module, f"threads derive from {module}.{kind.__qualname__}")
    return found


def note_several_threads() -> None:
    """Called when the run is about to have its second thread."""
    for module, name in _bases.modules.items():
        _demand(module, f"threads use classes of the metaclass {module}.{name}")


_OPERATORS: Final = tuple(
    f"__{form}{name}__"
    for name in (
        *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow"),
        *("lshift", "rshift", "and", "xor", "or"),
    )
    for form in ("i", "", "r")
)
_computes: dict[type, bool] = type_cache({})


def computes_in_c(kind: type) -> bool:
    """True if the class has an arithmetic operator in C from outside of the standard library. Nothing is known of what
    it does."""
    answer = _computes.get(kind)
    if answer is None:
        if len(_computes) > MOST_TYPES:
            _computes.clear()
        found = (next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None) for name in _OPERATORS)
        answer = _computes[kind] = any(
            type(operator) is types.WrapperDescriptorType
            and module_of_class(operator.__objclass__).partition(".")[0] not in sys.stdlib_module_names
            for operator in found
        )
    return answer


def looks_up_in_c(kind: type) -> bool:
    """True if the class looks up attributes by a function in C from outside of the standard library, as proxies do.
    Nothing is known of what it does."""
    found = next(vars(base)["__getattribute__"] for base in kind.__mro__ if "__getattribute__" in vars(base))
    return (
        type(found) is types.WrapperDescriptorType
        and module_of_class(found.__objclass__).partition(".")[0] not in sys.stdlib_module_names
    )
