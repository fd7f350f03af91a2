"""Objects that every thread can reach in every run, and that are the same in each: they are published once."""

from __future__ import annotations

import gc
import operator
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from dpor.python.kernel.host_modules import changed_modules
from dpor.python.kernel.run import run
from dpor.python.sharing.children import children
from dpor.python.sharing.shared_object import SharedObject
from dpor.python.sharing.shared_objects import _publish, table
from dpor.python.sharing.sharing_state import sharing


class AlwaysShared:
    """Made before a run has changed any of them. It publishes all of them at once, and keeps their `SharedObject`s.

    roots        (name, object) of what every thread can reach
    is_watched   a function that returns True if it would be noticed that the object refers to something else, or
                 would have died. Objects of the host are not watched.
    changed      a function that yields the objects that refer to something else now: (name, what it refers to)
    more         a function that yields (name, object) of further roots that exist in this run only
    shared_by_id   their `SharedObject`s, by `id`
    exposed      those of them whose `__dict__` the program has asked for, as in `sharing.exposed`
    mortal       objects that perhaps only the host keeps alive: they are published in each run
    """

    def __init__(
        self,
        roots: Iterable[tuple[Hashable, Any]],
        is_watched: Callable[[Any], bool],
        changed: Callable[[], Iterable[tuple[Hashable, list[Any]]]],
        more: Callable[[], Iterable[tuple[Hashable, Any]]],
    ) -> None:
        self._changed, self._more = changed, more
        before, kept = set(run.incomplete), len(sharing.kept)
        for name, value in roots:
            _publish(value, name)
        for index, values in enumerate(sharing.made):  # only this run has seen these classes being made
            for nth, value in enumerate(values()):
                _publish(value, ("made", index, nth))
        sharing.made.clear()
        self.exposed = {
            number: pair for number, pair in sharing.exposed.items() if is_watched(sharing.owner_of(number))
        }
        self._given = [*sharing.given]
        self._kept: list[Any] = []
        self._unwatched: list[Any] = []
        self.mortal: list[Any] = []
        self.shared_by_id: dict[int, SharedObject] = {}
        for obj in sharing.kept[kept:]:
            mark = table.get(id(obj))
            if not isinstance(mark, SharedObject):
                continue  # reached by a weak reference
            watched = is_watched(obj)
            if not watched and type(obj).__weakrefoffset__ and type(obj) is not set:
                self.mortal.append(obj)
                continue
            self.shared_by_id[id(obj)] = mark
            (self._kept if watched else self._unwatched).append(obj)
        self._of_unwatched = gc.get_referents(*self._unwatched)
        self._reasons = [reason for reason in run.incomplete if reason not in before]
        for reason in self._reasons:
            del run.incomplete[reason]
        sharing.used[:] = [shared for shared in sharing.used if id(shared.obj) not in self.shared_by_id]
        sharing.let_all_go()
        sharing.were_any = False
        self.begin_run()

    def begin_run(self) -> None:
        """After `sharing.begin`: share them in this run, too."""
        sharing.always = self
        sharing.exposed.update(self.exposed)
        sharing.given[:] = self._given

    def publish(self) -> None:
        if table:
            table.update((number, shared) for number, shared in self.shared_by_id.items() if number not in table)
        else:
            table.update(self.shared_by_id)
        run.incomplete.update(dict.fromkeys(self._reasons))
        for owner, held in self._changed():
            for index, value in enumerate(held):
                _publish(value, ("changed", owner, index))
        for index, obj in enumerate(self.mortal):
            _publish(obj, ("mortal", index))
        found = gc.get_referents(*self._unwatched)
        if len(found) != len(self._of_unwatched) or not all(map(operator.is_, found, self._of_unwatched)):
            for index, obj in enumerate(self._unwatched):
                for nth, value in enumerate(children(obj, type(obj))):
                    _publish(value, ("unwatched", index, nth))
        for name, value in self._more():
            _publish(value, name)
        if changed_modules:
            for name, value in sharing.roots():
                _publish(value, name, through=True)
