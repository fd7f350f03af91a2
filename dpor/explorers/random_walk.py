"""Random schedules: before each event, every thread that can run is as likely as any other."""

from __future__ import annotations

from dpor.core.operations import ThreadId
from dpor.explorers.search import threads_of
from dpor.explorers.walk import Walk


class RandomWalk(Walk):
    """Uniformly random walks."""

    def begin(self) -> None:
        """Nothing to prepare."""

    def pick(self, enabled: int) -> ThreadId:
        threads = list(threads_of(enabled))
        return threads[self.below(len(threads))]
