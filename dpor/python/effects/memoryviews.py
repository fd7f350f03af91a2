"""Memoryviews: reading and writing through any view of an object is reading and writing that object's memory.

A view itself changes once, when it is released.
"""

from __future__ import annotations

import array
import gc
import io
from typing import Any, Final

from dpor.core.operations import READ, Accesses, Mode
from dpor.python.effects.accesses import Touched, reads_structure, writes_structure
from dpor.python.sharing.shared_object import STRUCTURE
from dpor.python.sharing.shared_objects import shared_object_of

_BUFFER: Final = type(io.BytesIO().getbuffer().obj)
"""The object between a memoryview and its `BytesIO`."""


def behind(view: memoryview) -> tuple[Any, ...]:
    """Return the object whose memory the view shows, as a tuple; empty if the view has been released."""
    try:
        owner = view.obj
    except ValueError:  # it has been released
        return ()
    return tuple(gc.get_referents(owner)) if type(owner) is _BUFFER else (owner,)


def through(view: memoryview, mode: Mode) -> Accesses:
    """Accesses of reading or writing the memory through the view."""
    touched = Touched()
    shared = shared_object_of(view)
    if shared is not None:
        touched.add(reads_structure(shared))
    for owner in behind(view):
        shared = shared_object_of(owner)
        if shared is None:
            continue
        if not isinstance(owner, (bytearray, array.array)):
            touched.add(((shared.location(STRUCTURE), mode),))
        else:
            touched.add(reads_structure(shared) if mode is READ else writes_structure(shared))
    return touched.accesses()
