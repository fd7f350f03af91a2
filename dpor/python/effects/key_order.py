"""The order of the keys of a dict, as long as nobody looks at it.

Threads that insert or delete different keys leave the same dict behind, but for the order of its keys. So a search
begins as if nobody ever looked at the order of a shared dict: to insert or delete a key then UPDATEs the structure, and
two of these commute. Who asks for the length READs the structure, and is ordered with each of them, as before. The
first look at the order of a dict is a fact about that dict. From then on inserting and deleting WRITE its structure.

Why no look hides: until the first look of any schedule, nothing depends on the order. So that schedule is equivalent,
up to the look, to one that the search knows, and in that one the thread looks, too.

Looks are noticed by hooks, and these do nothing once the other threads have ended. But where a program looks at the
order, it is mostly there. So if a dict has been changed whose order is open (`is_open`), hooks stay at work, and the
thread is *watched* (`CurrentRun.watched`): what it does makes no events and is no news, except that it looks. Code
without hooks may look, too. If a thread that is watched calls any of which nothing is known, the orders of all dicts
count as looked at (`give_up`). An order also shows when the dict dies, if that lets go of objects whose death can be
noticed: where there are any, all orders count, too.

The orders of dicts whose keys are fields, globals or class attributes always count, and so do those of dicts that share
one name, and all where there are specifications, whose looks are no part of the run. In searches that store states, the
order is a part of the state, and always counts.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Final

from dpor.core.operations import READ, UPDATE, WRITE, Accesses
from dpor.python.effects.accesses import EVERYTHING, NOTHING, changes, learn
from dpor.python.kernel import assumptions
from dpor.python.kernel.assumptions import Following, about
from dpor.python.kernel.classes import is_a
from dpor.python.kernel.run import run
from dpor.python.sharing import deaths, shared_objects
from dpor.python.sharing.shared_object import STRUCTURE, Namespace, SharedObject

OPEN: Final = "keys are inserted or deleted"
LOOKED: Final = "order of keys is looked at"
ALL: Final = (LOOKED, "of all dicts")
MANY: Final = 10
"""After so many looks at single dicts, the orders of all count. (Dicts that threads make have many names.)"""


def counts(shared: SharedObject) -> bool:
    """True if the order of the keys matters: somebody looks at it, or it is not known that nobody does."""
    facts = run.facts
    if ALL in facts or run.stateful or run.dying or isinstance(shared, Namespace) or EVERYTHING in facts:
        return True
    return (LOOKED, shared.name) in facts or _is_of_several(shared)


def _is_of_several(shared: SharedObject) -> bool:
    return type(shared.name) is tuple and shared.name[0] == "type"


def moves_one(shared: SharedObject) -> Accesses:
    """Return the accesses of inserting or deleting one key, besides those of the key itself."""
    learn(shared, STRUCTURE)
    if counts(shared):
        return ((shared.location(STRUCTURE), WRITE),)
    fact = (OPEN, shared.name)
    if fact not in run.facts and not run.half_seen and not run.watched:
        assumptions.broken(fact, "threads insert or delete keys of a dict")
    return ((shared.location(STRUCTURE), UPDATE),)


def looks(shared: SharedObject) -> Accesses:
    """Return the accesses of what looks at the keys of a dict in their order. (Of another container: at its
    structure.)"""
    if not changes(shared, STRUCTURE):
        return NOTHING
    if shared.obj is None or is_a(shared.obj, dict):
        note_look(shared)
    return ((shared.location(STRUCTURE), READ),)


def note_look(shared: SharedObject) -> None:
    """Note that somebody looks at the order of the keys of a dict."""
    if not run.half_seen and not counts(shared):
        known = sum(1 for _ in about(run.facts, LOOKED))
        fact = (LOOKED, shared.name) if known < MANY else ALL
        assumptions.broken(fact, "the order of the keys of a dict that threads change is looked at")


def _find_open(facts: Collection[object]) -> list[Hashable]:
    if ALL in facts or EVERYTHING in facts:
        return []
    return [name for (name,) in about(facts, OPEN) if (LOOKED, name) not in facts]


_open: Final = Following(_find_open)
"""The names of the dicts whose keys threads insert or delete in any order, as far as is known."""


def give_up() -> None:
    """It cannot be told whether somebody looks."""
    assumptions.broken(ALL, "the order of the keys of a dict that threads change may have been looked at")


def may_look() -> None:
    """Called when the program is about to call code of which it is not seen what it reads."""
    if not run.stateful and not run.dying and _open(run.facts):
        give_up()


# ---------------------------------------------------------------------- once the other threads have ended


def is_open() -> bool:
    """True if the other threads may have left the keys of a dict in one of several orders, and no look at it is known
    yet."""
    if run.stateful or run.dying:
        return False
    objects = [shared_objects.shared_object_named(name) for name in _open(run.facts)]
    if not any(shared is not None and shared.obj is not None for shared in objects):
        return False
    if deaths.any_mortal():
        give_up()
        return False
    return True
