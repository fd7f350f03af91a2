"""`decimal`: whatever computes in a context looks at it and changes it (its flags).

That is seen where the context is named: its own methods, and functions that are given it. The operators compute in the
context that is in force in their thread, which no other thread has, unless a program gives it away: that is told.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Any, Final

from dpor.python.hooks.calls.registry import set_wrapper, wrap
from dpor.python.hooks.calls.unknown import reading_c, unknown_c, yield_before_call
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_object, shared_objects


def in_context(function: Any) -> Callable[..., Any]:
    """A function of `decimal` in C, or a method of a number."""
    computing = unknown_c(function)

    def compute(*args: Any, **kwargs: Any) -> Any:
        given = run.multi and any(type(arg) is decimal.Context for arg in (*args, *kwargs.values()))
        return (computing if given else function)(*args, **kwargs)

    return compute


set_wrapper(decimal.Decimal, in_context(decimal.Decimal))
set_wrapper(decimal.localcontext, reading_c(decimal.localcontext))

_in_force: Final[list[decimal.Context]] = []
"""Contexts in which a thread of this run computes without naming them."""


@wrap(decimal.getcontext)
def _getcontext() -> decimal.Context:
    """A thread that has none yet gets a copy of the default."""
    if isinstance(shared_objects.table.get(id(decimal.DefaultContext)), shared_object.SharedObject):
        yield_before_call(decimal.getcontext, (decimal.DefaultContext,))
    return _note(decimal.getcontext())


@wrap(decimal.setcontext)
def _setcontext(context: decimal.Context) -> None:
    decimal.setcontext(context)
    _note(decimal.getcontext())


def _note(context: decimal.Context) -> decimal.Context:
    if all(context is not known for known in _in_force):
        _in_force.append(context)
    return context


def tell_shared() -> None:
    """At the end of a run: was one of them shared?"""
    if any(isinstance(shared_objects.table.get(id(context)), shared_object.SharedObject) for context in _in_force):
        incomplete("threads share a context of decimal that is in force in one: what its operators do is not seen")
    _in_force.clear()
    default = shared_objects.table.get(id(decimal.DefaultContext))
    if isinstance(default, shared_object.SharedObject) and default.writes:
        incomplete("decimal.DefaultContext is changed while threads run: only getcontext is seen to copy it")
