"""Reports: the text that a person reads, and the JSON object with its documented form."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import attrs
import jsonschema
import pytest
from rich.console import Console

import dpor
from dpor.core.explanation import EventOrder, Explanation
from dpor.core.outcome import Kind
from dpor.core.results import Estimate, Failure, Report, Verdict
from dpor.core.steps import Step
from dpor.report.json import dumps, to_json
from dpor.report.progress import Lines, Progress, StatusLine
from dpor.report.shortened import of_blocks
from dpor.report.text import (
    headline,
    headlines,
    plain_text,
    show,
    show_failure,
    verdict_lines,
)

SCHEMA = json.loads((Path(dpor.__file__).parent / "report" / "schema.json").read_text())


def step(thread: str, line: int, source: str, operation: str, value: str, racing: bool = False) -> Step:
    return Step(thread, "counter.py", line, source, operation, value, racing)


LOST = Failure(
    kind=Kind.ASSERTION,
    message="AssertionError: hits == 2, but hits is 1",
    thread="main",
    file="counter.py",
    line=20,
    schedule=(1, 2, 1, 2),
    threads=("main", "Thread-1", "Thread-2"),
    trace=(
        step("Thread-1", 8, "old = self.hits", "read Counter.hits", "0"),
        step("Thread-2", 8, "old = self.hits", "read Counter.hits", "0", racing=True),
        step("Thread-1", 9, "self.hits = old + 1", "write Counter.hits", "1", racing=True),
        step("Thread-2", 9, "self.hits = old + 1", "write Counter.hits", "1"),
    ),
    output="[bold]done\n",
    details=(
        "Traceback (most recent call last):",
        '  File "counter.py", line 20, in main',
        '  File "counter.py", line 4, in check',
    ),
    switches=3,
    execution=3,
)
DEADLOCK = Failure(
    kind=Kind.DEADLOCK,
    message="left waits for lock b, held by right\nright waits for lock a, held by left",
    thread="left",
    needs_timeout=True,
    occurrences=4,
)


def report(**changes: Any) -> Report:
    content: dict[str, Any] = {
        "target": "counter.py::main",
        "strategy": "optimal",
        "verdict": Verdict.FAIL,
        "exhaustive": False,
        "reasons": ("stopped at the first failure, execution 3",),
        "executions": 3,
        "events": 1234,
        "outcomes": 2,
        "seconds": 0.0312,
        "findings": (LOST,),
        "versions": {"dpor": "0.1.0", "python": "3.11.7"},
    }
    return Report(**{**content, **changes})


def text(report: Report, *, verbose: bool = False) -> str:
    return plain_text(lambda console: show(report, console, verbose=verbose))


def test_a_failure_is_a_headline_a_table_and_what_it_rests_on() -> None:
    assert (
        text(report())
        == """\
FAILED  AssertionError in main at counter.py:20: hits == 2, but hits is 1

  Thread-1  counter.py:8  old = self.hits      read Counter.hits   0
  Thread-2  counter.py:8  old = self.hits      read Counter.hits   0  <- races with Thread-1, line 9
  Thread-1  counter.py:9  self.hits = old + 1  write Counter.hits  1  <- races with Thread-2, line 8
  Thread-2  counter.py:9  self.hits = old + 1  write Counter.hits  1

  Traceback (most recent call last):
    File "counter.py", line 20, in main
    File "counter.py", line 4, in check

  The program printed:
  | [bold]done

Not exhaustive: stopped at the first failure, execution 3.  3 executions, 0.03 s (optimal)
"""
    )


def test_several_failures_are_numbered_and_deadlocks_say_who_waits() -> None:
    shown = text(report(findings=(LOST, DEADLOCK), reasons=(), exhaustive=True), verbose=True)
    assert "FAILED 1  AssertionError in main" in shown
    assert (
        """\
FAILED 2  deadlock: no thread can go on   (only if a wait times out)
  left waits for lock b, held by right
  right waits for lock a, held by left
  Seen in 4 executions.
