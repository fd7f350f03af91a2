"""Threads that each make a few operations of shared containers: the outcomes found are those of all merges.

The judge is plain Python and knows nothing of accesses: each operation is one step, as in CPython, so every outcome is
that of some merge of the threads' steps, and it executes all of them.
"""

from __future__ import annotations

import os
import random
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from dpor.core.errors import AssumptionBroken
from dpor.core.system import Ending
from dpor.explorers import STRATEGIES
from dpor.python.program.system import PythonSystem

EXAMPLES = int(os.environ.get("DPOR_CONTAINER_EXAMPLES", "110"))

MAKE = """
import collections, heapq, itertools, bisect, copy, functools, operator
l = [1, 2, 3]
m = [l, 5]
d = {"k": 1, "x": 2}
e = collections.defaultdict(list)
o = collections.OrderedDict(a=1, b=2)
s = {1, 2}
q = collections.deque([1, 2], 3)
b = bytearray(b"ab")
it = itertools.count()
li = iter(l)
"""

STEPS = """
l.append({n})|see(l.pop())|see(l.pop(0))|l[0] = {n}|l[-1] = {n}|l[1] += {n}|see(l[0])|see(l[-1])|see(l[0:2])
l[0:1] = [{n}, {n}]
del l[0]|l.insert(1, {n})|l.extend(q)|see(len(l))|see(bool(l))|see({n} in l)|see(l.index({n}))|see(l.copy())|l.sort()
l.reverse()|l.remove({n})|l.clear()|see(sum(l))|see(max(l))|see(list(enumerate(l)))|see(sorted(l))|see(l == [1, 2, 3])
see(m == [[1, 2, 3], 5])|m[0] = [{n}]|see(str(m))|see(list(zip(l, l)))|see(list(map(abs, l)))|see(l + [{n}])|l += [{n}]
l *= 2|see(tuple(reversed(l)))|see([*l])|see(heapq.heappop(l))|heapq.heappush(l, {n})|bisect.insort(l, {n})
see(operator.itemgetter(0)(l))|see(functools.reduce(max, l))|see(copy.copy(l))|see(",".join(map(str, l)))|see(next(li))
d["k"] = {n}|d["x"] = {n}|d["y"] = {n}|see(d["k"])|see(d.get("y"))|see("y" in d)|see("k" in d)|see(d.pop("k", None))
del d["x"]|see(d.setdefault("y", {n}))|see(d.setdefault("k", {n}))|d.update(k={n})|d.update(y={n}, z=1)|see(len(d))
see(list(d))|see(list(d.values()))|see(sorted(d.items()))|see(d.popitem())|d.clear()|see(dict(d))
see(d == {{"k": 1, "x": 2}})
see({{**d}})|d |= {{"y": {n}}}|see(sum(d.values()))|see(("k", 1) in d.items())|see(d.keys() & {{"k", "y"}})
d.update([("k", {n})])
e["k"] = [{n}]|see(len(e))|see(dict(e))|see("k" in e)|see(e.get("k"))|e["k"].append({n})
o.move_to_end("a")|see(o.popitem(last=False))|see(list(o))|o["a"] = {n}|o["c"] = {n}|see(o.get("a"))
s.add({n})|s.add(1)|s.discard(1)|s.remove(2)|see(1 in s)|see({n} in s)|see(len(s))|see(sorted(s))|s.update(l)
s |= {{{n}}}
see(sorted(s & {{1, {n}}}))|see(s <= {{1, 2, 3, 4}})|see(s == {{1, 2}})|s.clear()|s ^= {{1}}
q.append({n})|q.appendleft({n})|see(q.popleft())|see(q.pop())|see(len(q))|see(list(q))|q.rotate(1)|see(q[0])|see(bool(q))
q.extend(l)|b.append({n})|see(bytes(b))|b[0] = {n}|see(len(b))|see(next(it))
"""
LENGTH = 'see(len(e["k"]))'
OPERATIONS = [LENGTH, *(step for line in STEPS.strip().split("\n") for step in line.split("|"))]

REST = "(l, m[1], list(d.items()), sorted(e.items()), list(o.items()), sorted(s), list(q), bytes(b))"


def steps(rng: random.Random) -> list[list[str]]:
    """For each thread, what it does."""
    counts = rng.choice([(1, 1), (2, 1), (2, 2), (3, 2), (1, 1, 1), (2, 1, 1)])
    names = rng.sample(["l", "d", "s", "q", "e", "o"], 2)
    usable = [step for step in OPERATIONS if any(_uses(step, name) for name in names)]
    return [[rng.choice(usable).format(n=rng.randint(1, 4)) for _ in range(count)] for count in counts]


