"""`mcr` and `rf`: exact counts, what they see beside what brute force sees, and mistakes planted in them."""

from __future__ import annotations

import json
from collections.abc import Hashable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from dpor.cli.main import cli
from dpor.core.causal_model import CausalModel, Cut, Past
from dpor.core.errors import NotDeterministic
from dpor.core.operations import THREAD_MASK, Action
from dpor.core.outcome import Kind
from dpor.core.system import Run, Trace
from dpor.explorers import STRATEGIES, Causal, Full
from dpor.model import AbstractSystem
from dpor.testing import ALL, Spec, random_program
from dpor.testing.judging import MOST_STATES, Reference, explore, reference, wrong_with
from tests.litmus.test_oracle_counts import CASES, PROGRAMS
from tests.oracle import bruteforce

PATCH = pytest.MonkeyPatch
BY_NAME = {program["name"]: program["spec"] for program in PROGRAMS}
EXAMPLES = 300
SHORT = 3_000
"""Programs with more classes than this are left to `-m slow`."""


def mcr(system: AbstractSystem) -> Causal:
    return Causal(system, by_value=True)


def rf(system: AbstractSystem) -> Causal:
    return Causal(system, by_value=False)


def executions(make: Any, spec: Spec) -> int:
    return sum(1 for _ in make(AbstractSystem(spec)).explore())


# ---------------------------------------------------------------------- counts


def _check_counts(program: dict[str, Any]) -> None:
    counts = program["counts"]
    if counts["values"] is not None:
        assert executions(mcr, program["spec"]) == counts["values"]
    if counts["rf_nolock"] is not None:
        assert executions(rf, program["spec"]) == counts["rf_nolock"]


def _is_short(case: Any) -> bool:
    counts = case.values[0]["counts"]
    return bool(max(counts.get("values") or 0, counts.get("rf_nolock") or 0) <= SHORT)


COUNTED = [case for case in CASES if "values" in case.values[0]["counts"]]


@pytest.mark.parametrize("program", [case for case in COUNTED if _is_short(case)])
def test_there_is_one_execution_for_each_class(program: dict[str, Any]) -> None:
    _check_counts(program)


@pytest.mark.slow
@pytest.mark.parametrize("program", [case for case in COUNTED if not _is_short(case)])
def test_there_is_one_execution_for_each_class_of_a_large_program(program: dict[str, Any]) -> None:
    _check_counts(program)


PLAIN = {"r", "w", "rmw", "cas", "await", "P", "V", "assert", "halt", "if"}
"""Words without misuse: the judge does not count it as observed that a lock is released which is not held."""


def test_there_is_one_execution_for_each_class_of_drawn_programs() -> None:
    for seed in range(EXAMPLES):
        spec = random_program(Random(seed), words=PLAIN, interleavings=1_000)
        judge = bruteforce.Prog(spec)
        assert executions(mcr, spec) == bruteforce.count_values(judge), spec
        assert executions(rf, spec) == bruteforce.count_rf(judge, locks=False)[0], spec


# ---------------------------------------------------------------------- what is seen


class Ends(Causal):
    """A search that keeps what is in memory at each end of the program, and with which outcome the run of its class
    ended."""

    def __init__(self, system: AbstractSystem, by_value: bool) -> None:
        super().__init__(system, by_value)
        self.memories: list[tuple[int, tuple[Any, ...]]] = []
        self.run_of: dict[int, Any] = {}

    def _learn(self, start: int, run: Run) -> None:
        super()._learn(start, run)
        name = self.model.learn(self.trace, run).name_of_pasts
        assert name not in self.run_of, "a class was run twice"
        self.run_of[name] = run.outcome

    def _arrive(self) -> bool:
        must_be_run = super()._arrive()
        assert self._cut is not None
        if not self._cut.actions():
            locations = range(len(self.system.semantics.initial))  # type: ignore[attr-defined]
            memory = tuple(self._cut.at(location) for location in locations)
            self.memories.append((self._cut.name_of_pasts, memory))
        return must_be_run

    def outcomes(self) -> set[Hashable]:
        """The outcomes of the program: the memory of each end, and of its class all else."""
        return {self.run_of[name]._replace(memory=memory) for name, memory in self.memories}


