"""Generated programs, with and without events for accesses that keep to the discipline of their location: the same
outcomes, deadlocks, failures and numbers of trace classes. And each condition of the discipline is needed: with a
mistake in it, something is lost."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dpor.core.discipline import Discipline
from dpor.core.errors import DporError
from dpor.core.operations import READ
from dpor.explorers.dpor import Dpor
from dpor.explorers.full import Full
from dpor.explorers.optimal import Optimal
from dpor.model import AbstractSystem
from dpor.python.kernel import accessing
from dpor.python.program.silent_accesses import SilentAccesses
from dpor.python.program.system import PythonSystem
from dpor.python.states import spinning
from dpor.testing import Observed, TooLarge, disagreement, explore, make_program
from dpor.testing.abstract import Spec
from dpor.testing.locking_programs import locking_program
from tests.unit import test_silent_accesses as programs

EXAMPLES = int(os.environ.get("DPOR_LOCKING_EXAMPLES", "36"))
"""By hand: DPOR_LOCKING_EXAMPLES=20000."""
RUNS = 400


def against_every_access(target: Any, *others: Any) -> str:
    """What is different, in words, from `optimal` with an event for every access; "" if nothing is."""
    usual = explore(Optimal, target(), classes=True, runs=RUNS)
    for make in (Optimal, *others):
        seen = explore(make, target(), classes=True, every_access=False, runs=20 * RUNS, states=20 * RUNS)
        for what in ("outcomes", "deadlocks", "failures"):
            if getattr(seen, what) != getattr(usual, what):
                return f"{make.__name__}: other {what}"
        if make is Optimal and (seen.executions, len(seen.classes)) != (usual.executions, len(usual.classes)):
            return f"{seen.executions} executions, not {usual.executions}"
    return ""


@pytest.mark.parametrize("block", range(6))
def test_programs_with_locks(block: int, tmp_path: Path) -> None:
    judged = 0
    for seed in range(block * EXAMPLES // 6, (block + 1) * EXAMPLES // 6):
        file = tmp_path / f"program_{seed}.py"
        file.write_text(locking_program(seed))
        try:
            assert against_every_access(partial(PythonSystem, f"{file}::scenario"), Dpor) == "", seed
        except TooLarge:
            continue
        judged += 1
    assert judged > EXAMPLES // 12


def random_sections(seed: int) -> Spec:
    """An abstract program whose threads access most variables under their locks, and some not."""
    rng = Random(seed)
    guards = {name: rng.choice("mn") for name in "xyz"}
    keeps = rng.choice([1.0, 0.9])

    def access(name: str) -> Any:
        forms = [
            f"r {name} a",
            f"w {name} {rng.randint(1, 2)}",
            f"w {name} a+1",
            f"rmw {name} a a+1",
            f"cas {name} 1 2 b",
        ]
        return rng.choice(forms)

    def section() -> list[Any]:
        name = rng.choice("xyz")
        lock = guards[name] if rng.random() < keeps else rng.choice("mn")
        body = [access(name) for _ in range(rng.randint(1, 2))]
        if rng.random() < 0.2:
            body.append(["if", "a==1", [access(rng.choice([n for n in "xyz" if guards[n] == lock] or [name]))]])
        if rng.random() > keeps:
            return body
        if rng.random() < 0.15:
            return [f"tlock {lock} t", ["if", "t==1", [*body, f"unlock {lock}"]]]
        if rng.random() < 0.1:
            body.append("assert a<2")
        return [f"lock {lock}", *body, f"unlock {lock}"]

    threads = [[s for _ in range(rng.randint(1, 2)) for s in section()] for _ in range(rng.choice([2, 2, 3]))]
    if rng.random() < 0.1:
        threads.append([f"unlock {rng.choice('mn')}"])
    if rng.random() < 0.1:
        threads.append(["await x _==1", "r y a"])
    return {"name": f"sections {seed}", "vars": dict.fromkeys("xyz", 0), "locks": ["m", "n"], "threads": threads}


@pytest.mark.parametrize("block", range(6))
def test_abstract_programs_with_locks(block: int) -> None:
    judged = 0
    for seed in range(block * 4 * EXAMPLES // 6, (block + 1) * 4 * EXAMPLES // 6):
        try:
            assert against_every_access(partial(AbstractSystem, random_sections(seed)), Full, Dpor) == "", seed
        except TooLarge:
            continue
        judged += 1
    assert judged > EXAMPLES // 3


@pytest.mark.parametrize("cyclic", [False, True])
def test_all_strategies_agree(cyclic: bool) -> None:
    judged = 0
    for seed in range(EXAMPLES):
        try:
            assert disagreement(make_program(seed, "abstract", cyclic), every_access=False) == "", seed
        except TooLarge:
            continue
        judged += 1
    assert judged > EXAMPLES // 2


# ---------------------------------------------------------------------- planted mistakes

SMALL: dict[str, Spec] = {
    name: {"vars": dict.fromkeys("xyz", 0), "locks": ["m", "n"], "threads": threads}
    for name, threads in {
        "read without the lock": [["lock m", "w x 1", "w x 2", "unlock m"], ["r x a"]],
        "another lock": [["lock m", "w x 1", "w x 2", "unlock m"], ["lock n", "r x a", "unlock n"]],
        "made ready without": [["w x 1", "w x 2", "lock m", "w x 3", "unlock m"], ["lock m", "r x a", "unlock m"]],
        "released by another": [
            ["lock m", "w x 1", "w x 2", "unlock m"],
            ["unlock m"],
            ["lock m", "r x a", "unlock m"],
        ],
        "without a lock": [["w x 1", "w x 2"], ["r x a"]],
        "waits": [["await y _!=0"]],
        "goes round": [[["while", "1", ["lock m", "rmw x a 1-a", "unlock m"]]]],
        "in one schedule": [
            ["lock m", "w x 1", "w x 2", "unlock m"],
            ["lock n", "w y 1", "unlock n"],
            ["lock n", "r y a", "unlock n", ["if", "a==0", ["r x b"]]],
        ],
    }.items()
}
SOURCES = {
    "spins": programs.GOES_ROUND.format(flag=False),
    "late 0": programs.LATE.format(first=0),
    "late 1": programs.LATE.format(first=1),
    "handed over": programs.HANDED_OVER,
    "balanced": programs.BALANCED,
    "daemon": programs.DAEMON,
    "rare": programs.RARE,
    "round": programs.ROUND.format(body="box.n = 1 - box.n"),
}
ENDLESS = {"goes round", "round"}
WITHOUT_STATES = {"spins", "balanced"}


def wrong(folder: Path) -> set[str]:
    """The programs of which something is lost, or told that is not so."""
    found = {name for name, spec in SMALL.items() if _is_wrong(partial(AbstractSystem, spec), name)}
    for name, source in SOURCES.items():
        file = folder / f"{name.replace(' ', '_')}.py"
        file.write_text(source)
        if _is_wrong(partial(PythonSystem, f"{file}::scenario"), name):
            found.add(name)
    return found


def _is_wrong(target: Callable[[], Any], name: str) -> bool:
    makes = (Full, Dpor) if name in ENDLESS else (Optimal,) if name in WITHOUT_STATES else (Optimal, Full, Dpor)
    try:
        return any(
            len({_results(explore(make, target(), every_access=each)) for each in (True, False)}) > 1 for make in makes
        )
    except DporError:
        return True


def _results(seen: Observed) -> Any:
    return frozenset(seen.outcomes), frozenset(seen.deadlocks), frozenset(seen.failures), seen.livelock


def test_nothing_is_wrong(tmp_path: Path) -> None:
    assert wrong(tmp_path) == set()


def only_writes_count(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Discipline.is_silent

    def is_silent(self: Any, thread: int, operation: Any, held: Any) -> bool:
        reads = bool(operation.accesses) and all(mode is READ for _, mode in operation.accesses)
        return reads or known(self, thread, operation, held)

    monkeypatch.setattr(Discipline, "is_silent", is_silent)


def the_first_lock_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Discipline._goes_on

    def goes_on(self: Any, location: int, kept: Any, thread: int, mode: Any, held: Any) -> bool:
        return (bool(kept.locks) and bool(held)) or known(self, location, kept, thread, mode, held)

    monkeypatch.setattr(Discipline, "_goes_on", goes_on)


def the_first_accesses_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Discipline._goes_on

    def goes_on(self: Any, location: int, kept: Any, thread: int, mode: Any, held: Any) -> bool:
        if kept.threads == kept.threads & -kept.threads:  # nobody else has accessed it yet
            kept.locks = tuple(held)
        return known(self, location, kept, thread, mode, held)

    monkeypatch.setattr(Discipline, "_goes_on", goes_on)


def a_lock_that_another_releases_guards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Discipline, "released", lambda self, lock: None)


def a_contradiction_is_overlooked(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Discipline._goes_on

    def goes_on(self: Any, *access: Any) -> bool:
        told, self._contradict = self._contradict, lambda found: None
        known(self, *access)
        self._contradict = told
        return True

    monkeypatch.setattr(Discipline, "_goes_on", goes_on)


def the_search_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AbstractSystem, "_began_again", lambda self, found: None)
    monkeypatch.setattr(SilentAccesses, "_began_again", lambda self, found: None)


def what_is_waited_for_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    known = AbstractSystem.__init__

    def init(self: Any, *given: Any, **options: Any) -> None:
        known(self, *given, **options)
        self.semantics.awaited = frozenset()

    monkeypatch.setattr(AbstractSystem, "__init__", init)


def silent_changes_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AbstractSystem, "has_changed_silently", lambda self: False)
    monkeypatch.setattr(PythonSystem, "has_changed_silently", lambda self: False)


def all_names_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SilentAccesses, "_lasts", lambda self, location: True)
    monkeypatch.setattr(SilentAccesses, "_guards", lambda self, lock: True)


def what_an_invariant_reads_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accessing, "_is_seen_by_others", lambda me, operation: False)


def loops_do_not_look_at_silent_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spinning, "_has_changed_silently", lambda me, start: False)


MISTAKES: dict[Callable[[pytest.MonkeyPatch], None], set[str]] = {
    only_writes_count: {"read without the lock"},
    the_first_lock_is_enough: {"another lock"},
    the_first_accesses_do_not_count: {"read without the lock", "another lock"},
    a_lock_that_another_releases_guards: {"released by another", "handed over"},
    a_contradiction_is_overlooked: {"without a lock", "in one schedule", "rare"},
    the_search_goes_on: {"in one schedule", "handed over"},
    what_is_waited_for_is_silent: {"waits"},
    silent_changes_are_none: {"goes round", "round"},
    all_names_last: {"late 0"},
    what_an_invariant_reads_is_silent: {"balanced"},
    loops_do_not_look_at_silent_changes: {"spins"},
}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_each_mistake_is_noticed(
    mistake: Callable[[pytest.MonkeyPatch], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mistake(monkeypatch)
    assert wrong(tmp_path) >= MISTAKES[mistake]
