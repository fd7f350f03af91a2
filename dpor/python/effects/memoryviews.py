"""Memoryviews: they look at memory of another object and change it. Reading and writing through them is reading and
writing that, whichever view of it is used; a view itself changes once, when it is given up."""

from __future__ import annotations

import array
import gc
import io
from typing import Any, Final

from dpor.core.operations import READ, Accesses, Mode
from dpor.python.effects.accesses import Touched, reads_structure, writes_structure
from dpor.python.sharing.shared_objects import STRUCTURE, shared_object_of

_BUFFER: Final = type(io.BytesIO().getbuffer().obj)
"""What is between a memoryview and its `BytesIO`."""


def behind(view: memoryview) -> tuple[Any, ...]:
    """The object whose memory it shows, if it still does."""
    try:
        owner = view.obj
    except ValueError:  # it has been released
        return ()
    return tuple(gc.get_referents(owner)) if type(owner) is _BUFFER else (owner,)


def through(view: memoryview, mode: Mode) -> Accesses:
    """A look at the memory, or a change."""
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
