"""How a drop-in presents itself: with the name of the real class, and an address that is the same in every run.

Classes whose objects may have attributes of the program's (`event.result = ...`) have the name of the real module. The
others keep their own, by which the hooks know that nothing in them is the program's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dpor.python.kernel import assumptions
from dpor.python.kernel.assumptions import IDENTITIES
from dpor.python.kernel.sync_objects import SyncObject

C = TypeVar("C", bound=type)

_FIRST_ADDRESS = 0x7F00_0000_0000


def presented_as(module: str) -> Callable[[C], C]:
    """Class decorator: set the module that a program sees."""

    def present(cls: C) -> C:
        cls.__module__ = module
        return cls

    return present


def address(obj: SyncObject) -> str:
    """Return what replaces `hex(id(obj))` in reprs."""
    assumptions.note(IDENTITIES)
    return hex(_FIRST_ADDRESS + 16 * obj.dpor_location)


def full_name(obj: object) -> str:
    cls = type(obj)
    return f"{cls.__module__}.{cls.__qualname__}"
