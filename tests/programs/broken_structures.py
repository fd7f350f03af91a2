"""Concurrent structures with the mistakes that people make, and their mended twins: `Broken...`
and `Mended...` differ in the mistake alone."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from contextlib import nullcontext


class BrokenCounter:
    """Reads and writes without a lock."""

    guard = nullcontext

    def __init__(self) -> None:
        self.lock = self.guard()
        self.n = 0

    def increment(self) -> int:
        with self.lock:
            self.n += 1
            return self.n


class MendedCounter(BrokenCounter):
    guard = threading.Lock


class BrokenQueue:
    """Looks whether there is something before it takes the lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.items: deque[str] = deque()

    def put(self, item) -> None:
        with self.lock:
            self.items.append(item)

    def get(self):
        if not self.items:
            return None
        with self.lock:
            return self.items.popleft()


class MendedQueue(BrokenQueue):
    def get(self):
        with self.lock:
            return self.items.popleft() if self.items else None


class BrokenStack:
    """Reads the top and removes it in two steps."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.top = None

    def push(self, item) -> None:
        with self.lock:
            self.top = (item, self.top)

    def pop(self):
        top = self.top
        if top is None:
            return None
        with self.lock:
            self.top = top[1]
        return top[0]


class MendedStack(BrokenStack):
    def pop(self):
        with self.lock:
            top = self.top
            if top is None:
                return None
            self.top = top[1]
            return top[0]


class BrokenSet:
    """Tells whether it was new from before it took the lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.items: set[str] = set()

    def add(self, item) -> bool:
        new = item not in self.items
        with self.lock:
            self.items.add(item)
        return new

    def discard(self, item) -> bool:
        with self.lock:
            if item in self.items:
                self.items.remove(item)
                return True
            return False


class MendedSet(BrokenSet):
    def add(self, item) -> bool:
        with self.lock:
            new = item not in self.items
            self.items.add(item)
            return new


class BrokenMap:
    """`setdefault` by hand, with the look outside of the lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.items: dict[str, int] = {}

    def get_or_set(self, key, value: int) -> int:
        if key not in self.items:
            with self.lock:
                self.items[key] = value
        return self.items[key]

    def remove(self, key) -> bool:
        with self.lock:
            return self.items.pop(key, None) is not None


class MendedMap(BrokenMap):
    def get_or_set(self, key, value: int) -> int:
        with self.lock:
            return self.items.setdefault(key, value)


class BrokenPool:
    """Counts what is free in two steps."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.free = [1, 2]

    def take(self) -> int | None:
        if self.free:
            number = self.free[-1]
            with self.lock:
                self.free.remove(number)
            return number
        return None

    def give_back(self) -> int:
        with self.lock:
            self.free.append(len(self.free) + 1)
            return len(self.free)


class MendedPool(BrokenPool):
    def take(self) -> int | None:
        with self.lock:
            return self.free.pop() if self.free else None


class BrokenCache:
    """An LRU cache that moves what was used to the end without the lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.items: OrderedDict[str, str] = OrderedDict()

    def get(self, key):
        if key in self.items:
            self.items.move_to_end(key)
            return self.items[key]
        return None

    def put(self, key) -> None:
        with self.lock:
            self.items[key] = key
            if len(self.items) > 1:
                self.items.popitem(last=False)


class MendedCache(BrokenCache):
    def get(self, key):
        with self.lock:
            return super().get(key)


class BrokenLimiter:
    """A rate limiter that looks at its budget and takes from it in two steps."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.left = 1

    def allow(self) -> bool:
        if self.left <= 0:
            return False
        with self.lock:
            self.left -= 1
        return True

    def refill(self) -> None:
        with self.lock:
            self.left = 1


class MendedLimiter(BrokenLimiter):
    def allow(self) -> bool:
        with self.lock:
            if self.left <= 0:
                return False
            self.left -= 1
            return True


class BrokenAccounts:
    """Takes two locks in the order of its arguments."""

    def __init__(self) -> None:
        self.locks = [threading.Lock(), threading.Lock()]
        self.money = [1, 1]

    def transfer(self, backwards: bool) -> int:
        source, target = self.order(backwards)
        with self.locks[source], self.locks[target]:
            self.money[backwards] -= 1
            self.money[not backwards] += 1
            return self.money[0]

    def order(self, backwards: bool) -> tuple[int, int]:
        return (1, 0) if backwards else (0, 1)


