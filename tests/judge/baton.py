"""One run of a judged program: its threads, of which the one with the baton moves."""

from __future__ import annotations

import _thread
import sys
from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

from tests.judge.schedules import MOST_POINTS, Move, Schedule

if TYPE_CHECKING:
    from tests.judge.real_threads import Lock

PATIENCE: Final = 300.0
"""Seconds after which a run is taken to hang, which is a fault of the judge."""
STOPS_IN_A_ROW: Final = 2_000
"""Points that one thread passes while others could move, after which these get a turn: a thread that spins."""


class Abort(BaseException):
    """Unwinds the threads of a run that is over."""


class Thread:
    """A real thread of a run. `gate` is released to give it the baton."""

    __slots__ = (
        "clock", "daemon", "done", "fresh", "gate", "number", "quiet", "row", "sentinel", "sites", "timed", "timed_out",
        "waits",
    )  # fmt: skip

    def __init__(self, number: int, daemon: bool) -> None:
        self.number = number
        self.daemon = daemon
        self.gate = _thread.allocate_lock()
        self.gate.acquire()
        self.waits: Lock | None = None
        self.timed = False
        self.timed_out = False
        self.done = False
        self.fresh = True
        self.quiet = 1
        self.sentinel: Lock | None = None
        self.clock = 1_000.0
        self.sites: dict[Hashable, int] = {}
        self.row = 0


class Baton:
    """One run: its threads and who has the baton. Only the thread that has it touches anything here."""

    def __init__(self, schedule: Schedule, timeout_limit: int) -> None:
        self.schedule = schedule
        self.threads: list[Thread] = []
        self.timeout_limit = timeout_limit
        self.patience = schedule.patience
        self.points = 0
        self.failures: list[str] = []
        self.stuck: tuple[Thread, ...] = ()
        self.cut = False
        self.over = False
        self.aborting = False
        self.finished = _thread.allocate_lock()
        self.finished.acquire()
        self.current: Thread = self.new_thread(False)
        self.current.fresh = False
        self.current.quiet = 0

    def new_thread(self, daemon: bool) -> Thread:
        thread = Thread(len(self.threads) + 1, daemon)
        self.threads.append(thread)
        return thread

    # -- points

    def point(self) -> None:
        """Before a bytecode, or an operation on a lock: another thread may go first."""
        me = self.current
        free = me.fresh
        me.fresh = False
        me.quiet = 0
        self.points += 1
        me.row += 1
        self.patience -= 1
        if self.patience > 0 and not free and me.row < STOPS_IN_A_ROW:
            return
        if self.points > MOST_POINTS:
            self.cut = True
            self.end()
            raise Abort
        moves = self.moves()
        if len(moves) > 1:
            mine = Move(me.number)
            if me.row >= STOPS_IN_A_ROW:
                mine = next((move for move in moves if move != mine and not move.timeout), mine)
                me.row = 0
                self.give(mine)
            else:
                self.give(self.schedule.choose(moves, mine, free))
        if self.patience <= 0:
            self.patience = self.schedule.patience

    def moves(self) -> list[Move]:
        """Who could have the baton: a blocked thread whose lock is free, or whose wait may time out."""
        moves = []
        waiting = []
        for thread in self.threads:
            if thread.done:
                continue
            if thread.waits is None or not thread.waits.held:
                moves.append(Move(thread.number))
            elif thread.timed:
                waiting.append(thread)
        for thread in waiting:
            if not moves or thread.sites[site_of(thread)] < self.timeout_limit:
                moves.append(Move(thread.number, timeout=True))
        return moves

    def give(self, move: Move) -> None:
        """The thread of the move has the baton; this one waits for it."""
        me = self.current
        to = self.threads[move.thread - 1]
        if move.timeout:
            to.timed_out = True
            to.sites[site_of(to)] += 1
        if to is not me:
            me.row = 0
            self.current = to
            to.gate.release()
            me.gate.acquire()
            if self.aborting:
                raise Abort

    def wait_for(self, lock: Lock, timed: bool) -> bool:
        """Until the lock is free; False if the wait has timed out."""
        me = self.current
        me.waits, me.timed, me.timed_out = lock, timed, False
        if timed:
            enter_site(me)
        try:
            while lock.held and not me.timed_out:
                moves = self.moves()
                if not moves:
                    self.deadlock()
                    raise Abort
                self.give(self.schedule.choose(moves, None, True))
            return not me.timed_out
        finally:
            me.waits, me.timed = None, False

    # -- the end

    def leave(self) -> None:
        """The thread with the baton is done: somebody else gets it, or the run is over."""
        me = self.current
        me.done = True
        if self.aborting or self.over:
            self.finished.release()
            return
        if all(thread.done for thread in self.threads if not thread.daemon):
            self.over = True
            self.finished.release()
            return
        moves = self.moves()
        if not moves:
            self.stuck = tuple(thread for thread in self.threads if not thread.done and not thread.daemon)
            self.over = True
            self.finished.release()
            return
        move = self.schedule.choose(moves, None, True)
        to = self.threads[move.thread - 1]
        if move.timeout:
            to.timed_out = True
            to.sites[site_of(to)] += 1
        self.current = to
        to.gate.release()

    def deadlock(self) -> None:
        self.stuck = tuple(thread for thread in self.threads if not thread.done and not thread.daemon)
        self.end()

    def end(self) -> None:
        """By the thread with the baton, which then raises `Abort`."""
        self.over = self.aborting = True

    def unwind(self) -> None:
        """By the host, when the run is over: the threads that are left go, one by one."""
        self.aborting = True
        for thread in self.threads:
            if not thread.done:
                self.current = thread
                thread.gate.release()
                if not self.finished.acquire(timeout=PATIENCE):
                    raise RuntimeError(f"thread {thread.number} of a judged program does not end")


def site_of(thread: Thread) -> Hashable:
    return thread.sites["here"]


def enter_site(thread: Thread) -> None:
    """Where in the program the thread waits."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename not in now.files:
        frame = frame.f_back  # type: ignore[assignment]
    site: Hashable = None if frame is None else (id(frame.f_code), frame.f_lineno)
    thread.sites["here"] = site  # type: ignore[assignment]
    thread.sites.setdefault(site, 0)


class Now:
    """The run that is going on.

    baton     its baton; between runs, one that nobody waits for
    files     those of the program
    skipped   lines of the program at which runs with few preemptions have none
    """

    def __init__(self) -> None:
        self.baton = Baton(Schedule(), 1)
        self.baton.current.quiet = 1
        self.files: set[str] = set()
        self.skipped: frozenset[int] = frozenset()


now: Final = Now()
