"""The numbers and names that a program sees of its threads: the same in every run.

The operating system may give a thread the ident of one that has ended. That is a choice of whoever starts it, if it has
started and joined the other; only then nobody else could give that ident at the same time. It is made only if the
program has asked for the ident of such a thread (a fact).
"""

from __future__ import annotations

from typing import Any, Final

from dpor.core.operations import ThreadId
from dpor.python.kernel import assumptions
from dpor.python.kernel.data_choices import choose
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.run import run

POOLS_OPENED: Final = "pools are opened"
"""A fact: the program can tell the threads of a pool apart, or uses more of pools than their public methods."""
IN_TASK: Final = "in a task"
"""Key in the data of a thread that does nothing but a task of a pool (see `pools`)."""


def look_at_thread() -> None:
    """Called when the program asks which thread it is in."""
    if run.current is not None and IN_TASK in run.current.data:
        assumptions.broken(POOLS_OPENED, "a task of a pool asks which thread it is in", at_once=True)


def ident_of(thread: ThreadId) -> int:
    """The number of this thread for drop-ins: never 0, and not used again within a run."""
    return thread + 1


def get_ident() -> int:
    """What `threading.get_ident` returns, for drop-ins."""
    return ident_of(0 if run.current is None else run.current.id)


def seen_ident() -> int:
    """The program's `threading.get_ident`, and `get_native_id`."""
    look_at_thread()
    return get_ident() if run.current is None else ident_shown_by(run.current.thread_object)


def ident_shown_by(started: Any) -> int:
    """Return the ident of this started object, which the program asks for."""
    if started.dpor_may_reuse and _SEEN not in run.facts:
        assumptions.broken(_SEEN, "a program asks for the ident of a thread that may be an earlier one's", at_once=True)
    return int(started._ident or 0)


_SEEN: Final = "idents of later threads are seen"
_CHILDREN: Final = "children"
"""Key in the data of a thread for the threads that it has started."""


def choose_ident(started: Any) -> None:
    """Called before the current thread starts another one."""
    free = _free_ident() if started._ident is None else 0
    if not free:
        return
    object.__setattr__(started, "dpor_may_reuse", True)
    if _SEEN not in run.facts:
        return
    if run.stateful:
        incomplete("that a thread gets the ident of one that has ended is tried only by searches without states")
    elif choose(2):
        object.__setattr__(started, "_ident", free)


def note_child(child: Any) -> None:
    """Called when the current thread has started this model thread (None while the run is unwound)."""
    if child is not None:
        run.current.data.setdefault(_CHILDREN, []).append(child)


def _free_ident() -> int:
    """Return the ident of the last thread that the current one has started and joined, unless another of those that it
    has started has it now; 0 if there is none."""
    me = run.current
    if not me.ended:
        return 0
    children = me.data.get(_CHILDREN, [])
    taken = {child.thread_object._ident for child in children if not me.ended & child.bit}
    ended = (child.thread_object._ident for child in reversed(children) if me.ended & child.bit)
    return next((ident for ident in ended if ident not in taken), 0)


class Numbering:
    """Numbers that CPython takes from one counter for the whole process ("Thread-7"), without making their order an
    event.

    A number belongs to (purpose, asking thread, how often it has asked) for the whole search, and is assigned when it
    is first needed. So equivalent runs use equal numbers, two things never have the same number, and if only one thread
    asks, the numbers are CPython's. Not covered are the other orders in which threads that ask at the same time could
    be served.

    asked   how many numbers each thread has been given in this run, by purpose and thread
    """

    def __init__(self) -> None:
        self.asked: dict[tuple[str, ThreadId], int] = {}
        self._numbers: dict[tuple[str, ThreadId, int], int] = {}
        self._given: dict[str, int] = {}

    def next(self, purpose: str, first: int) -> int:
        thread = run.current.id
        asked = self.asked.get((purpose, thread), 0)
        self.asked[purpose, thread] = asked + 1
        number = self._numbers.get((purpose, thread, asked))
        if number is None:
            number = self._given.get(purpose, first)
            self._given[purpose] = number + 1
            self._numbers[purpose, thread, asked] = number
        return number

    def is_asked(self) -> bool:
        """Has the run been given a number?"""
        return bool(self.asked)

    def begin_run(self) -> None:
        self.asked.clear()

    def begin_search(self) -> None:
        self.asked.clear()
        self._numbers.clear()
        self._given.clear()


numbering = Numbering()
