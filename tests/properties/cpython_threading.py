"""CPython's own `threading.py`, or parts of it, on the modelled `_thread` lock: the judge of our fronts."""

from __future__ import annotations

import threading as real
from pathlib import Path
from types import ModuleType
from typing import Any

from dpor.python.dropins import copying, stdlib
from dpor.python.dropins.from_threading import only
from dpor.python.kernel.host_modules import DropInModule

CLASSES = {
    "_RLock", "Condition", "Semaphore", "BoundedSemaphore", "Event", "Barrier", "BrokenBarrierError", "Timer",
}  # fmt: skip
_PATH = real.__file__
_SOURCE = Path(_PATH).read_text()


def classes() -> Any:
    """The classes above, on our lock, with our threads: their objects can be set against ours one by one."""
    from collections import deque

    threading: Any = stdlib.module_for_program("threading")
    surroundings = {
        "_allocate_lock": threading.Lock,
        "Lock": threading.Lock,
        "Thread": threading.Thread,
        "get_ident": threading.get_ident,
        "_deque": deque,
        "_time": stdlib.module_for_program("time").monotonic,  # type: ignore[union-attr]
    }
    module = copying.execute("threading", only(_SOURCE, CLASSES), _PATH, surroundings, lambda name: None)
    names = vars(module)
    names["RLock"] = names["_RLock"]
    names["local"] = _local()
    return module


def _local() -> Any:
    """The one written in Python. It knows threads by their addresses, and forgets those that die, whenever that is."""
    import _threading_local

    weak = ModuleType("weakref")
    vars(weak)["ref"] = lambda obj, callback: lambda: obj
    path = _threading_local.__file__
    assert path is not None
    source = Path(path).read_text()
    surroundings = {"id": lambda obj: getattr(obj, "ident", 0)}
    return copying.execute(
        "_threading_local",
        source,
        path,
        surroundings,
        lambda name: weak if name == "weakref" else stdlib.module_for_program(name),
    ).local


class _PlainWeakSet:
    """Nothing reads `threading._dangling` but a fork."""

    def add(self, item: object) -> None: ...


def whole() -> Any:
    """All of the file. It keeps state in globals, so it is executed anew in each run; see `roots`."""
    thread = DropInModule("_thread")
    vars(thread).update(vars(stdlib.module_for_program("_thread")))
    del vars(thread)["RLock"]
    weakrefset = ModuleType("_weakrefset")
    vars(weakrefset)["WeakSet"] = _PlainWeakSet

    def found(name: str) -> ModuleType | None:
        return {"_thread": thread, "_weakrefset": weakrefset}.get(name) or stdlib.module_for_program(name)

    module = copying.execute("threading", _SOURCE, _PATH, {}, found)
    copying.copies.remove(module)
    return module


def roots(module: ModuleType) -> Any:
    """What every thread can reach through the module's globals."""
    for name, value in list(vars(module).items()):
        if not name.startswith((".", "__")) and not isinstance(value, (type, ModuleType)):
            yield ("copy", name), value
