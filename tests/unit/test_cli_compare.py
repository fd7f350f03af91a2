"""`dpor compare`: a process and a row for each target and strategy; whatever happens to one is a cell."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree

import attrs
import jsonschema
import pytest
from click.testing import CliRunner, Result

import dpor
from dpor.app import advice, comparing
from dpor.cli.main import cli
from dpor.core.errors import UserError
from dpor.core.options import Options
from dpor.explorers import STATEFUL, STATELESS
from dpor.report.comparison import MEASURES, Row
from dpor.report.html import chart

REPORTS = Path(dpor.__file__).parent / "report"
SCHEMA, REPORT_SCHEMA = (json.loads((REPORTS / name).read_text()) for name in ("comparison.schema.json", "schema.json"))
SB = {"vars": {"x": 0, "y": 0}, "threads": [["w x 1", "r y a"], ["w y 1", "r x a"]]}
ENDLESS = {"vars": {"x": 0}, "threads": [["w x 2"], [["while", "1", ["w x 1"]]]]}

COUNTER = {
    "vars": {"x": 0},
    "locks": ["m"],
    "threads": [["lock m", "rmw x a a+1", "r x a", "unlock m"], ["lock m", "rmw x a a+1", "r x a", "unlock m"]],
}
LOOKERS = """
from threading import Thread

class Limits:
    low = 1
    def __init__(self):
        self.high = 2

