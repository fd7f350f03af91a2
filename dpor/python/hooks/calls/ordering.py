"""`heapq` and `bisect` on elements that code of the program compares: in steps, because other threads may act in
between.

Each step is what the C code does from one comparison to the next (`_heapqmodule.c`, `_bisectmodule.c`). As there,
`heapq` notices after each comparison if others have made the list longer or shorter; `bisect` never does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dpor.python.effects.accesses import reads_structure, writes_structure, yield_before
from dpor.python.effects.calls import BoundMethod
from dpor.python.hooks import operators
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects

Items = list[Any]
_get, _set = list.__getitem__, list.__setitem__
"""The C code does not use the methods of a derived class, so these do not either."""


class HeapFunction:
    """One call on a heap. `name`: the name of the function; `smallest`: True if the smallest element is at the root."""

    def __init__(self, items: Items, name: str, smallest: bool) -> None:
        self._items = items
        self._name = name
        self._smallest = smallest

    def _yield_before(self, *kept: Any) -> None:
        """Yield before a step, which may change the list and keep these values in it."""
        shared = shared_objects.shared_object_of(self._items)
        if shared is not None:
            yield_before(self._name, writes_structure(shared))
            for value in kept:
                shared_objects.publish(value)

    def _comes_first(self, one: Any, other: Any, length: int) -> bool:
        """Compare two elements, then yield before the next step."""
        first = bool(operators.lt(one, other) if self._smallest else operators.lt(other, one))
        self._yield_before()
        if length != list.__len__(self._items):
            raise RuntimeError("list changed size during iteration")
        return first

    def _rise(self, start: int, place: int) -> None:
        """Like `siftdown` of heapq: move the element at `place` towards the root, to where it belongs."""
        items, length = self._items, list.__len__(self._items)
        if place >= length:
            raise IndexError("index out of range")
        new = _get(items, place)
        while place > start:
            parent = (place - 1) >> 1
            if not self._comes_first(new, _get(items, parent), length):
                return
            new = self._swap(parent, place)
            place = parent

    def _swap(self, one: int, other: int) -> Any:
        """Exchange two elements; return the one that is now at the first place."""
        moved = _get(self._items, other)
        _set(self._items, other, _get(self._items, one))
        _set(self._items, one, moved)
        return moved

    def _sink(self, start: int) -> None:
        """Like `siftup` of heapq: move the element down to a leaf and its smaller children up, then let it rise from
        there."""
        length, place = list.__len__(self._items), start
        if place >= length:
            raise IndexError("index out of range")
        while place < length >> 1:
            child = 2 * place + 1
            if child + 1 < length and not self._left_first(child, length):
                child += 1
            self._swap(child, place)
            place = child
        self._rise(start, place)

    def _left_first(self, child: int, length: int) -> bool:
        return self._comes_first(_get(self._items, child), _get(self._items, child + 1), length)

    def push(self, item: Any) -> None:
        self._yield_before(item)
        list.append(self._items, item)
        self._rise(0, list.__len__(self._items) - 1)

    def pop(self) -> Any:
        self._yield_before()
        items = self._items
        if not list.__len__(items):
            raise IndexError("index out of range")
        last = list.pop(items)
        if not list.__len__(items):
            return last
        return self._replace(last)

    def replace(self, item: Any) -> Any:
        self._yield_before(item)
        if not list.__len__(self._items):
            raise IndexError("index out of range")
        return self._replace(item)

    def _replace(self, item: Any) -> Any:
        first = _get(self._items, 0)
        _set(self._items, 0, item)
        self._sink(0)
        return first

    def push_and_pop(self, item: Any) -> Any:
        self._yield_before(item)
        if not list.__len__(self._items):
            return item
        first = _get(self._items, 0)
        before = bool(operators.lt(first, item) if self._smallest else operators.lt(item, first))
        if not before:
            return item
        self._yield_before()
        if not list.__len__(self._items):
            raise IndexError("index out of range")
        return self._replace(item)

    def heapify(self) -> None:
        self._yield_before()
        for place in range((list.__len__(self._items) >> 1) - 1, -1, -1):
            self._sink(place)


_METHODS: Final[dict[str, Callable[..., Any]]] = {
    "heappush": HeapFunction.push,
    "heappop": HeapFunction.pop,
    "heapreplace": HeapFunction.replace,
    "heappushpop": HeapFunction.push_and_pop,
    "heapify": HeapFunction.heapify,
}


def on_heap(function: Any, items: Items, args: tuple[Any, ...]) -> Any:
    """Perform the function of `heapq` on the list, in steps."""
    name = function.__name__
    plain = name.removeprefix("_").removesuffix("_max")
    if len(args) != (plain not in ("heappop", "heapify")):
        return function(items, *args)  # raises the right error
    return _METHODS[plain](HeapFunction(items, name, not name.endswith("_max")), *args)


def find_place(
    items: Any, x: Any, lo: int = 0, hi: int | None = None, *, left: bool, key: Callable[[Any], Any] | None
) -> int:
    """Like `bisect_left` or `bisect_right`, in steps: each looks at the list again."""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None:
        shared = shared_objects.shared_object_of(items)
        if shared is not None:
            yield_before("len", reads_structure(shared))
        hi = len(items)
    while lo < hi:
        middle = (lo + hi) // 2
        item = operators.getitem(items, middle)
        if key is not None:
            item = run.above.call(key)(item)
        if operators.lt(item, x) if left else not operators.lt(x, item):
            lo = middle + 1
        else:
            hi = middle
    return lo


def insert_at(items: Any, place: int, x: Any) -> None:
    """The last step of `insort`."""
    BoundMethod(items, None, "insert", list.insert)(place, x)
