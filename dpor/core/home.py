"""Tells which modules and files belong to dpor itself. Its workloads do not: they are programs as users write them. Nor
does the module that carries out scenarios, which is a part of the program that is checked."""

from __future__ import annotations

import os
from typing import Final

HOME: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder of this package."""
_OURS: Final = HOME + os.sep
_WORKLOADS: Final = os.path.join(HOME, "workloads", "")
DRIVER: Final = "dpor.scenarios.driver"
"""The module that carries out scenarios: it is instrumented."""
_DRIVER_FILE: Final = os.path.join(HOME, "scenarios", "driver.py")


def is_ours(module: str) -> bool:
    """
    >>> is_ours("dpor.python.program.loader"), is_ours("dpor.workloads.daisy"), is_ours("dporridge")
    (True, False, False)
    """
    return module.partition(".")[0] == "dpor" and not is_program(module)


def is_program(module: str) -> bool:
    """True for the modules of dpor that are instrumented at all times.

    >>> is_program("dpor.workloads.daisy"), is_program(DRIVER), is_program("dpor.scenarios.source")
    (True, True, False)
    """
    return is_workload(module) or module == DRIVER


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
    return path.startswith(_OURS) and not path.startswith(_WORKLOADS) and path != _DRIVER_FILE