"""
        in shown
    )
    assert "Exhaustive: every interleaving was covered." in shown
    assert "  3 executions, 0 blocked, 1,234 events, 0 replayed, 0 choices, 2 outcomes, 0 deadlocks\n" in shown
    assert "dpor 0.1.0, python 3.11.7" in shown


def test_quiet_is_a_line_for_each_failure_and_the_verdict() -> None:
    both = report(findings=(LOST, DEADLOCK))
    assert headlines(both) + verdict_lines(both, quiet=True) == [
        "FAILED 1  AssertionError in main at counter.py:20: hits == 2, but hits is 1",
        "FAILED 2  deadlock: no thread can go on   (only if a wait times out)",
        "Not exhaustive: stopped at the first failure, execution 3.  3 executions, 0.03 s (optimal)",
    ]


def test_pass_and_inconclusive() -> None:
    passed = report(verdict=Verdict.PASS, exhaustive=True, reasons=(), findings=(), visible=True)
    assert text(passed) == "PASSED  counter.py::main: no interleaving fails.  3 executions, 0.03 s (optimal)\n"
    assert "\n  but there was nothing to interleave: only one thread" in text(attrs.evolve(passed, visible=False))
    assert "\n  but there was nothing to interleave: no two" in text(attrs.evolve(passed, visible=False, threads=True))
    unsure = report(verdict=Verdict.INCONCLUSIVE, reasons=("--max-executions 3 reached", "another"), findings=())
    assert text(unsure).splitlines() == [
        "INCONCLUSIVE  counter.py::main: no failure, but not all was covered.  3 executions, 0.03 s (optimal)",
        "  because --max-executions 3 reached",
        "  because another",
    ]


@pytest.mark.parametrize(
    ("failure", "line"),
    [
        (Failure(kind=Kind.EXCEPTION, message="KeyError", thread="T"), "FAILED  KeyError in T"),
        (Failure(kind=Kind.EXCEPTION, message="E: a\nb: c", thread="T", file="f.py"), "FAILED  E in T at f.py: a"),
        (
            Failure(kind=Kind.LIVELOCK, message="spins for ever", thread="T", file="f.py", line=3),
            "FAILED  livelock in T at f.py:3: spins for ever",
        ),
    ],
)
def test_headlines(failure: Failure, line: str) -> None:
    assert headline(failure) == line


def test_of_a_long_stretch_of_one_thread_the_middle_is_left_out_but_not_the_race() -> None:
    steps = tuple(step("T", n, "", "", "", racing=n == 10) for n in range(20))
    failure = attrs.evolve(LOST, trace=steps)
    assert list(of_blocks(failure)) == [(0,), (1,), (2,), (3,), 6, (10,), 5, (16,), (17,), (18,), (19,)]
    needed = Explanation(whenever=(EventOrder(5, 7, 0),))
    failure = attrs.evolve(failure, explanation=needed)
    shown = list(of_blocks(failure))
    assert shown == [(0,), (1,), (2,), (3,), 1, (5,), 1, (7,), 2, (10,), 5, (16,), (17,), (18,), (19,)]


def test_a_traceback_of_one_frame_only_repeats_the_headline() -> None:
    failure = attrs.evolve(LOST, details=LOST.details[:2])
    assert "Traceback" not in text(report(findings=(failure,)))
    assert "Traceback" in text(report(findings=(failure,)), verbose=True)
    assert "Traceback" in plain_text(lambda console: show_failure(failure, console, traceback=True))


def test_events_without_a_place_are_left_out_unless_they_race_or_all_is_asked_for() -> None:
    ends = (Step("T", None, None, "", "end T", ""), Step("U", None, None, "", "end U", "", racing=True))
    failure = attrs.evolve(LOST, trace=LOST.trace + ends)
    assert "end T" not in text(report(findings=(failure,)))
    assert "end U" in text(report(findings=(failure,)))
    assert "end T" in text(report(findings=(failure,)), verbose=True)


def test_long_values_and_outputs_are_cut_unless_verbose() -> None:
    long = attrs.evolve(LOST, trace=(step("T", 1, "", "read", "v" * 200),), output="\n".join(map(str, range(60))))
    assert "v" * 127 + "...\n" in text(report(findings=(long,)))
    assert "| ... 20 lines before\n  | 20\n" in text(report(findings=(long,)))
    verbose = text(report(findings=(long,)), verbose=True)
    assert "v" * 100 in verbose
    assert "| 0\n" in verbose


def test_the_json_report_is_of_its_documented_form() -> None:
    for verdict in Verdict:
        content = json.loads(dumps(report(findings=(LOST, DEADLOCK), verdict=verdict)))
        jsonschema.validate(content, SCHEMA)
        assert content["findings"][0]["trace"][1]["racing"] is True
        assert content["schema"] == 1


@pytest.mark.parametrize(
    "change",
    [{"verdict": "ok"}, {"executions": -1}, {"schema": 2}, {"findings": [{}]}, {"states": "none"}],
)
def test_the_form_refuses_what_is_wrong(change: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**to_json(report()), **change}, SCHEMA)


def test_every_field_is_documented() -> None:
    assert set(SCHEMA["properties"]) == {"schema", *[field.name for field in attrs.fields(Report)]}
    failure = {field.name for field in attrs.fields(Failure)} - {"saved"}
    assert set(SCHEMA["$defs"]["finding"]["properties"]) == failure
    assert set(SCHEMA["$defs"]["step"]["properties"]) == {field.name for field in attrs.fields(Step)}
    assert set(SCHEMA["$defs"]["finding"]["properties"]["kind"]["enum"]) == {kind.value for kind in Kind}


def test_progress_lines_come_at_growing_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    monitor = Lines()
    for tenth in range(2000):
        monitor.progress(Progress(tenth, tenth / 10, done=tenth, estimate=Estimate(90.0, 100.0, 110.0)))
    printed = capsys.readouterr().err.splitlines()
    assert [line.split(" ")[0] for line in printed] == ["5", "10", "20", "40", "80", "140"]
    assert printed[0] == "5 s: 50 executions, 10 a second, about 50 % left of some 100 (90 to 110)"


def test_the_status_line_appears_late_and_goes_away(capsys: pytest.CaptureFixture[str]) -> None:
    monitor = StatusLine()
    monitor.progress(Progress(1, 0.1))
    monitor.done()
    assert capsys.readouterr().err == ""
    monitor.progress(Progress(10, 2.0))
    monitor.done()
    shown = capsys.readouterr().err
    assert "2 s: 10 executions, 5 a second   (Ctrl-C" in shown
    assert shown.endswith("\r\x1b[2K")


def test_a_terminal_that_is_too_narrow_for_the_table_gets_two_lines_for_each_step() -> None:
    out = StringIO()
    show_failure(LOST, Console(file=out, width=80, color_system=None))
    assert out.getvalue().splitlines()[1:5] == [
        "  Thread-1  counter.py:8  old = self.hits",
        "              read Counter.hits  0",
        "  Thread-2  counter.py:8  old = self.hits",
        "              read Counter.hits  0  <- races with Thread-1, line 9",
    ]
