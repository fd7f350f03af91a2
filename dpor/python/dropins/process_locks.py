"""`_multiprocessing.SemLock`, of which `multiprocessing` makes its locks, semaphores, conditions, events and barriers.

Within one process it is like a primitive of `threading`, and has its rules. The Python code of `multiprocessing` on top
of it is instrumented as that of any other package.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from dpor.core.operations import Rule
from dpor.primitives.locks import Acquire, AcquireAgain, Release, ReleaseAgain, Try, TryAgain
from dpor.primitives.rules import Look
from dpor.primitives.semaphores import P, TryP, V
from dpor.python.dropins.timeouts import duration
from dpor.python.kernel import timing
from dpor.python.kernel.host_modules import DropInModule
from dpor.python.kernel.performing import perform
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.kernel.unmodelled import ONE_PROCESS, refuse, refusing

RECURSIVE_MUTEX: Final = 0
"""The kind of a `SemLock` that its owner may take again. The other kind, 1, is a semaphore."""

_LOOK: Final = Look()


class SemLock(SyncObject):
    """See CPython's `Modules/_multiprocessing/semaphore.c`."""

    SEM_VALUE_MAX: Final = 2**31 - 1
    handle: Final = 1
    name: Final = None
    """As if its name had been given up at once. If others could find it, it would be told to a process."""
    take: ClassVar[Rule]
    try_to_take: ClassVar[Rule]

    def __init__(self, kind: int, value: int, maxvalue: int) -> None:
        super().__init__()
        self.dpor_state: Any = None
        self.kind, self.maxvalue = kind, maxvalue

    def acquire(self, block: bool = True, timeout: float | None = None) -> Any:
        if not block:
            return perform(self.try_to_take, self)
        if timeout is None:
            return perform(self.take, self)
        seconds = duration(max(0.0, timeout))
        if seconds == 0:
            return timing.perform_now(self.try_to_take, self)
        return timing.perform_timed(self.take, self.try_to_take, seconds, self)

    def release(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Any:
        return perform(self.take, self)

    def __exit__(self, *exc_info: object) -> None:
        self.release()

    def _is_zero(self) -> bool:
        return self._get_value() == 0

    def _get_value(self) -> int:
        """Return how often it can be taken; a lock, once if it is free."""
        return int(perform(_LOOK, self) is None)

    def _after_fork(self) -> None:
        pass

    _rebuild = staticmethod(refusing("_multiprocessing.SemLock._rebuild", ONE_PROCESS))


class _Recursive(SemLock):
    take, try_to_take = AcquireAgain(), TryAgain()

    def release(self) -> None:
        if not self._is_mine():
            raise AssertionError("attempt to release recursive lock not owned by thread")
        perform(ReleaseAgain(), self)

    def _is_mine(self) -> bool:
        """The caller's own past determines that, so it is no event."""
        return self.dpor_state is not None and self.dpor_state[0] == run.current.id

    def _count(self) -> Any:
        held = perform(_LOOK, self)
        return 0 if held is None else held[1]


class _Mutex(SemLock):
    """A semaphore that is 1 at first and at most. Any thread may release it."""

    take, try_to_take = Acquire(), Try()

    def release(self) -> None:
        if perform(Release(), self) is False:
            raise ValueError("semaphore or lock released too many times")

    def _is_mine(self) -> bool:
        return bool(perform(_LOOK, self) == run.current.id)

    def _count(self) -> int:
        return int(perform(_LOOK, self) is not None)


class _Semaphore(SemLock):
    take, try_to_take = P(), TryP()

    def __init__(self, kind: int, value: int, maxvalue: int) -> None:
        super().__init__(kind, value, maxvalue)
        self.dpor_state = self._first = value

    def release(self) -> None:
        if perform(V(1, self.maxvalue), self) is False:
            raise ValueError("semaphore or lock released too many times")

    def _is_mine(self) -> bool:
        refuse("whether a thread was the last to take a counting semaphore", "ask a multiprocessing.Lock")

    def _count(self) -> int:
        return self._first - self._get_value()

    def _get_value(self) -> int:
        return int(perform(_LOOK, self))


def _sem_lock(kind: int, value: int, maxvalue: int, name: str, unlink: bool) -> SemLock:
    """Called as the class `SemLock` is."""
    made = _Recursive if kind == RECURSIVE_MUTEX else _Mutex if value == maxvalue == 1 else _Semaphore
    return made(kind, value, maxvalue)


def module() -> DropInModule:
    """The drop-in for `_multiprocessing`."""
    import _multiprocessing as real  # type: ignore[import-not-found]

    found = DropInModule("_multiprocessing")
    _sem_lock.SEM_VALUE_MAX = SemLock.SEM_VALUE_MAX  # type: ignore[attr-defined]
    vars(found).update(SemLock=_sem_lock, sem_unlink=lambda name: None, flags=dict(real.flags))
    return found.settle()
