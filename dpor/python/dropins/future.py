"""`concurrent.futures.Future`, `wait` and `as_completed`: what a thread does to a future is one step, where CPython
takes a condition. The outcomes are the same, because only the methods of futures use that condition, and who waits for
it looks at the future again when it is woken.

This holds as long as the program leaves the condition and the lists of futures alone. That it does not is a fact
(`OPENED`): from then on futures are CPython's own, instrumented.
"""

from __future__ import annotations

import concurrent.futures._base as real
import logging
import types
from collections.abc import Callable
from typing import Any, Final

from dpor.core.operations import Rule
from dpor.primitives.futures import (
    ALL,
    CANCELLED,
    CANCELLED_AND_NOTIFIED,
    COMPLETED,
    DONE,
    EXCEPTION,
    FAILED,
    FINISHED,
    FIRST,
    PENDING,
    RUNNING,
    AddCallback,
    AwaitCompleted,
    AwaitDone,
    AwaitDoneOrTimeout,
    BeginTask,
    Cancel,
    Complete,
    StateOf,
)
from dpor.primitives.rules import LookAfter
from dpor.python.dropins import from_threading
from dpor.python.dropins.copying import pinned, unnoticed
from dpor.python.dropins.internals import Count, private_to
from dpor.python.dropins.presentation import address, presented_as
from dpor.python.dropins.state import library
from dpor.python.dropins.time import monotonic
from dpor.python.dropins.timeouts import duration
from dpor.python.kernel import assumptions, timing
from dpor.python.kernel.performing import perform
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.sharing import shared_objects

OPENED: Final = "futures are opened"
"""A fact: the program uses more of futures than their public methods."""
_ORDERED: Final = "futures complete in an order"
"""A fact: the program sees in which order futures complete, as `as_completed` shows it."""

_LOOK, _STATE, _AWAIT, _AWAIT_OR_TIMEOUT, _ADD, _CANCEL = (
    LookAfter(),
    StateOf(),
    AwaitDone(),
    AwaitDoneOrTimeout(),
    AddCallback(),
    Cancel(),
)
_BEGIN: Final = (BeginTask(), BeginTask(ordered=True))
FINISH: Final = (Complete(FINISHED), Complete(FINISHED, True))
FAIL: Final = (Complete(FAILED), Complete(FAILED, True))

_Sets: Final[Any] = real.DoneAndNotDoneFutures
_CANCELLED: Final = (CANCELLED, CANCELLED_AND_NOTIFIED)


class _Count(Count):
    """Counts: the functions that were added to a future, or all completions of a run."""


class _Begun(Count):
    """True if the task of a future has begun."""

    def __init__(self) -> None:
        super().__init__()
        self.dpor_state = False


_Count.__name__ = _Begun.__name__ = "Future"  # reports call them so


_private = private_to("a future", OPENED)

Rules = tuple[Rule, Rule]
"""A rule, and the one for programs that see in which order futures complete."""
Extend = Callable[[Rule], Rule]
"""Makes of a rule one around it, which touches more objects."""


def _as_it_is(rule: Rule) -> Rule:
    return rule


