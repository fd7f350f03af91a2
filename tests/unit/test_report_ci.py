"""SARIF files, annotations and summaries: from reports, and what the commands write."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from dpor.cli.main import cli
from dpor.core.outcome import Kind
from dpor.core.results import Failure, Report, Verdict
from dpor.core.steps import Step
from dpor.report import github
from dpor.report.json import to_json
from dpor.report.places import located
from dpor.report.sarif import to_sarif

ROOT = str(Path.cwd())


def step(thread: str, line: int | None, operation: str, racing: bool = False) -> Step:
    return Step(thread, None if line is None else "a b.py", line, f"line {line}", operation, "1", racing)


RACE = Failure(
    kind=Kind.RACE,
    message="write C.n in t1 (a b.py:3) and read C.n in t2 (a b.py:4): nothing orders them",
    thread="t1",
    file="a b.py",
    line=3,
    other="a b.py:4",
    schedule=(1, 2),
    trace=(step("t1", 3, "write C.n", True), step("t2", 4, "read C.n", True), step("t1", None, "end")),
)
STUCK = Failure(kind=Kind.DEADLOCK, message="t1 waits for A\nt2 waits for B", thread="t1")


def report(*findings: Failure, strategy: str = "optimal", reasons: tuple[str, ...] = ()) -> dict[str, Any]:
    verdict = Verdict.FAIL if findings else Verdict.INCONCLUSIVE if reasons else Verdict.PASS
    told = Report(
        target="a b.py::main",
        strategy=strategy,
        verdict=verdict,
        exhaustive=not reasons,
        reasons=reasons,
        findings=findings,
        executions=1234,
    )
    return to_json(told)


# ---------------------------------------------------------------------- SARIF

_TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
_PLACE = {
    "type": "object",
    "required": ["artifactLocation"],
    "properties": {
        "artifactLocation": {
            "type": "object",
            "required": ["uri"],
            "properties": {"uri": {"type": "string", "pattern": r"^(file:///)?[\w./%~-]+$"}},
        },
        "region": {"type": "object", "properties": {"startLine": {"type": "integer", "minimum": 1}}},
    },
}
_LOCATION = {
    "type": "object",
    "properties": {"physicalLocation": _PLACE, "message": _TEXT, "id": {"type": "integer"}},
    "additionalProperties": False,
}
_STEP = {
    "type": "object",
    "required": ["location"],
    "properties": {
        "location": _LOCATION,
        "executionOrder": {"type": "integer", "minimum": 1},
        "importance": {"enum": ["important", "essential", "unimportant"]},
    },
    "additionalProperties": False,
}
_RESULT = {
    "type": "object",
    "required": ["message", "ruleId"],
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "kind": {"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": _TEXT,
        "locations": {"type": "array", "items": _LOCATION},
        "relatedLocations": {"type": "array", "items": _LOCATION},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
        "properties": {"type": "object"},
        "codeFlows": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["threadFlows"],
                "properties": {
                    "threadFlows": {
                        "type": "array",
                        "minItems": 1,
                        "items": {
                            "type": "object",
                            "required": ["locations"],
                            "properties": {
                                "id": {"type": "string"},
                                "locations": {"type": "array", "minItems": 1, "items": _STEP},
                            },
                            "additionalProperties": False,
                        },
                    }
                },
            },
        },
    },
    "additionalProperties": False,
}
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool"],
                "properties": {"results": {"type": "array", "items": _RESULT}},
            },
        },
    },
}
"""What the standard says of the parts that are used (sections 3.13 to 3.38)."""


def sarif(*reports: dict[str, Any], troubles: tuple[str, ...] = ()) -> dict[str, Any]:
    """The run of the file, checked against the standard."""
    content = json.loads(to_sarif(reports, ROOT, troubles))
    jsonschema.validate(content, SARIF)
    (run,) = content["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    return run  # type: ignore[no-any-return]


def test_a_finding_is_a_result_with_a_flow_for_each_thread() -> None:
    (result,) = sarif(report(RACE))["results"]
    assert (result["ruleId"], result["level"]) == ("race", "error")
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("a%20b.py", 3)
    assert result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 4
    (flow,) = result["codeFlows"]
    assert [
        (thread["id"], [each["executionOrder"] for each in thread["locations"]]) for thread in flow["threadFlows"]
    ] == [("t1", [1]), ("t2", [2])]


def test_a_finding_without_a_place_is_told_at_the_file_of_the_target() -> None:
    (result,) = sarif(report(STUCK))["results"]
    assert result["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": "a%20b.py"}}}]
    assert result["message"]["text"] == "No thread can go on\nt1 waits for A\nt2 waits for B"


def test_what_several_strategies_found_is_one_result() -> None:
    (result,) = sarif(report(RACE), report(RACE, strategy="source"))["results"]
    assert result["properties"]["strategies"] == ["optimal", "source"]


def test_an_inconclusive_check_is_an_open_result_and_a_pass_none() -> None:
    (result,) = sarif(report(reasons=("a budget",)))["results"]
    assert (result["kind"], result["level"]) == ("open", "none")
    assert result["message"]["text"].endswith("not everything was covered: a budget")
    assert sarif(report())["results"] == []


def test_a_fingerprint_outlives_lines_added_above() -> None:
    moved = Failure(kind=Kind.ASSERTION, message="AssertionError: x", thread="t", file="a b.py", line=3)
    later = Failure(kind=Kind.ASSERTION, message="AssertionError: x", thread="t", file="a b.py", line=7)
    prints = [sarif(report(each))["results"][0]["partialFingerprints"] for each in (moved, later)]
    assert prints[0] == prints[1]


def test_what_went_wrong_with_the_check_is_a_notification() -> None:
    (invocation,) = sarif(troubles=("died",))["invocations"]
    assert not invocation["executionSuccessful"]
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == "died"


def test_a_file_outside_the_root_keeps_its_whole_path() -> None:
    away = Failure(kind=Kind.EXCEPTION, message="ValueError", thread="t", file="/else where/x.py", line=1)
    (result,) = sarif(report(away))["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "file:///else%20where/x.py"


# ---------------------------------------------------------------------- GitHub


def test_annotations() -> None:
    lines = [*github.commands([report(RACE), report(reasons=("100 % of the budget",))], ROOT, ["died"])]
    assert lines == [
        "::error file=a b.py,line=3,title=dpor%3A race::A data race: write C.n in t1 (a b.py:3) and read C.n in t2"
        " (a b.py:4): nothing orders them%0Aa b.py::main",
        "::warning file=a b.py,title=dpor%3A inconclusive::a b.py::main: 100 %25 of the budget",
        "::error title=dpor%3A not checked::died",
    ]


def test_a_message_cannot_give_commands() -> None:
    evil = Failure(kind=Kind.EXCEPTION, message="x\n::set-output name=a::b\r\n::error::", thread="t")
    (line,) = github.commands([report(evil)], ROOT)
    assert len(line.splitlines()) == 1


def test_the_summary_has_a_table_and_the_interleaving() -> None:
    text = github.job_summary([report(RACE)], ROOT)
    assert "| a b.py::main | optimal | **fail** | 1,234 | 0.00 |" in text
    assert "> t1  a b.py:3  line 3  write C.n  1" in text


def test_nothing_in_a_message_can_end_its_block() -> None:
    evil = Failure(kind=Kind.EXCEPTION, message="x\n```\n<script>", thread="t")
    text = github.job_summary([report(evil)], ROOT)
    fences = re.findall(r"(?m)^(`+)", text)
    assert fences == ["````", "```", "````"]


def test_findings_at_different_places_stay_apart() -> None:
    other = Failure(kind=Kind.RACE, message="another", thread="t1", file="a b.py", line=9)
    assert len(located([report(RACE, other)])) == 2


# ---------------------------------------------------------------------- the commands

STUCK_PROGRAM = {
    "locks": ["a", "b"],
    "threads": [["lock a", "lock b", "unlock b", "unlock a"], ["lock b", "lock a", "unlock a", "unlock b"]],
}


@pytest.fixture
def stuck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    Path("stuck.json").write_text(json.dumps(STUCK_PROGRAM))
    return "stuck.json"


@pytest.mark.parametrize("command", [["check"], ["compare", "--strategies", "optimal,source"]])
def test_commands_write_both(stuck: str, command: list[str]) -> None:
    done = CliRunner().invoke(cli, [*command, stuck, "--sarif", "out.sarif", "--github"])
    assert "::error file=stuck.json,title=dpor%3A deadlock::No thread can go on%0A" in done.output
    content = json.loads(Path("out.sarif").read_text())
    jsonschema.validate(content, SARIF)
    assert [result["ruleId"] for result in content["runs"][0]["results"]] == ["deadlock"]
    assert "## dpor" in Path("summary.md").read_text()


def test_standard_output_is_for_one_of_them(stuck: str) -> None:
    done = CliRunner().invoke(cli, ["check", stuck, "--github", "--json", "-"])
    assert done.exit_code == 2
    assert "--github and --json - both want standard output" in done.output


def test_a_summary_that_cannot_be_written_loses_nothing(stuck: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "none/summary.md")
    done = CliRunner().invoke(cli, ["check", stuck, "--github"])
    assert done.exit_code == 1
    assert "GITHUB_STEP_SUMMARY=none/summary.md: cannot be written: No such file or directory" in done.output
