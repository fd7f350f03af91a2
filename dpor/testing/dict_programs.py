"""Makes small random Python programs whose threads insert and delete keys of dicts, and some of which look at their
order: in a thread or when all have ended, by all that shows it, and often only in some interleavings."""

from __future__ import annotations

import random

from dpor.testing.python_programs import indented

HEAD = """
import copy
import json
import pickle
import threading
from collections import OrderedDict, defaultdict


class Box:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        said.append(self.name)
        return self.name

    def __eq__(self, other):
        said.append(self.name)
        return self is other

    __hash__ = object.__hash__


class Own(dict):
    def put(self, key, value):
        self[key] = value


def first(d):
    for key in d:
        return key


def named(**d):
    return list(d)


def start(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


said = []


def scenario():
    said.clear()
    d, e = KIND, {}
    box = Box("box")
    lock = threading.Lock()
    log = [[] for _ in range(THREADS + 2)]
"""

KINDS = ["{}", "{'x': 0}", "OrderedDict()", "OrderedDict(x=0)", "defaultdict(list)", "Own()", "{'x': [], 'a': 1}"]

CHANGES = [
    "d[{k}] = {i}",
    "d[{k}] = {i}",
    "d[{k}] = {i}",
    "d[{k}] = {k}",
    "d.setdefault({k}, {i})",
    "see(d.pop({k}, None))",
    "d.pop({k}, None)",
    "d.update({{{k}: {i}}})",
    "d.update(b={i}, c={i})",
    "d |= {{{k}: {i}}}",
    "e[{k}] = {i}",
    "e[{k}] = {i}",
    "e.pop({k}, None)",
    "d.update(e)",
    "e.update(d)",
    "d.clear()",
    "d[{k}] = Box({k})",
    "d[box] = {i}",
    "with lock:\n    d[{k}] = len(d)",
    "with lock:\n    if {k} in d:\n        del d[{k}]",
    "if {k} not in d:\n    d[{k}] = {i}",
    "try:\n    del d[{k}]\nexcept KeyError:\n    pass",
    "if type(d) is OrderedDict and {k} in d:\n    try:\n        d.move_to_end({k})\n    except KeyError:\n        pass",
    "if type(d) is defaultdict:\n    d[{k}]",
]
READS = ["see(len(d))", "see({k} in d)", "see(str(d.get({k})))", "see(bool(d))", "see(d == {{'a': 1}})", "see(d == e)"]
LOOKS = [
    "see(list(d))",
    "see(list(e))",
    "see(first(d))",
    "see([key for key in d])",
    "see(next(iter(d), None))",
    "see(list(reversed(d)))",
    "see([*d])",
    "see(list({{**d}}))",
    "see(list(d | e))",
    "see(list(map(str, d.values())))",
    "see([key for key, _ in d.items()])",
    "see(list(d.copy()))",
    "see(list(dict(d)))",
    "see(list(copy.copy(d)))",
    "see(list(copy.deepcopy(e)))",
    "see(str(e))",
    "see(f'{{e}}')",
    "see('%s' % e)",
    "see(json.dumps(e))",
    "see(list(pickle.loads(pickle.dumps(e))))",
    "see(sorted(d.values(), key=str))",
    "see(min(d, key=lambda key: 0, default=None))",
    "see(' '.join(map(str, d)))",
    "see(str(d.popitem()) if d else 0)",
    "see(OrderedDict(d) == OrderedDict(e))",
    "see(list(zip(d, range(9))))",
    "see(repr(list(d.keys())))",
    "see(str(dict.fromkeys(e)))",
    "print(d)",
    "see(d == {{'a': box, 'b': box}})",
    "raise KeyError(str(list(e)))",
    "see(named(**e))",
    "see(list(enumerate(d)))",
    "g = (key for key in d)\nsee(next(g, None))",
    "a, *rest = d or 'x'\nsee(a)",
    "match e:\n    case {{'a': _, **rest}}:\n        see(list(rest))",
    "m = memo.keys()\nsee(list(m))",
]
GUARDS = [
    "if len(d) > 1:\n    {0}",
    "if 'b' in d:\n    {0}",
    "if not d.get('a'):\n    {0}",
    "with lock:\n    {0}",
    "{0}",
]
TAILS = [
    "start(lambda: see(list(d)))",
    "start(lambda: d.update(z=1), lambda: d.update(y=1))",
    "d['z'] = 1",
    "e['z'] = 1",
    "d.pop('a', None)",
    "memo = d",
]


def dict_program(seed: int) -> str:
    """Return the source of a module with a function `scenario`."""
    rng = random.Random(seed)
    looking = rng.choice([0.0, 0.1, 0.25])

    def fill(text: str) -> str:
        return text.format(k=repr(rng.choice("abcd")), i=rng.randint(1, 2))

    def guarded(text: str) -> str:
        guard = rng.choice(GUARDS)
        return guard.format(indented(text, 4).lstrip() if "\n" in guard else text)

    def statement() -> str:
        chance = rng.random()
        if chance < looking:
            return guarded(fill(rng.choice(LOOKS)))
        return fill(rng.choice(READS if chance > 0.85 else CHANGES))

    number = rng.choice([2, 2, 3])
    lines, names = [], []
    for i in range(number):
        body = [statement() for _ in range(rng.choice([1, 2, 2] if number == 3 else [1, 2, 3]))]
        names.append(f"thread_{i}")
        lines.append(
            f"    def thread_{i}():\n        nonlocal d\n        see = log[{i}].append\n" + indented("\n".join(body), 8)
        )
    after = [rng.choice(TAILS + READS + CHANGES[:12]) for _ in range(rng.randint(0, 2))]
    after = [fill(text) if text not in TAILS else text for text in after]
    if rng.random() < 2 * looking + 0.1:
        after.append(guarded(fill(rng.choice(LOOKS))))
    end = rng.choice(["return log, said", "return log, len(d)", "return log, sorted(map(str, d))", "return log, d"])
    if rng.random() < 0.5:
        end = "return log, said"
    if rng.random() < 0.2:
        after.insert(0, "del d['a']")
    main = ["memo = e", "see = log[-1].append", f"start({', '.join(names)})", *after, end]
    if "d |=" not in "".join(lines):
        lines = [line.replace("        nonlocal d\n", "") for line in lines]
    head = HEAD.replace("KIND", rng.choice(KINDS)).replace("THREADS", str(number))
    return head + "    memo = {}\n" + "\n".join(lines) + "\n" + indented("\n".join(main), 4) + "\n"
