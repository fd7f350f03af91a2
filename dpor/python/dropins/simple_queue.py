"""`SimpleQueue`, as in CPython's C: `put` and `get` are one step each.

The pure Python version in `queue.py` takes two steps, an append and a release, and between them a non-empty queue
raises `Empty`; the C version never does that. Here the number of items is a semaphore's state, and the items are moved
right after its step, before another thread can run.
"""

from __future__ import annotations

import types
from collections import deque
from queue import Empty
from typing import Any

from dpor.primitives.rules import Look
from dpor.primitives.semaphores import V
from dpor.python.dropins.presentation import address
from dpor.python.dropins.semaphores import take
from dpor.python.kernel.performing import perform
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.sharing import shared_objects

_V, _LOOK = V(), Look()


class SimpleQueue(SyncObject):
    dpor_is_data = True
    dpor_made_in_c = True
    dpor_module = "_queue"

    def __init__(self) -> None:
        super().__init__()
        self.dpor_state = 0
        self.dpor_items: deque[Any] = deque()

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        shared_objects.publish(item)
        perform(_V, self)
        self.dpor_items.append(item)

    def put_nowait(self, item: Any) -> None:
        self.put(item)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        if block and timeout is not None and timeout < 0:
            raise ValueError("'timeout' must be a non-negative number")
        if take(self, block, timeout if block else None) is False:
            raise Empty
        return self.dpor_items.popleft() if self.dpor_items else None

    def get_nowait(self) -> Any:
        return self.get(False)

    def empty(self) -> bool:
        return not self.qsize()

    def qsize(self) -> int:
        return perform(_LOOK, self)  # type: ignore[no-any-return]

    __class_getitem__: Any = classmethod(types.GenericAlias)

    def __repr__(self) -> str:
        return f"<_queue.SimpleQueue object at {address(self)}>"
