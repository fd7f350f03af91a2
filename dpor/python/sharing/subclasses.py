"""Which classes derive from one that is asked for its `__subclasses__` while several threads exist.

Making a class is no step. So it is assumed that no class is made meanwhile that derives from such a class: a run in
which one is made is incomplete. That a class is asked is a fact; from then on the classes are noted that derive from it
when the first thread starts.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from dpor.python.kernel import assumptions
from dpor.python.kernel.assumptions import about
from dpor.python.kernel.classes import derived_from, module_of_class
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.run import run

_ASKED: Final = "subclasses"
_MADE: Final = "__subclasses__() is called: making a class is not a step"


class _Subclasses:
    """What is remembered during a run.

    known   by `id`: the classes that are asked, with those that derived from them when the first thread started
    asked   the `id`s of those that this run has asked
    """

    __slots__ = ("asked", "known")

    def __init__(self) -> None:
        self.known: dict[int, tuple[type, dict[int, type]]] = {}
        self.asked: set[int] = set()


_now: Final = run.attach(_Subclasses)


def note_several_threads() -> None:
    """Called when the first thread starts, maybe again in the same run."""
    _now.known.clear()
    _now.asked.clear()
    for module, name in about(run.facts, _ASKED):
        kind: Any = sys.modules.get(module)
        for part in name.split("."):
            kind = getattr(kind, part, None)
        if isinstance(kind, type):
            _now.known[id(kind)] = kind, _derived(kind)


def asked(kind: type) -> None:
    """Called when the program calls `__subclasses__` of the class."""
    fact = (_ASKED, module_of_class(kind), kind.__qualname__)
    if not run.multi:
        return
    if fact not in run.facts:
        assumptions.broken(fact, f"the classes that derive from {kind.__qualname__} are asked for")
    elif id(kind) in _now.known:
        _now.asked.add(id(kind))
    else:
        incomplete(_MADE)


def look() -> None:
    """Called when other threads have ended, or the run has."""
    for number in _now.asked:
        kind, before = _now.known[number]
        if not _derived(kind).keys() <= before.keys():
            incomplete(_MADE)


def _derived(kind: type) -> dict[int, type]:
    return {id(derived): derived for derived in derived_from(kind)}
