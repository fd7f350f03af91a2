"""Makes small random Python programs whose threads use locks in all ways, right and wrong.

Each piece of data has a lock, which most statements hold when they access it. Others hold another one, or none, or do
so only if a thread was there first; locks are also nested, tried, waited for until a deadline, handed over, released by
another thread, replaced, and used by conditions. Objects are handed to other threads, with and without the lock, and
queues, futures and pools order some accesses.
"""

from __future__ import annotations

import random

from dpor.testing.python_programs import indented

HEAD = """
import queue
import threading
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor, wait


class Box:
    def __init__(self, n=0):
        self.a = n
        self.b = 0
        self.lock = threading.Lock()


def scenario():
    box, other = Box(), Box()
    items = [1]
    table = {"p": 1}
    shelf = []
    m, n = threading.Lock(), threading.Lock()
    again = threading.RLock()
    changed = threading.Condition(LOCK_OF_CONDITION)
    todo, promise = queue.Queue(), Future()
    log = [[] for _ in range(THREADS + 1)]
"""

DATA = {
    "box.a": ["box.a += {i}", "see(box.a)", "box.a = {i}", "if box.a == {i}:\n    box.a = 0"],
    "box.b": ["box.b = {i}", "see(box.b)", "box.b += 1"],
    "other.a": ["other.a += 1", "see(other.a)", "other.a = box.a"],
    "items": ["items.append({i})", "see(len(items))", "see(items[0])", "items[0] = {i}", "see(list(items))"],
    "table": ["table['q'] = {i}", "see(table.get('p'))", "table['p'] = {i}", "see(sorted(table))"],
    "shelf": [
        "fresh = Box({i})\nshelf.append(fresh)",
        "fresh = Box({i})\nshelf.append(fresh)\nfresh.b = 3",
        "if shelf:\n    see(shelf[-1].b)",
        "if shelf:\n    shelf[-1].b += 1",
    ],
}
LOCKS = ["m", "n", "again", "changed", "box.lock"]
SECTIONS = [
    "with {lock}:\n    {0}",
    "with {lock}:\n    {0}\n    {1}",
    "{lock}.acquire()\ntry:\n    {0}\nfinally:\n    {lock}.release()",
    "with {lock}:\n    {0}\nwith {lock}:\n    {1}",
]
TASK = "def task():\n    {0}\n    return box.b"
ODD = [
    "if {lock}.acquire(False):\n    {0}\n    {lock}.release()\nelse:\n    {1}",
    "if {lock}.acquire(timeout=1):\n    {0}\n    {lock}.release()\nelse:\n    {1}",
    "with {lock}:\n    with {another}:\n        {0}\n    {1}",
    "with again:\n    with again:\n        {0}\n    {1}",
    "with changed:\n    changed.notify()\n    {0}",
    "with changed:\n    {0}\n    see(changed.wait(1))\n    {1}",
    "with changed:\n    while not box.b:\n        changed.wait()\n    {0}",
    "with changed:\n    box.b = 1\n    changed.notify_all()\n{0}",
    "m.acquire()\n{0}",
    "try:\n    m.release()\nexcept RuntimeError:\n    {0}",
    "box.lock = threading.Lock()",
    "with {lock}:\n    x = box.a\nif x == {i}:\n    {0}",
    "see({lock2}.locked())",
    "def inner():\n    {0}\nt = threading.Thread(target=inner)\nt.start()\n{1}\nt.join()",
    "for _ in range(2):\n    with {lock}:\n        {0}",
    "try:\n    with {lock}:\n        {0}\n        assert box.a < 3\nexcept AssertionError:\n    {1}",
    "todo.put({i})\n{0}",
    "with {lock}:\n    todo.put({i})\n    {0}",
    "see(todo.get())\n{0}",
    "if todo.empty():\n    {0}\nelse:\n    see(todo.get())\n    {1}",
    "try:\n    see(todo.get(timeout=1))\n    {0}\nexcept queue.Empty:\n    {1}",
    "try:\n    promise.set_result({i})\n    {0}\nexcept InvalidStateError:\n    {1}",
    "{0}\npromise.set_result(1)",
    "see(promise.result())\n{0}",
    "if promise.done():\n    {0}",
    "promise.add_done_callback(lambda done: see(box.b))\n{0}",
    f"{TASK}\nwith ThreadPoolExecutor(1) as pool:\n    future = pool.submit(task)\n    {{1}}\n    see(future.result())",
    f"{TASK}\nwith ThreadPoolExecutor(2) as pool:\n    see(pool.submit(task).result())\n    pool.submit(task)\n{{1}}",
    f"{TASK}\nwith ThreadPoolExecutor(1) as pool:\n    wait({{pool.submit(task), pool.submit(task)}}, 1)\n{{1}}",
]