def scenario():
    limits = Limits()
    threads = [Thread(target=lambda: limits.low < limits.high) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sb.json").write_text(json.dumps(SB))


def compare(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["compare", *arguments], catch_exceptions=False)


def test_every_strategy_has_a_column_with_ratios_to_the_first() -> None:
    done = compare("sb.json")
    assert done.exit_code == 0
    count = len([*STATELESS, *STATEFUL])
    title, _, header, _, *lines = done.stdout.splitlines()
    assert title == "sb.json"
    assert header.split() == [*STATELESS, *STATEFUL]
    cells = {line.split()[0]: line.split()[1:] for line in lines if line}
    assert cells["verdict"] == ["pass"] * count
    assert cells["executions"][:9] == ["6", *["3", "0.5×"] * 3, "4", "0.67×"]
    assert cells["states"][:4] == ["-"] * 4
    assert cells["states"][4:6] == ["13", "13"]
    assert cells["states"][6] == "1×"
    assert (
        f"  all {count} strategies that finished ({', '.join(header.split())}) agree: 3 outcomes, 0 deadlocks" in lines
    )
    assert done.stderr.splitlines()[0].startswith(f"[1/{count}] sb.json  none: pass, 6 executions, ")


def test_random_strategies_are_compared_only_when_they_are_named() -> None:
    done = compare("sb.json", "--strategies", "optimal,random,pct", "--max-seconds", "0.5")
    assert done.exit_code == 0
    assert "random schedules: " in done.stdout
    assert "pct" not in compare("sb.json").stdout


def test_each_program_of_a_file_is_a_target() -> None:
    Path("both.jsonl").write_text(
        "\n".join(json.dumps({"name": n, "spec": s}) for n, s in [("sb", SB), ("e", ENDLESS)])
    )
    done = compare("both.jsonl", "--strategies", "full,dpor,none", "--max-seconds", "2")
    assert done.exit_code == 0
    assert "both.jsonl sb\n" in done.stdout
    assert "both.jsonl e\n" in done.stdout
    assert "  none: a run was cut after " in done.stdout
    assert "all 2 strategies that finished (full, dpor) agree: 0 outcomes, 0 deadlocks" in done.stdout


def test_what_cannot_be_compared_is_exit_code_2() -> None:
    for arguments, complaint in (
        (["sb.json", "--strategies", "magic"], "dpor: no strategy 'magic'; there are none, classic, source"),
        (["sb.json", "--strategies", "none,none"], "dpor: --strategies takes different names"),
        (["sb.json", "--json", "no/r.json"], "dpor: no/r.json: there is no folder"),
        (["sb.json", "missing.json"], "dpor: missing.json cannot be read"),
        (["sb.json", "missing.py::main"], "dpor: missing.py::main: there is no file missing.py"),
        (["daisy:bug,bug"], "dpor: daisy:bug,bug: bug is given twice"),
        (["sb.json", "--pointers", "ci-ex", "--strategies", "none,dpor"], "--pointers goes with sa or dpor+static, of"),
        (["sb.json", "--store", "choices", "--strategies", "none"], "--store goes with full or original or alone or"),
        (["sb.json", "--preemptions", "1", "--strategies", "dpor"], "--preemptions goes with none or classic, of"),
        (["sb.json", "--races"], "dpor: --races needs a search that visits every trace, and full does not"),
        (["sb.json", "--timeouts", "idle"], "dpor: --timeouts means nothing for an abstract program; leave it out"),
        (["sb.json", "--max-states", "0"], "dpor: Invalid value for '--max-states': 0"),
        (["sb.json", "--name", "x"], "dpor: sb.json has no program 'x' (it has sb)"),
        (["a.py::main", "--name", "x"], "dpor: --name x: only programs of .json and .jsonl files have such names"),
    ):
        done = compare(*arguments)
        assert (done.exit_code, done.stdout, complaint in done.stderr) == (2, "", True)
        assert "[1/" not in done.stderr, "no process was started"


def test_options_of_the_search_are_for_the_strategies_that_have_a_use_for_them() -> None:
    Path("both.jsonl").write_text("\n".join(json.dumps({"name": n, "spec": SB}) for n in "ab"))
    found = {}
    for words in ([], ["--store", "choices", "--max-steps", "50"]):
        done = compare("both.jsonl", "--name", "b", "--strategies", "none,original,dpor", "--json", "r.json", *words)
        assert done.exit_code == 0, done.stdout
        rows = json.loads(Path("r.json").read_text())["rows"]
        assert [row["target"] for row in rows] == ["both.jsonl b"] * 3
        found[bool(words)] = [row["states"] for row in rows]
    assert found[True][0] == found[False][0] is None
    assert found[True][1] < found[False][1]


def test_the_configurations_of_a_paper_have_their_names() -> None:
    Path("counter.json").write_text(json.dumps(COUNTER))
    done = compare("counter.json", "--every-access", "--strategies", "full,B,S,D,DA,LD,D+LD", "--json", "r.json")
    assert done.exit_code == 0, done.stdout
    assert "agree: " in done.stdout
    rows = {row["strategy"]: row for row in json.loads(Path("r.json").read_text())["rows"]}
    assert [*rows] == ["full", "B", "S", "D", "DA", "LD", "D+LD"]
    assert rows["B"]["states"] == rows["full"]["states"] > rows["LD"]["states"]
    assert rows["D"]["events"] <= rows["DA"]["events"]
    assert [len(rows[name]["restarts"]) for name in ("B", "S", "D", "LD")] == [0, 1, 0, 0]
    cells = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line}
    assert cells["withdrawn"] == ["0", "0", "1", "0", "0", "0", "0"]


def test_every_access_is_an_event_under_all_strategies() -> None:
    Path("lookers.py").write_text(LOOKERS)
    files = ["--json", "r.json", "--strategies", "optimal,original,dpor", "--max-seconds", "600"]
    events = []
    for words in ([], ["--every-access"]):
        assert compare("lookers.py::scenario", *files, *words).exit_code == 0
        content = json.loads(Path("r.json").read_text())
        assert content["agreement"][0]["agree"] is True
        events.append([row["events"] for row in content["rows"]])
    assert all(few < many for few, many in zip(*events, strict=True))


