"""Fuzzing of explorers: makes one random program after another until an explorer does something wrong on one, and then
makes that program small."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Literal, TypeAlias

import attrs

from dpor.core.errors import BadTarget
from dpor.core.schedule import to_json_text
from dpor.explorers import STRATEGIES
from dpor.testing.abstract import Spec, random_program
from dpor.testing.endless_python import endless_program
from dpor.testing.judging import PROMISES, MakeExplorer, TooLarge, disagreement, explorers_of
from dpor.testing.python_programs import program as python_program
from dpor.testing.shrinking import shrink, shrink_source

Kind: TypeAlias = Literal["abstract", "python"]

ENDLESS_SHARE = 4
"""One in this many programs goes on for ever, if such programs are wanted."""
INTERLEAVINGS = 1_000
INTERLEAVINGS_OF_A_PASS = 300


SAVED_MODEL = '''"""Found by `dpor fuzz`, from seed {seed}: {wrong}.

For pytest; `dpor check {file}` explores the program.
"""

from pathlib import Path

from dpor.testing import disagreement


def test_the_strategies_agree():
    assert disagreement(Path(__file__).with_name("{file}"), {names}{lies}) == ""
'''
SAVED_PYTHON = '''"""Found by `dpor fuzz --kind python`, from seed {seed}: {wrong}.

For pytest, and for `dpor check {file}::scenario`.
"""

{source}


def test_the_strategies_agree():
    from dpor.testing import disagreement

    assert disagreement(f"{{__file__}}::scenario", {names}{lies}) == ""
'''


@attrs.frozen
class Disagreement:
    """A program on which an explorer does something wrong.

    seed      the seed from which it was made: `fuzz(examples=1, seed=seed)` finds it again
    wrong     which explorer does something wrong on the small program, and what
    program   the small program: an abstract program, or the source of a module with a function `scenario`
    lies      True if the static analysis was made to be wrong, as the seed says
    """

    seed: int
    wrong: str
    program: Spec | str
    lies: bool = False

    def save(self, folder: Path) -> list[Path]:
        """Write files that pytest runs and `dpor check` explores. Returns their paths; the program is in the last
        one."""
        name = self.wrong.partition(":")[0]
        values = {
            "seed": self.seed,
            "wrong": self.wrong.replace("\\", "/").replace('"', "'"),
            "names": [name] if name in STRATEGIES else None,
            "lies": f", lies={self.seed}" if self.lies else "",
        }
        test = folder / f"test_fuzz_{self.seed}.py"
        if isinstance(self.program, str):
            text = SAVED_PYTHON.format(**values, file=test.name, source=self.program)
            files = {test: text}
        else:
            model = folder / f"fuzz_{self.seed}.json"
            files = {test: SAVED_MODEL.format(**values, file=model.name), model: to_json_text(self.program)}
        for file, text in files.items():
            file.write_text(text, encoding="utf-8")
        return list(files)


def fuzz(
    explorers: Mapping[str, MakeExplorer] | Collection[str] | None = None,
    *,
    examples: int = 300,
    seed: int = 0,
    kind: Kind = "abstract",
    cyclic: bool = False,
    lies: bool = False,
    promises: Mapping[str, Collection[str]] = PROMISES,
    each: Callable[[int, bool], None] = lambda seed, judged: None,
) -> Disagreement | None:
    """Judge explorers on random programs, until one does something wrong.

    explorers  see `dpor.testing.disagreement`
    examples   the number of programs
    seed       the seed of the first program; the next one is made from the next seed
    kind       "abstract" or "python"
    cyclic     True if every fourth program is to go on for ever, over finitely many states
    lies       True if the facts that `sa` and `dpor+static` get about a program are to be wrong at random
    promises   see `dpor.testing.disagreement`
    each       called after each program, with its seed and whether it was small enough to be judged

    Returns the first program on which an explorer does something wrong, made small; None if there is none.
    """
    chosen = explorers_of(explorers)
    with TemporaryDirectory(prefix="dpor-fuzz-") as folder:
        for number in range(seed, seed + examples):
            judge = partial(_judge, Path(folder), promises, number if lies else None)
            program = make_program(number, kind, cyclic)
            wrong = judge(chosen, program)
            if wrong:
                return attrs.evolve(_small(number, program, wrong, chosen, judge), lies=lies)
            each(number, wrong is not None)
    return None


def make_program(seed: int, kind: Kind = "abstract", cyclic: bool = False) -> Spec | str:
    """Make the program of a seed. Returns an abstract program, or the source of a Python one."""
    endless = cyclic and seed % ENDLESS_SHARE == 0
    if kind == "python":
        return endless_program(seed) if endless else python_program(seed, most=2)
    return random_program(
        Random(seed), interleavings=INTERLEAVINGS_OF_A_PASS if endless else INTERLEAVINGS, endless=endless
    )


def _judge(
    folder: Path,
    promises: Mapping[str, Collection[str]],
    lies: int | None,
    explorers: Mapping[str, MakeExplorer],
    program: Spec | str,
) -> str | None:
    """Return what is wrong; "" if nothing is; None if the program is too large to be judged."""
    try:
        if not isinstance(program, str):
            return disagreement(program, explorers, promises, lies)
        file = folder / "program.py"
        file.write_text(program, encoding="utf-8")
        return disagreement(f"{file}::scenario", explorers, promises, lies)
    except (TooLarge, BadTarget):  # a program that was made smaller may have lost its `scenario`
        return None


def _small(
    seed: int,
    program: Spec | str,
    wrong: str,
    explorers: Mapping[str, MakeExplorer],
    judge: Callable[[Mapping[str, MakeExplorer], Spec | str], str | None],
) -> Disagreement:
    name = wrong.partition(":")[0]
    at_fault = {name: explorers[name]} if name in explorers else {}  # none if `full` and `none` disagree

    best = Disagreement(seed, wrong, program)

    def fails(smaller: Spec | str) -> bool:
        nonlocal best
        found = judge(at_fault, smaller) or ""
        if not _alike(found, wrong):
            return False
        best = Disagreement(seed, found, smaller)
        return True

    try:
        small = shrink_source(program, fails) if isinstance(program, str) else shrink(program, fails)
    except KeyboardInterrupt:
        return best
    return attrs.evolve(best, program=small)


def _alike(wrong: str, other: str) -> bool:
    """True if both texts describe the same fault, apart from the counts in them. (So a program that loses an outcome is
    not made into one that loses a trace class, which is harder to understand.)"""
    return re.sub(r"\d+", "", wrong) == re.sub(r"\d+", "", other)
