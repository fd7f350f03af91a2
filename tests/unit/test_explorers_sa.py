"""`sa` and `dpor+static`: facts about the source make choices fewer, and wrong facts cost time, never a bug."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

import dpor
from dpor.core.errors import UserError
from dpor.core.oracle import At
from dpor.explorers import STRATEGIES
from dpor.explorers.sa import Sa
from dpor.model import AbstractSystem
from dpor.python.kernel import assumptions
from dpor.python.kernel.options import StaticOptions
from dpor.python.program.static_facts import StaticOracle
from dpor.python.program.system import PythonSystem
from dpor.testing import Observed, Spec, TooLarge, explore, make_program
from dpor.testing.lying import LyingModel

UNFORESEEN = Path(__file__).parents[1] / "programs" / "unforeseen.py"
STATIC = ("sa", "dpor+static")
SEEDS = range(int(os.environ.get("DPOR_LIES", "120")))


class Believed(LyingModel):
    """Nothing contradicts it: what a search would miss."""

    def withdraw_facts(self, facts: Collection[str]) -> None:
        pass


def seen(strategy: str, system: AbstractSystem) -> Observed:
    return explore(STRATEGIES[strategy], system)


def differs(a: Observed, b: Observed) -> bool:
    return any(
        getattr(a, what) != getattr(b, what) for what in ("outcomes", "deadlocks", "failures", "terminates", "livelock")
    )


def test_facts_that_are_right_and_wrong() -> None:
    """Outcomes as those of `full`; and that believing the lies would have missed some, so that this test can fail."""
    wrong, believed, states = [], 0, {"original": 0, "sa": 0}
    for seed in SEEDS:
        program = make_program(seed, cyclic=True)
        try:
            full = seen("full", AbstractSystem(program))
        except TooLarge:
            continue
        for strategy in states:
            found = seen(strategy, AbstractSystem(program))
            states[strategy] += found.states
            wrong += [(seed, strategy)] if differs(found, full) else []
        wrong += [(seed, "lies")] if differs(seen("sa", LyingModel(program, 0)), full) else []
        believed += differs(seen("sa", Believed(program, 0)), full)
    assert wrong == []
    assert believed > 0
    assert states["sa"] < states["original"]


class AlwaysLying(LyingModel):
    """It lies about all accesses."""

    def __init__(self, program: Spec) -> None:
        super().__init__(program, 0)
        self._random = Random()
        self._random.random = lambda: 1.0  # type: ignore[method-assign]


BRIEFLY_TRUE: list[tuple[str, ...]] = [("await z _>0", "assert 0"), ("w z 1", "w z 0")]
"""The first thread may be too late, and then it waits for ever."""


@pytest.mark.parametrize(
    "others",
    [
        pytest.param([], id="to the end"),
        pytest.param([[["while", "1", ["w x 1", "w x 0"]]]], id="beside a cycle"),
    ],
)
def test_who_is_made_to_wait_for_ever_contradicts_the_facts_too(
    others: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a thread was run alone for is no event: it waits for that. A planted mistake: only events are looked at."""
    program: Spec = {"vars": {"x": 0, "z": 0}, "threads": [*BRIEFLY_TRUE, *others]}
    full = seen("full", AbstractSystem(program))
    assert not differs(seen("sa", AlwaysLying(program)), full)
    monkeypatch.setattr(Sa, "_add_waiting", lambda *what: None)
    assert differs(seen("sa", AlwaysLying(program)), full)


NAMES = (
    *("computed_name", "through_dict", "executed", "monkeypatched_method", "monkeypatched_class"),
    *("called_back", "subclass_made_at_run_time"),
)
unforeseen = pytest.mark.parametrize(
    ("name", "strategy"),
    [*product(NAMES, STATIC)],
)


@unforeseen
def test_what_no_analysis_foresees_is_found(name: str, strategy: str) -> None:
    report = dpor.check(f"{UNFORESEEN}::{name}", strategy=strategy)
    assert report.verdict == "fail"
    assert "the limit changed in between" in report.findings[0].message
    assert report.restarts


