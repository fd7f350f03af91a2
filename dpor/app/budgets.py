"""Last resorts: how often a search may start again, and how long one finding may take."""

from __future__ import annotations

import time
from collections.abc import Callable

MOST_RESTARTS = 1000
"""Starts of one search: it starts again for each assumption that a run breaks, but no program breaks this many."""
MINIMISING_SECONDS = 5.0
"""For minimising one finding. A last resort for very long runs: the real bound is `dpor.findings.minimise.BUDGET`."""
ORDERING_SECONDS = 4.0
"""For trying the events of one finding in other orders. A last resort likewise."""
OUTCOMES_SECONDS = 10.0
"""For finding schedules with few switches for all outcomes, and describing their runs. A last resort likewise: the real
bounds are in `dpor.findings.fewest`."""
STANDSTILL = 5
"""Beats without an event after which a run made to explain a finding is given up; other runs may do."""
ESTIMATING_SECONDS = 0.8
"""For estimating the size of a search whose time is over."""
EXPLAINING_SECONDS = 15.0
"""For explaining one finding, all in all; after that it is reported as it was seen."""


def passed(deadline: float) -> Callable[[], bool]:
    """Return a function that is True once this time, by `time.monotonic`, has passed."""
    return lambda: time.monotonic() >= deadline
