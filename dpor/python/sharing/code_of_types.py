"""What is known of the methods of types: which are uninstrumented Python code, which operators are in C."""

from __future__ import annotations

import sys
import types
from typing import Any, Final

from dpor.python.kernel.type_caches import type_cache
from dpor.python.sharing.fields import is_instrumented

MOST_TYPES: Final = 5000
"""How many types each cache remembers: classes that a program makes anew in every run must not be kept for ever."""


def modules_of_unseen_code(kind: type) -> tuple[str, ...]:
    """Return the modules of those methods of the class that are uninstrumented Python code. Operators, built-in
    functions and callbacks call them without a hook."""
    found = _unseen.get(kind)
    if found is None:
        if len(_unseen) > MOST_TYPES:
            _unseen.clear()
        functions = (_function_of(held) for base in kind.__mro__ for held in vars(base).values())
        modules = {str(f.__globals__.get("__name__")) for f in functions if f is not None and not is_instrumented(f)}
        found = _unseen[kind] = tuple(sorted(modules))
    return found


_unseen: dict[type, tuple[str, ...]] = type_cache({})


def _function_of(held: Any) -> types.FunctionType | None:
    """Return the Python function behind a class attribute; None if there is none."""
    if type(held) is staticmethod or type(held) is classmethod:
        held = held.__func__
    elif type(held) is property:
        held = held.fget
    return held if type(held) is types.FunctionType else None


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
            and str(operator.__objclass__.__module__).partition(".")[0] not in sys.stdlib_module_names
            for operator in found
        )
    return answer
