"""`concurrent.futures`: CPython's own source, instrumented, without pools of processes. As long as the program allows
it, futures (`future`) and pools (`pools`) are ours instead.
"""

from __future__ import annotations

import concurrent.futures as real
import concurrent.futures._base as real_base
import concurrent.futures.thread as real_thread
import importlib
import weakref
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Final, NoReturn

from dpor.python.dropins import copying, future, pools
from dpor.python.dropins.idents import POOLS_OPENED, numbering
from dpor.python.dropins.locks import Lock
from dpor.python.dropins.semaphores import IdleSemaphore
from dpor.python.dropins.state import library
from dpor.python.kernel.host_modules import DropInModule, shadow
from dpor.python.kernel.run import run
from dpor.python.kernel.unmodelled import refuse

_FUTURES: Final = {"Future": future.Future, "wait": future.wait, "as_completed": future.as_completed}
_POOL: Final = "ThreadPoolExecutor"


class WorkQueues(dict[Any, Any]):
    """The queue of each worker of a pool, instead of a `WeakKeyDictionary`; it is cleared when the next run begins.

    It is written and read under the module's lock, so its accesses are no operations.
    """


def strong_reference(obj: Any, callback: Any = None) -> Callable[[], Any]:
    """Replaces `weakref.ref(pool)`: no shared object dies during a run. So a pool that the program drops is shut down
    when the main thread ends, as in CPython if something else refers to it.
    """
    return lambda: obj


def base_module(drop_in_for: Callable[[str], ModuleType | None]) -> DropInModule:
    module = _copy(real_base, drop_in_for)
    names = vars(module)
    for name in ("Error", "CancelledError", "InvalidStateError", "BrokenExecutor", "TimeoutError"):
        names[name] = getattr(real_base, name)
    # Constants of the module, in containers that cannot change, because every thread can reach them.
    if "_FUTURE_STATES" in names:  # up to Python 3.13
        names["_FUTURE_STATES"] = tuple(names["_FUTURE_STATES"])
    names["_STATE_TO_DESCRIPTION_MAP"] = MappingProxyType(names["_STATE_TO_DESCRIPTION_MAP"])
    names["id"] = lambda future: future._condition.dpor_location  # they are locked in this order: the same in all runs
    module.settle().offer(future.OPENED, _FUTURES, {name: names[name] for name in _FUTURES})
    return module


def thread_module(base: ModuleType, drop_in_for: Callable[[str], ModuleType | None]) -> DropInModule:
    package = ModuleType("concurrent.futures")  # as while it is being imported
    vars(package)["_base"] = base

    def found(name: str) -> ModuleType | None:
        return package if name == "concurrent.futures" else drop_in_for(name)

    registered = library.atexit.copy()
    module = _copy(real_thread, found, frozenset({"_shutdown"}))
    library.atexit[:] = registered  # its own is called by `at_exit`, in the run that imports it as in all others
    names = vars(module)
    names["_threads_queues"] = WorkQueues()
    names["weakref"] = _Weakref
    names["threading"] = shadow(names["threading"], Semaphore=IdleSemaphore)
    names["ThreadPoolExecutor"]._counter = staticmethod(lambda: numbering.next("ThreadPoolExecutor", 0))
    pool = pools.pool_class(vars(base)["Executor"], lambda: vars(base)["Future"]())
    module.settle().offer(POOLS_OPENED, {_POOL: pool}, {_POOL: names[_POOL]})
    return module


class _Weakref:
    ref = staticmethod(strong_reference)
    WeakKeyDictionary = weakref.WeakKeyDictionary


OTHER_POOLS: Final = {"process": "ProcessPoolExecutor", "interpreter": "InterpreterPoolExecutor"}
"""Modules of the package with pools that do not consist of threads of this interpreter; the latter from 3.14 on."""


def package(base: DropInModule, thread: DropInModule, drop_in_for: Callable[[str], ModuleType | None]) -> DropInModule:
    module = _copy(real, drop_in_for)
    module.__path__ = []
    vars(module).update(_base=base, thread=thread)
    for part in (base, thread):
        for fact, ours, theirs in vars(part)[".offers"]:
            module.offer(fact, ours, theirs)

    def missing(name: str) -> Any:
        for part, pool in OTHER_POOLS.items():
            if name in (part, pool) and hasattr(real, pool):
                other = drop_in_for(f"concurrent.futures.{part}")
                return other if name == part else vars(other)[name]
        raise AttributeError(f"module 'concurrent.futures' has no attribute {name!r}")

    vars(module)["__getattr__"] = missing
    return module.settle()


def other_pool(base: DropInModule, part: str) -> DropInModule:
    """Return a module from which all names can be imported; making its pool is refused."""
    module = DropInModule(f"concurrent.futures.{part}")
    pool = OTHER_POOLS[part]

    def refused(*args: Any, **kwargs: Any) -> NoReturn:
        refuse(f"concurrent.futures.{pool}", "threads of one process are checked; use ThreadPoolExecutor")

    def missing(name: str) -> Any:
        return getattr(importlib.import_module(module.__name__), name)

    names = {"__module__": module.__name__, "__new__": refused}
    vars(module)[pool] = type(pool, (base.Executor,), names)
    vars(module)["__getattr__"] = missing
    return module.settle()


def _copy(
    module: ModuleType, drop_in_for: Callable[[str], ModuleType | None], visible: frozenset[str] = frozenset()
) -> DropInModule:
    assert module.__file__ is not None
    path = Path(module.__file__)
    return copying.execute(module.__name__, path.read_text(), str(path), {}, drop_in_for, visible=visible)


def at_exit(thread: ModuleType) -> None:
    """Shut down all pools; called when the main thread's function has returned. If the main thread itself has joined
    every thread that was started, nobody is left who could see it.
    """
    if library.unjoined:
        if POOLS_OPENED in run.facts:
            vars(thread)["_python_exit"]()
        else:
            pools.at_exit()


def begin_run(thread: ModuleType) -> None:
    """Before each run: reset what the module itself remembers."""
    names = vars(thread)
    names["_threads_queues"].clear()
    names["_shutdown"] = False
    with copying.unnoticed():
        names["_global_shutdown_lock"] = copying.pinned(Lock(), "concurrent.futures.thread._global_shutdown_lock")
