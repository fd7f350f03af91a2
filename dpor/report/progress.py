"""Shows a search while it runs.

Everything goes to stderr. The status line is one escape sequence, not rich's: rich would start a thread to refresh it
(while the program under test may be using `threading`), and takes 50 ms to import.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Final, Protocol

import attrs

from dpor.core.plural import plural
from dpor.core.results import Estimate

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

FIRST_STATUS: Final = 0.4
"""Seconds before the status line appears: short searches need none."""
FIRST_LINE: Final = 5.0
LONGEST_WAIT: Final = 60.0
CLEAR_LINE: Final = "\r\x1b[2K"


@attrs.frozen
class Progress:
    """How far a search is.

    executions   all that ran
    states       states that are stored; None for a search that stores none
    done         the executions of this search, and `estimate`, how many it will have in all; None if unknown
    """

    executions: int
    seconds: float
    states: int | None = None
    done: int = 0
    estimate: Estimate | None = None

    def __str__(self) -> str:
        """Describe it in words.

        >>> print(Progress(12000, 4.0, done=12000, estimate=Estimate(38e4, 4e5, 42e4)))
        12,000 executions, 3,000 a second, about 97 % left of some 400,000 (380,000 to 420,000)
        >>> print(Progress(1, 2.0, states=500))
        500 states, 250 a second
        """
        number, what = (self.executions, "execution") if self.states is None else (self.states, "state")
        rate = number / self.seconds if self.seconds else 0.0
        return f"{plural(number, what)}, {rate:,.0f} a second" + (f", {self.left}" if self.left else "")

    @property
    def left(self) -> str:
        """What is left of the search, in words; "" if unknown.

        >>> print(Progress(7000, 1.0, done=7000, estimate=Estimate(4000.0, 6000.0, 8000.0)).left)
        more than the 6,000 that were estimated, which may be 8,000
        >>> print(Progress(9000, 1.0, done=9000, estimate=Estimate(4000.0, 6000.0, 8000.0)).left)
        an unknown part left of at least 9,000
        >>> print(Progress(900, 1.0, done=900, estimate=Estimate(400.0, 6000.0, 80000.0)).left)
        an unknown part left of at least 900, perhaps 80,000
        """
        if self.estimate is None:
            return ""
        if self.done > self.estimate.high:
            return f"an unknown part left of at least {_rounded(self.done)}"
        if self.estimate.is_vague:
            number = _rounded(max(self.estimate.low, self.done))
            return f"an unknown part left of at least {number}, perhaps {_rounded(self.estimate.high)}"
        low, likely, high = map(_rounded, (max(self.estimate.low, self.done), *self.estimate[1:]))
        number = likely if low == high else f"{likely} ({low} to {high})"
        left = 1 - self.done / self.estimate.likely
        if left <= 0:
            return f"more than the {likely} that were estimated, which may be {high}"
        words = "nearly all" if left > 0.995 else f"about {left * 100:.0f} %"
        return f"{words} left of some {number}"


def _rounded(number: float) -> str:
    """Return a number with two digits that mean something.

    >>> _rounded(3628800.0), _rounded(31.4), _rounded(2.4e18)
    ('3,600,000', '31', '2e+18')
    """
    if number >= 1e12:
        return f"{number:.0e}"
    unit = max(10 ** (len(str(int(number))) - 2), 1)
    return f"{round(number / unit) * unit:,}"


class Watcher(Protocol):
    """Something that watches over this process: see `Monitor.watcher`."""

    def beat(self) -> None: ...

    def rest(self) -> None: ...


class Monitor:
    """Watches a check. This one shows nothing.

    stops           how often (by a signal handler) it was asked to end the present phase: first the search, then the
                    minimising of each failure
    interruptible   True if KeyboardInterrupt ends the search with a report; else it is passed on
    watcher         is told of beats and rests, if present
    """

    stops = 0
    interruptible = False
    watcher: Watcher | None = None

    def beat(self) -> None:
        """Called about ten times a second, also during a run (from a signal handler), and at each new finding."""
        if self.watcher is not None:
            self.watcher.beat()

    def rest(self) -> None:
        """Called when there will be no beats for a while: what follows is not the program's, and may take long."""
        if self.watcher is not None:
            self.watcher.rest()

    def progress(self, progress: Progress) -> None:
        """Called about ten times a second, between two executions."""

    def say(self, line: str) -> None:
        """Tell the user something that has happened to the search."""

    def done(self) -> None:
        """Called when the search has ended; what follows is quick."""


class Lines(Monitor):
    """Writes a line at 5, 10, 20, 40 seconds, then every minute: for logs."""

    def __init__(self) -> None:
        self._next = FIRST_LINE

    def progress(self, progress: Progress) -> None:
        if progress.seconds >= self._next:
            self._next += min(self._next, LONGEST_WAIT)
            print(f"{progress.seconds:.0f} s: {progress}", file=sys.stderr, flush=True)

    def say(self, line: str) -> None:
        print(f"dpor: {line}", file=sys.stderr, flush=True)


class StatusLine(Monitor):
    """Updates one line: for a terminal."""

    def __init__(self) -> None:
        self._shown = False

    def progress(self, progress: Progress) -> None:
        if progress.seconds >= FIRST_STATUS:
            line = f"{progress.seconds:.0f} s: {progress}   (Ctrl-C: stop and report what is known)"
            self._write(CLEAR_LINE + line[: get_terminal_size().columns - 1])
            self._shown = True

    def say(self, line: str) -> None:
        self.done()
        self._write(f"dpor: {line}\n")

    def done(self) -> None:
        if self._shown:
            self._write(CLEAR_LINE)
            self._shown = False

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


# ---------------------------------------------------------------------- counting jobs


class JobCount:
    """Counts jobs that are done one after another. This one writes a line for each job, for logs, but at most `lines`
    lines."""

    def __init__(self, total: int, lines: int) -> None:
        self._total = total
        self._lines = lines
        self._done = 0

    def begin(self, what: str) -> None:
        """Begin the next job."""

    def end(self, line: str) -> None:
        """End the job; `line` describes its result."""
        self._done += 1
        if self._done * self._lines // self._total > (self._done - 1) * self._lines // self._total:
            print(f"[{self._done:,}/{self._total:,}] {line}", file=sys.stderr, flush=True)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Context in which the terminal is used for something else."""
        yield


class _BarCount(JobCount):
    """A progress bar, for a terminal."""

    def __init__(self, bar: RichProgress, task: TaskID) -> None:
        self._bar = bar
        self._task = task

    def begin(self, what: str) -> None:
        self._bar.update(self._task, description=what, refresh=True)

    def end(self, line: str) -> None:
        self._bar.update(self._task, advance=1, refresh=True)

    @contextmanager
    def paused(self) -> Iterator[None]:
        self._bar.stop()
        try:
            yield
        finally:
            self._bar.start()


@contextmanager
def counted(total: int, lines: int | None = None, ticking: bool = True) -> Iterator[JobCount]:
    """Show how many of `total` jobs are done: with a bar at a terminal, else with `lines` lines (None: one for each
    job).

    ticking   True if a thread may keep the bar's clock going; not if programs run under control in this process
    """
    if not sys.stderr.isatty():
        yield JobCount(total, lines or total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    console = Console(file=sys.stderr)  # also while a program's output is suppressed
    with Progress(*columns, console=console, transient=True, auto_refresh=ticking) as bar:
        yield _BarCount(bar, bar.add_task("", total=total))
