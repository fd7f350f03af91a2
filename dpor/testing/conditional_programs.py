"""Makes small random Python programs whose threads do what changes a container only under a condition: `setdefault`,
`pop` with a default, `discard`, stores of an equal value. Whether such an operation is a read depends on what came
before it, so in a plan it is often another operation than the one that was seen."""

from __future__ import annotations

from random import Random
from typing import Final

from dpor.testing.python_programs import indented

_OPERATIONS: Final = (
    "d.setdefault({key!r}, {value})",
    "d.pop({key!r}, None)",
    "d[{key!r}] = {value}",
    "d.update({key}={value})",
    "s.discard({value})",
    "s.add({value})",
    "x[0] = d.get({key!r})",
    "seen[{thread}].append(d.get({key!r}))",
    "seen[{thread}].append({value} in s)",
    "seen[{thread}].append(d.setdefault({key!r}, {value}))",
)
_BEGIN: Final = """
import threading


def scenario():
    d, s, x = {}, set(), [0]
    seen = [[], [], [], []]
"""
_END: Final = """
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(d.items()), sorted(s), x, seen
"""


def conditional_program(seed: int) -> str:
    """Return the source of a program, with a function `scenario` that starts three or four threads."""
    random = Random(seed)
    lines = []
    threads = random.choice((3, 3, 4))
    for thread in range(threads):
        body = [
            random.choice(_OPERATIONS).format(thread=thread, key=random.choice("ab"), value=random.randint(1, 3))
            for _ in range(random.choice((1, 1, 2)))
        ]
        lines += [f"def t{thread}():", *(f"    {statement}" for statement in body)]
    targets = ", ".join(f"t{thread}" for thread in range(threads))
    lines.append(f"threads = [threading.Thread(target=target) for target in ({targets})]")
    return _BEGIN + indented("\n".join(lines), by=4) + _END
