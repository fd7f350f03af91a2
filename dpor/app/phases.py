"""The time of a check: when its present phase must end, by the clock or by Ctrl-C, and the beat that looks at both.

The phases are the search, then what explains its failures, each with its own time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from dpor.core.errors import OutOfTime
from dpor.core.options import Options
from dpor.core.pulse import beating
from dpor.report.progress import Monitor

INTERRUPTED = "interrupted"


class Phases:
    """The phases of one check. All times are those of `time.monotonic`, in seconds.

    begun      when the check began
    deadline   when its search must end
    over_at    when the present phase must end
    patience   beats without an event after which a run is given up; None: none is
    """

    def __init__(
        self, options: Options, monitor: Monitor, beat_of_run: Callable[[FrameType | None, int | None], None]
    ) -> None:
        self._max_seconds = options.max_seconds
        self._monitor = monitor
        self._beat_of_run = beat_of_run
        self.begun = self.now
        self.deadline = self.over_at = self.begun + self._max_seconds if self._max_seconds is not None else float("inf")
        self.patience: int | None = None
        self._stops = 0

    def begin_search(self) -> None:
        """Begin the search, or begin it again."""
        self.over_at, self.patience = self.deadline, None

    def allow(self, seconds: float) -> None:
        """Let the present phase end so many seconds from now."""
        self.over_at = self.now + seconds

    def forgive(self) -> None:
        """From now on, only a further Ctrl-C ends a phase."""
        self._stops = self._monitor.stops

    def is_over(self) -> bool:
        """True if the time for the present phase is over, by the clock or by Ctrl-C."""
        return self._monitor.stops > self._stops or self.now >= self.over_at

    def pace(self) -> None:
        """Raise `OutOfTime` if the present phase is over."""
        if self.is_over():
            raise OutOfTime

    @property
    def now(self) -> float:
        return time.monotonic()

    @property
    def seconds(self) -> float:
        """How long the check has taken so far."""
        return self.now - self.begun

    @property
    def over(self) -> str:
        """What a report says of a search whose time was over."""
        return f"--max-seconds {self._max_seconds:g} reached"

    @property
    def why_over(self) -> str:
        """What it says of one that has ended because its phase was over: it was interrupted, or its time was over."""
        return INTERRUPTED if self._monitor.stops else self.over

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Context in which this process looks at the clock and at Ctrl-C, also during a run."""
        try:
            with beating(self.beat):
                yield
        finally:
            self._monitor.rest()

    def beat(self, frame: FrameType | None) -> None:
        self._monitor.beat()
        self._beat_of_run(frame, 0 if self.is_over() else self.patience)
