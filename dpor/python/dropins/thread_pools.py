"""`ThreadPool` of `multiprocessing`. It is a layer on our pool of `concurrent.futures` (`pools`), so it is not tried
which of its threads takes which task.

CPython's has three threads more: one takes tasks from where callers put them, one sets results and calls callbacks, one
looks after the workers. Results are set in the order in which tasks end, a little later. As long as threads only wait
for results, nobody sees that delay, and a result may be set as its task ends. This holds as long as no callback is
given, nobody looks whether a result is ready or waits with a timeout, and what the threads of the pool go through in
CPython does not change. That one of these is not so is a fact (`HANDLED`); from then on a pool has the threads that
handle tasks and results, as CPython has them.

Both hold as long as all tasks have ended when the pool is terminated or the program ends, threads of the pool begin
with nothing, and nobody uses private attributes. That one of these is not so is another fact (`OPENED`); from then on
pools are CPython's own, instrumented.
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

HANDLED: Final = "tasks and results of pools of multiprocessing are handled"
"""A fact: the program does more with a `ThreadPool` than to wait for results."""
OPENED: Final = "pools of multiprocessing are opened"
"""A fact: the program uses more of a `ThreadPool` than its public methods, or ends it before its tasks have ended."""

_IS_IDLE: Final = IsIdle()
_private = private_to("a pool of multiprocessing", OPENED)
_OF_POOLS: Final = (
    "_pool", "_ctx", "_inqueue", "_outqueue", "_quick_put", "_quick_get", "_change_notifier", "_initializer",
    "_initargs", "_maxtasksperchild", "_worker_handler", "_task_handler", "_result_handler", "_terminate",
)  # fmt: skip
_QUEUES: Final = ("_taskqueue", "_cache")
_OF_RESULTS: Final = ("_pool", "_event", "_job", "_cache", "_callback", "_error_callback", "_success", "_value", "_set")
_codes: Final[dict[str, DropInModule]] = {}


def _code(name: str) -> Any:
    """Return the module of this file, which is instrumented."""
    if name not in _codes:
        path = Path(__file__).with_name(name)
        _codes[name] = copying.execute("threading", path.read_text(), str(path), {}, stdlib.module_for_program).settle()
    return _codes[name]


def replaced(module: dict[str, Any]) -> dict[str, Any]:
    """Return what programs get in place of names of `multiprocessing.pool`."""
    code = _code("thread_pool_code.py")
    pool, result = module["Pool"], module["ApplyResult"]
    code.tame(pool, module["ThreadPool"])
    if OPENED in run.facts or POOLS_OPENED in run.facts:
        return {"util": shadow(module["util"], Finalize=code.Finalize)}
    executor: Any = stdlib.module_for_program("concurrent.futures.thread")
    new_executor = executor.ThreadPoolExecutor
    found: dict[str, Any]
    if HANDLED in run.facts:
        private = {name: _private(name) for name in _OF_POOLS}
        surroundings: tuple[Any, ...] = new_executor, _open_up, _at_exit, pools.cpus
        found = _code("handled_pool_code.py").classes(pool, result, module["IMapIterator"], private, surroundings)
    else:
        surroundings = new_executor, _is_idle, _handle, _at_exit, pools.cpus
        found = code.classes(pool, result, _privates, surroundings)
    return found


def _privates(cls: type) -> dict[str, Any]:
    names = (*_OF_POOLS, *_QUEUES) if cls.__name__ == "ThreadPool" else _OF_RESULTS
    return {name: _private(name) for name in names}


def _is_idle(pool: pools.Pool) -> bool:
    return bool(perform(_IS_IDLE, pool, pool.dpor_ended))


def _open_up(reason: str) -> None:
    """Called where the program needs CPython's own pools; not while a run is unwound, which may pretend anything."""
    if not run.unwinding:
        open_up(OPENED, reason)


def _handle(reason: str) -> None:
    if not run.unwinding:
        open_up(HANDLED, reason)


def _at_exit(function: Any) -> None:
    """Call the function when the program ends and pools take no more tasks."""
    library.ends_of_pools.append(function)