@presented_as("concurrent.futures._base")
class Future(SyncObject):
    """dpor_result, dpor_exception   what it was given
    dpor_callbacks   the functions to be called when it is done, in the order in which they were added
    dpor_added       what counts them
    dpor_begun       whether its task has begun
    dpor_place       which completion of the run its own was, once somebody asks for the order
    """

    dpor_is_data = True

    def __init__(self) -> None:
        super().__init__()
        self.dpor_state = PENDING
        self.dpor_result: Any = None
        self.dpor_exception: Any = None
        self.dpor_callbacks: list[Callable[[Future], object]] = []
        self.dpor_added = _Count()
        self.dpor_begun = _Begun()
        self.dpor_place = 0

    _condition = _private("_condition")
    _state = _private("_state")
    _result = _private("_result")
    _exception = _private("_exception")
    _waiters = _private("_waiters")
    _done_callbacks = _private("_done_callbacks")
    if hasattr(real.Future, "_get_snapshot"):  # from 3.14 on
        _get_snapshot = _private("_get_snapshot")

    def cancel(self) -> bool:
        before = perform(_CANCEL, self, self.dpor_begun)
        if before == PENDING:
            self.dpor_call_back()
        return before == PENDING or before in _CANCELLED

    def cancelled(self) -> bool:
        return perform(_LOOK, self) in _CANCELLED

    def running(self) -> bool:
        return perform(_STATE, self, self.dpor_begun) == RUNNING  # type: ignore[no-any-return]

    def done(self) -> bool:
        return perform(_LOOK, self) in DONE

    def add_done_callback(self, fn: Callable[[Any], object]) -> None:
        shared_objects.publish(fn)
        if perform(_ADD, self, self.dpor_added) is not False:
            self.dpor_callbacks.append(fn)
        else:
            from_threading.call_back([fn], self, "exception calling callback for %r", _logger())

    def result(self, timeout: float | None = None) -> Any:
        self.dpor_await(timeout)
        return from_threading.result_of(self.dpor_exception, self.dpor_result)

    def exception(self, timeout: float | None = None) -> Any:
        self.dpor_await(timeout)
        return self.dpor_exception

    def set_running_or_notify_cancel(self) -> bool:
        return self.dpor_begin()

    def set_result(self, result: Any) -> None:
        self.dpor_set(FINISH, result)

    def set_exception(self, exception: Any) -> None:
        self.dpor_set(FAIL, exception)

    __class_getitem__: Any = classmethod(types.GenericAlias)

    def __repr__(self) -> str:
        return _repr(self, perform(_STATE, self, self.dpor_begun))

    def dpor_await(self, timeout: float | None) -> None:
        if timeout is None:
            state = perform(_AWAIT, self)
        else:
            seconds = duration(timeout)
            if seconds == 0:
                state = timing.perform_now(_AWAIT_OR_TIMEOUT, self)
            else:
                state = timing.perform_timed(_AWAIT, _AWAIT_OR_TIMEOUT, seconds, self)
        if state is False:
            raise real.TimeoutError
        if state in _CANCELLED:
            raise real.CancelledError

    def dpor_begin(self, extend: Extend = _as_it_is, *others: SyncObject) -> bool:
        """Begin the task, by the rule of futures or one around it, which touches the other objects, too. Return False
        if it is cancelled."""
        before = self.dpor_complete(_BEGIN, (self, self.dpor_begun), extend, others)
        if before == PENDING:
            return True
        if before == CANCELLED or run.unwinding:
            return False
        _logger().critical("Future %s in unexpected state: %s", address(self), _shown(before))
        raise RuntimeError("Future in unexpected state")

    def dpor_set(self, rules: Rules, value: Any, extend: Extend = _as_it_is, *others: Any) -> None:
        """Complete, likewise."""
        shared_objects.publish(value)
        before = self.dpor_complete(rules, (self,), extend, others)
        if before in DONE:
            raise real.InvalidStateError(f"{_shown(before)}: {_repr(self, before)}")
        if rules is FAIL:
            self.dpor_exception = value
        else:
            self.dpor_result = value
        self.dpor_call_back()

    def dpor_complete(self, rules: Rules, own: tuple[Any, ...], extend: Extend, others: tuple[Any, ...]) -> Any:
        """Perform the rule, and note which completion it is if the program sees that. Return the state before."""
        plain, ordered = rules
        if _ORDERED not in run.facts:
            return perform(extend(plain), *own, *others)
        order = _order()
        before = perform(extend(ordered), *own, order, *others)
        if before == CANCELLED if rules is _BEGIN else before not in DONE:
            self.dpor_place = order.dpor_state
        return before

    def dpor_call_back(self) -> None:
        if self.dpor_callbacks:
            from_threading.call_back(self.dpor_callbacks, self, "exception calling callback for %r", _logger())