class _Maker:
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._guards = {name: rng.choice(LOCKS) for name in DATA}
        if rng.random() < 0.5:
            one = rng.choice(LOCKS)
            self._guards = dict.fromkeys(DATA, one)
        self._keeps = rng.choice([1.0, 0.95, 0.8])

    def statement(self) -> str:
        rng = self._rng
        roll = rng.random()
        if roll > self._keeps:
            return self._access(rng.choice(list(DATA)))
        data = rng.choice(list(DATA))
        lock = self._guards[data]
        if roll < 0.3:
            form = rng.choice(ODD)
        else:
            form = rng.choice(SECTIONS)
        same = [name for name, guard in self._guards.items() if guard == lock]
        first, second = self._access(data), self._access(rng.choice(same))
        return fill(
            form,
            {
                "{0}": first,
                "{1}": second,
                "{lock}": lock,
                "{lock2}": rng.choice(["m", "n"]),
                "{another}": rng.choice(LOCKS),
                "{i}": str(rng.randint(1, 2)),
            },
        )

    def _access(self, data: str) -> str:
        return self._rng.choice(DATA[data]).replace("{i}", str(self._rng.randint(1, 2)))


def fill(form: str, parts: dict[str, str]) -> str:
    """Put the parts in place, indented as their place is."""
    lines = []
    for line in form.split("\n"):
        for name, part in parts.items():
            if line.strip() == name:
                line = indented(part, len(line) - len(line.lstrip()))
            else:
                line = line.replace(name, part)
        lines.append(line)
    return "\n".join(lines)


def locking_program(seed: int, most: int = 2) -> str:
    """Return the source of a program. The same seed gives the same program."""
    rng = random.Random(seed)
    maker = _Maker(rng)
    threads = rng.choice([2, 2, 3])
    bodies = []
    for number in range(threads):
        lines = [maker.statement() for _ in range(rng.randint(1, most if threads == 2 else 1))]
        see = f"        def see(x):\n            log[{number}].append(x)\n"
        bodies.append(f"    def body{number}():\n{see}\n{indented(chr(10).join(lines), 8)}\n")
    before, between, after = ((maker.statement() if rng.random() < odds else "pass") for odds in (0.2, 0.2, 0.2))
    main = "\n".join(
        [
            f"def see(x):\n    log[{threads}].append(x)",
            before if "acquire()" not in before else "pass",
            f"threads = [threading.Thread(target=body) for body in ({', '.join(f'body{n}' for n in range(threads))},)]",
            "threads[0].start()",
            between,
            "for thread in threads[1:]:\n    thread.start()",
            "for thread in threads:\n    thread.join()",
            after if "acquire()" not in after else "pass",
            "return (box.a, box.b, other.a, items, table, len(shelf), [x.b for x in shelf], log)",
        ]
    )
    head = HEAD.replace("THREADS", str(threads)).replace("LOCK_OF_CONDITION", rng.choice(["", "n", "again"]))
    return head + "\n" + "\n".join(bodies) + "\n" + indented(main, 4) + "\n"