@unforeseen
def test_it_is_missed_if_what_the_first_run_shows_is_not_learnt(
    name: str, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted mistake: the write to `limit` is performed, and what it contradicts is believed as before."""
    broken = assumptions.broken

    def all_but_limits(fact: object, reason: str, *, at_once: bool = False) -> None:
        if not isinstance(fact, tuple) or fact[-1] != "limit":
            broken(fact, reason, at_once=at_once)

    monkeypatch.setattr(assumptions, "broken", all_but_limits)
    assert dpor.check(f"{UNFORESEEN}::{name}", strategy=strategy).verdict == "pass"


@pytest.fixture
def deceived(monkeypatch: pytest.MonkeyPatch) -> None:
    """The analysis takes `limit` for immutable, whatever the source says."""
    ruled_out = StaticOracle._ruled_out

    def lied(self: StaticOracle, at: At, others: Iterable[tuple[At, ...]]) -> frozenset[str]:
        lie = frozenset({"Account.limit is immutable"})
        return lie if at.code.co_qualname == "Account.check" else ruled_out(self, at, others)

    monkeypatch.setattr(StaticOracle, "never_written", lambda self: frozenset({"limit"}))
    monkeypatch.setattr(StaticOracle, "_ruled_out", lied)


@unforeseen
def test_it_is_found_if_the_analysis_is_deceived(name: str, strategy: str, deceived: None) -> None:
    assert dpor.check(f"{UNFORESEEN}::{name}", strategy=strategy).verdict == "fail"


@unforeseen
def test_it_is_missed_if_what_a_deceived_analysis_said_is_not_withdrawn(
    name: str, strategy: str, deceived: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted mistake: what `sa` finds contradicted stays, and what `dpor+static` does not hook is never hooked."""
    monkeypatch.setattr(PythonSystem, "withdraw_facts", lambda self, facts: None)
    monkeypatch.setattr(PythonSystem, "_never_written", lambda self: frozenset(self._unhooked))
    assert dpor.check(f"{UNFORESEEN}::{name}", strategy=strategy).verdict == "pass"


RACY = """
import threading

class Counter:
    def __init__(self):
        self.value = 0
    def add(self):
        seen = self.value
        self.value = seen + 1

def scenario():
    counter = Counter()
    threads = [threading.Thread(target=counter.add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return counter.value
"""


def test_an_oracle_goes_with_sa_alone() -> None:
    with pytest.raises(UserError, match="oracle goes with --strategy sa, not with optimal"):
        dpor.check("dpor.workloads.racy_counter:main", oracle=lambda source: None)  # type: ignore[arg-type,return-value]


def test_a_fact_that_is_contradicted_is_withdrawn_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "dpor.python.program.static_facts.StaticOracle._ruled_out",
        lambda *_: frozenset({"nobody else writes anything"}),
    )
    file = tmp_path / "racy.py"
    file.write_text(RACY)
    report = dpor.check(f"{file}::scenario", strategy="sa")
    assert (report.verdict, report.outcomes) == ("pass", 2)
    assert "the analysis was wrong: nobody else writes anything" in report.restarts


def test_a_target_that_no_module_makes_is_refused() -> None:
    def target() -> None:
        pass

    with pytest.raises(dpor.UserError, match="cannot be analysed, since no module contains it"):
        dpor.check(target, strategy="sa")


