"""Which objects are shared, and the names of their locations. (Interface first: the body follows.)"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from dpor.operations import Location

STRUCTURE = "<structure>"
"""The part of a container that changes when its length, its keys or the positions of its elements do."""

ELEMENTS = "<elements>"
"""The part that stands for all elements together: READ by whoever looks at all of them, UPDATEd by a store of one."""


class Record:
    """A shared object, for the whole of a search.

    number   run-stable: the same object has the same number in equivalent runs
    """

    number: int

    def location(self, part: Hashable) -> Location:
        """The location of a part: a field's name, an element's key, STRUCTURE or ELEMENTS."""
        raise NotImplementedError


def record_of(obj: Any) -> Record | None:
    """The record of a shared object; None where an access is no operation: the object belongs to one thread, cannot
    change (int, str, function, ...), or only one thread exists."""
    raise NotImplementedError


def publish(value: Any) -> None:
    """Make the value, and all that is reachable from it, shared: a reference is about to be stored where another
    thread can reach it."""
    raise NotImplementedError
