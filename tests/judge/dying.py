"""Random programs in which threads drop and take references to objects whose death somebody notices.

A program is one or two objects, with a finaliser or not, or generators with a `finally`, put in one or two places that
threads share; weak references to them, with callbacks or not, and weak containers; and a few statements of each thread
that drop the objects, take them, put them elsewhere, or ask whether they are alive.
"""

from __future__ import annotations

import random
from textwrap import indent

HEAD = """
import threading, weakref

class Plain:
    pass

class Noisy:
    def __init__(self, name, told):
        self.name, self.told = name, told
    def __del__(self):
        self.told.append(self.name)

def cleaning(name, told):
    try:
        yield
    finally:
        told.append(name)

def suspended(name, told):
    made = cleaning(name, told)
    next(made)
    return made

class Ref(weakref.ref):
    pass

class Holder:
    def __init__(self, inner):
        self.inner = inner

class Hub:
    def __init__(self):
        self.x = self.y = None
        self.items, self.table = [], {}

def scenario():
    hub, told, lock = Hub(), [], threading.Lock()
    log = [[] for _ in range(3)]
    refs, group, named, about = [], weakref.WeakSet(), weakref.WeakValueDictionary(), weakref.WeakKeyDictionary()
"""

TAIL = """
    threads = [threading.Thread(target=body) for body in [BODIES]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.append([*told, "end", *[ref() is None for ref in refs], len(group), len(named), len(about)])
    return log
"""

_OBJECTS = ("Plain()", "Noisy('{n}', told)", "Noisy('{n}', told)", "suspended('{n}', told)")
_PLACES = (
    "hub.x = o",
    "hub.y = o",
    "hub.items.append(o)",
    "hub.table['k'] = o",
    "hub.x = [o]",
    "hub.table['k'] = (o, hub.x)",
    "hub.x = Holder(o)",
    "hub.items.append(Holder([o]))",
    "hub.y = lambda o=o: o",
    "hub.x = hub.y = Holder(o)",
)
_WATCHED = (
    "refs.append(weakref.ref(o))",
    "refs.append(weakref.ref(o, lambda _: told.append('called')))",
    "group.add(o)",
    "named['n'] = o",
    "about[o] = 1",
)
_DROPS = (
    *("hub.x = None", "hub.y = None", "hub.items.clear()", "hub.table.pop('k', None)", "del hub.items[:]", "hub.x = 1"),
    *("o = hub.x\nhub.x = None\nsee(o is None)\no = None", "o = hub.items.pop() if hub.items else None\no = None"),
    *("hub.table.clear()", "del hub.x\nhub.x = None", "hub.table['k'] = 2"),
)
_CALLED = (
    "refs.clear()",
    "refs.append(weakref.ref(hub, told.append))\nrefs.pop()",
    "o = hub.x\nif type(o) is Plain:\n    r = weakref.ref(o, lambda _: told.append('own'))\no = None\nr = None",
    "o = hub.x\nif type(o) is Plain:\n    r = weakref.ref(o, lambda _: told.append('own'))\nhub.x = None\nr = o = None",
    "o = hub.x\nif type(o) is Noisy:\n    r = Ref(o, told.append)\nhub.x = o = None\nsee(len(told))\nr = None",
    "o = hub.x\nif type(o) is Noisy:\n    f = weakref.finalize(o, told.append, 'f')\no = None\nsee(0)\nf = None",
)
"""They drop weak references with callbacks."""
_TAKES = (
    *("o = hub.x\nsee(o is None)\no = None", "hub.y = hub.x", "hub.items.append(hub.x)", "hub.table['k'] = hub.y"),
    *("hub.x, hub.y = hub.y, None", "o = hub.table.get('k')\nsee(type(o).__name__)", "hub.x = [hub.y]"),
    *("hub.y = refs[0]() if refs else None", "o = named.get('n')\nsee(o is None)", "hub.items.append(named.get('n'))"),
    *(
        "o = hub.x\no = getattr(o, 'inner', None)\nsee(type(o).__name__)\no = None",
        "o = hub.items[0] if hub.items else 0\no = 0",
    ),
    *(
        "for o in hub.items:\n    see(type(o).__name__)\no = None",
        "see(len([*hub.items]))",
        "hub.y = list(hub.table.values())",
    ),
    *(
        "o = hub.x\nhub.x = None\no = getattr(o, 'inner', None)\no = 0",
        "o = refs[0]() if refs else 0\nsee(o is None)\no = 0",
    ),
)
_LOOKS = (
    *(
        "see([ref() is None for ref in refs])",
        "see(len(group))",
        "see('n' in named)",
        "see(list(told))",
        "see(len(told))",
    ),
    *("see(len(list(group)))", "see(len(about))", "see(hub.x is None)", "see(len(hub.items))", "see(len(named))"),
    *("for o in group:\n    see('member')\no = None", "see(refs[0]() is hub.x if refs else 0)"),
)


def program(seed: int) -> str:
    """The source of a random program."""
    rng = random.Random(seed)
    made = []
    for number in range(rng.choice((1, 1, 2))):
        made.append(f"o = {rng.choice(_OBJECTS).replace('{n}', str(number))}")
        made += rng.sample(_PLACES, rng.choice((1, 1, 2)))
        made += rng.sample(_WATCHED, rng.choice((0, 1, 1, 2)))
    made.append("o = None" if rng.random() < 0.8 else "kept = o")
    bodies = []
    for _ in range(rng.choice((2, 2, 2, 3))):
        body = [rng.choice(rng.choice((_DROPS, _DROPS, _TAKES, _LOOKS, _CALLED))) for _ in range(rng.choice((1, 1, 2)))]
        if rng.random() < 0.2:
            body[0] = "with lock:\n" + indent(body[0], "    ")
        bodies.append(body)
    source = [HEAD, indent("\n".join(made), "    ")]
    for number, body in enumerate(bodies):
        source.append(f"    def body{number}():\n        def see(x):\n            log[{number}].append(repr(x))")
        source.append(indent("\n".join(body), "        "))
    return "\n".join(source) + TAIL.replace("BODIES", ", ".join(f"body{number}" for number in range(len(bodies))))
