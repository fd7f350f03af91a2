"""Makes small random Python programs in which some threads go round for ever, over finitely many states.

The programs are like those of `dpor.testing.python_programs`, but shared objects have few values, and each thread keeps
only what it saw last, in a variable of its own. Each loop looks at the event `flag`. Otherwise a loop that reads only
what no other thread writes would have no operation, and would be ended after many rounds.
"""

from __future__ import annotations

import random

from dpor.testing.python_programs import Kinds, indented, statement

HEAD = """
import threading
import queue


class Box:
    def __init__(self):
        self.a = 0
        self.b = 0

    def turn(self):
        self.a = 1 - self.a
        return self.b


shared_global = 0


def scenario():
    global shared_global
    shared_global = 0
    box = Box()
    items = [0, 1]
    table = {"p": 0}
    bag = {1}
    count = 0
    lock = threading.Lock()
    again = threading.RLock()
    sem = threading.Semaphore(1)
    flag = threading.Event()
    fifo = queue.Queue(1)
    changed = threading.Condition()
    log = [[] for _ in range(THREADS)]
"""

SIMPLE = [
    "box.a = {n}",
    "saw = box.a",
    "box.b = saw",
    "box.b = (box.b + 1) % 3",
    "saw = box.turn()",
    "saw = items[0]",
    "items[1] = 1 - items[1]",
    "items[0], items[1] = items[1], items[0]",
    "items.reverse()",
    "saw = len(items)",
    "if len(items) < 3:\n    items.append({n})",
    "if len(items) > 1:\n    saw = items.pop()",
    "saw = table.get('q', 0)",
    "table['q'] = {n}",
    "table.pop('q', None)",
    "bag ^= {{n}}",
    "saw = {n} in bag",
    "count = 1 - count",
    "saw = count",
    "shared_global = {n}",
    "saw = shared_global",
    "saw = lock.acquire(False)\nif saw:\n    lock.release()",
    "saw = lock.locked()",
    "flag.set()",
    "flag.clear()",
    "saw = flag.is_set()",
    "try:\n    fifo.put_nowait({n})\nexcept queue.Full:\n    saw = 2",
    "try:\n    saw = fifo.get_nowait()\nexcept queue.Empty:\n    saw = 2",
    "with changed:\n    changed.notify_all()",
    "saw = sum(x for x in list(items))",
    "assert box.a + box.b < 3, saw",
    "if saw == 2:\n    break",
]

BLOCKS = [
    "with lock:\n    {0}\n    {1}",
    "with again:\n    with again:\n        {0}",
    "with sem:\n    {0}",
    "if saw:\n    {0}\nelse:\n    {1}",
    "for x in (0, 1):\n    {0}",
    "try:\n    {0}\nfinally:\n    {1}",
    "flag.wait()\n{0}",
    "fifo.put(saw)",
    "saw = fifo.get()",
    "with changed:\n    while box.a == 0:\n        changed.wait()\n    {0}",
    "while box.a == saw and not flag.is_set():\n    {0}",
    "def steps():\n    yield box.a\n    yield box.b\nfor saw in steps():\n    {0}",
]

TAIL = """
    threads = [threading.Thread(target=body) for body in BODIES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return (vars(box), items, table, sorted(bag), count, shared_global, log)
"""

KINDS = Kinds(SIMPLE, BLOCKS, (0, 1))


def endless_program(seed: int, most: int = 3) -> str:
    """Return the source of a random program. `most`: the greatest number of statements in a thread."""
    rng = random.Random(seed)
    threads = rng.choice([2, 2, 3])
    bodies = [_body(rng, i, most if threads == 2 else 2) for i in range(threads)]
    names = ", ".join(f"body{i}" for i in range(threads))
    head = HEAD.replace("THREADS", str(threads))
    return head + "\n" + "\n".join(bodies) + TAIL.replace("BODIES", f"({names},)")


def _body(rng: random.Random, number: int, most: int) -> str:
    """Return the source of a thread that goes through its statements once, or again and again."""
    lines = "\n".join(statement(rng, KINDS) for _ in range(rng.randint(1, most)))
    loop = "while not flag.is_set():" if rng.random() < 0.6 else "for _ in (0,):"
    return (
        f"    def body{number}():\n"
        "        nonlocal items, table, bag, count\n"
        "        global shared_global\n"
        "        saw = 0\n"
        f"        {loop}\n"
        f"{indented(lines, 12)}\n"
        f"        log[{number}].append(saw)\n"
    )