def test_the_arguments_of_a_process_say_all_that_was_asked() -> None:
    """Each option that `check` has, but for those of how it tells what it found."""
    named = {
        "strategy": "sa",
        "preemptions": 1,
        "order": "random",
        "seed": 2,
        "depth": 4,
        "max_executions": 5,
        "max_seconds": 6.5,
        "max_states": 7,
        "max_memory": 8,
        "store": "choices",
        "whole_states": True,
        "sync_choices": "shared",
        "escape": "dynamic",
        "locks": "none",
        "field_access": "callee",
        "pointers": "ci-dd",
        "immutable": False,
        "max_steps": 9,
        "timeouts": "idle",
        "timeout_limit": 10,
        "max_delay": 2.5,
        "every_access": True,
        "races": True,
        "instrument": ("a", "b"),
        "trust": ("c",),
        "only": ("d",),
        "cache": False,
        "name": "n",
    }
    assert {*named, "all", "outcomes", "oracle", "expect_threads", "checkpoint", "workers", "cluster"} == {
        field.name for field in attrs.fields(Options)
    }
    seen = {}

    def session(target: str, options: Options, *_: object, **__: object) -> NoReturn:
        seen["options"] = options
        raise UserError("enough")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpor.app.checking.Session", session)
        words = advice.arguments(Options(**named))
        CliRunner().invoke(cli, ["check", "sb.json", *words])
    assert seen["options"] == Options(**named)


def test_a_target_that_cannot_be_explored_is_a_line() -> None:
    Path("wrong.py").write_text("def scenario(x): pass")
    done = compare("wrong.py::scenario", "sb.json", "--strategies", "source,optimal")
    assert done.exit_code == 0
    assert done.stdout.startswith("wrong.py::scenario needs arguments (x); a target is called without any\n")
    assert done.stdout.count("wrong.py") == 1
    assert "all 2 strategies that finished (source, optimal) agree" in done.stdout


def test_files_hold_all_rows() -> None:
    files = ["--json", "r.json", "--csv", "r.csv"]
    Path("wrong.py").write_text("def scenario(x): pass")
    assert compare("sb.json", "wrong.py::scenario", *files, "--strategies", "none,dpor").exit_code == 0
    content = json.loads(Path("r.json").read_text())
    jsonschema.validate(content, SCHEMA)
    for row in content["rows"]:
        if row["error"] is None:
            jsonschema.validate(row, REPORT_SCHEMA)
    assert [(row["target"], row["strategy"], row["exit_code"]) for row in content["rows"]] == [
        ("sb.json", "none", 0),
        ("sb.json", "dpor", 0),
        ("wrong.py::scenario", "none", 2),
        ("wrong.py::scenario", "dpor", 2),
    ]
    assert [each["agree"] for each in content["agreement"]] == [True, None]
    with open("r.csv", newline="") as lines:
        table = list(csv.DictReader(lines))
    assert [(row["executions"], row["matched"]) for row in table][:3] == [
        ("6", ""),
        ("3", table[1]["matched"]),
        ("", ""),
    ]


def test_the_html_file_needs_nothing_else_and_escapes_all_text() -> None:
    pytest.importorskip("jinja2")
    Path("<b>&.json").write_text(json.dumps(SB))
    Path("wrong.py").write_text("def scenario(x): pass")
    assert compare("<b>&.json", "wrong.py::scenario", "--html", "r.html", "--strategies", "none,dpor").exit_code == 0
    page = Path("r.html").read_text()
    assert "<b>" not in page
    assert "&lt;b&gt;&amp;.json" in page
    assert "http" not in page
    body = page.removeprefix("<!DOCTYPE html>").replace('<meta charset="utf-8">', "")
    tree = ElementTree.fromstring(body.replace('initial-scale=1">', 'initial-scale=1"/>'))
    assert len(tree.findall(".//svg")) == 5
    assert len(tree.findall(".//section")) == 2


def row(strategy: str, **report: Any) -> Row:
    known = {"exhaustive": True, "outcomes": 1, "deadlocks": 0, "outcome_digests": {"00": "x=1"}, "findings": []}
    return Row("t", strategy, {**known, **report})


