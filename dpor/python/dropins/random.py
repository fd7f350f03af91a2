"""The drop-ins for `random`, `uuid`, `secrets` and the parts of `os` that differ from run to run.

Each model thread draws from a generator of its own, seeded by the thread's number. So what a thread draws is a function
of its own past, equal in equivalent runs, and drawing is no operation. (With one generator for all, as in CPython,
every order in which threads draw would be a case of its own, though nobody knows what is drawn.) Once the program has
seeded it, or asked for its state, there is one generator for all, and drawing from it is an operation.
"""

from __future__ import annotations

import os as real_os
import random as real
import uuid as real_uuid
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from dpor.core.operations import READ, WRITE, Mode
from dpor.python.dropins import copying, descriptors, environ, folders, outside, state
from dpor.python.dropins.time import time
from dpor.python.effects.process_state import part
from dpor.python.hooks.calls.process import yield_before_effects
from dpor.python.kernel.host_modules import DropInModule, shadow
from dpor.python.kernel.run import run

CPUS: Final = 4
"""What `os.cpu_count()` returns, so that a pool has the same number of threads on every machine."""

_SEED: Final = 0x9E3779B97F4A7C15
_ON_SEQUENCES: Final = ("choice", "choices", "sample", "shuffle")
_FIXING: Final = ("seed", "getstate", "setstate")
"""Functions after which the program can know what is drawn."""

GENERATOR: Final = "the generator of random"
part(GENERATOR, lambda: None, lambda value: None)  # it belongs to the run: see `state`


class _Shared(real.Random):
    """The generator that all threads share, if there is one: each draw from it is an operation."""

    def __init__(self) -> None:
        pass  # it has nothing of its own

    def random(self) -> float:
        return self._at("random", WRITE).random()

    def getrandbits(self, k: int, /) -> int:
        return self._at("getrandbits", WRITE).getrandbits(k)

    def seed(self, *args: Any, **kwargs: Any) -> None:
        self._at("seed", WRITE).seed(*args, **kwargs)

    def getstate(self) -> tuple[Any, ...]:
        return self._at("getstate", READ).getstate()

    def setstate(self, to: tuple[Any, ...]) -> None:
        self._at("setstate", WRITE).setstate(to)

    @property
    def gauss_next(self) -> float | None:
        """The second of two numbers that `gauss` draws at once."""
        return self._at("gauss", WRITE).gauss_next  # type: ignore[attr-defined, no-any-return]

    @gauss_next.setter
    def gauss_next(self, number: float | None) -> None:
        state.library.generator.gauss_next = number

    def _at(self, name: str, mode: Mode) -> real.Random:
        yield_before_effects(name, [(GENERATOR, mode)])
        generator: real.Random = state.library.generator
        return generator


_SHARED: Final = _Shared()


def _own() -> real.Random:
    """Return the generator from which the current thread draws: its own, or the shared one."""
    thread = run.current
    if thread is None:
        return real.Random(_SEED)
    if state.library.generator is not None:
        return _SHARED
    generator = thread.data.get(real.Random)
    if generator is None:
        generator = thread.data[real.Random] = real.Random(_SEED + thread.id)
    return generator


def urandom(size: int, /) -> bytes:
    return _own_entropy().randbytes(size)


def _own_entropy() -> real.Random:
    """Return a generator separate from `_own`: a seed that the program sets must not make its uuids collide."""
    thread = run.current
    if thread is None:
        return real.Random(~_SEED)
    generator = thread.data.get("urandom")
    if generator is None:
        generator = thread.data["urandom"] = real.Random(~_SEED - thread.id)
    return generator


def _delegating(name: str) -> Callable[..., Any]:
    def draw(*args: Any, **kwargs: Any) -> Any:
        if name == "seed" and not args and not kwargs:
            args = (_own_entropy().getrandbits(64),)  # a seed that nobody knows
        elif name in _FIXING and state.library.generator is None and run.current is not None:
            state.library.generator = real.Random(_SEED)
        return getattr(_own(), name)(*args, **kwargs)

    return draw


def _delegating_on(method: Callable[..., Any]) -> Callable[..., Any]:
    def draw(*args: Any, **kwargs: Any) -> Any:
        return method(_own(), *args, **kwargs)

    return draw


def random_module(drop_in_for: Callable[[str], ModuleType | None]) -> DropInModule:
    """CPython's source, instrumented, because `shuffle` and the like work on the program's sequences."""
    path = Path(real.__file__)
    module = copying.execute("random", path.read_text(), str(path), {}, drop_in_for)
    names = vars(module)
    seed = names["Random"].seed

    def seed_(self: Any, a: Any = None, version: int = 2) -> None:
        seed(self, _own_entropy().getrandbits(64) if a is None else a, version)

    names["Random"].seed = seed_
    names["SystemRandom"].__module__ = __name__  # its objects have no state
    names["_inst"] = None
    for name in names["__all__"]:
        if isinstance(getattr(real, name), type):
            continue
        if name in _ON_SEQUENCES:
            names[name] = _delegating_on(getattr(names["Random"], name))
        else:
            names[name] = _delegating(name)
    return module.settle()


def os_module() -> DropInModule:
    changed: dict[str, Any] = {
        "urandom": urandom,
        "cpu_count": lambda: CPUS,
        **environ.names(),
        **folders.names(),
        **descriptors.names(),
    }
    for name in ("process_cpu_count",):
        if hasattr(real_os, name):
            changed[name] = changed["cpu_count"]
    changed.update(outside.refused_of(real_os, outside.OS))
    changed["register_at_fork"] = lambda **hooks: None
    return shadow(real_os, **changed)


def uuid_module() -> DropInModule:
    return shadow(real_uuid, uuid1=uuid1, uuid4=uuid4, getnode=getnode)


def getnode() -> int:
    return 0x0123_4567_89AB


def uuid1(node: int | None = None, clock_seq: int | None = None) -> real_uuid.UUID:
    """Like `uuid.uuid1`. Ids of one thread differ by a count in the time, those of different threads by the clock's
    sequence."""
    thread = run.current
    made = 0 if thread is None else thread.data.get("uuid1", 0)
    if thread is not None:
        thread.data["uuid1"] = made + 1
    since_1582 = round(time() * 10_000_000) + made + 0x01B2_1DD2_1381_4000
    sequence = (0 if thread is None else thread.id) if clock_seq is None else clock_seq
    fields = (
        since_1582 & 0xFFFF_FFFF,
        (since_1582 >> 32) & 0xFFFF,
        (since_1582 >> 48) & 0x0FFF,
        (sequence >> 8) & 0x3F,
        sequence & 0xFF,
        getnode() if node is None else node,
    )
    return real_uuid.UUID(fields=fields, version=1)


def uuid4() -> real_uuid.UUID:
    return real_uuid.UUID(bytes=urandom(16), version=4)
