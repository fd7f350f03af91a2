"""Exceptions that threads share: their methods in C, their chains, and what formats them.

An exception consists of fields (`args`, `filename`, `__notes__`, ...). Its links to others (`__cause__`, `__context__`,
`__traceback__`) also change when it is raised: all of these are one location, the chain, which is silent until
something reads a chain.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from dpor.core.operations import READ, WRITE, Access, Mode
from dpor.python.effects.accesses import Touched
from dpor.python.effects.calls import Entry, MethodCall, of_exceptions
from dpor.python.effects.reach import ANYTHING, parts_of_exceptions, reads, writes
from dpor.python.hooks import attributes
from dpor.python.kernel import accessing, assumptions
from dpor.python.kernel.classes import is_a
from dpor.python.kernel.run import run
from dpor.python.sharing.shared_objects import shared_object_of

_CHAIN: Final = ("exceptions", "chain")

# ---------------------------------------------------------------------- the chain


def _chain(mode: Mode) -> Access:
    return run.operations.location(_CHAIN), mode


def read_chain() -> Access:
    """Return the access of reading how a shared exception is chained to others."""
    assumptions.used_by_several(_CHAIN, "the chain of an exception")
    return _chain(READ)


def chain_exceptions() -> None:
    """Yield before `__cause__`, `__context__` or `__traceback__` of exceptions change."""
    if _CHAIN in run.facts:
        accessing.touch("write", (_chain(WRITE),))


def raises(part: Any) -> Any:
    """Called before an existing exception is raised, or becomes a cause. Returns it."""
    if run.multi and _CHAIN in run.facts and not is_a(part, type) and shared_object_of(part) is not None:
        chain_exceptions()
    return part


def read_shown(values: Iterable[Any], touched: Touched) -> None:
    """Add what is read when exceptions among the values are formatted, with all that are chained to them."""
    stack, seen = list(values), set()
    while stack:
        error = stack.pop()
        if type(error) is tuple:  # as `sys.exc_info` returns it
            stack.extend(error)
        if not is_a(error, BaseException) or id(error) in seen:
            continue
        seen.add(id(error))
        if shared_object_of(error) is not None:
            touched.add((read_chain(),))
        reads((error,), ANYTHING, touched)
        stack += (error.__cause__, error.__context__, *getattr(error, "exceptions", ()))


# ---------------------------------------------------------------------- methods


def _changing(names: Any) -> Entry:
    """Return the entry of a method that stores fields; `names(call)` returns their names."""

    def act(call: MethodCall) -> Any:
        shared = call.shared
        if shared is None:
            return call.run()
        touched = Touched()
        touched.deeply(writes, (call.obj, *call.args))
        for name in names(call):
            operation = attributes.write_operation(shared, call.obj, name)
            if operation is not None:
                touched.add(operation.accesses)
        return call.done(touched, keeps=call.args)

    return act


def _rechained(call: MethodCall) -> Any:
    if call.shared is not None:
        chain_exceptions()
        call.publish(call.args)
    return call.run()


def _names_in(call: MethodCall) -> list[str]:
    state: Any = call.args[0] if call.args else None
    return [name for name in state if is_a(name, str)] if is_a(state, dict) else []


of_exceptions.update(
    {
        "__init__": _changing(lambda call: parts_of_exceptions(type(call.obj))),
        "__setstate__": _changing(_names_in),
        "add_note": _changing(lambda call: ("__notes__",)),
        "with_traceback": _rechained,
    }
)
