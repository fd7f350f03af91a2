"""What is known of the code of types: which of their methods is not seen, being uninstrumented Python code or in C. And
classes in use whose operators may run such code, though nothing shared is touched."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import attrs

from dpor.python.kernel import opaque_code
from dpor.python.kernel.classes import is_a
from dpor.python.kernel.incomplete import incomplete_if_multithreaded
from dpor.python.kernel.library import CONSTANT, package_of
from dpor.python.kernel.run import run
from dpor.python.kernel.type_caches import MOST_TYPES, type_cache
from dpor.python.sharing.called_in_c import computes_in_c, looks_up_in_c, special_in_c
from dpor.python.sharing.fields import is_instrumented


@attrs.frozen
class CodeOfType:
    """What is known of the code of a class.

    unseen          the modules of those of its methods, and of its descriptors, that are uninstrumented Python code.
                    Operators, built-in functions, callbacks and loads of attributes call them without a hook
    of_descriptors  those of its descriptors alone: loads of attributes of the class itself call them, too
    computes_in_c, looks_up_in_c, special_in_c   see `dpor.python.sharing.called_in_c`
    """

    unseen: tuple[str, ...]
    of_descriptors: tuple[str, ...]
    computes_in_c: bool
    looks_up_in_c: bool
    special_in_c: str | None


def code_of(kind: type) -> CodeOfType:
    """Return what is known of the code of a class."""
    found = _known.get(kind)
    if found is None:
        if len(_known) > MOST_TYPES:
            _known.clear()
        found = _known[kind] = CodeOfType(
            _uninstrumented(kind, _functions_of),
            _uninstrumented(kind, _accessors),
            computes_in_c(kind),
            looks_up_in_c(kind),
            special_in_c(kind),
        )
    return found


_known: dict[type, CodeOfType] = type_cache({})


def _uninstrumented(kind: type, functions_of: Callable[[Any], Iterable[types.FunctionType]]) -> tuple[str, ...]:
    """Return the modules of these functions of all attributes of the class, as far as they have no hooks."""
    functions = (f for base in kind.__mro__ for held in [*vars(base).values()] for f in functions_of(held))
    return tuple(sorted({str(f.__globals__.get("__name__")) for f in functions if not is_instrumented(f)}))


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


def note_special_in_c(kind: type) -> bool:
    """Called when an object of the class is made or touched: if the class has a special method in C, note that the run
    is incomplete if more threads than one come to exist, and return True."""
    name = code_of(kind).special_in_c
    if name is None:
        return False
    incomplete_if_multithreaded(f"{name} is a function in C: what it reaches when it is called is not seen")
    return True


def note_made(kind: type) -> None:
    """Called when a thread makes an object of the class: if it is not shared, no hook sees most of its operators."""
    for module in code_of(kind).unseen:
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
        for module in code_of(kind).unseen:
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
