"""How large this process is, in bytes."""

from __future__ import annotations

import os
import sys


def peak_memory() -> int:
    """The largest resident size so far; 0 where the system does not tell."""
    try:  # on Linux, what `getrusage` tells includes the process that started this one
        with open("/proc/self/status", encoding="ascii") as facts:
            return next(int(fact.split()[1]) * 1024 for fact in facts if fact.startswith("VmHWM:"))
    except (OSError, StopIteration):
        pass
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def resident_memory() -> int:
    """The present resident size, or where only Linux would tell, the largest so far."""
    try:
        with open("/proc/self/statm", encoding="ascii") as sizes:
            return int(sizes.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return peak_memory()