def _logger() -> logging.Logger:
    return logging.getLogger("concurrent.futures")


def _shown(state: str) -> str:
    return FINISHED if state == FAILED else state


def _repr(future: Future, state: str) -> str:
    end = ""
    if state == FAILED:
        end = f" raised {type(future.dpor_exception).__name__}"
    elif state == FINISHED:
        end = f" returned {type(future.dpor_result).__name__}"
    words = {RUNNING: "running", PENDING: "pending", FINISHED: "finished", FAILED: "finished"}
    return f"<{type(future).__name__} at {address(future)} state={words.get(state, 'cancelled')}{end}>"


# ---------------------------------------------------------------------- several futures


def _order() -> _Count:
    if library.completions is None:
        with unnoticed():
            library.completions = pinned(_Count(), "completions of futures")
    return library.completions  # type: ignore[no-any-return]


def _of(futures: Any) -> list[Future]:
    """Return the futures in an order that all runs agree on, and all ways to a state: by who made them, and when."""
    for future in futures:
        if not isinstance(future, Future):
            future._condition.acquire()  # raises what CPython raises
    name_of: Callable[[int], Any] = run.operations.name_of
    return sorted(futures, key=lambda future: name_of(future.dpor_location)[2:])


def _await(futures: list[Future], until: str, timeout: float | None) -> Any:
    """Return the states of the futures, or False if that takes longer than the timeout."""
    count = len(futures)
    if timeout is None:
        return perform(AwaitCompleted(count, until), *futures)
    seconds = duration(timeout)
    timed = AwaitCompleted(count, until, or_timeout=True)
    if seconds == 0:
        return timing.perform_now(timed, *futures)
    return timing.perform_timed(AwaitCompleted(count, until), timed, seconds, *futures)


def wait(fs: Any, timeout: float | None = None, return_when: str = ALL) -> Any:
    """Like `concurrent.futures.wait`.

    CPython looks at all futures at once when the wait begins. If it has to wait, it then looks at one after the other,
    and others may complete in between. What the look at the beginning finds could be found so, too; so without a
    timeout it is left out.
    """
    distinct = from_threading.distinct(fs)
    futures = _of(distinct)
    done: set[Future] = set()
    is_over = not futures
    if futures and timeout is not None:
        states = perform(AwaitCompleted(len(futures), FIRST, or_timeout=True), *futures)
        done.update(_completed(futures, states))
        is_over = AwaitCompleted(len(futures), return_when).is_over(states) if states else False
    if not is_over:
        if return_when not in (FIRST, EXCEPTION, ALL):
            raise ValueError(f"Invalid return condition: {return_when!r}")
        done.update(_completed(futures, _await(futures, return_when, timeout)))
        if return_when != ALL or timeout is not None:
            done.update(future for future in futures if future not in done and perform(_LOOK, future) in COMPLETED)
    return _Sets(done, distinct - done)


def _completed(futures: list[Future], states: Any) -> list[Future]:
    return [future for future, state in zip(futures, states or (), strict=False) if state in COMPLETED]


def completed_already(futures: set[Future]) -> set[Future]:
    """For `as_completed`: return the futures that have completed when it begins."""
    if len(futures) > 1 and _ORDERED not in run.facts:
        assumptions.broken(_ORDERED, "as_completed shows in which order futures complete", at_once=True)
    listed = _of(futures)
    if not listed:
        return set()
    return set(_completed(listed, perform(AwaitCompleted(len(listed), FIRST, or_timeout=True), *listed)))


def completed_next(pending: set[Future], timeout: float | None) -> list[Future]:
    """For `as_completed`: wait for one of these, and return all that have completed by then, in that order."""
    listed = _of(pending)
    found = _completed(listed, _await(listed, FIRST, timeout))
    return sorted(found, key=lambda future: future.dpor_place)


def as_completed(fs: Any, timeout: float | None = None) -> Any:
    """Like `concurrent.futures.as_completed`."""
    return from_threading.as_completed(fs, timeout, monotonic, completed_already, completed_next)
