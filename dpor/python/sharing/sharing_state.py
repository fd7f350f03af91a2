"""What the present run knows of shared objects. `shared_objects` says what is done with it."""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Final, TypeAlias

from dpor.python.kernel.model_thread import ModelThread
from dpor.python.sharing.shared_object import SharedObject

Roots: TypeAlias = Callable[[], Iterable[tuple[Hashable, Any]]]


class Sharing:
    """There is one, which every run empties.

    table            by `id`: the `SharedObject` of a shared object, or the thread to which an unshared one belongs.
                     Objects in it are kept alive until the run ends, so that no `id` is used twice
    kept             the objects that are kept alive for that
    used             the `SharedObject`s that have an object in this run
    exposed          by `id` of either: an unshared object whose `__dict__` the program has asked for, and that dict
    owned_weakly     by `id`: the objects that belong to one thread and do something when they die. They die where that
                     thread drops them, as nobody else can reach them
    roots            gives name and object of what every thread can reach: globals and class attributes
    roots_published  have they been shared? (They are when the first thread starts.)
    any_coarse       are there types all objects of which share one `SharedObject`?
    any_finalised    has the run met an object, shared or touched by one of several threads, whose class has `__del__`?
    has_frames       has it shared a generator?
    order            the number of the permutation in which this run iterates over sets
    largest_set      the size of the largest set that it has iterated over
    dropped          where shared generators and coroutines stand to which no thread had a reference any more while
                     several threads existed
    """

    __slots__ = (
        "any_coarse",
        "any_finalised",
        "dropped",
        "exposed",
        "has_frames",
        "kept",
        "largest_set",
        "order",
        "owned_weakly",
        "roots",
        "roots_published",
        "table",
        "used",
    )

    def __init__(self) -> None:
        self.table: Final[dict[int, SharedObject | ModelThread]] = {}
        self.kept: Final[list[Any]] = []
        self.used: Final[list[SharedObject]] = []
        self.exposed: Final[dict[int, tuple[Any, dict[str, Any]]]] = {}
        self.owned_weakly: Final[dict[int, weakref.ref[Any]]] = {}
        self.dropped: Final[list[types.FrameType]] = []
        self.roots: Roots = tuple
        self.begin(tuple)

    def begin(self, roots: Roots) -> None:
        """A run begins."""
        self.let_all_go()
        self.exposed.clear()
        self.dropped.clear()
        self.roots = roots
        self.order = self.largest_set = 0
        self.any_coarse = self.any_finalised = self.has_frames = False

    def let_all_go(self) -> None:
        """What is shared is not kept alive any longer, and counts as no thread's."""
        self.table.clear()
        self.kept.clear()
        self.owned_weakly.clear()
        for shared in self.used:
            shared.obj = None
        self.used.clear()
        self.roots_published = False


sharing: Final = Sharing()
