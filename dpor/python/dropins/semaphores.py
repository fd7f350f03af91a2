"""`Semaphore` and `BoundedSemaphore`. Each operation is one step, where CPython takes a lock and a condition. The
outcomes are the same, because a waiter there that was notified, or timed out, looks at the value again before it
returns.
"""

from __future__ import annotations

from typing import Any

from dpor.primitives.rules import Look
from dpor.primitives.semaphores import CommutingV, P, TryP, V
from dpor.python.dropins.presentation import address, full_name, presented_as
from dpor.python.dropins.timeouts import duration
from dpor.python.kernel import timing
from dpor.python.kernel.performing import perform
from dpor.python.kernel.sync_objects import SyncObject

_P, _TRY, _V, _COMMUTING_V, _LOOK = P(), TryP(), V(), CommutingV(), Look()


def take(counter: SyncObject, blocking: bool, timeout: Any) -> Any:
    """Decrement the counter, waiting if necessary. Returns False if there was nothing to take."""
    if timeout is None:
        return perform(_P if blocking else _TRY, counter)
    seconds = duration(timeout)
    if seconds == 0:
        return timing.perform_now(_TRY, counter)
    return timing.perform_timed(_P, _TRY, seconds, counter)


@presented_as("threading")
class Semaphore(SyncObject):
    def __init__(self, value: int = 1) -> None:
        if value < 0:
            raise ValueError("semaphore initial value must be >= 0")
        super().__init__()
        self.dpor_state = value

    @property
    def _value(self) -> int:
        return perform(_LOOK, self)  # type: ignore[no-any-return]

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        if timeout is None and blocking:
            return perform(_P, self)  # type: ignore[no-any-return]
        if not blocking and timeout is not None:
            raise ValueError("can't specify timeout for non-blocking acquire")
        return take(self, blocking, timeout)  # type: ignore[no-any-return]

    __enter__ = acquire

    def release(self, n: int = 1) -> None:
        if n < 1:
            raise ValueError("n must be one or more")
        perform(_V if n == 1 else V(n), self)

    def __exit__(self, *exc_info: object) -> None:
        self.release()

    def __repr__(self) -> str:
        return f"<{full_name(self)} at {address(self)}: value={self._value}>"


@presented_as("threading")
class BoundedSemaphore(Semaphore):
    def __init__(self, value: int = 1) -> None:
        super().__init__(value)
        self._initial_value = value

    def release(self, n: int = 1) -> None:
        if n < 1:
            raise ValueError("n must be one or more")
        if perform(V(n, self._initial_value), self) is False:
            raise ValueError("Semaphore released too many times")

    def __repr__(self) -> str:
        return f"<{full_name(self)} at {address(self)}: value={self._value}/{self._initial_value}>"


class IdleSemaphore(Semaphore):
    """The semaphore by which a thread pool counts its idle threads: nobody sees in which order they became idle, so
    releases commute."""

    def release(self, n: int = 1) -> None:
        perform(_COMMUTING_V, self)