def _uses(step: str, name: str) -> bool:
    return any(f"{before}{name}{after}" in f" {step} " for before in " (*" for after in "[.) ,")


def source(threads: Sequence[Sequence[str]]) -> str:
    bodies = []
    for number, thread in enumerate(threads):
        lines = [f"def body{number}():", f"    see = seen[{number}].append"]
        lines += [f"    try: {step}\n    except Exception as error: see(repr(error))" for step in map(_once, thread)]
        bodies.append("\n".join(lines))
    indented = "\n".join(["seen = [[] for _ in range(3)]", *bodies, *MAKE.strip().split("\n")[1:]])
    inner = "\n".join(f"    {line}" for line in indented.split("\n"))
    names = ", ".join(f"body{number}" for number in range(len(threads)))
    return (
        f"{MAKE.strip().split(chr(10))[0]}\nimport threading\ndef scenario():\n{inner}\n"
        f"    threads = [threading.Thread(target=body) for body in ({names},)]\n"
        f"    for thread in threads: thread.start()\n    for thread in threads: thread.join()\n"
        f"    return repr(({REST}, seen))\n"
    )


def _once(step: str) -> str:
    """Augmented assignments of a variable as the operation that they are: the variable itself is not rebound."""
    for operator, method in ((" += [", "__iadd__"), (" *= ", "__imul__"), (" |= ", "__ior__"), (" ^= ", "__ixor__")):
        name, found, value = step.partition(operator)
        if found and name.isidentifier():
            return f"operator.{method.strip('_')}({name}, {'[' if found.endswith('[') else ''}{value})"
    return step


def merges(counts: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """All orders in which that many steps of each thread can follow each other."""
    if not any(counts):
        yield ()
    for thread, count in enumerate(counts):
        if count:
            for rest in merges((*counts[:thread], count - 1, *counts[thread + 1 :])):
                yield (thread, *rest)


def parts(step: str) -> list[str]:
    """A step that is two operations: `l[1] += 3` reads and writes, `e["k"].append(3)` looks up and appends."""
    if step.startswith("l[1] +="):
        return ["temporary = l[1]", f"l[1] = temporary + {step.split()[-1]}"]
    if step.startswith('e["k"].'):
        return ['temporary = e["k"]', f"temporary.{step.partition('.')[2]}"]
    if "reversed(l)" in step:
        return ["temporary = reversed(l)", "see(tuple(temporary))"]
    if step == LENGTH:
        return ['temporary = e["k"]', "see(len(temporary))"]
    return [step]


def all_outcomes(threads: Sequence[Sequence[str]]) -> set[Hashable]:
    """What the judge finds."""
    cut = [[(number, part) for number, step in enumerate(thread) for part in parts(_once(step))] for thread in threads]
    found: set[Hashable] = set()
    for order in merges(tuple(map(len, cut))):
        namespace: dict[str, Any] = {}
        exec(MAKE, namespace)
        seen: list[list[Any]] = [[], [], []]
        local = [{"see": seen[thread].append} for thread in range(3)]
        failed: set[tuple[int, int]] = set()
        position = [0, 0, 0]
        for thread in order:
            number, part = cut[thread][position[thread]]
            position[thread] += 1
            if (thread, number) in failed:
                continue
            try:
                exec(part, namespace, local[thread])
            except Exception as error:
                failed.add((thread, number))
                seen[thread].append(repr(error))
        found.add(repr((eval(REST, namespace), seen)))
    return found


def dpor_outcomes(target: str) -> tuple[set[Hashable], int]:
    system = PythonSystem(target)
    for _ in range(50):
        explorer = STRATEGIES["optimal"](system)
        found: set[Hashable] = set()
        try:
            for run in explorer.explore():
                assert run.ending is Ending.COMPLETE
                assert not run.findings, run.findings
                assert not run.incomplete, run.incomplete
                found.add(run.outcome[0][1])
        except AssumptionBroken:
            continue
        return found, explorer.stats.executions
    raise AssertionError("the search began again 50 times")


@pytest.mark.parametrize("block", range(10))
def test_outcomes_are_those_of_all_merges(block: int, tmp_path: Path) -> None:
    for seed in range(block * EXAMPLES // 10, (block + 1) * EXAMPLES // 10):
        threads = steps(random.Random(seed))
        file = tmp_path / f"program_{seed}.py"
        file.write_text(source(threads))
        expected = all_outcomes(threads)
        found, executions = dpor_outcomes(f"{file}::scenario")
        assert found == expected, (seed, threads, found ^ expected)
        assert executions >= len(expected)
