"""One workload under one configuration of [PL]'s tables: run as `dpor check`, in a process of its own."""

from __future__ import annotations

import resource
import time
from typing import Any, Final

import attrs

from dpor.app.comparing import Job, run_job
from dpor.app.targets import open_target
from dpor.core.options import Options
from dpor.explorers import STATIC
from dpor.python.program.system import PythonSystem
from dpor.report.comparison import Row
from dpor.statics.facts import analyse
from dpor.statics.pointers import Pointers


@attrs.frozen
class Setting:
    """A configuration.

    field_access, pointers, immutable   used where the strategy has a static analysis
    every_access   as in Java Pathfinder: what nobody writes while others run is not left out beforehand, and states are
                   stored where there are choices (by DPOR after each event: it would else begin again too often)
    """

    strategy: str
    field_access: str = "sensitive"
    pointers: str = "none"
    immutable: bool = True
    every_access: bool = False

    @property
    def is_static(self) -> bool:
        return self.strategy in STATIC

    def options(self, max_seconds: float, max_states: int | None) -> Options:
        """Of `dpor check`, within a budget."""
        static = {name: getattr(self, name) for name in ("field_access", "pointers", "immutable") if self.is_static}
        store = "choices" if self.every_access and not self.strategy.startswith("dpor") else "events"
        return Options(
            strategy=self.strategy,
            max_seconds=max_seconds,
            max_states=max_states,
            store=store,
            every_access=self.every_access,
            **static,
        )


PRECISIONS: Final = ("insensitive", "callee", "sensitive")
POINTERS: Final = ("none", "ci-ex", "ci-dd", "cs-ex", "cs-dd")
ORIGINAL: Final = Setting("original")
SA: Final = Setting("sa")
DPOR: Final = Setting("dpor")
COMBINED: Final = Setting("dpor+static")
CONFIGURATIONS: Final = {"original": ORIGINAL, "SA": SA, "DPOR": DPOR, "DPOR+static": COMBINED}
ALL_ACCESSES: Final = {name: attrs.evolve(setting, every_access=True) for name, setting in CONFIGURATIONS.items()}
"""The same, with every access an event."""


@attrs.frozen
class Cell:
    """What came of it.

    finished           was everything covered? Otherwise `choices` is a lower bound
    choices            None: there is no report, `note` says why
    seconds            CPU time of the whole process
    analysis_seconds   CPU time of the analysis alone, taken by itself; None: there is none, or it was not measured
    memory             peak of the process, bytes
    outcomes           digests of the outcomes that were found
    findings           kinds of the failures that were found
    note               why it is not finished
    """

    workload: str
    setting: Setting
    finished: bool
    choices: int | None
    states: int | None
    seconds: float
    analysis_seconds: float | None
    memory: int | None
    outcomes: tuple[str, ...]
    findings: tuple[str, ...]
    note: str = ""


def measure(workload: str, setting: Setting, max_seconds: float, max_states: int | None, *, analysis: bool) -> Cell:
    """Raises `dpor.app.comparing.Interrupted`."""
    before = _children_seconds()
    row = run_job(Job(workload, setting.options(max_seconds, max_states)))
    seconds = _children_seconds() - before
    analysed = analysis_seconds(workload, setting) if analysis and setting.is_static else None
    return _cell(workload, setting, row, seconds, analysed)


def _cell(workload: str, setting: Setting, row: Row, seconds: float, analysed: float | None) -> Cell:
    report: Any = row.report or {}
    return Cell(
        workload,
        setting,
        row.finished,
        report.get("choices"),
        report.get("states"),
        round(seconds, 2),
        analysed,
        report.get("peak_memory_bytes"),
        tuple(sorted(report.get("outcome_digests", ()))),
        tuple(sorted({finding["kind"] for finding in report.get("findings", ())})),
        "; ".join(row.notes),
    )


def _children_seconds() -> float:
    """CPU time of all processes that have been waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


PHASE: Final = {"insensitive": "insensitive", "callee": "second", "sensitive": "first"}
"""What each precision asks of `Facts`."""


def analysis_seconds(workload: str, setting: Setting) -> float:
    """CPU time from the source to the facts that the setting asks for."""
    system = open_target(workload, Options())
    assert isinstance(system, PythonSystem)
    texts, names, entry = system.source()
    start = time.process_time()
    facts = analyse(texts, entry, Pointers(setting.pointers), names)
    for wanted in (PHASE[setting.field_access], *["immutable"][: setting.immutable]):
        getattr(facts, wanted)  # computed when it is asked for
    return round(time.process_time() - start, 3)