@pytest.mark.parametrize("option", [{"field_access": "callee"}, {"pointers": "ci-ex"}, {"immutable": False}])
def test_options_of_the_analysis_go_with_it(option: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "racy.py"
    file.write_text(RACY)
    assert dpor.check(f"{file}::scenario", strategy="sa", **option).outcomes == 2
    with pytest.raises(dpor.UserError, match=r"goes with --strategy sa or dpor\+static, not with optimal"):
        dpor.check(f"{file}::scenario", **option)


PHASES = """
import threading

class Config:
    def __init__(self, limit):
        self.limit = limit

class Shared:
    def __init__(self):
        self.phase = 0
        self.lock = threading.Lock()

def scenario():
    config, shared = Config(3), Shared()
    def work():
        for _ in range(config.limit):
            with shared.lock:
                pass
        assert shared.phase == 1
    shared.phase = 1
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shared.phase = 2
    return config.limit
"""


def test_choices_where_data_are_immutable_or_phases_are_apart(tmp_path: Path) -> None:
    file = tmp_path / "phases.py"
    file.write_text(PHASES)
    choices = {}
    for strategy in ("full", "original", "sa", "dpor", "dpor+static"):
        report = dpor.check(f"{file}::scenario", strategy=strategy)
        assert (report.verdict, report.outcomes) == ("pass", 1)
        choices[strategy] = report.choices
    assert choices["dpor+static"] <= min(choices["sa"], choices["dpor"])
    assert choices["sa"] <= choices["original"] <= choices["full"]


EARLY = """
import threading

class Config:
    def __init__(self):
        self.limit = 0

configs = []

def scenario():
    config = Config()
    configs.append(config)
    config.limit = 3
    def work():
        for _ in range(100):
            assert config.limit == 3
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    LATE
"""


def test_reads_of_what_nobody_writes_after_the_first_start_are_not_hooked(tmp_path: Path) -> None:
    """Though the field is written after its object has escaped: unless something may write it later, too."""
    for late, unhooked in (("pass", {"limit"}), ("config.limit = 4", set())):
        file = tmp_path / "early.py"
        file.write_text(EARLY.replace("LATE", late))
        system = PythonSystem(f"{file}::scenario")
        analysis = StaticOracle(system.source(), StaticOptions())
        system.leave()
        assert analysis.never_written() & {"limit"} == unhooked
        assert dpor.check(f"{file}::scenario", strategy="dpor+static", all=True).verdict == "pass"


READERS = [
    "for x in box.items: pass",
    "seen = [x for x in box.items]",
    "seen = {x: 1 for y in [1] for x in box.items}",
    "seen = list(x for x in box.items)",
    "seen, *rest = box.items",
    "seen = [*box.items]",
    "seen = {**box.table}",
    "print(*box.items)",
    "dict(**box.table)",
    "seen = len(box.items)",
    "seen = 1 in box.items",
    "seen = box.items == [1, 2]",
    "seen = not box.items",
    "seen = 1 if box.items else 2",
    "seen = f'{box.items}'",
    "seen = str(box.items)",
    "seen = box.items[0]",
    "seen = box.items[:]",
    "seen = sorted(box.items)",
    "seen = sum(box.items)",
    "seen = box.items + [3]",
    "seen = box.items.copy()",
    "seen = box.table.get('a')",
    "seen = list(box.table.items())",
    "view = box.table.keys(); seen = len(view)",
    "for i, x in enumerate(box.items): pass",
    "walk = iter(box.items); seen = next(walk)",
    "seen = list(map(str, box.items))",
    "seen = list(zip(box.items, box.items))",
    "seen = list(reversed(box.items))",
    "seen = list(filter(None, box.items))",
    "seen = max(box.items)",
    "seen = tuple(box.items)",
    "seen = any(x for x in box.items)",
    "seen = ','.join(map(str, box.items))",
    "seen = '%s' % box.items",
    "seen = getattr(box, 'n')",
    "seen = 'a' in box.table",
    "seen = [*(x for x in box.items)]",
    "seen = list(delegates(box))",
]

READ = """
import threading

class Box:
    def __init__(self):
        self.items = [1]
        self.table = {{"a": 1}}
        self.n = 0

def delegates(box):
    yield from box.items

def reads(box):
    {reader}

def writes(box):
    box.items.append(1)
    box.table["b"] = 2
    box.n = 1

def scenario():
    box = Box()
    threads = [threading.Thread(target=f, args=(box,)) for f in (reads, writes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


@pytest.mark.parametrize("reader", READERS)
def test_where_a_frame_stands_the_facts_are_those_of_its_operation(reader: str, tmp_path: Path) -> None:
    """What the program does is in its source: nothing is withdrawn."""
    file = tmp_path / "read.py"
    file.write_text(READ.format(reader=reader))
    report = dpor.check(f"{file}::scenario", strategy="sa", all=True)
    assert report.exhaustive, report.reasons
    assert [restart for restart in report.restarts if "the analysis was wrong" in restart] == []
