"""All that is recorded, by the key of its line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias
from unittest.mock import patch

from dpor.core.errors import DporError
from tests.golden.calls import calls, source
from tests.golden.recording import accesses, model_search, program, search
from tests.judge.constructs import ROWS
from tests.litmus.test_looks_and_changes import GROUPS
from tests.litmus.test_python_twins import KNOWN
from tests.litmus.test_workloads import SMALLER
from tests.programs.looks_and_changes import HEAD
from tests.programs.touches import OUTCOMES

TESTS = Path(__file__).parent.parent

Job: TypeAlias = Callable[[], str]

MOST = 16
"""So many runs of a search of a construct, of a program of this or that."""

ABSTRACT = ("none", "classic", "source", "optimal", "full", "original", "dpor")
STORING_AND_NOT = ("optimal", "dpor")
WITH_FACTS = ("optimal", "original", "sa", "dpor", "dpor+static")

FEW = 2_000
"""So many interleavings may an abstract program have."""


@cache
def jobs() -> dict[str, Job]:
    """In the order of the keys, which is that of the file."""
    found: dict[str, Job] = {}
    for key, job in (*_accesses(), *_searches()):
        assert key not in found or key.startswith("accesses of "), key
        found[key] = job
    return dict(sorted(found.items()))


def _accesses() -> Iterator[tuple[str, Job]]:
    for name, setup, statement in calls():
        yield f"accesses of {name}: {statement}", partial(_accesses_of, source(setup, statement))
    for group in GROUPS:
        setup = group.setup.replace("\n    ", "\n")  # its first line is written without indentation
        for statement in (*(f"r = {look}" for look in group.looks), *group.changes):
            text = f"{HEAD}\n{source(setup, statement)}"
            yield f"accesses of library, {group.setup}: {statement}", partial(_accesses_of, text)
    for node, rows in ROWS.items():
        for row in rows:
            yield f"accesses of construct {node}: {row.name}", partial(_accesses_of, row.source())
    for function in OUTCOMES:
        yield f"accesses of touch {function.__name__}", partial(accesses, function)


def _accesses_of(text: str) -> str:
    return accesses(program(text))


def _searches() -> Iterator[tuple[str, Job]]:
    for strategy in STORING_AND_NOT:
        for node, rows in ROWS.items():
            for row in (row for row in rows if strategy == "optimal" or row is rows[0] or row.states):
                yield f"search of construct {node}: {row.name}, {strategy}", partial(_search_of, row.source(), strategy)
        for function in OUTCOMES:
            yield f"search of touch {function.__name__}, {strategy}", partial(search, function, strategy, MOST)
        for twin, args, _ in KNOWN:
            yield f"search of twin {twin.__name__}{args}, {strategy}", partial(_search_made, twin, args, strategy)
    for strategy in WITH_FACTS:
        for case in sorted((TESTS / "cases").glob("*.py")):
            for function in ("scenario", "scenario_fixed"):
                text = case.read_text(encoding="utf-8")
                yield (
                    f"search of case {case.stem}.{function}, {strategy}",
                    partial(_search_of, text, strategy, function),
                )
        for target in SMALLER:
            yield f"search of workload {target}, {strategy}", partial(search, target, strategy, 10 * MOST)
    for strategy in ABSTRACT:
        for spec_name, spec in _abstract():
            yield f"search of abstract {spec_name}, {strategy}", partial(model_search, spec, strategy, 8 * MOST)


def _search_of(text: str, strategy: str, function: str = "scenario") -> str:
    return search(program(text, function), strategy, MOST)


def _search_made(make: Callable[..., Callable[[], object]], args: tuple[int, ...], strategy: str) -> str:
    return search(make(*args), strategy, MOST)


def _abstract() -> Iterator[tuple[str, dict[str, Any]]]:
    """Those that come to an end whatever is done, in not too many ways."""
    data = TESTS / "data"
    programs = [json.loads(line) for line in (data / "programs.jsonl").read_text().splitlines()]
    for found in programs + json.loads((data / "soundness.json").read_text()):
        counts = found["counts"]
        if not counts["cyclic"] and counts["interleavings"] <= FEW:
            yield found["name"], found["spec"]


def record(keys: Sequence[str], processes: int = 2) -> dict[str, str]:
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        return dict(zip(keys, pool.map(_one, keys, chunksize=16), strict=True))


def _one(key: str) -> str:
    try:
        with patch.dict(os.environ, {"B0": "0"}, clear=True):  # some programs look at all of it
            return jobs()[key]()
    except DporError as error:
        return type(error).__name__


def differences(expected: dict[str, str], found: dict[str, str]) -> list[str]:
    """Each line that differs, as it was and as it is."""
    lines = []
    for key in sorted(expected.keys() | found.keys()):
        old, new = expected.get(key), found.get(key)
        if old != new:
            lines += [key, f"  - {'(none)' if old is None else old}", f"  + {'(none)' if new is None else new}"]
    return lines
