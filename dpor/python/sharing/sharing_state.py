"""What the present run knows of shared objects. `shared_objects` reads and changes it."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from dpor.python.kernel.model_thread import ModelThread
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.sharing.shared_object import SharedObject

Roots: TypeAlias = Callable[[], Iterable[tuple[Hashable, Any]]]


T = TypeVar("T")


class OwnReference(weakref.ref[T]):
    """A weak reference of ours, which the program does not see."""

    __slots__ = ()


Exposed: TypeAlias = tuple[Any, dict[str, Any]]
"""An object, or an `OwnReference` to it if there can be one, and its `__dict__`."""


class Published(Protocol):
    """What is published once for all runs: see `always_shared.AlwaysShared`."""

    shared_by_id: dict[int, SharedObject]
    exposed: dict[int, Exposed]
    mortal: list[Any]

    def publish(self) -> None: ...


class SharingState:
    """There is one object of this class. Each run begins with an empty one.

    table            by `id`: the `SharedObject` of a shared object, or the thread to which an unshared one belongs.
                     Objects in it are kept alive until the run ends, so that no `id` is used twice
    kept             the objects that are kept alive for this reason
    owned            likewise, in searches in which objects die: those that belonged to one thread when it touched them.
                     They are let go of when that thread has dropped them
    published        by `id`: the synchronisation objects that several threads can reach, also kept alive
    counted          what was counted last by `dpor.python.sharing.deaths`: all that is kept alive. Empty if something
                     has been let go since
    used             the `SharedObject`s that have a Python object in this run
    exposed          by `id` of either: an object whose `__dict__` the program asked for before it was shared, and that
                     dict. They are not kept alive by that
    given            dicts that functions were given as their `__dict__`
    owned_weakly     by `id`: weak references to the objects that belong to one thread and whose death does something.
                     They die where that thread drops them, as no other thread can reach them
    roots            a function that gives the name and the object of everything that all threads can reach: globals and
                     class attributes
    roots_published  True once these have been shared, which happens when the first thread starts
    always           objects that all runs share, published once; None if there are none
    were_any         True if there have been shared objects that were let go
    any_whole_type       True if there are types all objects of which share one `SharedObject`
    any_finalised    True if one of several threads has made, shared or touched an object whose class has `__del__`, or
                     has shared or touched a generator
    asked            by `id`: weak references to objects that are not shared and for which one was asked while several
                     threads existed. Empty in searches in which objects die
    made             functions that give what is held by classes and modules that the only thread has made
    order            the number of the permutation in which this run iterates over sets
    largest_set      the size of the largest set that the run has iterated over
    """

    __slots__ = (
        "always",
        "any_finalised",
        "any_whole_type",
        "asked",
        "counted",
        "exposed",
        "given",
        "kept",
        "largest_set",
        "made",
        "order",
        "owned",
        "owned_weakly",
        "published",
        "roots",
        "roots_published",
        "table",
        "used",
        "were_any",
    )

    def __init__(self) -> None:
        self.table: Final[dict[int, SharedObject | ModelThread]] = {}
        self.kept: Final[list[Any]] = []
        self.owned: Final[list[Any]] = []
        self.counted: Final[list[Any]] = []
        self.published: Final[dict[int, SyncObject]] = {}
        self.used: Final[list[SharedObject]] = []
        self.exposed: Final[dict[int, Exposed]] = {}
        self.owned_weakly: Final[dict[int, weakref.ref[Any]]] = {}
        self.asked: Final[dict[int, weakref.ref[Any]]] = {}
        self.given: Final[list[dict[str, Any]]] = []
        self.made: Final[list[Callable[[], Iterable[Any]]]] = []
        self.roots: Roots = tuple
        self.roots_published = self.were_any = False
        self.always: Published | None = None
        self.begin(tuple)

    def begin(self, roots: Roots) -> None:
        """Start a run whose threads can all reach the objects that `roots` gives."""
        self.let_all_go()
        self.always, self.were_any = None, False
        self.exposed.clear()
        self.given.clear()
        self.asked.clear()
        self.made.clear()
        self.roots = roots
        self.order: int | None = None
        self.largest_set = 0
        self.any_whole_type = self.any_finalised = False

    def let_all_go(self) -> None:
        """Keep shared objects alive no longer, and forget which objects are shared and to which thread others
        belong."""
        self.were_any = self.any_shared()
        self.table.clear()
        self.counted.clear()
        self.kept.clear()
        self.owned.clear()
        self.published.clear()
        self.owned_weakly.clear()
        for shared in self.used:
            shared.obj = None
        self.used.clear()
        self.roots_published = False

    def expose(self, obj: Any, fields: dict[str, Any]) -> None:
        """Note that the dict is the `__dict__` of the object."""
        numbers = id(obj), id(fields)
        if numbers[0] in self.exposed and self.exposed[numbers[0]][1] is fields:
            return

        def died(ref: OwnReference[Any]) -> None:
            if self.exposed.get(numbers[0], (None,))[0] is ref:
                self.counted.clear()
                for number in numbers:
                    self.exposed.pop(number, None)

        owner = OwnReference(obj, died) if type(obj).__weakrefoffset__ else obj
        self.exposed.update(dict.fromkeys(numbers, (owner, fields)))

    def owner_of(self, number: int) -> Any:
        """Return the object of which this is noted, by the `id` of either."""
        owner = self.exposed[number][0]
        return owner() if type(owner) is OwnReference else owner

    def any_shared(self) -> bool:
        """Has there been an object in this run that several threads could reach and change?"""
        are_always = self.roots_published and self.always is not None and bool(self.always.shared_by_id)
        return self.were_any or bool(self.used) or are_always


sharing: Final = SharingState()
