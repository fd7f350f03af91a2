"""Counts how many references the program has to the objects that the runtime keeps alive.

In searches in which objects die this is done at each step. From one step to the next, hardly any number changes, and
few objects come or go. So what was found is kept, and brought up to date.
"""

from __future__ import annotations

from _weakref import getweakrefcount
from collections.abc import Callable
from itertools import compress, islice
from itertools import count as count_up
from operator import ne
from sys import getrefcount
from typing import Any, Final

from dpor.python.kernel.run import run
from dpor.python.kernel.type_caches import type_cache
from dpor.python.sharing import identity, shared_objects
from dpor.python.sharing.sharing_state import sharing


def mortal_always_shared() -> list[Any]:
    """What is published in each run as the same object."""
    return [] if sharing.always is None else sharing.always.mortal


def thread_objects() -> list[Any]:
    """What the kernel knows of threads."""
    return [thread.thread_object for thread in run.threads]


def held_elsewhere() -> list[Any]:
    """Return the objects of the program to which parts of the runtime refer where CPython would not, as often as they
    do."""
    above = run.above
    return [
        *thread_objects(),
        *mortal_always_shared(),
        *identity.numbered(),
        *above.unjoined_threads(),
        *above.recorded_calls(),
    ]


def count_by(objects: list[Any]) -> list[int]:
    """Return the number of references to each object, without the one in the list."""
    return [number - BY_COUNTING for number in map(getrefcount, objects)]


BY_COUNTING = 0
BY_COUNTING = count_by([object()])[0]
"""The number of references to an object that come from counting itself: from the list and from the call."""
_CHANGED: Final = -1
"""In the place of a count that is not known."""


def _release() -> None:
    """Have other parts release what they keep for a while."""
    if run.frame_states is not None:
        run.frame_states.forget_frames()
    if run.recorder is not None:
        run.recorder.finish()  # it keeps what the last event has changed


