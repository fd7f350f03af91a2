"""Generators that several threads advance.

Advancing a shared generator is two operations: entering it, and returning with what it yielded. A thread that comes in
between finds the generator executing, and gets the ValueError that CPython raises. The generator's body may perform no
operation at all, so the scheduler could not see a thread inside it; therefore `_Inside` records which thread is inside,
from the first operation to the second.
"""

from __future__ import annotations

import gc
import types
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import Any, Final, TypeAlias

from dpor.core.operations import READ, WRITE
from dpor.python.effects.accesses import yield_before
from dpor.python.kernel.model_thread import ModelThread
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects
from dpor.python.sharing.shared_object import STRUCTURE, SharedObject

WORDS: Final[dict[type, str]] = {types.GeneratorType: "generator", types.CoroutineType: "coroutine"}
"""CPython's words for these types in error messages."""


class _Inside:
    """During a run, by `id` of a shared generator: the thread that is inside it."""

    __slots__ = ("threads",)

    def __init__(self) -> None:
        self.threads: dict[int, ModelThread] = {}


_inside: Final = run.attach(_Inside)


Driven: TypeAlias = Generator[Any, Any, Any] | Coroutine[Any, Any, Any] | AsyncGenerator[Any, Any]


def resume_generator(generator: Driven, step: Callable[..., Any], *args: Any, clash: Exception | None = None) -> Any:
    """Advance the generator by `step(*args)`: `step` is `next`, `generator.send`, ..."""
    shared = shared_objects.shared_object_of(generator)
    if shared is None:
        return step(*args)
    yield_before("next", ((shared.location(STRUCTURE), WRITE),))
    if is_executing(generator):
        raise clash or ValueError(f"{WORDS[type(generator)]} already executing")
    if not _executes(generator, step):
        return step(*args)
    key = id(generator)
    _inside.threads[key] = run.current
    try:
        return step(*args)
    finally:
        leave_generator(generator, shared, key)


_PREFIXES: Final = {types.GeneratorType: "gi", types.CoroutineType: "cr"}


def _executes(generator: Any, step: Callable[..., Any]) -> bool:
    """False if the step executes nothing of the generator's code, because that has ended, or never begins. So no other
    thread can come in between."""
    prefix = _PREFIXES.get(type(generator))
    if prefix is None:
        return True
    if getattr(generator, f"{prefix}_frame") is None:
        return False
    return step.__name__ not in ("close", "throw") or bool(getattr(generator, f"{prefix}_suspended"))


def drive_asynchronous(awaitable: Any, step: Callable[..., Any], *args: Any) -> Any:
    """Advance an asynchronous generator: `step` is `send`, `throw`, ... of the result of its `asend`, `athrow` or
    `aclose`."""
    held = gc.get_referents(awaitable)
    generator = next((part for part in held if type(part) is types.AsyncGeneratorType), None)
    if generator is None:
        return step(*args)
    name = (
        "anext" if type(awaitable) is _SENDING else "athrow" if any(type(part) is tuple for part in held) else "aclose"
    )
    clash = RuntimeError(f"{name}(): asynchronous generator is already running")
    return resume_generator(generator, step, *args, clash=clash)


def thread_inside(generator: Driven) -> ModelThread | None:
    """Return the thread that is inside the shared generator, or was when it was unwound."""
    return _inside.threads.get(id(generator))


def is_executing(generator: Driven) -> bool:
    """True if a thread is inside the shared generator."""
    owner = thread_inside(generator)
    return owner is not None and owner.running and owner in run.threads


def leave_generator(generator: Driven, shared: SharedObject, key: int) -> None:
    """Let the thread that was inside a shared generator leave it. This is an operation, so other threads may move
    before it. What the generator holds is published."""
    try:
        yield_before("yield", ((shared.location(STRUCTURE), WRITE),))
        for held in gc.get_referents(generator):
            shared_objects.publish(held)
    finally:
        _inside.threads.pop(key, None)


async def _asynchronous() -> AsyncGenerator[None, None]:
    yield


def _awaitables() -> tuple[type, type]:
    """Return the type of the results of `asend`, and the type of those of `athrow` and `aclose`."""
    generator: Any = _asynchronous()
    given = generator.asend(None), generator.aclose()
    for awaitable in given:
        awaitable.close()  # else newer versions warn that it was never awaited
    return type(given[0]), type(given[1])


_SENDING, _ENDING = _awaitables()
ASYNCHRONOUS: Final[frozenset[type]] = frozenset({_SENDING, _ENDING})


def awaited(obj: Any) -> Any:
    """Return what `await` waits for in place of `obj`, so that each step is an operation if several threads share
    it."""
    kind = type(obj)
    if not run.multi or (kind is not types.CoroutineType and kind not in ASYNCHRONOUS):
        return obj
    if kind in ASYNCHRONOUS:
        return AwaitedSteps(obj, drive_asynchronous)
    shared = shared_objects.shared_object_of(obj)
    if shared is None:
        return obj
    yield_before("await", ((shared.location(STRUCTURE), READ),))
    if obj.cr_await is not None:
        raise RuntimeError("coroutine is being awaited already")
    return AwaitedSteps(obj, lambda awaitable, step, *args: resume_generator(awaitable, step, *args))


class AwaitedSteps:
    """Replaces an awaitable, each step of which is to be an operation."""

    __slots__ = ("_awaitable", "_drive")

    def __init__(self, awaitable: Any, drive: Callable[..., Any]) -> None:
        self._awaitable = awaitable
        self._drive = drive

    def __await__(self) -> AwaitedSteps:
        return self

    def __iter__(self) -> AwaitedSteps:
        return self

    def __next__(self) -> Any:
        return self.send(None)

    def send(self, value: Any) -> Any:
        return self._drive(self._awaitable, self._awaitable.send, value)

    def throw(self, *error: Any) -> Any:
        return self._drive(self._awaitable, self._awaitable.throw, *error)

    def close(self) -> None:
        self._drive(self._awaitable, self._awaitable.close)


class StepwiseGenerator:
    """Replaces a generator in `for` and `yield from`, where each step is an operation once the generator is shared.

    It is not a generator itself: leaving a `for` loop must not close the program's generator, and a generator that
    delegates to it must pass on what it is sent.
    """

    __slots__ = ("generator",)

    def __init__(self, generator: Generator[Any, Any, Any]) -> None:
        self.generator = generator

    def __iter__(self) -> StepwiseGenerator:
        return self

    def __next__(self) -> Any:
        if run.multi:
            return resume_generator(self.generator, next, self.generator)
        return next(self.generator)

    def send(self, value: Any) -> Any:
        return resume_generator(self.generator, self.generator.send, value)

    def throw(self, *error: Any) -> Any:
        return resume_generator(self.generator, self.generator.throw, *error)

    def close(self) -> None:
        resume_generator(self.generator, self.generator.close)
