"""Tells which modules and files belong to dpor itself. Its workloads do not: they are programs as users write them."""

from __future__ import annotations

import os
from typing import Final

HOME: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder of this package."""
_OURS: Final = HOME + os.sep
_WORKLOADS: Final = os.path.join(HOME, "workloads", "")


def is_ours(module: str) -> bool:
    """
    >>> is_ours("dpor.python.program.loader"), is_ours("dpor.workloads.daisy"), is_ours("dporridge")
    (True, False, False)
    """
    return module.partition(".")[0] == "dpor" and not is_workload(module)


def is_workload(module: str) -> bool:
    """
    >>> is_workload("dpor.workloads"), is_workload("dpor.workloads.daisy"), is_workload("workloads.daisy")
    (True, True, False)
    """
    return module == "dpor.workloads" or module.startswith("dpor.workloads.")


def is_our_file(path: str) -> bool:
    """
    >>> is_our_file(__file__), is_our_file(os.path.join(HOME, "workloads", "daisy.py")), is_our_file("program.py")
    (True, False, False)
    """
    return path.startswith(_OURS) and not path.startswith(_WORKLOADS)