class Census:
    """What was counted last.

    objects    the objects that the runtime refers to, each once: `SharingState.counted`, which is emptied when it
               lets go of one of them and does not say so here
    numbers    their `id`s, in the same order; `positions`: by `id`, where they are
    counts     how many references there are to each; `ours`: how many of these are not the program's
    weak       how many weak references
    theirs     how many references to each the program has, by `id`; never changed in place
    fallen     the `id`s of those to which it has none; never changed in place
    elsewhere  the `id`s of those that other parts of the runtime hold, so that we cannot let go of them
    """

    def __init__(self) -> None:
        self.objects: Final = sharing.counted
        self.numbers: list[int] = []
        self.positions: dict[int, int] = {}
        self.counts: list[int] = []
        self.ours: list[int] = []
        self.weak: list[int] = []
        self.theirs: dict[int, int] = {}
        self.fallen: set[int] = set()
        self.elsewhere: frozenset[int] = frozenset()
        self._elsewhere: list[int] = []
        self._sizes: tuple[int, ...] = ()
        self._chosen: set[int] = set()  # positions
        self._varying: dict[int, int] = {}  # by position
        self._kinds: dict[type, bool] = type_cache({})
        self._facts = -1

    def object(self, number: int) -> Any:
        """Return the object with this `id`."""
        return self.objects[self.positions[number]]

    def count(self) -> None:
        """Count again."""
        _release()
        self._look_at_held()
        counts, before = list(map(getrefcount, self.objects)), self.counts
        if counts != before:
            numbers, ours = self.numbers, self.ours
            found = {numbers[at]: counts[at] - ours[at] for at in compress(count_up(), map(ne, counts, before))}
            fallen = {number for number, n in found.items() if n == 0}
            if fallen or not self.fallen.isdisjoint(found):
                self.fallen = self.fallen - found.keys() | fallen
            self.theirs = self.theirs | found
            self.counts = counts

    def chosen(
        self,
        may_be: Callable[[type], bool],
        choose: Callable[[Any, int], bool],
        varies: Callable[[type], bool],
        variants: Callable[[list[Any]], list[int]],
    ) -> list[int]:
        """Return the positions of the objects that `choose` accepts. It is asked about those to which there are weak
        references, or whose type `may_be` right; again when their number is another or a fact is learnt, and if the
        type `varies` when the object's variant is another, or 0."""
        if len(run.facts) != self._facts:
            self._facts = len(run.facts)
            self._kinds.clear()
            self.weak = [_CHANGED] * len(self.objects)
        weak, before, objects = list(map(getweakrefcount, self.objects)), self.weak, self.objects
        varying = self._varying
        to_ask: set[int] = set()
        if weak != before:
            kinds = self._kinds
            for at in compress(count_up(), map(ne, weak, before)):
                kind = type(objects[at])
                if kind not in kinds:
                    kinds[kind] = may_be(kind)
                self._chosen.discard(at)
                varying.pop(at, None)
                if weak[at] or kinds[kind]:
                    to_ask.add(at)
                    if varies(kind):
                        varying[at] = 0
            self.weak = weak
        if varying:
            found = variants([objects[at] for at in varying])
            to_ask.update(at for (at, old), new in zip(varying.items(), found, strict=True) if old != new or not new)
            self._varying = dict(zip(varying, found, strict=True))
        for at in to_ask:
            (self._chosen.add if choose(objects[at], weak[at]) else self._chosen.discard)(at)
        return sorted(self._chosen)

    def dropped(self) -> set[int]:
        """Return the `id`s of the objects that belong to the current thread, and that the program has dropped."""
        owned, exposed = sharing.owned, sharing.exposed
        if not owned or min(map(getrefcount, owned)) > BY_COUNTING + 1:  # which may be in `objects`
            return set()
        _release()
        counted = self.positions if self.objects else ()
        return {
            number
            for number, count in zip(map(id, owned), count_by(owned), strict=True)
            if count == (number in counted) and sharing.table.get(number) is run.current and number not in exposed
        }

    def let_go(self, numbers: set[int]) -> None:
        """Keep the objects with these `id`s, which were counted last, alive no longer. They die, and may call code that
        counts again."""
        whole = not sharing.exposed.keys().isdisjoint(numbers)
        for number in numbers & self.positions.keys() if self.objects else ():
            self._remove(number)
        dead = shared_objects.taken_out(numbers)
        if whole:
            self.objects.clear()
        self._sizes = shared_objects.sizes_of_held()
        dead.clear()

    def _look_at_held(self) -> None:
        """Find out which objects the runtime refers to."""
        elsewhere = list(map(id, held_elsewhere()))
        sizes, before = shared_objects.sizes_of_held(), self._sizes
        if not self.objects or elsewhere != self._elsewhere or sizes[-1] != before[-1]:
            self._elsewhere, self.elsewhere = elsewhere, frozenset(elsewhere)
            for each in (self.objects, self.numbers, self.counts, self.ours, self.weak):
                each.clear()
            for known in (self.positions, self._chosen, self._varying, self._kinds):
                known.clear()
            self.theirs, self.fallen = {}, set()
            self._add([*shared_objects.held(), *held_elsewhere()])
        elif sizes != before:
            used, kept, owned, published, _ = before
            self._add([shared.obj for shared in islice(sharing.used, used, None) if shared.obj is not None])
            self._add([*islice(sharing.kept, kept, None), *islice(sharing.owned, owned, None)])
            self._add([*islice(sharing.published.values(), published, None)])
        self._sizes = sizes

    def _add(self, objects: list[Any]) -> None:
        """Add objects, each as often as the runtime refers to it. (One more reference comes from `objects`.)"""
        positions = self.positions
        for obj in objects:
            at = positions.setdefault(id(obj), len(positions))
            if at == len(self.objects):
                self.objects.append(obj)
                self.numbers.append(id(obj))
                self.ours.append(BY_COUNTING)
                self.counts.append(_CHANGED)
                self.weak.append(_CHANGED)
            self.ours[at] += 1
            self.counts[at] = _CHANGED

    def _remove(self, number: int) -> None:
        """Let the last object take the place of this one."""
        at, last = self.positions.pop(number), len(self.objects) - 1
        self._chosen.discard(at)
        self._varying.pop(at, None)
        if at != last:
            self.positions[self.numbers[last]] = at
            if last in self._chosen:
                self._chosen.remove(last)
                self._chosen.add(at)
            if last in self._varying:
                self._varying[at] = self._varying.pop(last)
        for each in (self.objects, self.numbers, self.ours, self.counts, self.weak):
            each[at] = each[last]
            del each[last]
        self.theirs = dict(self.theirs)
        self.theirs.pop(number, None)
        self.fallen = self.fallen - {number}


census: Final = Census()
