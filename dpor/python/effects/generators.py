"""Generators that several threads advance.

Advancing a shared generator is two operations: entering it, and returning with what it yielded. A thread that comes in
between finds the generator executing, and gets the ValueError that CPython raises. The generator's body may perform no
operation at all, so the scheduler could not see a thread inside it; therefore `_inside` records which thread is inside,
from the first operation to the second.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator
from typing import Any, Final

from dpor.core.operations import WRITE
from dpor.python.effects.accesses import yield_before
from dpor.python.kernel.model_thread import ModelThread
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects
from dpor.python.sharing.shared_objects import STRUCTURE, SharedObject

inside: Final[dict[int, ModelThread]] = {}
"""By `id`: which thread is inside a shared generator."""


def drive(generator: Generator[Any, Any, Any], step: Callable[..., Any], *args: Any) -> Any:
    """Advance the generator by `step(*args)`: `step` is `next`, `generator.send`, ..."""
    shared = shared_objects.shared_object_of(generator)
    if shared is None:
        return step(*args)
    yield_before("next", ((shared.location(STRUCTURE), WRITE),))
    if is_executing(generator):
        raise ValueError("generator already executing")
    key = id(generator)
    inside[key] = run.current
    try:
        return step(*args)
    finally:
        come_out(generator, shared, key)


def is_executing(generator: Generator[Any, Any, Any]) -> bool:
    """True if a thread is inside the shared generator."""
    owner = inside.get(id(generator))
    return owner is not None and owner.running and owner in run.threads


def come_out(generator: Generator[Any, Any, Any], shared: SharedObject, key: int) -> None:
    """The thread that was inside a shared generator leaves it: an operation, before which others may come. What the
    generator holds is shared from now on."""
    try:
        yield_before("yield", ((shared.location(STRUCTURE), WRITE),))
        for held in gc.get_referents(generator):
            shared_objects.publish(held)
    finally:
        inside.pop(key, None)


class StepwiseGenerator:
    """Replaces a generator in `for` and `yield from`, where each step is an operation once the generator is shared.

    It is not a generator itself: leaving a `for` loop must not close the program's generator, and a generator that
    delegates to it must pass on what it is sent.
    """

    __slots__ = ("_generator",)

    def __init__(self, generator: Generator[Any, Any, Any]) -> None:
        self._generator = generator

    def __iter__(self) -> StepwiseGenerator:
        return self

    def __next__(self) -> Any:
        if run.multi:
            return drive(self._generator, next, self._generator)
        return next(self._generator)

    def send(self, value: Any) -> Any:
        return drive(self._generator, self._generator.send, value)

    def throw(self, *error: Any) -> Any:
        return drive(self._generator, self._generator.throw, *error)

    def close(self) -> None:
        drive(self._generator, self._generator.close)
