"""Elements of a shared container that go by an object which a thread makes while it runs: what the object is called
depends on how much the thread had done, and so does what the element is called. Ways that come to the same state, and
have called it otherwise, must know what they say of each other."""

from collections.abc import Callable
from threading import Lock, Thread
from typing import Any


class Thing:
    pass


class Shared:
    def __init__(self) -> None:
        self.flag = False
        self.unused = 0
        self.was = False
        self.things: list[Any] = []


def found(made: Callable[[], Any], key: Callable[[Any], Any] = lambda thing: thing) -> tuple[bool, ...]:
    """Under some orders (True,): between `append` and the element's being set."""
    shared, table, seen = Shared(), dict[Any, int](), list[bool]()

    def maker() -> None:
        was = shared.flag
        if was:
            shared.unused += 1
            shared.unused = 0
        thing = made()
        shared.things.append(thing)
        shared.was = was
        table[key(thing)] = 1
        shared.was = False

    def finder() -> None:
        shared.flag = True
        shared.flag = False
        if shared.things and key(shared.things[0]) not in table:
            seen.append(shared.was)

    threads = [Thread(target=maker), Thread(target=finder)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tuple(seen)


def by_object() -> tuple[bool, ...]:
    return found(Thing)


def by_lock() -> tuple[bool, ...]:
    return found(Lock)


def by_tuple() -> tuple[bool, ...]:
    return found(Thing, lambda thing: ("key", (thing, 1)))


def by_set() -> tuple[bool, ...]:
    return found(Thing, lambda thing: frozenset((thing, "key")))
