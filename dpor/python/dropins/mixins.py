"""The mixin methods of `collections.abc`, instrumented.

Host and program share these classes, by which they recognise each other's objects, so their methods have no hooks. Most
only call methods of the object's own class, which has them; but they also read the containers that they are given. So
where the program calls a mixin, by its name or by an operator, an instrumented copy runs in its place.
"""

from __future__ import annotations

import _collections_abc as real
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import FunctionType

from dpor.python.dropins import copying


def instrumented(function: FunctionType) -> FunctionType:
    """Return the copy of a method of `collections.abc`; any other function as it is."""
    return _copies().get(id(function), function)


@cache
def _copies() -> Mapping[int, FunctionType]:
    assert real.__file__ is not None
    copy = vars(copying.execute(real.__name__, Path(real.__file__).read_text(), real.__file__, {}, lambda name: None))
    classes = {name: kind for name, kind in vars(real).items() if isinstance(kind, type)}
    found = {
        id(method): vars(copy[name])[method.__name__]
        for name, kind in classes.items()
        for method in vars(kind).values()
        if type(method) is FunctionType and method.__module__ == "collections.abc"
    }
    copy.update(classes)
    return found
