"""A library with state of every kind, none of it guarded. Programs of `tests/judge/library_state.py` use it."""

import collections
import contextlib
import functools
import weakref

hits = 0
cache = {}
registry = []
settings = {"level": 0}
events = collections.deque()
living = weakref.WeakValueDictionary()
group = weakref.WeakSet()
about = weakref.WeakKeyDictionary()
told = []


class Node:
    made = 0

    def __init__(self, name):
        Node.made = Node.made + 1
        self.name = name
        self.count = 0
        living[name] = self
        group.add(self)

    def __iadd__(self, other):
        seen = self.count
        self.count = seen + other
        return self

    def __eq__(self, other):
        self.count += 1
        return self.name == getattr(other, "name", None)

    def __hash__(self):
        return hash(self.name)

    def __len__(self):
        return self.count

    def __call__(self, key):
        self.count += 1
        return key

    def __enter__(self):
        self.count += 1
        return self

    def __exit__(self, *args):
        self.count -= 1


class Finalised:
    def __del__(self):
        told.append("died")


node = Node("n")
kept = Finalised()


def hit():
    global hits
    seen = hits
    hits = seen + 1
    return seen


def lookup(key):
    if key not in cache:
        cache[key] = hit()
    return cache[key]


def register(name):
    if name not in registry:
        registry.append(name)
    return len(registry)


@functools.lru_cache
def cached(key):
    return hit()


@contextlib.contextmanager
def level(n):
    before = settings["level"]
    settings["level"] = n
    try:
        yield before
    finally:
        settings["level"] = before


def instance(name):
    found = living.get(name)
    return Node(name) if found is None else found


def numbers():
    for _ in range(2):
        yield hit()


def drop():
    global kept
    kept = None


def late():
    import judged_late

    return judged_late.value


def __getattr__(name):
    if name == "lazy":
        globals()["lazy"] = hit()
        return globals()["lazy"]
    raise AttributeError(name)
