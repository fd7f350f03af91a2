"""Explores the same targets under several strategies, each in a process of its own, under the same budget.

The process is `dpor check TARGET --all --json`, so the comparison is of what a user gets. If one dies, hangs or is
refused, its row says so. Ctrl-C ends the current process, which reports what it knows.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import attrs

from dpor.app.advice import arguments
from dpor.app.strategies import explorer_of, without_use
from dpor.app.targets import programs_named
from dpor.core.errors import UserError
from dpor.core.options import Options, spelled
from dpor.core.plural import plural
from dpor.explorers import CAUSAL, CONFIGURATIONS, strategies_with
from dpor.report.comparison import Comparison, Row

WORKLOADS = (
    "dpor.workloads.racy_counter:main",
    "dpor.workloads.locked_counter:main",
    "dpor.workloads.philosophers:main",
    "dpor.workloads.bounded_buffer:main",
    "dpor.workloads.readers:main",
)
"""The default targets of `dpor compare`."""

GRACE = 30.0
"""Seconds beyond the budget for loading the target and explaining its failures; then the process is interrupted."""
LAST_GRACE = 10.0
"""Seconds from the interrupt until the process is killed."""
SHOWN_DIFFERENCES = 5


class Job(NamedTuple):
    """A target and its options: the strategy, a budget in seconds, and which program of a file of abstract programs.

    configuration   the name of its `--escape`, `--locks` and `--store` together; empty if they have none
    """

    target: str
    options: Options
    configuration: str = ""

    @property
    def title(self) -> str:
        name = self.options.name
        return self.target if name is None else f"{self.target} {name}"


def jobs(targets: Iterable[str], strategies: Sequence[str], options: Options) -> list[Job]:
    """Return the jobs, in order. Of a file with several abstract programs each is a target, unless `options` names one.

    An option that only some strategies use applies to these. A strategy may also be the name of one in
    `dpor.explorers.alone.CONFIGURATIONS`, which sets its options. Raises `UserError` if none uses an option, if one of
    the strategies cannot do what is asked, or if a target names nothing.
    """
    each = [_under(strategy, options) for strategy in strategies]
    of_no_use = [set(without_use(one)) for one in each]
    for option in sorted(set.intersection(*of_no_use)):
        known = " or ".join(strategies_with(option))
        raise UserError(f"{spelled(option)} goes with {known}, of which none is among --strategies")
    each = [
        attrs.evolve(one, **{name: getattr(Options(), name) for name in useless})
        for one, useless in zip(each, of_no_use, strict=True)
    ]
    for one in each:
        explorer_of(one)
    return [
        Job(target, attrs.evolve(one, name=name), strategy if strategy in CONFIGURATIONS else "")
        for target in targets
        for name in programs_named(target, options)
        for one, strategy in zip(each, strategies, strict=True)
    ]


def _under(strategy: str, options: Options) -> Options:
    if strategy not in CONFIGURATIONS:
        return attrs.evolve(options, strategy=strategy)
    escape, locks, store = CONFIGURATIONS[strategy]
    return attrs.evolve(options, strategy="alone", escape=escape, locks=locks, store=store)


# ---------------------------------------------------------------------- one process


class Interrupted(Exception):
    """Raised after Ctrl-C; `row` is what was known by then."""

    def __init__(self, row: Row) -> None:
        super().__init__()
        self.row = row


def run_job(job: Job) -> Row:
    """Run one search and return its row. Raises `Interrupted`."""
    max_seconds = job.options.max_seconds
    assert max_seconds is not None, "a run that has no budget may never end"
    with TemporaryDirectory(prefix="dpor-compare-") as folder:
        report, errors = Path(folder, "report.json"), Path(folder, "errors.txt")
        with errors.open("w") as stderr:
            process = subprocess.Popen(
                _command(job, report),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                start_new_session=True,  # so that Ctrl-C reaches it only through us
            )
        interrupted = late = False
        try:
            code = process.wait(max_seconds + GRACE)
        except subprocess.TimeoutExpired:
            late = True
            code = _stop(process)
        except KeyboardInterrupt:
            interrupted = True
            code = _stop(process)
        except BaseException:
            process.kill()
            raise
        row = _row(job, code, report, errors)
    if late:
        row = attrs.evolve(row, error=f"did not end by itself {GRACE:g} s after its budget of {max_seconds:g} s")
    if interrupted:
        raise Interrupted(row)
    return row


def _command(job: Job, report: Path) -> list[str]:
    return [
        *(sys.executable, "-P", "-m", "dpor", "check", "--all", "--quiet", "--no-checkpoint"),
        *("--json", str(report), "--save", str(report.with_name("schedule.json"))),
        *arguments(job.options),
        *("--", job.target),
    ]


def _stop(process: subprocess.Popen[bytes]) -> int:
    """Interrupt the process, so that it can report what it knows; kill it if it does not end."""
    try:
        process.send_signal(signal.SIGINT)
        return process.wait(LAST_GRACE)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        os.killpg(process.pid, signal.SIGKILL)  # including the processes that it has started
        return process.wait()


def _row(job: Job, code: int, file: Path, errors: Path) -> Row:
    report: dict[str, Any] | None = None
    try:
        report = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # the process died before or while it wrote the file
        pass
    return Row(
        job.title, job.configuration or job.options.explorer, report, _error(code, report is not None, errors), code
    )


def _error(code: int, has_report: bool, errors: Path) -> str | None:
    if has_report and code in (0, 1, 3):
        return None
    if code < 0:
        return f"died of {signal.Signals(-code).name}"
    lines = [line for line in errors.read_text(errors="replace").splitlines() if line.startswith("dpor: ")]
    return lines[0].removeprefix("dpor: ") if lines else f"ended without a report, exit code {code}"


# ---------------------------------------------------------------------- agreement


def compared(rows: Sequence[Row]) -> Comparison:
    """Compare the rows of one target: do those that finished agree on outcomes, deadlocks and failures?"""
    finished = [row for row in rows if row.finished]
    target = rows[0].target
    if len(finished) < 2:
        few = f"only {finished[0].strategy}" if finished else "no strategy"
        return Comparison(target, tuple(rows), None, (f"{few} finished: nothing to compare",))
    lines = tuple(_differences(finished))
    if lines:
        return Comparison(target, tuple(rows), False, ("THE STRATEGIES DISAGREE, a fault of dpor:", *lines))
    told = next(filter(_sees_all_outcomes, finished), finished[0]).report
    outcomes, deadlocks = told["outcomes"], told["deadlocks"]  # type: ignore[index]
    count = f"{outcomes:,} outcome{'' if outcomes == 1 else 's'}, {deadlocks:,} deadlock{'' if deadlocks == 1 else 's'}"
    return Comparison(target, tuple(rows), True, (f"{_these(finished)} agree: {count}",))


def _these(finished: Sequence[Row]) -> str:
    return f"all {len(finished)} strategies that finished ({', '.join(row.strategy for row in finished)})"


def _differences(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line for each outcome or failure that some strategies found and others did not."""
    see_all = [row for row in rows if _sees_all_outcomes(row)]
    for what, those, found in (
        ("outcome", see_all, [_outcomes(row) for row in see_all]),
        ("failure", rows, [_failures(row) for row in rows]),
    ):
        every = {key: text for texts in found for key, text in texts.items()}
        differing = [key for key in every if any(key not in texts for texts in found)]
        for key in differing[:SHOWN_DIFFERENCES]:
            by = [row.strategy for row, texts in zip(those, found, strict=True) if key in texts]
            missing = [row.strategy for row, texts in zip(those, found, strict=True) if key not in texts]
            yield f"{what} {every[key]}: found by {', '.join(by)}; not by {', '.join(missing)}"
        if len(differing) > SHOWN_DIFFERENCES:
            yield f"... and {plural(len(differing) - SHOWN_DIFFERENCES, f'more {what}')}"


def _sees_all_outcomes(row: Row) -> bool:
    return row.strategy not in CAUSAL


def _outcomes(row: Row) -> dict[Any, str]:
    assert row.report is not None
    return {key: f"{key} ({text})" if text else key for key, text in row.report["outcome_digests"].items()}


def _failures(row: Row) -> dict[Any, str]:
    assert row.report is not None
    found = {}
    for failure in row.report["findings"]:
        place = f" at {failure['file']}:{failure['line']}" if failure["file"] else ""
        found[failure["kind"], failure["file"], failure["line"]] = f"{failure['kind']}{place}"
    return found
