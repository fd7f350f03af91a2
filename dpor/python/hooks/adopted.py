"""Objects that are given their `__dict__`: `self.__dict__ = shared`, `other.__dict__ = one.__dict__`.

Their fields are the keys of a dict that other objects, or the program itself, may also use. So an access of such a
field touches what an access of that key touches, whether or not the object is shared. That a class has such objects is
a fact, noted at the first store of a `__dict__`.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from dpor.core.operations import Accesses
from dpor.python.effects.accesses import NOTHING
from dpor.python.effects.dicts import moves_key, reads_key, writes_key
from dpor.python.kernel import assumptions
from dpor.python.sharing import shared_objects
from dpor.python.sharing.shared_object import adopted
from dpor.python.sharing.type_traits import fields


def note_store(value: Any, obj: Any) -> None:
    """Called at `obj.__dict__ = value`."""
    kind = type(obj)
    if kind is FunctionType:
        shared_objects.give_to_function(value)
        return
    own = fields(obj, kind)
    if own is not None and own is not value:
        assumptions.used_by_several(adopted(kind), f"a dict that is given to a {kind.__qualname__} as its __dict__")


def reads_field(obj: Any, name: str) -> Accesses:
    """Return the accesses of a load of the field."""
    own = fields(obj, type(obj))
    shared = None if own is None else shared_objects.shared_object_of(own)
    return NOTHING if shared is None else reads_key(shared, own, name)


def writes_field(obj: Any, name: str, *, goes: bool = False) -> Accesses:
    """Return the accesses of a store of the field, or of its deletion (`goes`)."""
    own = fields(obj, type(obj))
    shared = None if own is None else shared_objects.shared_object_of(own)
    return NOTHING if shared is None else (moves_key if goes else writes_key)(shared, own, name)
