"""Numbers that replace addresses: `id`, and whatever shows an address, must be the same in every run.

A shared object has the number of its `SharedObject`. Only one thread can ask for the number of an unshared object, so
that gets the next number of this thread, and keeps it when it becomes shared.
"""

from __future__ import annotations

from typing import Any, Final
from zlib import crc32

from dpor.python.kernel import assumptions
from dpor.python.kernel.assumptions import IDENTITIES
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects

_SPACING: Final = 16
_SHARED: Final = 1 << 40
_OF_THREAD: Final = 1 << 32


def numbered() -> list[Any]:
    """Return the objects whose numbers have been asked, which are kept here."""
    return [obj for _, obj in run.threads[0].data.get("ids", {}).values()]


def stable_id(obj: Any) -> int:
    """Return a number that no other object has in this run, and that equivalent runs agree on."""
    given: dict[int, tuple[int, Any]] = run.threads[0].data.setdefault("ids", {})
    taken: set[int] = run.threads[0].data.setdefault("ids taken", set())
    known = given.get(id(obj))
    if known is None:
        name = shared_objects.run_name(obj)
        if name is not None:
            assumptions.note(IDENTITIES)
            answer = _SHARED + crc32(repr(name).encode()) * _SPACING
            while answer in taken:
                answer += _SPACING
            taken.add(answer)
        else:
            mine = run.current.data["numbered"] = run.current.data.get("numbered", 0) + 1
            answer = (run.current.id + 1) * _OF_THREAD + mine * _SPACING
        known = given[id(obj)] = (answer, obj)
    return known[0]
