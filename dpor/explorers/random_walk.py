"""Random schedules: before each event, every enabled thread is equally likely to be chosen."""

from __future__ import annotations

from dpor.core.operations import ThreadId
from dpor.explorers.search import threads_of
from dpor.explorers.walk import Walk


class RandomWalk(Walk):
    """A random search in which every enabled thread is equally likely."""

    def begin(self) -> None:
        """Do nothing: there is nothing to prepare."""

    def pick(self, enabled: int) -> ThreadId:
        threads = list(threads_of(enabled))
        return threads[self.below(len(threads))]