@pytest.mark.parametrize("by_value", [True, False])
def test_the_ends_in_the_model_are_those_of_the_program(by_value: bool) -> None:
    """With all that is in memory, also where no thread reads it."""
    for seed in range(EXAMPLES):
        system = AbstractSystem(random_program(Random(seed), words=ALL, interleavings=1_000))
        expected = {run.outcome for run in Full(system).explore() if run.outcome is not None}
        search = Ends(system, by_value)
        assert {run.outcome for run in search.explore()} <= expected
        assert search.outcomes() == expected, seed


@pytest.mark.parametrize("name", ["mcr", "rf"])
def test_they_see_what_listing_all_interleavings_sees(name: str) -> None:
    strategy = STRATEGIES[name]
    for seed in range(EXAMPLES):
        system, known = _judged(random_program(Random(seed), words=ALL, interleavings=1_000))
        assert wrong_with(strategy, strategy.promises, system, known) == "", seed


def _judged(spec: Spec) -> tuple[AbstractSystem, Reference]:
    system = AbstractSystem(spec, max_steps=MOST_STATES)
    return system, reference(system)


def test_a_deadlock_is_read_off_the_model_and_then_run() -> None:
    """Philosophers observe nothing: one run would do, and that may meet no deadlock."""
    system = AbstractSystem(BY_NAME["philosophers(3)"])
    search = mcr(system)
    runs = [run.deadlock is not None for run in search.explore()]
    assert runs == [False, True]


def test_values_that_are_equal_are_one_and_writes_are_not() -> None:
    spec = {"vars": {"x": 0}, "threads": [["w x 0"], ["w x 1", "w x 1"], ["r x a"]]}
    assert executions(mcr, spec) == 2
    assert executions(rf, spec) == 4


def test_what_nobody_reads_is_not_told_apart() -> None:
    spec = {"vars": {"x": 0}, "threads": [["w x 1"], ["w x 2"]]}
    assert executions(mcr, spec) == executions(rf, spec) == 1


def test_the_result_of_a_try_is_observed() -> None:
    spec = {"vars": {}, "locks": ["m"], "threads": [["try m a"], ["lock m", "unlock m"]]}
    assert executions(mcr, spec) == executions(rf, spec) == 3  # if it succeeds, the other may wait for ever


def test_each_value_of_a_data_choice_is_tried() -> None:
    spec = {"vars": {"x": 0}, "threads": [["choose a 3", "w x a"], ["r x b"]]}
    assert executions(mcr, spec) == 5  # 0: read before or after, it is 0; 1 and 2: each before and after
    assert executions(rf, spec) == 6


def test_a_thread_that_is_spawned_begins_when_it_is() -> None:
    spec = {"vars": {"x": 0}, "threads": [["w x 1", "spawn 1", "w x 2"], ["r x a"]]}
    assert executions(mcr, spec) == 2


def test_a_program_in_which_nothing_can_move() -> None:
    spec = {"vars": {"x": 0}, "threads": [["await x _==1"]]}
    (run,) = mcr(AbstractSystem(spec)).explore()
    assert run.deadlock is not None


# ---------------------------------------------------------------------- checks


def _check(tmp_path: Path, spec: Spec, *options: str) -> Any:
    file, report = tmp_path / "program.json", tmp_path / "report.json"
    file.write_text(json.dumps(spec))
    result = CliRunner().invoke(
        cli, ["check", str(file), "--json", str(report), "--save", str(tmp_path / "schedule.json"), *options]
    )
    return json.loads(report.read_text()) if report.exists() else result.stderr


def test_a_check_reports_a_failure_that_the_model_has_shown_first(tmp_path: Path) -> None:
    report = _check(tmp_path, BY_NAME["philosophers(3)"], "--strategy", "mcr")
    assert (report["verdict"], report["executions"]) == ("fail", 2)
    assert [finding["kind"] for finding in report["findings"]] == [Kind.DEADLOCK.value]


