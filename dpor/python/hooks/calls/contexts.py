"""`decimal`: whatever computes in a context reads it and writes its flags.

That is seen where the context is named: by its own methods, and by functions that are given it. Operators use the
current context of their thread. No other thread has that context unless the program gives it away; then the run is
incomplete.
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
    """Wrap a function of `decimal` in C, or a method of a number."""
    computing = unknown_c(function)

    def compute(*args: Any, **kwargs: Any) -> Any:
        given = run.multi and any(type(arg) is decimal.Context for arg in (*args, *kwargs.values()))
        return (computing if given else function)(*args, **kwargs)

    return compute


set_wrapper(decimal.Decimal, in_context(decimal.Decimal))
set_wrapper(decimal.localcontext, reading_c(decimal.localcontext))


class _InForce:
    """Contexts in which threads of a run compute without naming them."""

    __slots__ = ("contexts",)

    def __init__(self) -> None:
        self.contexts: list[decimal.Context] = []


_in_force: Final = run.attach(_InForce)


@wrap(decimal.getcontext)
def _getcontext() -> decimal.Context:
    """Yield before the default context is copied if it is shared: a thread without a context gets a copy."""
    if isinstance(shared_objects.table.get(id(decimal.DefaultContext)), shared_object.SharedObject):
        yield_before_call(decimal.getcontext, (decimal.DefaultContext,))
    return _note(decimal.getcontext())


@wrap(decimal.setcontext)
def _setcontext(context: decimal.Context) -> None:
    decimal.setcontext(context)
    _note(decimal.getcontext())


def _note(context: decimal.Context) -> decimal.Context:
    if all(context is not known for known in _in_force.contexts):
        _in_force.contexts.append(context)
    return context


def report_shared_contexts() -> None:
    """At the end of a run: note that it is incomplete if a thread's current context, or a changed default, was
    shared."""
    if any(
        isinstance(shared_objects.table.get(id(context)), shared_object.SharedObject) for context in _in_force.contexts
    ):
        incomplete(
            "threads share a context of decimal that is current in one of them: what operators do to it is not seen"
        )
    default = shared_objects.table.get(id(decimal.DefaultContext))
    if isinstance(default, shared_object.SharedObject) and default.writes:
        incomplete("decimal.DefaultContext is changed while threads run: only getcontext is seen to copy it")
