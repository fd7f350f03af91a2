"""One program in words that stay the same: what its second thread accesses, or what a search of it comes to."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Hashable
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from dpor.app.strategies import explorer_of
from dpor.app.targets import Target, open_target
from dpor.core.errors import AssumptionBroken
from dpor.core.home import is_ours
from dpor.core.operations import Operation
from dpor.core.options import Options
from dpor.core.outcome import digest
from dpor.core.system import Ending, Run, Trace
from dpor.model import AbstractSystem

PARTS = {"<structure>": ".structure", "<elements>": ".elements", "<any key>": ".any_key"}


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def program(source: str, function: str = "scenario") -> str:
    """The target for a program in one file. The next program takes the place of the file."""
    file = Path(_folder().name) / "program.py"
    file.write_text(source)
    return f"{file}::{function}"


# ---------------------------------------------------------------------- accesses


def accesses(target: Target) -> str:
    """The operations of all threads but the first, in the run in which the lowest thread always goes first."""
    system = open_target(target, Options(every_access=True))
    run, trace = _first_run(system)
    steps = [
        (f"T{thread} " if thread > 1 else "") + _operation(operation)
        for thread, operation in zip(trace.threads, trace.operations, strict=True)
        if thread and operation.kind != "end"
    ]
    return _marked("; ".join(steps), _marks(run))


def _first_run(system: Any) -> tuple[Run, Trace]:
    while True:
        trace = Trace()
        try:
            return system.run(trace, lambda enabled: (enabled & -enabled).bit_length() - 1), trace
        except AssumptionBroken:  # the system knows the fact from now on
            continue


def _operation(operation: Operation) -> str:
    names = operation._table.name_of
    places = (f"{mode.name[0]} {_place(names(location), names)}" for location, mode in operation.accesses)
    return f"{operation.kind}: {', '.join(places)}"


def _place(name: Hashable, names: Any) -> str:
    """The name of a location: of what a global variable refers to by the variable, of what it leads to as `x/1`."""
    match name:
        case ("root", (_, str() as variable), 0):
            return variable
        case ("type", str() as module, str() as kind) if is_ours(module):
            return f"(type of ours {kind})"  # wherever it is
        case ("root", (_, str() as variable), number):
            return f"{variable}/{number}"
        case (int() as owner, part):
            return _place(names(owner), names) + PARTS.get(str(part), f"[{_key(part)}]")
        case tuple():
            return "(" + " ".join(_place(part, names) for part in name) + ")"
        case _:
            return str(name)


def _key(part: Hashable) -> str:
    """The part of a container that a key stands for, without numbers that depend on what the process did before."""
    match part:
        case ("object", int()):
            return "an object"
        case int() if part >= _LEAST_ID:
            return "an id"
    return repr(part)


_LEAST_ID = 1 << 33
"""No key of the recorded programs is as large, and all numbers in place of addresses are."""


def _marks(run: Run) -> set[str]:
    return {finding.kind.value for finding in run.findings} | ({"incomplete"} if run.incomplete else set())


def _marked(text: str, marks: set[str]) -> str:
    return " | ".join([text, *sorted(marks)])


# ---------------------------------------------------------------------- searches


def search(target: Target, strategy: str, most: int) -> str:
    """What the search comes to in at most so many runs."""
    asked = Options(strategy=strategy)
    return _search(open_target(target, asked), asked, most)


def model_search(spec: Any, strategy: str, most: int) -> str:
    """The same of an abstract program."""
    return _search(AbstractSystem(spec), Options(strategy=strategy), most)


def _search(system: Any, asked: Options, most: int) -> str:
    while True:
        explorer = explorer_of(asked)(system)
        outcomes: set[str] = set()
        marks: set[str] = set()
        runs = explorer.explore()
        try:
            for run in islice(runs, most):
                marks |= _marks(run)
                if run.ending is Ending.COMPLETE:
                    outcomes.add(digest(_without_folders((run.outcome, run.deadlock))))
            if next(runs, None) is not None:
                marks.add("not finished")
        except AssumptionBroken:  # the search starts again, as a check does
            continue
        stats = explorer.stats
        counts = f"{stats.executions} executions, {stats.blocked} blocked, {stats.events} events"
        if stats.states:
            counts += f", {stats.states} states"
        return _marked(f"{counts}, {len(outcomes)} outcomes {digest(frozenset(outcomes))}", marks)


def _without_folders(value: Any) -> Any:
    """The value, with names in place of the absolute paths of files: the same wherever the checkout is."""
    if isinstance(value, tuple):
        return tuple(map(_without_folders, value))
    if isinstance(value, frozenset):
        return frozenset(map(_without_folders, value))
    return os.path.basename(value) if isinstance(value, str) and os.path.isabs(value) else value
