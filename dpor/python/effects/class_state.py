"""Accesses of functions of the library that look at what classes keep for them (`sharing/class_state.py`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from dpor.python.effects.accesses import Touched, yield_before
from dpor.python.effects.kinds import container_type_of
from dpor.python.kernel.run import run
from dpor.python.sharing import class_state, shared_objects
from dpor.python.sharing.class_state import ANNOTATIONS, FIELDS
from dpor.python.sharing.shared_objects import table

LOOKING: Final = {
    "dataclasses.fields": FIELDS,
    "typing.get_type_hints": ANNOTATIONS,
    "inspect.get_annotations": ANNOTATIONS,
    "inspect.signature": ANNOTATIONS,
    "annotationlib.get_annotations": ANNOTATIONS,
}
"""What functions look at in their first argument."""


def yield_before_look(kind: str, holder: Any, names: Iterable[str]) -> None:
    """Yield before an operation that reads what the class, or function, keeps under these names."""
    if run.multi:
        touched = Touched()
        touched.deeply(_reads, holder, names)
        yield_before(kind, touched)


def _reads(holder: Any, names: Iterable[str], touched: Touched) -> None:
    for name, container in class_state.containers(holder, names):
        container_type = container_type_of(type(container))
        if container_type is not None:
            if table.get(id(container)) is None:
                shared_objects.share(container, ("kept by a class", name))
            shared = shared_objects.shared_object_of(container)
            assert shared is not None
            touched.add(container_type.reads_all(shared))


def looking(function: Callable[..., Any], names: Iterable[str]) -> Callable[..., Any]:
    """Wrap a function that looks at what its first argument keeps under these names."""

    def look(*args: Any, **kwargs: Any) -> Any:
        yield_before_look(function.__name__, next(iter((*args, *kwargs.values())), None), names)
        return function(*args, **kwargs)

    return look
