"""Which modules are dpor's own, by name. Its workloads are not: they are programs as users write them."""

from __future__ import annotations


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
