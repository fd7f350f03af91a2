"""Watching a search: what it reports now and then, and how that is shown while it goes on.

Everything goes to stderr. The status line is one escape sequence instead of rich's: that would start a thread to
refresh it (the program under test may be using `threading` at the time), and costs 50 ms to import.
"""

from __future__ import annotations

import sys
from shutil import get_terminal_size
from typing import Final

import attrs

FIRST_STATUS: Final = 0.4
"""Seconds before the status line appears: short searches need none."""
FIRST_LINE: Final = 5.0
LONGEST_WAIT: Final = 60.0
CLEAR_LINE: Final = "\r\x1b[2K"


@attrs.frozen
class Progress:
    """How far a search is.

    share    of it that is done: a rough estimate in 0..1, from the alternatives known so far; None: no telling
    stalled  the estimate has not grown since half of the time: there may be very much more than is known
    """

    executions: int
    seconds: float
    share: float | None
    stalled: bool

    def __str__(self) -> str:
        """In words.

        >>> print(Progress(executions=12000, seconds=4.0, share=0.031, stalled=False))
        12,000 executions, 3,000 a second, about 97 % left
        """
        rate = self.executions / self.seconds if self.seconds else 0.0
        return f"{self.executions:,} executions, {rate:,.0f} a second" + (f", {self.left}" if self.left else "")

    @property
    def left(self) -> str:
        """What remains, in words; "" where there is no telling.

        >>> print(Progress(executions=9, seconds=1.0, share=0.25, stalled=True).left)
        about 75 % left, and not falling
        """
        if self.share is None:
            return ""
        left = 1 - self.share
        words = "nearly all left" if left > 0.995 else f"about {left * 100:.0f} % left"
        return words + (", and not falling" if self.stalled else "")


class Monitor:
    """Watches a check. This one shows nothing.

    stops           how often (by a signal handler) it was asked to end what is being done: first the search, then the
                    making small of each failure
    interruptible   KeyboardInterrupt ends the search, with a report, instead of being passed on
    """

    stops = 0
    interruptible = False

    def beat(self) -> None:
        """Called about ten times a second, amid a run too (from a signal handler), and at each new finding."""

    def progress(self, progress: Progress) -> None:
        """Called about ten times a second, between two executions."""

    def done(self) -> None:
        """The search has ended; what follows is quick."""


class Lines(Monitor):
    """A line at 5, 10, 20, 40 seconds, then every minute: for logs."""

    def __init__(self) -> None:
        self._next = FIRST_LINE

    def progress(self, progress: Progress) -> None:
        if progress.seconds >= self._next:
            self._next += min(self._next, LONGEST_WAIT)
            print(f"{progress.seconds:.0f} s: {progress}", file=sys.stderr, flush=True)


class StatusLine(Monitor):
    """One line that is kept up to date: for a terminal."""

    def __init__(self) -> None:
        self._shown = False

    def progress(self, progress: Progress) -> None:
        if progress.seconds >= FIRST_STATUS:
            line = f"{progress.seconds:.0f} s: {progress}   (Ctrl-C: stop and tell what is known)"
            self._write(CLEAR_LINE + line[: get_terminal_size().columns - 1])
            self._shown = True

    def done(self) -> None:
        if self._shown:
            self._write(CLEAR_LINE)
            self._shown = False

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
