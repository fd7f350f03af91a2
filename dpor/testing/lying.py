"""Programs whose static analysis is wrong at random. A search that uses it must find this out: its outcomes stay
right."""

from __future__ import annotations

import ast
import zlib
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from random import Random

from dpor.core.operations import ThreadId
from dpor.core.options import Options
from dpor.core.oracle import At, ProgramSource
from dpor.explorers import STRATEGIES
from dpor.model import AbstractSystem
from dpor.model.system import MAX_STEPS
from dpor.model.tree import Program
from dpor.python.kernel.options import RuntimeOptions, StaticOptions
from dpor.python.program.static_facts import StaticOracle
from dpor.python.program.system import PythonSystem
from dpor.testing.abstract import Spec


class LyingModel(AbstractSystem):
    """An abstract program that lies about half of its accesses, as the seed says."""

    def __init__(self, program: Program | Spec, seed: int, *, max_steps: int = MAX_STEPS) -> None:
        super().__init__(program, max_steps=max_steps)
        self._random = Random(seed)

    def ruled_out(self, thread: ThreadId) -> Collection[str]:
        act = self._present[1][thread]
        if act is None or act.operation.rule is not None or self._random.random() < 0.5:
            return super().ruled_out(thread)
        lies = [f"a lie about {self.table.name_of(location)}" for location, _ in act.operation.accesses]
        return lies if self._withdrawn.isdisjoint(lies) else ()


class Liar:
    """An oracle of a Python program that rules out three quarters of all accesses, as the seed says."""

    def __init__(self, source: ProgramSource, seed: int = 0) -> None:
        self._seed = seed

    def ruled_out(self, stack: Sequence[At], others: Iterable[Sequence[At]]) -> Collection[str]:
        place = f"{stack[0].code.co_name}:{stack[0].span}"
        return (f"a lie about {place}",) if zlib.crc32(place.encode(), self._seed) % 4 else ()


class LyingPython(PythonSystem):
    """A Python program as under `dpor+static`, but without hooks at the reads of half the attributes in its source,
    which the seed chooses."""

    def __init__(self, target: str, options: RuntimeOptions, seed: int) -> None:
        self._seed = seed
        super().__init__(target, options)

    def unwritten(self, analysis: StaticOracle) -> frozenset[str]:
        trees = (ast.walk(ast.parse(text)) for text in self.source().texts.values())
        names = sorted({node.attr for tree in trees for node in tree if isinstance(node, ast.Attribute)})
        return frozenset(Random(self._seed).sample(names, len(names) // 2))


def lying_python(target: str, options: Options, seed: int) -> PythonSystem:
    """Return the program for a strategy that uses facts about it. For `dpor+static` and every second seed, every access
    is an operation."""
    if STRATEGIES[options.explorer].asks_facts:
        return PythonSystem(target, RuntimeOptions(max_steps=options.max_steps, oracle=partial(Liar, seed=seed)))
    runtime_options = RuntimeOptions(
        max_steps=options.max_steps,
        statics=StaticOptions(unhooked=True),
        every_access=options.every_access or seed % 2 == 1,
    )
    return LyingPython(target, runtime_options, seed)
