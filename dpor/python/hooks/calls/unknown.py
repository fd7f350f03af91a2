"""Functions of which nothing is known, when they are given something shared: one step, which writes all that it can
reach.

For C code this is exact (what it calls back is not interrupted either). Python code that is not instrumented can be
interrupted anywhere; as one step it shows less than can happen, and the verdict says so.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from dpor.core.home import is_ours
from dpor.python.effects import c_modules, key_order
from dpor.python.effects.accesses import Touched, yield_before
from dpor.python.effects.reach import ANYTHING, writes, yield_before_reading
from dpor.python.hooks.calls.table import PASSING_MODULES
from dpor.python.hooks.operators import SCALARS
from dpor.python.kernel import opaque_code, scheduler
from dpor.python.kernel.classes import module_named_by, module_of_class
from dpor.python.kernel.incomplete import incomplete_if_multithreaded
from dpor.python.kernel.library import CONSTANT, package_of
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects
from dpor.python.sharing.fields import is_instrumented


def unknown_c(function: Any) -> Callable[..., Any]:
    """Wrap a C function: it may change and keep its arguments, and change what its module keeps."""
    module = _module_in_c(function)

    def call_unknown(*args: Any, **kwargs: Any) -> Any:
        kept = c_modules.written(module)
        if not run.multi or (not kept and not kwargs and SCALARS.issuperset(map(type, args))):
            return function(*args, **kwargs)
        if kept:  # maybe dicts that it was given before
            key_order.may_look()
        touched = Touched(kept)
        values = (*args, *kwargs.values())
        if not touched.deeply(writes, values) and not kept:
            return function(*args, **kwargs)
        yield_before(function_name(function), touched)
        for value in values:
            shared_objects.publish(value)
        with scheduler.atomic():
            return function(*args, **kwargs)

    return call_unknown


def _module_in_c(function: Any) -> str:
    """Return the module that has the code: of a class of the program, or of an object, that of a class derived from."""
    if type(function) is types.BuiltinFunctionType:
        return module_named_by(function)
    kind, name = (function, "__new__") if isinstance(function, type) else (type(function), "__call__")
    return module_of_class(next(base for base in kind.__mro__ if name in vars(base)))


def reading_c(function: Any) -> Callable[..., Any]:
    """Wrap a function that only reads its arguments."""

    def call_reading(*args: Any, **kwargs: Any) -> Any:
        if run.multi and (kwargs or not SCALARS.issuperset(map(type, args))):
            yield_before_call(function, (*args, *kwargs.values()))
        return function(*args, **kwargs)

    return call_reading


def unknown_python(function: types.FunctionType, callee: Any, *owner: Any) -> Callable[..., Any]:
    """Wrap a Python function that is not instrumented. `callee`: what is called; `owner`: the object that it is bound
    to."""

    def call_unknown(*args: Any, **kwargs: Any) -> Any:
        if not run.multi:
            return callee(*args, **kwargs)
        module = module_of(function)
        if package_of(module) not in CONSTANT:  # else what it does to objects of one thread is seen by nobody
            if not opaque_code.demand(module, f"{name_in_module(function)} runs while several threads exist"):
                may_look(module)
        if not owner and not kwargs and SCALARS.issuperset(map(type, args)):
            return callee(*args, **kwargs)
        touched = Touched()
        values = (*owner, *args, *kwargs.values())
        if not touched.deeply(writes, values):
            return callee(*args, **kwargs)
        yield_before(function_name(function), touched)
        opaque_code.opaque(name_in_module(function))
        for value in values:
            shared_objects.publish(value)
        with scheduler.atomic():
            return callee(*args, **kwargs)

    return call_unknown


def may_look(module: str) -> None:
    """Called when code of this module in Python, which has no hooks, will be called and may be given a dict."""
    if module not in PASSING_MODULES and not is_ours(module):
        key_order.may_look()


def passing_on(function: types.FunctionType, callee: Any) -> Any:
    """Return the callee, a function or method of a module whose functions pass on what they are given. A decorated one
    calls what is in its closure."""
    may_look(module_of(function))
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # an empty one
            inner = cell.cell_contents
            if type(inner) is types.FunctionType and not is_instrumented(inner):
                opaque_code.demand(module_of(inner), f"{name_in_module(inner)} runs while several threads exist")
    return callee


def reading_python(function: Any) -> Callable[..., Any]:
    """Wrap a Python function that is not instrumented and only reads its arguments."""

    def call_reading(*args: Any, **kwargs: Any) -> Any:
        if run.multi and yield_before_call(function, (*args, *kwargs.values())):
            opaque_code.opaque(name_in_module(function))
            with scheduler.atomic():
                return function(*args, **kwargs)
        return function(*args, **kwargs)

    return call_reading


def making_incomplete(function: Any, reason: str) -> Callable[..., Any]:
    """Wrap a function whose call makes a run of several threads incomplete, for this reason."""

    def noted(*args: Any, **kwargs: Any) -> Any:
        incomplete_if_multithreaded(reason)
        return function(*args, **kwargs)

    return noted


def yield_before_call(function: Any, values: tuple[Any, ...], method: str = ANYTHING) -> bool:
    """Yield before all that `method` of the values looks at is read. Return True if that is anything."""
    if SCALARS.issuperset(map(type, values)):
        return False
    return yield_before_reading(function_name(function), values, method)


def module_of(function: types.FunctionType) -> str:
    """Return the module that contains the code: `functools.wraps` gives a function the name and module of another."""
    return str(function.__globals__.get("__name__", function.__module__))


def name_in_module(function: types.FunctionType) -> str:
    """Return the name of the function together with that of its module."""
    return f"{module_of(function)}.{function.__qualname__}"


def function_name(function: Any) -> str:
    """Return the name of the function for a message."""
    return getattr(function, "__name__", type(function).__name__)