class MendedAccounts(BrokenAccounts):
    def order(self, backwards: bool) -> tuple[int, int]:
        return 0, 1


class BrokenReadWrite:
    """A read-write lock around a pair: a writer waits for readers, but readers do not wait for a writer."""

    waits = False

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.readers = 0
        self.writing = False
        self.pair = [0, 0]

    def read(self) -> tuple[int, int]:
        with self.changed:
            while self.waits and self.writing:
                self.changed.wait()
            self.readers += 1
        try:
            return self.pair[0], self.pair[1]
        finally:
            with self.changed:
                self.readers -= 1
                self.changed.notify_all()

    def write(self) -> None:
        with self.changed:
            while self.readers or self.writing:
                self.changed.wait()
            self.writing = True
        self.pair[0] += 1
        self.pair[1] += 1
        with self.changed:
            self.writing = False
            self.changed.notify_all()


class MendedReadWrite(BrokenReadWrite):
    waits = True


class BrokenSequenceLock:
    """A sequence lock whose reader does not look at the number again."""

    looks_again = False

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.number = 0
        self.pair = [0, 0]

    def write(self) -> None:
        with self.lock:
            self.number += 1
            self.pair[0] += 1
            self.pair[1] += 1
            self.number += 1

    def read(self) -> tuple[int, int]:
        while True:
            number = self.number
            pair = self.pair[0], self.pair[1]
            if not number % 2 and (not self.looks_again or number == self.number):
                return pair


class MendedSequenceLock(BrokenSequenceLock):
    looks_again = True


class BrokenLazy:
    """Makes its value without a lock: twice."""

    guard = nullcontext

    def __init__(self) -> None:
        self.lock = self.guard()
        self.made = 0
        self.value: int | None = None

    def get(self) -> int:
        with self.lock:
            if self.value is None:
                self.made += 1
                self.value = self.made
            return self.value


class MendedLazy(BrokenLazy):
    guard = threading.Lock


class BrokenBuffer:
    """A bounded buffer that waits with `if` in place of `while`."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.items: list[str] = []

    def put(self, item) -> None:
        with self.changed:
            self.items.append(item)
            self.changed.notify()

    def get(self):
        with self.changed:
            if not self.items:
                self.changed.wait()
            return self.items.pop(0)


class MendedBuffer(BrokenBuffer):
    def get(self):
        with self.changed:
            while not self.items:
                self.changed.wait()
            return self.items.pop(0)


class BrokenLatch:
    """Counts down without a lock, so that those who wait may wait for ever."""

    guard = nullcontext

    def __init__(self) -> None:
        self.lock = self.guard()
        self.left = 2
        self.opened = threading.Event()

    def count_down(self) -> None:
        with self.lock:
            self.left -= 1
            if self.left == 0:
                self.opened.set()

    def is_open(self) -> bool:
        return self.opened.is_set()


class MendedLatch(BrokenLatch):
    guard = threading.Lock


class BrokenPriorities:
    """A priority queue that looks for the smallest without the lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.items: list[int] = []

    def put(self, item: int) -> None:
        with self.lock:
            self.items.append(item)

    def take(self) -> int | None:
        if not self.items:
            return None
        smallest = min(self.items)
        with self.lock:
            self.items.remove(smallest)
        return smallest


class MendedPriorities(BrokenPriorities):
    def take(self) -> int | None:
        with self.lock:
            if not self.items:
                return None
            smallest = min(self.items)
            self.items.remove(smallest)
            return smallest


class BrokenSnapshot:
    """Two registers that are read one after the other."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.values = {"a": 0, "b": 0}

    def set_both(self, value: int) -> None:
        with self.lock:
            self.values["a"] = value
            self.values["b"] = value

    def read(self) -> tuple[int, int]:
        return self.values["a"], self.values["b"]


class MendedSnapshot(BrokenSnapshot):
    def read(self) -> tuple[int, int]:
        with self.lock:
            return super().read()