def test_a_check_that_passes_repeats_its_first_run(tmp_path: Path) -> None:
    """With an event for each access, also where a lock orders them."""
    report = _check(tmp_path, BY_NAME["locked_counter(2x2)"], "--strategy", "rf")
    assert (report["verdict"], report["executions"]) == ("pass", 6)


def test_too_many_cuts_are_inconclusive(tmp_path: Path) -> None:
    report = _check(tmp_path, BY_NAME["sb(3)"], "--strategy", "mcr", "--max-states", "10")
    assert report["verdict"] == "inconclusive"
    assert "after 10 cuts the search gave up (--max-states)" in report["reasons"]


def test_a_program_that_does_not_end_is_inconclusive(tmp_path: Path) -> None:
    spec = {"vars": {"x": 0}, "threads": [[["while", "a==0", ["r x a"]]], ["r x b"]]}
    report = _check(tmp_path, spec, "--strategy", "mcr", "--max-steps", "50", "--max-states", "2000")
    assert report["verdict"] == "inconclusive"
    assert any("--max-steps" in reason for reason in report["reasons"])


def test_a_thread_without_end_between_its_events_is_inconclusive(tmp_path: Path) -> None:
    spec = {"vars": {"x": 0}, "threads": [["r x a", ["while", "a==0", ["let b 1"]]], ["w x 1"]]}
    assert _check(tmp_path, spec, "--strategy", "rf")["verdict"] == "inconclusive"


def test_python_programs_are_refused() -> None:
    result = CliRunner().invoke(cli, ["check", "dpor.workloads.racy_counter:main", "--strategy", "mcr"])
    assert result.exit_code == 2
    assert "needs events that tell what they see" in result.stderr


def test_other_traces_tell_no_data() -> None:
    system = AbstractSystem(BY_NAME["sb(3)"])
    trace = Trace()
    system.run(trace, lambda enabled: (enabled & -enabled).bit_length() - 1)
    assert trace.data is None


# ---------------------------------------------------------------------- planted mistakes


class OneRunAtATime(Causal):
    """The search as it was published: the next runs are those that the model of one run shows, below what the run
    began with."""

    seeds_stay = True
    """What a run begins with stays as it is."""

    def check(self, start: int, run: Run) -> None:
        """(It may repeat a run.)"""

    def _learn(self, start: int, run: Run) -> None:
        threads = list(self.model.beginnings)
        self.model = CausalModel(self.system.initial, self.model.by_value)
        self.model.begin(threads)
        self.model.learn(self.trace, run)

    def _go_back(self) -> bool:
        if not hasattr(self, "seeds"):
            self.seeds: list[list[Action]] = []
            self.seen: set[Hashable] = set()
        begin = self._schedule if self.seeds_stay else []
        cut, values = Cut(self.model), _Values()
        for action in begin:
            values.take(cut, action)
        self._visit(cut, list(begin), values, set())
        if not self.seeds:
            return False
        self._schedule = self.seeds.pop()
        return True

    def _visit(self, cut: Cut, way: list[Action], values: _Values, known: set[int]) -> None:
        if cut.name in known:
            return
        known.add(cut.name)
        for action in cut.actions():
            key = values.after(cut, action, self.seeds_stay and self.stats.executions)
            if values.take(cut, action):
                self._visit(cut, [*way, action], values, known)
                values.back(cut)
            elif key not in self.seen:
                self.seen.add(key)
                self.seeds.append([*way, action])


class _Values:
    """What each thread has read so far."""

    def __init__(self) -> None:
        self.read: list[tuple[int, Hashable]] = []

    def after(self, cut: Cut, action: Action, run: Hashable) -> Hashable:
        thread = action & THREAD_MASK
        own = tuple(value for other, value in self.read if other == thread)
        return run, thread, own, _seen(cut, action)

    def take(self, cut: Cut, action: Action) -> bool:
        seen = _seen(cut, action)
        if not cut.take(action):
            return False
        self.read.append((action & THREAD_MASK, seen))
        return True

    def back(self, cut: Cut) -> None:
        cut.back()
        self.read.pop()


