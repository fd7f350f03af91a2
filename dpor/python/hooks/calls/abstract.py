"""`isinstance` and `issubclass` with abstract classes of which the program decides what is derived from them.

C code calls `__subclasshook__` and remembers the answer afterwards. So several threads may call it for one class if
none of them has got an answer yet. While no two threads ask about the same, nobody can tell. Once they do, the hook is
called here, between an operation that looks at what is remembered and one that changes it.
"""

from __future__ import annotations

import abc
from _abc import _get_dump  # type: ignore[import-not-found]
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, Final, TypeVar

from dpor.core.operations import READ, UPDATE, Mode
from dpor.python.effects.kinds import static
from dpor.python.effects.process_state import PROCESS, before_change
from dpor.python.kernel import accessing, assumptions
from dpor.python.kernel.classes import attributes_of_class, is_a, module_of_class
from dpor.python.kernel.run import run
from dpor.python.sharing.fields import is_instrumented

T = TypeVar("T")

_HOOK: Final = "__subclasshook__"
_ASKED: Final = "several threads ask what is derived from an abstract class"
_REMEMBERED: Final = "what abstract classes remember"
_CHECK: Final = static(abc.ABCMeta, "__subclasscheck__")


def answer(kinds: Any, candidates: tuple[type, ...], ask: Callable[[Any], T]) -> T:
    """Return `ask(kinds)`, which is `isinstance` or `issubclass`.

    candidates   the classes that it holds against these
    """
    found = [kind for kind in _one_by_one(kinds) if _decides(kind)]
    if not found:
        return ask(kinds)
    if _ASKED in run.facts:
        for kind in _one_by_one(kinds):
            if _decides(kind):
                for candidate in candidates:
                    _remember(candidate, kind)
            if ask(kind):
                break
        return ask(kinds)
    for kind in found:
        for candidate in candidates:
            _note(candidate, kind)
    return ask(kinds)


class _First:
    """The thread of this run that was the first to ask, by the `id` of class and candidate."""

    __slots__ = ("threads",)

    def __init__(self) -> None:
        self.threads: dict[tuple[int, int], Any] = {}


_first: Final = run.attach(_First)


def _note(candidate: type, kind: Any) -> None:
    key = id(kind), id(candidate)
    if not _is_remembered(candidate, kind):
        run.dirty = True
        _first.threads.setdefault(key, run.current)
    if _first.threads.get(key, run.current) is not run.current:
        assumptions.broken(_ASKED, f"several threads ask whether {candidate.__qualname__} is a {kind.__qualname__}")


def _one_by_one(kinds: Any) -> Iterator[Any]:
    """Yield the classes in the second argument of `isinstance`."""
    if type(kinds) is tuple:
        for kind in kinds:
            yield from _one_by_one(kind)
    else:
        yield kinds


def _decides(kind: Any) -> bool:
    """True if code of the program decides what is derived from this class."""
    if not is_a(kind, type) or static(type(kind), "__subclasscheck__") is not _CHECK:
        return False
    found = static(kind, _HOOK)
    return type(found) is classmethod and type(found.__func__) is FunctionType and is_instrumented(found.__func__)


def _remember(candidate: type, kind: Any) -> None:
    """Let C code remember whether the candidate is derived from the class, if it does not."""
    _look("read", candidate, kind, READ)
    if _is_remembered(candidate, kind):
        return
    said = getattr(kind, _HOOK)(candidate)
    if said is NotImplemented:
        said = kind in candidate.__mro__ or any(_is_derived(candidate, other) for other in _leading_to(kind))
    _look("add", candidate, kind, UPDATE)
    run.dirty = True
    before_change(_REMEMBERED)
    own = attributes_of_class(kind).get(_HOOK)
    type.__setattr__(kind, _HOOK, classmethod(lambda cls, _: said))
    try:
        issubclass(candidate, kind)
    finally:
        if own is None:
            type.__delattr__(kind, _HOOK)
        else:
            type.__setattr__(kind, _HOOK, own)


def _leading_to(kind: Any) -> Iterator[type]:
    """Yield the classes that are registered with this one, and those that are derived from it."""
    registered = (ref() for ref in _get_dump(kind)[0])
    yield from sorted((found for found in registered if found is not None), key=lambda found: found.__qualname__)
    yield from type.__subclasses__(kind)


def _is_derived(candidate: type, kind: Any) -> bool:
    return answer(kind, (candidate,), lambda kind: issubclass(candidate, kind))


def _is_remembered(candidate: type, kind: Any) -> bool:
    _, derived, others, token = _get_dump(kind)
    known = [*derived, *(others if token == abc.get_cache_token() else ())]
    return any(ref() is candidate for ref in known)


def _look(name: str, candidate: type, kind: Any, mode: Mode) -> None:
    names = (f"{module_of_class(one)}.{one.__qualname__}" for one in (kind, candidate))
    accessing.touch(name, ((run.operations.location((PROCESS, _REMEMBERED, *names)), mode),))
