"""Which module a program gets when it imports one: drop-ins, and instrumented copies of library source that use them.

Each is made when it is first imported, lives as long as the process, and is reset before each run (`reset`).
"""

from __future__ import annotations

import queue as real_queue
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from dpor.python.dropins import (
    copying,
    dataclasses,
    datetime,
    exits,
    functools,
    futures,
    importing,
    outside,
    process_locks,
    queues,
    random,
    selecting,
    sockets,
    state,
    threading,
    time,
)
from dpor.python.dropins.idents import numbering
from dpor.python.dropins.simple_queue import SimpleQueue
from dpor.python.dropins.threads import main_thread
from dpor.python.kernel import host_modules
from dpor.python.kernel.host_modules import DropInModule

__all__ = ["begin_search", "execute_again", "forget", "main_thread", "module_for_program", "reset", "run_atexit"]

made_modules: dict[str, ModuleType] = {}
"""The modules that programs get in place of those of the standard library, by name; made once for all searches."""
used_packages: set[str] = set()
"""The packages that the program of this search has imported from here."""


def module_for_program(name: str) -> ModuleType | None:
    """Return the module that the program gets for this name; None: the real one, or one of its own."""
    make = _MAKERS.get(name)
    if make is None:
        return None
    used_packages.add(name.partition(".")[0])
    module = made_modules.get(name)
    if module is None:
        module = made_modules[name] = make()
    return module


@contextmanager
def unused() -> Iterator[None]:
    """Context in which modules are looked up without counting as used by the program."""
    before = set(used_packages)
    try:
        yield
    finally:
        used_packages.intersection_update(before)


def begin_search() -> None:
    """Reset before a search of another program."""
    numbering.begin_search()
    used_packages.clear()


def reset(registered: list[state.Registered] | None = None) -> None:
    """Before each run, in its main thread: reset everything that drop-ins and copies remember.

    registered   what modules of the program registered with `atexit` when they were executed; they add to the list
    """
    numbering.begin_run()
    state.begin_run(registered)
    copying.begin_run()
    host_modules.restore_all()
    threading.begin_run()
    host_modules.choose_all()
    if _THREAD_POOL in made_modules:  # even if this program has not used it: an earlier one may have
        futures.begin_run(made_modules[_THREAD_POOL])


def forget() -> None:
    """Before the next run begins: release what drop-ins hold of the last run."""
    state.begin_run()


def execute_again() -> None:
    """Called before the program's modules are executed again in this run."""
    state.library.exit_calls_of_imports.clear()
    state.library.exit_calls.clear()


def run_atexit() -> None:
    """Called when the main thread's function has returned: do what CPython does before and after it waits for the other
    threads."""
    exits.before_waiting()
    if "concurrent" in used_packages and _THREAD_POOL in made_modules:
        futures.at_exit(made_modules[_THREAD_POOL])
    exits.at_exit()


# ---------------------------------------------------------------------- the modules

_THREAD_POOL = "concurrent.futures.thread"


def _needed(name: str) -> DropInModule:
    module = module_for_program(name)
    assert isinstance(module, DropInModule)
    return module


def _copy(real: ModuleType, **names: Any) -> DropInModule:
    assert real.__file__ is not None
    path = Path(real.__file__)
    return copying.execute(real.__name__, path.read_text(), str(path), names, module_for_program)


def _queue_c() -> DropInModule:
    module = DropInModule("_queue")
    vars(module).update(SimpleQueue=SimpleQueue, Empty=real_queue.Empty)
    return module.settle()


def _queue() -> DropInModule:
    module = _copy(real_queue)
    for name in ("Full", "ShutDown"):  # the real classes, like `Empty`: both sides raise and catch them
        if hasattr(real_queue, name):
            vars(module)[name] = getattr(real_queue, name)
    ours = {kind.__name__: kind for kind in (queues.Queue, queues.LifoQueue, queues.PriorityQueue)}
    module.settle().offer(queues.OPENED, ours, {name: vars(module)[name] for name in ours})
    return module


def _sched() -> DropInModule:
    import sched

    return _copy(sched).settle()


def _secrets() -> DropInModule:
    import secrets

    return _copy(secrets).settle()


def _threading_local() -> DropInModule:
    module = DropInModule("_threading_local")
    vars(module)["local"] = vars(threading.THREAD)["_local"]
    return module.settle()


def _thread_pool() -> DropInModule:
    module = futures.thread_module(_needed("concurrent.futures._base"), module_for_program)
    futures.begin_run(module)
    return module


def _futures() -> DropInModule:
    return futures.package(_needed("concurrent.futures._base"), _needed(_THREAD_POOL), module_for_program)


def _other_pool(part: str) -> DropInModule:
    return futures.other_pool(_needed("concurrent.futures._base"), part)


def _concurrent() -> DropInModule:
    module = DropInModule("concurrent")
    module.__path__ = []
    vars(module)["futures"] = _needed("concurrent.futures")
    return module.settle()


_MAKERS: dict[str, Callable[[], ModuleType]] = {
    "threading": lambda: state.THREADING,
    "_thread": lambda: threading.THREAD,
    "_threading_local": _threading_local,
    "queue": _queue,
    "_queue": _queue_c,
    "functools": functools.module,
    "dataclasses": dataclasses.module,
    "time": time.module,
    "datetime": datetime.module,
    "random": lambda: random.random_module(module_for_program),
    "secrets": _secrets,
    "uuid": random.uuid_module,
    "os": random.os_module,
    "_multiprocessing": process_locks.module,
    "signal": outside.signal_module,
    "atexit": exits.module,
    "socket": sockets.module,
    "select": selecting.module,
    "selectors": lambda: selecting.selectors_module(module_for_program),
    "importlib": lambda: importing.importlib_module(module_for_program),
    "sched": _sched,
    "concurrent": _concurrent,
    "concurrent.futures": _futures,
    "concurrent.futures._base": lambda: futures.base_module(module_for_program),
    "concurrent.futures.thread": _thread_pool,
    **{f"concurrent.futures.{part}": partial(_other_pool, part) for part in futures.OTHER_POOLS},
}
