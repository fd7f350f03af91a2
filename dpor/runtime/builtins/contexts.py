"""`decimal`: whatever computes in a context looks at it and changes it (its flags).

That is seen where the context is named: its own methods, and functions that are given it. The operators compute in the
context that is in force in their thread, which no other thread has, unless a program gives it away: that is told.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Any, Final

from dpor.runtime import control, sharing
from dpor.runtime.builtins.registry import set_wrapper, wrap
from dpor.runtime.builtins.unknown import reading_c, unknown_c


def in_context(function: Any) -> Callable[..., Any]:
    """A function of `decimal` in C, or a method of a number."""
    computing = unknown_c(function)

    def compute(*args: Any, **kwargs: Any) -> Any:
        given = control.multi and any(type(arg) is decimal.Context for arg in (*args, *kwargs.values()))
        return (computing if given else function)(*args, **kwargs)

    return compute


set_wrapper(decimal.Decimal, in_context(decimal.Decimal))
set_wrapper(decimal.localcontext, reading_c(decimal.localcontext))

_IN_FORCE: Final = "contexts of decimal in force"


@wrap(decimal.getcontext)
def _getcontext() -> decimal.Context:
    context = decimal.getcontext()
    _in_force().append(context)
    return context


@wrap(decimal.setcontext)
def _setcontext(context: decimal.Context) -> None:
    decimal.setcontext(context)
    _in_force().append(decimal.getcontext())


def _in_force() -> list[decimal.Context]:
    found: list[decimal.Context] = control.threads[0].data.setdefault(_IN_FORCE, [])
    return found


def tell_shared() -> None:
    """At the end of a run: was a context shared in which a thread computed without naming it?"""
    contexts = control.threads[0].data.get(_IN_FORCE, ()) if control.threads else ()
    if any(isinstance(sharing.table.get(id(context)), sharing.Record) for context in contexts):
        control.limit("threads share a context of decimal that is in force in one: what its operators do is not seen")
