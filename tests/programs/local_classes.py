"""What a class that is made within a function holds is reached by whoever reaches the class, or an object of it."""

from collections.abc import Callable
from threading import Thread
from typing import Any


class Node:
    def __init__(self) -> None:
        self.value = 0


def made(put: Callable[[Node], None], get: Callable[[], Node | None]) -> tuple[int, ...]:
    """Under some orders (0,)."""
    seen = list[int]()

    def maker() -> None:
        node = Node()
        put(node)
        node.value = 1

    def looker() -> None:
        node = get()
        if node is not None:
            seen.append(node.value)

    threads = [Thread(target=maker), Thread(target=looker)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tuple(seen)


def by_class() -> tuple[int, ...]:
    class Holder:
        node: Node | None = None

    def put(node: Node) -> None:
        Holder.node = node

    return made(put, lambda: Holder.node)


def by_object_of_class() -> tuple[int, ...]:
    class Holder:
        node: Node | None = None

        @classmethod
        def put(cls, node: Node) -> None:
            cls.node = node

    one, other = Holder(), Holder()
    return made(one.put, lambda: other.node)


def by_base() -> tuple[int, ...]:
    class Holder:
        node: Node | None = None

    class Derived(Holder):
        pass

    def put(node: Node) -> None:
        Holder.node = node

    return made(put, lambda: Derived.node)


def by_metaclass() -> tuple[int, ...]:
    class Meta(type):
        node: Node | None = None

    class Holder(metaclass=Meta):
        pass

    def put(node: Node) -> None:
        Meta.node = node

    holder: Any = Holder
    return made(put, lambda: holder.node)
