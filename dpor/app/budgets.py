"""Last resorts: how often a search may begin again, and how long is spent on one finding."""

from __future__ import annotations

import time
from collections.abc import Callable

MOST_RESTARTS = 1000
"""A search begins again for each assumption that a run breaks: so many no program breaks."""
MINIMISING_SECONDS = 5.0
"""For one finding. A last resort, so that candidates that run very long end: see `dpor.findings.minimise.BUDGET`."""
ORDERING_SECONDS = 4.0
"""For one finding: to try its events in other orders. A last resort likewise."""
STANDSTILL = 5
"""Beats without an event, until a run that is made on behalf of a finding is given up: there may be others."""
EXPLAINING_SECONDS = 15.0
"""For one finding, all in all; then it is reported as it was seen."""


def passed(deadline: float) -> Callable[[], bool]:
    """Is it later than this, by `time.monotonic`?"""
    return lambda: time.monotonic() >= deadline
