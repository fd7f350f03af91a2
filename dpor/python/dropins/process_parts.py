"""What programs get in place of parts of `multiprocessing`, whose modules are instrumented otherwise."""

from __future__ import annotations

from typing import Any

from dpor.python.dropins import process_queues, thread_pools
from dpor.python.kernel.run import run


def replaced(module: str, names: dict[str, Any]) -> dict[str, Any]:
    """Return the replacements in this module, by name. `names`: its globals, once it was executed."""
    if module == "multiprocessing.util":
        return {"register_after_fork": _register_after_fork}
    if module == "multiprocessing.queues" and process_queues.OPENED not in run.facts:
        return process_queues.REPLACED
    if module == "multiprocessing.pool":
        return thread_pools.replaced(names)
    return {}


def _register_after_fork(obj: Any, func: Any) -> None:
    """No process of the program forks. (So there are no weak references to locks and queues that nobody ever asks.)"""
