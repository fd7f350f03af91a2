"""The size of this process, in bytes."""

from __future__ import annotations

import os
import sys


def peak_memory() -> int:
    """Return the largest resident size so far, in bytes; 0 where the system does not tell."""
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
    """Return the present resident size in bytes; on systems other than Linux, the largest so far."""
    try:
        with open("/proc/self/statm", encoding="ascii") as sizes:
            return int(sizes.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return peak_memory()
