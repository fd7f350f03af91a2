"""Makes small random Python programs: a few threads that use shared attributes, lists, dicts, closures, locks, queues.

Each is the source of a module with a function `scenario`, which returns all that the threads saw and what is left. The
statements of a thread are few, so that every interleaving can be listed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

HEAD = """
import collections
import threading
import queue


class Box:
    total = 0

    def __init__(self):
        self.a = 0
        self.b = 0

    @property
    def both(self):
        return self.a, self.b

    def add(self, n):
        self.a += n
        return self

    def __enter__(self):
        self.b += 1
        return self

    def __exit__(self, *_):
        self.b -= 1

    def __len__(self):
        return self.a


shared_global = 0


def scenario():
    box = Box()
    items = [1, 2]
    table = {"p": 1}
    bag = {1, 2}
    ring = collections.deque([1, 2], 3)
    tally = collections.defaultdict(int)
    pair = ([0], {"k": 0})
    walk = iter(items)
    count = 0
    lock = threading.Lock()
    again = threading.RLock()
    sem = threading.Semaphore(1)
    flag = threading.Event()
    fifo = queue.Queue()
    changed = threading.Condition()
    log = [[] for _ in range(THREADS)]
"""

SIMPLE = [
    "box.a = {n}",
    "see(box.a)",
    "box.b += 1",
    "see(box.b)",
    "box.b = box.a + 1",
    "see(items[0])",
    "items[0] = {n}",
    "items[1] += 1",
    "items.append({n})",
    "see(items.pop() if items else None)",
    "see(len(items))",
    "see(sum(items))",
    "see(list(items))",
    "see({n} in items)",
    "see(items[-1] if items else None)",
    "items.extend([{n}, {n}])",
    "see(items == [1, 2])",
    "see([x for x in items])",
    "table['p'] = {n}",
    "table['q'] = {n}",
    "see(table.get('q'))",
    "see('q' in table)",
    "see(table.pop('p', None))",
    "see(table.setdefault('q', {n}))",
    "see(sorted(table))",
    "see(list(table.items()))",
    "see(len(table))",
    "if 'q' not in table:\n    table['q'] = 0",
    "table.update(p={n})",
    "bag.add({n})",
    "bag.discard(1)",
    "see(1 in bag)",
    "see(sorted(bag))",
    "set_count({n})",
    "see(get_count())",
    "bump()",
    "set_global({n})",
    "see(get_global())",
    "see(f'{box.a} {items}')",
    "box.a, box.b = box.b, box.a",
    "x, *rest = items or [0]\nsee(x)",
    "del items[:1]",
    "see(bool(items))",
    "see(max(items, default=0))",
    "box.c = {n}",
    "see(getattr(box, 'c', None))",
    "see(lock.acquire(False) and (lock.release() or 1))",
    "see(lock.locked())",
    "sem.acquire()\nbox.a += 1\nsem.release()",
    "flag.set()",
    "see(flag.is_set())",
    "fifo.put({n})",
    "try:\n    see(fifo.get_nowait())\nexcept queue.Empty:\n    see('empty')",
    "see(fifo.qsize())",
    "see(box.both)",
    "see(box.add({n}).b)",
    "with box as x:\n    see(x.b)",
    "see(len(box))",
    "Box.total += 1",
    "see(box.total)",
    "see(vars(box).get('c'))",
    "setattr(box, 'c', {n})",
    "box.a = box.b = {n}",
    "items[0:1], box.b = [box.a], {n}",
    "items[:] = [{n}]",
    "items.insert(0, {n})",
    "items.sort(key=lambda x: -x)",
    "items.reverse()",
    "items += [{n}]",
    "see(sorted(items, key=lambda x: x + box.a))",
    "see([x + y for x in items for y in items[:2]])",
    "see(any(x > 2 for x in items))",
    "for x in items:\n    see(x)",
    "for i, x in enumerate(items):\n    items[i] = x + 1",
    "see(list(zip(items, ring)))",
    "see(next(walk, None))",
    "see(next(numbers, None))",
    "while items:\n    items.pop()",
    "ring.append({n})",
    "see(ring.popleft() if ring else None)",
    "ring.rotate(1)",
    "see(list(ring))",
    "tally['p'] += {n}",
    "see(dict(tally))",
    "pair[0][0] += 1",
    "pair[1]['k'] = {n}",
    "see(pair[0][0] < pair[1]['k'] < 4)",
    "see(repr(pair))",
    "table |= {'q': {n}}\nsee(len(table))",
    "try:\n    del table['p']\nexcept KeyError:\n    see('gone')",
    "see({k: v for k, v in table.items()})",
    "try:\n    see(table['q'])\nexcept KeyError as error:\n    see(error.args)",
    "bag.update({{n}})",
    "see(len(bag & {1, {n}}))",
    "bag -= {1}\nsee(len(bag))",
    "see((lambda: box.a + len(items))())",
    "see('%s %s' % (box.a, box.b))",
    "if (x := box.a) == box.b:\n    see(x)",
    "match (box.a, items):\n    case (0, [x, *_]):\n        see(x)\n    case _:\n        see('other')",
]

BLOCKS = [
    "with lock:\n    {0}\n    {1}",
    "with again:\n    with again:\n        {0}",
    "if box.a:\n    {0}\nelse:\n    {1}",
    "for x in list(range(2)):\n    {0}",
    "try:\n    {0}\nfinally:\n    {1}",
    "flag.wait()\n{0}",
    "see(fifo.get())",
    "with changed:\n    changed.notify()",
    "with changed:\n    see(changed.wait(1))",
    "see(flag.wait(0.5))",
    "with changed:\n    see(changed.wait_for(lambda: box.a, 1))",
    "try:\n    see(fifo.get(timeout=1))\nexcept queue.Empty:\n    {0}",
    "lock.acquire()\ntry:\n    {0}\nfinally:\n    lock.release()",
    "def inner():\n    nonlocal items, table, bag\n    {0}\n"
    "t = threading.Thread(target=inner)\nt.start()\n{1}\nt.join()",
    "for x in (1, 2):\n    if x > box.a:\n        break\nelse:\n    {0}",
    "def steps():\n    nonlocal items, table, bag\n    yield box.a\n    {0}\nsee([x for x in steps()])",
    "try:\n    {0}\n    raise ValueError(box.a)\nexcept ValueError as error:\n    see(error.args)",
    "see(lock.acquire(timeout=1) and (lock.release() or 1))",
]

TAIL = """
    def count_up():
        yield box.a
        yield count

    numbers = count_up()

    def set_count(n):
        nonlocal count
        count = n

    def get_count():
        return count

    def bump():
        nonlocal count
        count += 1

    threads = [threading.Thread(target=body) for body in BODIES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return (vars(box), Box.total, items, table, sorted(bag), list(ring), dict(tally), pair, count, shared_global, log)


def set_global(n):
    global shared_global
    shared_global = n


def get_global():
    return shared_global
"""


def indented(text: str, by: int) -> str:
    """Return the text with each line indented by so many spaces."""
    return "\n".join(" " * by + line for line in text.split("\n"))


class Kinds(NamedTuple):
    """The kinds of statements of which threads are made.

    simple   simple statements, in which `{n}` stands for a number
    blocks   blocks of statements, in which `{0}` and `{1}` stand for other statements
    values   the least and the greatest number for `{n}`
    """

    simple: Sequence[str]
    blocks: Sequence[str]
    values: tuple[int, int]


KINDS = Kinds(SIMPLE, BLOCKS, (3, 5))


def statement(rng: random.Random, kinds: Kinds = KINDS, depth: int = 0) -> str:
    """Return a random statement of these kinds."""
    if depth < 1 and rng.random() < 0.3:
        block = rng.choice(kinds.blocks)
        inner = [statement(rng, kinds, depth + 1) for _ in range(2)]
        lines = []
        for line in block.split("\n"):
            stripped = line.lstrip()
            pad = len(line) - len(stripped)
            if stripped in ("{0}", "{1}"):
                lines.append(indented(inner[int(stripped[1])], pad))
            else:
                lines.append(line)
        return "\n".join(lines)
    return rng.choice(kinds.simple).replace("{n}", str(rng.randint(*kinds.values)))


def program(seed: int, most: int = 3) -> str:
    """Return the source of a random program. `most`: the greatest number of statements in a thread."""
    rng = random.Random(seed)
    threads = rng.choice([2, 2, 2, 3])
    bodies = []
    for i in range(threads):
        lines = [statement(rng) for _ in range(rng.randint(1, most if threads == 2 else 1))]
        body = "\n".join(lines)
        names = "        nonlocal items, table, bag\n"
        see = f"        def see(x):\n            log[{i}].append(x)\n"
        bodies.append(f"    def body{i}():\n{names}\n{see}\n{indented(body, 8)}\n")
    names = ", ".join(f"body{i}" for i in range(threads))
    head = HEAD.replace("THREADS", str(threads))
    tail = TAIL.replace("BODIES", f"({names},)")
    defs, rest = tail.split("\n    threads =", 1)
    return head + defs + "\n" + "\n".join(bodies) + "\n    threads =" + rest
