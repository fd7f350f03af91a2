"""Classes that tell the ways of judging answers apart."""

from __future__ import annotations

import threading


class Stale:
    """Reads a copy that is written after the value: a read that comes later may be older."""

    def __init__(self) -> None:
        self.value = 0
        self.copy = 0

    def write(self) -> None:
        self.value = 1
        self.copy = 1

    def read(self) -> int:
        return self.value

    def read_copy(self) -> int:
        return self.copy


class Register:
    """Each thread writes into a cache of its own and reads that; the main thread alone reads all of them."""

    def __init__(self) -> None:
        self.caches: dict[str, int] = {}

    def write(self) -> None:
        self.caches[threading.current_thread().name] = 1

    def read(self) -> int:
        name = threading.current_thread().name
        return max(self.caches.values(), default=0) if name == "MainThread" else self.caches.get(name, 0)


class Model:
    """What `Strict` should do."""

    def __init__(self) -> None:
        self.n = 0

    def take(self) -> int:
        self.n += 1
        return self.n


class Strict(Model):
    """Wrong in one thread already: only a specification can tell."""

    def take(self) -> int:
        return 1