def test_strategies_that_disagree_are_named_with_what_differs() -> None:
    failure = {"kind": "assertion", "file": "a.py", "line": 7}
    other = row("b", outcome_digests={"00": "x=1", "11": "x=2"}, findings=[failure])
    found = comparing.compared([row("a"), other, row("c")])
    assert found.agree is False
    assert found.lines == (
        "THE STRATEGIES DISAGREE, a fault of dpor:",
        "outcome 11 (x=2): found by b; not by a, c",
        "failure assertion at a.py:7: found by b; not by a, c",
    )


def test_searches_that_did_not_finish_say_nothing_against_each_other() -> None:
    cut = row("b", exhaustive=False, outcome_digests={})
    assert comparing.compared([row("a"), cut, row("c")]).agree is True
    assert comparing.compared([row("a"), cut]).agree is None


def test_a_disagreement_is_exit_code_4(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {"choices": 0, "states": None, "matched": None, "executions": 1, "events": 1, "seconds": 0.1}
    rest = {**counts, "verdict": "pass", "reasons": [], "restarts": [], "peak_memory_bytes": 1}
    rows = {"none": row("none", **rest), "full": row("full", outcome_digests={}, **rest)}
    monkeypatch.setattr(comparing, "run_job", lambda job: rows[job.options.explorer])
    done = compare("sb.json", "--strategies", "none,full")
    assert done.exit_code == 4
    assert "outcome 00 (x=1): found by none; not by full" in done.stdout


HANGS = "did not end by itself 0.6 s after its budget of 0.1 s"


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import os; os.kill(os.getpid(), 9)", "died of SIGKILL"),
        ("import time; time.sleep(9999)", HANGS),
        ("import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(9999)", HANGS),
        ("raise SystemExit(3)", "ended without a report, exit code 3"),
        ("print('dpor: no', file=__import__('sys').stderr); raise SystemExit(2)", "no"),
    ],
)
def test_a_process_that_dies_or_hangs_is_a_row(monkeypatch: pytest.MonkeyPatch, code: str, error: str) -> None:
    monkeypatch.setattr(comparing, "GRACE", 0.6 if error == HANGS else 600.0)
    monkeypatch.setattr(comparing, "LAST_GRACE", 0.2)
    monkeypatch.setattr(comparing, "_command", lambda *_: [sys.executable, "-c", code])
    row = comparing.run_job(comparing.Job("t", Options(strategy="none", max_seconds=0.1)))
    assert (row.report, row.error) == (None, error)
    assert comparing.compared([row]).agree is None


LARGE = """\
import pathlib, threading
def main():
    pathlib.Path("begun").touch()
    cells = [0]
    def work():
        for _ in range(20): cells[0] += 1
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""


def test_ctrl_c_keeps_what_is_known() -> None:
    Path("large.py").write_text(LARGE)
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "dpor", "compare", "sb.json", "large.py::main"),
            *("--strategies", "none", "--json", "r.json", "--max-seconds", "60"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("[1/2]")
    while not Path("begun").exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 3, err
    assert "interrupted\n" in out  # after what else was not covered, if a run was being cut
    content = json.loads(Path("r.json").read_text())
    assert content["interrupted"] is True
    assert [(row["target"], row["exhaustive"]) for row in content["rows"]] == [
        ("sb.json", True),
        ("large.py::main", False),
    ]


def test_bars_are_drawn_on_powers_of_ten() -> None:
    measure = next(measure for measure in MEASURES if measure.name == "executions")
    rows = [row(name, executions=count, verdict="pass") for name, count in (("a", 1000), ("b", 10), ("c", 0))]
    drawn = chart(rows, measure)
    assert drawn is not None
    assert [tick.text for tick in drawn.ticks] == ["1", "10", "100", "1,000"]
    assert [bar.width for bar in drawn.bars] == [260.0, 86.7, 0.0]
    assert chart(rows[2:], measure) is None
