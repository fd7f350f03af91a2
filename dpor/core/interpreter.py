"""The Pythons that dpor is tested on, and what is to be said of others."""

from __future__ import annotations

import platform
import sys
import sysconfig
from typing import Final

TESTED: Final = ((3, 11), (3, 12), (3, 13), (3, 14), (3, 15))
"""Versions of CPython, with the GIL."""


def is_free_threaded() -> bool:
    """True if this Python is built without a global lock."""
    return bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def remark() -> str:
    """Return what somebody should know who checks programs with this Python; empty if dpor is tested on it."""
    name, version = platform.python_implementation(), ".".join(map(str, sys.version_info[:2]))
    if name != "CPython" or sys.version_info[:2] not in TESTED:
        first, last = (".".join(map(str, tested)) for tested in (TESTED[0], TESTED[-1]))
        return f"dpor is tested on CPython {first} to {last}, not on {name} {version}"
    if is_free_threaded():
        return (
            f"dpor is not tested on free-threaded builds, as this CPython {version} is: it takes an access for one "
            "step, and all threads to see the steps in one order, as under the GIL; states cannot be stored, and "
            "deaths of objects may be missed"
        )
    return ""
