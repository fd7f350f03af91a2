"""`dpor replay --pdb`, and `pytest --pdb` with or without `--dpor-replay`: Python's debugger on a run that follows a
schedule.

Debugging does not change the run: the threads are greenlets of one OS thread, the schedule decides who moves, and time
is virtual. So the debugger may stop anywhere for any time. It shows only the program's own files: a step into a lock or
a queue is a step over it, and a step may end in another thread, where the schedule switches.

`quit` lets the run go on to its end. It does not raise an exception in the program, as pdb's own would, because the
program could catch it.
"""

from __future__ import annotations

import pdb
import sys
from collections.abc import Callable, Collection
from types import FrameType
from typing import IO, Any, TypeVar

from dpor.python.kernel import scheduler
from dpor.python.kernel.run import run

T = TypeVar("T")


def debugged(run: Callable[[], T], files: Collection[str]) -> T:
    """Carry out the run under the debugger, then stop where the first exception was raised. Return the result of the
    run."""
    debugger = ProgramDebugger(files)
    ended = debugger.debug(run)
    debugger.look_back()
    return ended


def looked_at(run: Callable[[], T], files: Collection[str]) -> T:
    """Carry out the run, then start the debugger where the first exception was raised. Return the result of the run."""
    ended = run()
    ProgramDebugger(files).look_back()
    return ended


class ProgramDebugger(pdb.Pdb):
    """A debugger that stops in these files only.

    left   True after `quit`: no more prompts
    """

    def __init__(self, files: Collection[str]) -> None:
        super().__init__(nosigint=True)
        self._files = frozenset(files)
        self._keyboard: IO[str] = sys.stdin
        self._terminal: IO[str] = sys.stdout
        self._begun = False
        self.left = False

    def debug(self, run: Callable[[], T]) -> T:
        """Carry out the run; stop first at the first line of the first function that the program calls."""
        self.reset()
        before = sys.breakpointhook
        sys.breakpointhook = self._breakpoint
        sys.settrace(self.trace_dispatch)
        try:
            return run()
        finally:
            sys.settrace(None)
            sys.breakpointhook = before

    def look_back(self) -> None:
        """Stop where the first exception that ended a thread was raised."""
        for failure in run.exceptions[:1]:
            if failure.error.__traceback__ is not None and not self.left:
                self._begun = True
                self.reset()
                self.interaction(None, failure.error.__traceback__)

    def _breakpoint(self, *_: object, **__: object) -> None:
        if not self.left:
            self.set_trace(sys._getframe(1))

    # ------------------------------------------------------------------ what pdb asks

    def stop_here(self, frame: FrameType) -> bool:
        """True only in the program's files, and not while its modules are first executed."""
        code = frame.f_code
        if self.left or code.co_filename not in self._files or (not self._begun and code.co_name == "<module>"):
            return False
        return super().stop_here(frame)

    def user_line(self, frame: FrameType) -> None:
        self._begun = True
        super().user_line(frame)

    def cmdloop(self, intro: Any = None) -> None:
        # While the program runs, its input is empty and its output may be suppressed; the debugger uses the terminal's.
        # And calls of the program that the user makes here must not take steps of the schedule.
        kept = sys.stdin, sys.stdout
        sys.stdin, sys.stdout = self._keyboard, self._terminal
        try:
            with scheduler.atomic():
                super().cmdloop(intro)
        finally:
            sys.stdin, sys.stdout = kept

    def do_quit(self, arg: str) -> bool:
        """q(uit)
        Let the run go on to its end, without stopping again.
        """
        self.left = True
        self.clear_all_breaks()
        self.set_continue()
        return True

    do_q = do_exit = do_EOF = do_quit
