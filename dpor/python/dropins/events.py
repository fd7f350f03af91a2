"""`Event`."""

from __future__ import annotations

import warnings

from dpor.primitives.events import AwaitSet, AwaitSetOrTimeout, BeginWait, Clear, IsSet, Set
from dpor.python.dropins import from_threading
from dpor.python.dropins.presentation import address, full_name, presented_as
from dpor.python.dropins.timeouts import duration
from dpor.python.kernel import timing
from dpor.python.kernel.model_thread import EXPIRES
from dpor.python.kernel.performing import perform
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject

_IS_SET, _SET, _CLEAR, _BEGIN = IsSet(), Set(), Clear(), BeginWait()
_AWAIT, _AWAIT_OR_TIMEOUT = AwaitSet(), AwaitSetOrTimeout()


class _Waiters(SyncObject):
    """The threads that wait for an event; reports use the event's name for it."""

    dpor_is_part = True

    def __init__(self) -> None:
        super().__init__()
        self.dpor_state = frozenset()


_Waiters.__name__ = "Event"


@presented_as("threading")
class Event(SyncObject):
    """`dpor_expired` is the number of the timer's thread that has waited for this event until its time was up."""

    dpor_expired = -1

    def __init__(self) -> None:
        super().__init__()
        self.dpor_state = False
        self.dpor_waiters = _Waiters()

    def is_set(self) -> bool:
        return perform(_IS_SET, self)  # type: ignore[no-any-return]

    def isSet(self) -> bool:
        warnings.warn("isSet() is deprecated, use is_set() instead", DeprecationWarning, stacklevel=2)
        return self.is_set()

    @property
    def _flag(self) -> bool:
        return self.is_set()

    def set(self) -> None:
        perform(_SET, self, self.dpor_waiters)
        if self.dpor_expired >= 0 and run.current is not None and run.current.id != self.dpor_expired:
            run.timed_out = True  # a timer is cancelled too late

    def clear(self) -> None:
        perform(_CLEAR, self)

    def wait(self, timeout: float | None = None) -> bool:
        seconds = None if timeout is None else duration(timeout)
        if perform(_BEGIN, self, self.dpor_waiters) is not False:
            return True
        if seconds is None:
            return perform(_AWAIT, self.dpor_waiters)  # type: ignore[no-any-return]
        if seconds == 0:
            return timing.perform_now(_AWAIT_OR_TIMEOUT, self.dpor_waiters)  # type: ignore[no-any-return]
        me = run.current
        timer = from_threading.is_timer(me.thread_object) and vars(me.thread_object).get("finished") is self
        if timer:
            me.data[EXPIRES] = True
        try:
            woken: bool = timing.perform_timed(_AWAIT, _AWAIT_OR_TIMEOUT, seconds, self.dpor_waiters)
        finally:
            me.data.pop(EXPIRES, None)
        self.dpor_expired = me.id if timer and not woken else -1
        return woken

    def _at_fork_reinit(self) -> None:
        """Nothing to do: there is no fork."""

    def __repr__(self) -> str:
        return f"<{full_name(self)} at {address(self)}: {'set' if self.is_set() else 'unset'}>"
