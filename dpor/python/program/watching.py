"""Comparing many objects at once: do any of them refer to something else than they did?

Some hundred objects are compared in one step: dicts by the versions that the interpreter gives them, if it does; others
by one call of the collector's `get_referents`, whose lists are compared as memory. Only in a block that differs are
objects compared one by one.
"""

from __future__ import annotations

import gc
import types
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final

from dpor.python.states.memory import addresses, versions_of, words

_BLOCK: Final = 256
"""Objects that are compared in one step."""


def parts(objects: list[Any]) -> Iterable[list[Any]]:
    """Return the objects in lists of the size of a block."""
    return [objects[at : at + _BLOCK] for at in range(0, len(objects), _BLOCK)]


class ObjectBlock:
    """Objects, and what they referred to when `note` was called."""

    def __init__(self, objects: list[Any]) -> None:
        self.objects = objects
        self.note()

    def note(self) -> None:
        """Take the present state as the one to compare with."""
        self.references = [gc.get_referents(obj) for obj in self.objects]
        self._whole = addresses(gc.get_referents(*self.objects))

    def changed(self) -> Iterator[Any]:
        """Yield the objects that refer to something else now."""
        if addresses(gc.get_referents(*self.objects)) != self._whole:
            for obj, before in zip(self.objects, self.references, strict=True):
                if addresses(gc.get_referents(obj)) != addresses(before):
                    yield obj

    def before(self, obj: Any) -> list[Any]:
        """Return what the object referred to."""
        return self.references[next(n for n, known in enumerate(self.objects) if known is obj)]

    def held(self, obj: Any) -> list[Any]:
        """Return what the object refers to now."""
        return gc.get_referents(obj)

    def made_on_demand(self, obj: Any) -> list[dict[Any, Any]] | None:
        """A function gets a `__dict__`, and its annotations become a dict, when somebody reads them. If nothing else
        has changed, return these dicts; else None."""
        before, now = self.before(obj), gc.get_referents(obj)
        added = [held for held in now if all(held is not known for known in before)]
        removed = [held for held in before if all(held is not known for known in now)]
        items = [[*chain.from_iterable(held.items())] for held in added if type(held) is dict]
        annotations = [[*held] for held in removed if type(held) is tuple]
        known = (
            type(obj) is types.FunctionType
            and len(items) == len(added)
            and len(annotations) == len(removed)
            and [addresses(held) for held in items if held] == [*map(addresses, annotations)]
        )
        return added if known else None


class DictBlock:
    """Dicts, and the items that they had when this was made."""

    def __init__(self, objects: list[dict[Any, Any]]) -> None:
        self.objects = objects
        self._versions = versions_of(objects)
        self._items = {id(obj): dict.copy(obj) for obj in objects}
        self.note()

    def note(self) -> None:
        self._noted = self._look()

    def _look(self) -> object:
        if self._versions is not None:
            return self._versions()
        # `get_referents` leaves out keys that are strings.
        return addresses([*chain.from_iterable(map(dict.keys, self.objects)), *gc.get_referents(*self.objects)])

    def changed(self) -> Iterator[Any]:
        now = self._look()
        if now != self._noted:
            found = [obj for obj in self.objects if _items(obj) != _items(self._items[id(obj)])]
            if not found:
                self._noted = now
            yield from found

    def before(self, obj: Any) -> list[Any]:
        return [*self._items[id(obj)], *self._items[id(obj)].values()]

    def held(self, obj: Any) -> list[Any]:
        return [*dict.keys(obj), *dict.values(obj)]

    def has_other_names(self, obj: Any) -> bool:
        """True if the dict has other keys than it had, or other keys have the value None."""
        before = self._items[id(obj)]
        return [(name, value is None) for name, value in before.items()] != [
            (name, value is None) for name, value in obj.items()
        ]

    def made_on_demand(self, obj: Any) -> None:
        return None


class HiddenBlock:
    """Objects, and the words of their memory that `get_referents` does not show (`hidden_words.py`).

    objects   pairs of an object and the numbers of its words
    """

    def __init__(self, objects: list[tuple[Any, list[int]]]) -> None:
        self.objects = [obj for obj, _ in objects]
        self._counts = [len(places) for _, places in objects]
        self._look = words([place for _, places in objects for place in places])
        self.note()

    def note(self) -> None:
        self._noted = self._look()

    def changed(self) -> Iterator[Any]:
        now = self._look()
        if now != self._noted:
            first = 0
            for obj, count in zip(self.objects, self._counts, strict=True):
                if now[first : first + count] != self._noted[first : first + count]:
                    yield obj
                first += count

    def before(self, obj: Any) -> list[Any]:
        return []

    def held(self, obj: Any) -> list[Any]:
        return []

    def made_on_demand(self, obj: Any) -> None:
        return None


def _items(obj: dict[Any, Any]) -> bytes:
    return addresses([*dict.keys(obj), *dict.values(obj)])