def _seen(cut: Cut, action: Action) -> Hashable:
    past = cut.pasts[action & THREAD_MASK]
    assert past.pending is not None
    return tuple(cut.at(location) for location, _ in past.pending.accesses)


class OneForEachValue(OneRunAtATime):
    """One run for each value that a thread can read after what it has read."""

    seeds_stay = False


class DeadlocksInRunsOnly(Causal):
    """Ends at which threads wait are not run."""

    def _arrive(self) -> bool:
        assert self._cut is not None
        return super()._arrive() and all(past.pending is None for past in self._cut.pasts.values())


def only_the_last_read_is_valid(patch: PATCH) -> None:
    """It is not asked what a thread observes if it is known what it does after another observation: so a value may be
    written that the thread would not have written. Only where all others wait is it asked."""
    take = Cut.take

    def planted(self: Cut, action: Action) -> bool:
        past = self.pasts[action & THREAD_MASK]
        if take(self, action):
            return True
        if not past.after or self.actions() == [action]:
            return False
        assert past.pending is not None
        states = tuple(self.at(location) for location, _ in past.pending.accesses)
        self._go(action & THREAD_MASK, next(iter(past.after.values())), states)
        return True

    patch.setattr(Cut, "take", planted)


def memory_forgotten(patch: PATCH) -> None:
    """Cuts count as one if the threads have observed the same."""
    patch.setattr(Cut, "name", property(lambda cut: cut.name_of_pasts))


def threads_for_events(patch: PATCH) -> None:
    """Threads observe which thread wrote what they read, not which of its events."""
    put = Cut._put

    def planted(self: Cut, table: Any, location: int, new: Any, changed: Any) -> None:
        if isinstance(new, Past):
            new = next(thread for thread, past in self.pasts.items() if past is new)
        put(self, table, location, new, changed)

    patch.setattr(Cut, "_put", planted)


CLASSES = (OneRunAtATime, OneForEachValue, DeadlocksInRunsOnly)
IN_MODEL = (only_the_last_read_is_valid, memory_forgotten, threads_for_events)


def _is_caught(make: Any) -> bool:
    for seed in range(EXAMPLES):
        system, known = _judged(random_program(Random(seed), interleavings=300))
        if wrong := wrong_with(make, ["observations"], system, known):
            assert wrong.startswith("misses"), wrong
            return True
    return False


@pytest.mark.parametrize("by_value", [True, False])
@pytest.mark.parametrize("mistake", CLASSES)
def test_a_planted_mistake_is_caught(mistake: type[Causal], by_value: bool) -> None:
    assert _is_caught(lambda system: mistake(system, by_value))


@pytest.mark.parametrize("mistake", IN_MODEL)
def test_a_mistake_in_the_model_is_caught(mistake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    mistake(monkeypatch)
    assert _is_caught(rf)


@pytest.mark.parametrize("name", ["seeds", "values"])
def test_the_published_search_loses_what_this_one_finds(name: str) -> None:
    """Three combinations of two reads are possible beside the one in which neither has seen the write."""
    spec = {"vars": {"z": 0}, "threads": [["r z a"], ["r z a"], ["w z 1", "r x a"]]} | {"vars": {"x": 0, "z": 0}}
    make = OneRunAtATime if name == "seeds" else OneForEachValue
    seen = {run.outcome.registers for run in make(AbstractSystem(spec), True).explore()}
    assert len(seen) < executions(mcr, spec) == 4


def test_a_program_that_is_not_deterministic_is_noticed() -> None:
    """A thread does something else after the same past."""
    system = AbstractSystem(BY_NAME["sb(3)"])
    told = system.run

    def lying(trace: Trace, choose: Any) -> Run:
        run = told(trace, choose)
        assert trace.data is not None
        trace.data.written = [written and (random.choice((1, 2)),) for written in trace.data.written]
        return run

    random, system.run = Random(0), lying  # type: ignore[method-assign]
    with pytest.raises(NotDeterministic, match="after it had observed the same"):
        explore(rf, system)
