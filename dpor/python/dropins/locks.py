"""`Lock` and `RLock`."""

from __future__ import annotations

import _thread
from typing import Any, ClassVar

from dpor.primitives.locks import (
    Acquire,
    AcquireAgain,
    Locked,
    Release,
    ReleaseAgain,
    ReleaseAll,
    Try,
    TryAgain,
)
from dpor.primitives.rules import Look
from dpor.python.dropins.idents import get_ident, ident_of
from dpor.python.dropins.presentation import address
from dpor.python.dropins.timeouts import check_lock_arguments, on_grid
from dpor.python.kernel import timing
from dpor.python.kernel.performing import perform
from dpor.python.kernel.sync_objects import SyncObject

_ACQUIRE, _TRY, _RELEASE, _LOCKED = Acquire(), Try(), Release(), Locked()
_ENTER, _TRY_AGAIN, _LEAVE, _LEAVE_ALL, _LOOK = AcquireAgain(), TryAgain(), ReleaseAgain(), ReleaseAll(), Look()


class Lock(SyncObject):
    dpor_guards: ClassVar[bool] = True
    dpor_made_in_c: ClassVar[bool] = True
    dpor_module: ClassVar[str] = "_thread"

    def __init__(self) -> None:
        super().__init__()
        self.dpor_state = None

    def __init_subclass__(cls) -> None:
        raise TypeError("type '_thread.lock' is not an acceptable base type")

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if blocking is True and timeout == -1:
            return perform(_ACQUIRE, self)  # type: ignore[no-any-return]
        check_lock_arguments(blocking, timeout)
        if not blocking or timeout == 0:
            return (timing.perform_now if blocking else perform)(_TRY, self)  # type: ignore[no-any-return]
        if timeout < 0:
            return perform(_ACQUIRE, self)  # type: ignore[no-any-return]
        return timing.perform_timed(_ACQUIRE, _TRY, on_grid(timeout), self)  # type: ignore[no-any-return]

    def __enter__(self) -> bool:
        return perform(_ACQUIRE, self)  # type: ignore[no-any-return]

    def release(self) -> None:
        if perform(_RELEASE, self) is False:
            raise RuntimeError("release unlocked lock")

    def __exit__(self, *exc_info: object) -> None:
        if perform(_RELEASE, self) is False:
            raise RuntimeError("release unlocked lock")

    def locked(self) -> bool:
        return bool(perform(_LOCKED, self))

    def _at_fork_reinit(self) -> None:
        perform(_RELEASE, self)

    acquire_lock, release_lock, locked_lock = acquire, release, locked

    def __repr__(self) -> str:
        return f"<{'locked' if self.locked() else 'unlocked'} _thread.lock object at {address(self)}>"


class RLock(SyncObject):
    dpor_guards: ClassVar[bool] = True
    dpor_made_in_c: ClassVar[bool] = True
    dpor_module: ClassVar[str] = "_thread"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.dpor_state = None

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if blocking is True and timeout == -1:
            return perform(_ENTER, self)  # type: ignore[no-any-return]
        check_lock_arguments(blocking, timeout)
        if not blocking or timeout == 0:
            return (timing.perform_now if blocking else perform)(_TRY_AGAIN, self)  # type: ignore[no-any-return]
        if timeout < 0:
            return perform(_ENTER, self)  # type: ignore[no-any-return]
        return timing.perform_timed(_ENTER, _TRY_AGAIN, on_grid(timeout), self)  # type: ignore[no-any-return]

    def __enter__(self) -> bool:
        return perform(_ENTER, self)  # type: ignore[no-any-return]

    def release(self) -> None:
        if perform(_LEAVE, self) is False:
            raise RuntimeError("cannot release un-acquired lock")

    def __exit__(self, *exc_info: object) -> None:
        if perform(_LEAVE, self) is False:
            raise RuntimeError("cannot release un-acquired lock")

    if hasattr(_thread.RLock, "locked"):

        def locked(self) -> bool:
            return perform(_LOOK, self) is not None

    def _recursion_count(self) -> int:
        """How often the caller holds it. That is determined by the caller's own past, so it is no event."""
        held = self.dpor_state
        return held[1] if held is not None and ident_of(held[0]) == get_ident() else 0

    def _is_owned(self) -> bool:
        return self._recursion_count() > 0

    def _release_save(self) -> tuple[int, int]:
        count = perform(_LEAVE_ALL, self)
        if count == 0:
            raise RuntimeError("cannot release un-acquired lock")
        return count or 0, get_ident()

    def _acquire_restore(self, state: tuple[int, int]) -> None:
        perform(AcquireAgain(state[0]), self)

    def _at_fork_reinit(self) -> None:
        perform(_LEAVE_ALL, self)

    def __repr__(self) -> str:
        held = perform(_LOOK, self)
        owner, count = (0, 0) if held is None else (ident_of(held[0]), held[1])
        name = "_thread.RLock" if type(self) is RLock else type(self).__name__
        status = "unlocked" if held is None else "locked"
        return f"<{status} {name} object owner={owner} count={count} at {address(self)}>"
