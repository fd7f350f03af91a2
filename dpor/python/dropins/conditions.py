"""`Condition`. On a `Lock` or `RLock` of ours, a wait is two steps and a notify one. On any other object with `acquire`
and `release` it is an instrumented copy of CPython's own class, since such a lock may do anything.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

from dpor.core.operations import Rule
from dpor.primitives.conditions import AwaitNotify, AwaitNotifyOrTimeout, GiveUp, Notify, Rewait, WaitHolding
from dpor.primitives.locks import Acquire, AcquireAgain, Release, Try
from dpor.primitives.rules import Look
from dpor.python.dropins import from_threading
from dpor.python.dropins.idents import get_ident, ident_of
from dpor.python.dropins.locks import Lock, RLock
from dpor.python.dropins.presentation import presented_as
from dpor.python.dropins.timeouts import duration
from dpor.python.kernel import timing
from dpor.python.kernel.performing import perform
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject

_WAIT, _WAIT_AGAIN = WaitHolding(), WaitHolding(reentrant=True)
_NOTIFY, _NOTIFY_ALL, _LOOK = Notify(1), Notify(None), Look()
_AWAIT, _AWAIT_OR_TIMEOUT = AwaitNotify(), AwaitNotifyOrTimeout()
_TRY, _RELEASE = Try(), Release()


@cache
def _ways_back(count: int | None) -> tuple[Rewait, GiveUp, Rule]:
    """Return the rules by which a wait takes its lock again: the same objects each time, because they are looked up by
    identity."""
    return Rewait(count), GiveUp(count), Acquire() if count is None else AcquireAgain(count)


@presented_as("threading")
class Condition(SyncObject):
    """`dpor_copy` is CPython's condition if the lock is not one of ours, else None."""

    _lock: Any
    dpor_copy: Any

    def __init__(self, lock: Any = None) -> None:
        super().__init__()
        self.dpor_state = ()
        self._lock = lock = RLock() if lock is None else lock
        self.dpor_copy = None if type(lock) is Lock or type(lock) is RLock else from_threading.condition_class()(lock)

    def acquire(self, *args: Any, **kwargs: Any) -> Any:
        return self._lock.acquire(*args, **kwargs)

    def release(self) -> None:
        self._lock.release()

    if sys.version_info >= (3, 14):

        def locked(self) -> Any:
            return self._lock.locked()

    def __enter__(self) -> Any:
        return self._lock.__enter__()

    def __exit__(self, *exc_info: object) -> Any:
        return self._lock.__exit__(*exc_info)

    def wait(self, timeout: float | None = None) -> bool:
        if self.dpor_copy is not None:
            return self.dpor_copy.wait(timeout)  # type: ignore[no-any-return]
        seconds = None if timeout is None else duration(timeout)
        lock = self._lock
        count = lock._recursion_count() if type(lock) is RLock else None
        if perform(_WAIT if count is None else _WAIT_AGAIN, self, lock) is False:
            raise RuntimeError("cannot wait on un-acquired lock")
        rewait, give_up, acquire = _ways_back(count)
        if seconds is None:
            return perform(rewait, self, lock)  # type: ignore[no-any-return]
        if seconds == 0:
            woken = timing.perform_now(_AWAIT_OR_TIMEOUT, self)
        else:
            woken = timing.perform_timed(_AWAIT, _AWAIT_OR_TIMEOUT, seconds, self)
        if woken is False:
            perform(give_up, self, lock)
        else:
            perform(acquire, lock)
        return woken  # type: ignore[no-any-return]

    def wait_for(self, predicate: Callable[[], Any], timeout: float | None = None) -> Any:
        """Call CPython's own method, instrumented: the predicate may return a container, whose truth is then tested."""
        return from_threading.wait_for(self, predicate, timeout)

    def notify(self, n: int = 1) -> None:
        if self.dpor_copy is not None:
            self.dpor_copy.notify(n)
            return
        self.dpor_check_owned()
        if n > 0:
            perform(_NOTIFY if n == 1 else Notify(math.ceil(n)), self)

    def notify_all(self) -> None:
        if self.dpor_copy is not None:
            self.dpor_copy.notify_all()
            return
        self.dpor_check_owned()
        perform(_NOTIFY_ALL, self)

    def notifyAll(self) -> None:
        warnings.warn("notifyAll() is deprecated, use notify_all() instead", DeprecationWarning, stacklevel=2)
        self.notify_all()

    def dpor_check_owned(self) -> None:
        if not (self._is_owned() or run.unwinding):
            raise RuntimeError("cannot notify on un-acquired lock")

    def _is_owned(self) -> bool:
        """True if the caller holds the lock.

        For the caller itself that is determined by its own past, so it is no event. (Unless other threads release the
        lock too, which they can with a plain lock. Then CPython may notice it here and this does not; but what they do
        to the caller's own release is seen.) Whether anyone else holds a plain lock is a try, as in CPython. What
        follows is then one step, while CPython's steps can collide with the holder's (IndexError).
        """
        lock = self._lock
        if self.dpor_copy is not None or type(lock) is RLock:
            return bool((self.dpor_copy or lock)._is_owned())
        if lock.dpor_state is not None and ident_of(lock.dpor_state) == get_ident():
            return True
        if perform(_TRY, lock):
            perform(_RELEASE, lock)
            return False
        return True

    def _release_save(self) -> Any:
        if type(self._lock) is not Lock:
            return (self.dpor_copy or self._lock)._release_save()
        return self._lock.release()

    def _acquire_restore(self, state: Any) -> None:
        if type(self._lock) is not Lock:
            (self.dpor_copy or self._lock)._acquire_restore(state)
        else:
            self._lock.acquire()

    def _at_fork_reinit(self) -> None:
        self._lock._at_fork_reinit()

    @property
    def _waiters(self) -> Any:
        return perform(_LOOK, self) if self.dpor_copy is None else self.dpor_copy._waiters

    def __repr__(self) -> str:
        return f"<Condition({self._lock}, {len(self._waiters)})>"
