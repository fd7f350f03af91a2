"""`ThreadPool` of `multiprocessing`. It is a layer on our pool of `concurrent.futures` (`pools`), so it is not tried
which of its threads takes which task.

CPython's has three threads more: one takes tasks from where callers put them, one sets results and calls callbacks, one
looks after the workers. Results are set in the order in which tasks end, a little later. As long as threads only wait
for results, nobody sees that delay, and a result may be set as its task ends. This holds as long as no callback is
given, nobody looks whether a result is ready or waits with a timeout, all tasks have ended when the pool is terminated
or the program ends, and what the threads of the pool go through in CPython does not change. That one of these is not so
is a fact (`OPENED`); from then on pools are CPython's own, instrumented.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from dpor.primitives.futures import IsIdle
from dpor.python.dropins import copying, pools, stdlib
from dpor.python.dropins.idents import POOLS_OPENED
from dpor.python.dropins.internals import open_up, private_to
from dpor.python.dropins.state import library
from dpor.python.kernel.host_modules import DropInModule, shadow
from dpor.python.kernel.performing import perform
from dpor.python.kernel.run import run

OPENED: Final = "pools of multiprocessing are opened"
"""A fact: the program uses more of a `ThreadPool` than waiting for its results."""

_IS_IDLE: Final = IsIdle()
_private = private_to("a pool of multiprocessing", OPENED)
_OF_POOLS: Final = (
    "_pool", "_ctx", "_taskqueue", "_inqueue", "_outqueue", "_quick_put", "_quick_get", "_change_notifier", "_cache",
    "_initializer", "_initargs", "_maxtasksperchild", "_worker_handler", "_task_handler", "_result_handler",
    "_terminate",
)  # fmt: skip
_OF_RESULTS: Final = ("_pool", "_event", "_job", "_cache", "_callback", "_error_callback", "_success", "_value", "_set")
_code: DropInModule | None = None


def _helpers() -> Any:
    global _code
    if _code is None:
        path = Path(__file__).with_name("thread_pool_code.py")
        _code = copying.execute("threading", path.read_text(), str(path), {}, stdlib.module_for_program).settle()
    return _code


def replaced(module: dict[str, Any]) -> dict[str, Any]:
    """Return what programs get in place of names of `multiprocessing.pool`."""
    code = _helpers()
    code.tame(module["Pool"], module["ThreadPool"])
    if OPENED in run.facts or POOLS_OPENED in run.facts:
        return {"util": shadow(module["util"], Finalize=code.Finalize)}
    executor: Any = stdlib.module_for_program("concurrent.futures.thread")
    surroundings = executor.ThreadPoolExecutor, _is_idle, _open_up, _at_exit, pools.cpus
    found: dict[str, Any] = code.classes(module["Pool"], module["ApplyResult"], _privates, surroundings)
    return found


def _privates(cls: type) -> dict[str, Any]:
    return {name: _private(name) for name in (_OF_POOLS if cls.__name__ == "ThreadPool" else _OF_RESULTS)}


def _is_idle(pool: pools.Pool) -> bool:
    return bool(perform(_IS_IDLE, pool, pool.dpor_ended))


def _open_up(reason: str) -> None:
    if not run.unwinding:
        open_up(OPENED, reason)


def _at_exit(function: Any) -> None:
    """Call the function when the program ends and pools take no more tasks."""
    library.ends_of_pools.append(function)
