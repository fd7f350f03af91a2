"""`dpor check`: exit codes, what is printed, what is written. On abstract programs, which load at once."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import jsonschema
import pytest
from click.testing import CliRunner, Result

import dpor
from dpor.cli.main import cli
from dpor.core.errors import AssumptionBroken, NotDeterministic
from dpor.core.system import Run, System
from dpor.explorers import SAMPLERS, STATEFUL, STATELESS, STRATEGIES, Explorer, Optimal
from dpor.model import AbstractSystem

PROGRAMS = {
    "racy": {
        "vars": {"x": 0},
        "sems": {"s": 0},
        "threads": [
            ["r x a", "w x a+1", "V s"],
            ["r x a", "w x a+1", "V s"],
            ["P s", "P s", "r x a", "assert a==2"],
        ],
    },
    "fine": {"vars": {"x": 0}, "threads": [["w x 1"], ["r x a"], ["r x a"]]},
    "stuck": {
        "locks": ["a", "b"],
        "threads": [["lock a", "lock b", "unlock b", "unlock a"], ["lock b", "lock a", "unlock a", "unlock b"]],
    },
    "both": {
        "vars": {"x": 0},
        "locks": ["a", "b"],
        "threads": [
            ["w x 1", "lock a", "lock b", "unlock b", "unlock a"],
            ["r x c", "assert c==0", "lock b", "lock a", "unlock a", "unlock b"],
        ],
    },
    "endless": {"vars": {"x": 0}, "threads": [["w x 2"], [["while", "1", ["w x 1"]]]]},
    "large": {
        "vars": {"x": 0},
        "threads": [["r x a", "w x a+1"] * 8, ["r x a", "w x a+1"] * 8, ["r x a", "w x a+1"] * 8],
    },
}
SCHEMA = json.loads((Path(dpor.__file__).parent / "report" / "schema.json").read_text())


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one file for each program, as the working folder."""
    for name, program in PROGRAMS.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(program))
    lines = [json.dumps({"name": name, "spec": program}) for name, program in PROGRAMS.items()]
    (tmp_path / "all.jsonl").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["check", *arguments], catch_exceptions=False)


@pytest.mark.parametrize("strategy", [*STATELESS, *STATEFUL])
def test_a_program_without_a_failure_passes(strategy: str) -> None:
    done = check("fine.json", "--strategy", strategy)
    assert done.exit_code == 0
    assert done.stdout.startswith("PASSED  fine.json: no interleaving fails.  ")
    assert not Path(".dpor").exists()


@pytest.mark.parametrize("strategy", [*STATELESS, *STATEFUL])
def test_a_failure_is_shown_with_its_schedule(strategy: str) -> None:
    done = check("racy.json", "--strategy", strategy)
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "FAILED  AssertionError in T2: T2: a==2"
    assert sum("races with" in line for line in lines) == 2
    assert "Not exhaustive: stopped at the first failure, execution " in done.stdout
    assert lines[-1] == "Again: dpor replay .dpor/racy-1.json"
    assert Path(".dpor/racy-1.json").exists()
    assert Path(".dpor/.gitignore").read_text() == "*\n"


def test_a_deadlock_says_who_waits_for_what() -> None:
    done = check("stuck.json")
    assert done.exit_code == 1
    assert "FAILED  deadlock: no thread can go on\n" in done.stdout
    assert "T0 waits to lock b, held by T1" in done.stdout
    assert "T1 waits to lock a, held by T0" in done.stdout


def test_all_goes_on_and_shows_each_failure_once() -> None:
    done = check("both.json", "--all", "--save", "s.json", "--json", "r.json", "-v")
    assert done.exit_code == 1
    assert "FAILED 1" in done.stdout
    assert "FAILED 2" in done.stdout
    assert "FAILED 3" not in done.stdout
    assert "Exhaustive: every interleaving was covered." in done.stdout
    assert done.stdout.splitlines()[-2:] == ["Again: dpor replay s.json", "Again: dpor replay s-2.json"]
    report = json.loads(Path("r.json").read_text())
    assert report["exhaustive"] is True
    assert sorted(finding["kind"] for finding in report["findings"]) == ["assertion", "deadlock"]
    assert all(finding["occurrences"] > 1 for finding in report["findings"])
    assert report["deadlocks"] >= 1


def test_one_of_several_programs_is_chosen_by_name() -> None:
    assert check("all.jsonl", "--name", "fine").exit_code == 0
    done = check("all.jsonl", "--name", "racy")
    assert done.exit_code == 1
    assert "dpor replay .dpor/all-racy-1.json" in done.stdout
    missing = check("all.jsonl", "--name", "nope")
    assert missing.exit_code == 2
    assert "no program 'nope'" in missing.stderr
    assert check("all.jsonl").exit_code == 2


@pytest.mark.parametrize("name", ["fine", "racy", "stuck", "endless"])
def test_the_json_report_has_the_documented_form(name: str) -> None:
    check(f"{name}.json", "--json", "r.json", "--all", "--max-steps", "50", "--max-executions", "30")
    report = json.loads(Path("r.json").read_text())
    jsonschema.validate(report, SCHEMA)
    assert report["target"] == f"{name}.json"
    assert (report["states"] is None) == (name != "endless")  # whose runs are cut
    assert report["peak_memory_bytes"] > 10**6


def test_counts_are_those_of_the_explorer() -> None:
    check("all.jsonl", "--name", "fine", "--json", "r.json")
    report = json.loads(Path("r.json").read_text())
    assert (report["verdict"], report["executions"], report["blocked"], report["outcomes"]) == ("pass", 4, 0, 4)
    assert report["choices"] == 2
    assert report["events"] + report["replayed"] == 12


def test_a_stateful_search_ends_where_threads_go_on_for_ever() -> None:
    done = check("endless.json", "--strategy", "dpor", "--json", "r.json", "-v")
    assert done.exit_code == 0
    report = json.loads(Path("r.json").read_text())
    jsonschema.validate(report, SCHEMA)
    assert (report["verdict"], report["states"], report["matched"]) == ("pass", 4, 3)
    assert " 4 states, 3 matched, " in done.stdout


def test_too_many_states_are_inconclusive() -> None:
    assert check("fine.json", "--strategy", "full", "--max-states", "13").exit_code == 0
    done = check("fine.json", "--strategy", "full", "--max-states", "12")
    assert done.exit_code == 3
    assert "  because --max-states 12 reached" in done.stdout


def test_too_much_memory_is_inconclusive() -> None:
    done = check("large.json", "--strategy", "full", "--max-memory", "5")
    assert done.exit_code == 3
    assert "  because --max-memory 5 reached" in done.stdout


def test_outcomes_have_the_same_digests_under_every_strategy() -> None:
    found = []
    for strategy in (*STATELESS, *STATEFUL):
        check("all.jsonl", "--name", "racy", "--all", "--strategy", strategy, "--json", "r.json")
        found.append(json.loads(Path("r.json").read_text())["outcome_digests"])
    assert found == [found[0]] * len(found)
    assert len(found[0]) > 1
    assert "x=1 s=0 T0.tid=0 T0.a=0 T1.tid=1 T1.a=0 T2.tid=2 T2.a=1 failed T2:a==2" in found[0].values()


def test_the_json_report_can_go_to_stdout() -> None:
    done = check("racy.json", "--json", "-")
    assert done.exit_code == 1
    assert json.loads(done.stdout.rsplit("}\n", 1)[0] + "}")["verdict"] == "fail"


def test_a_budget_that_is_exactly_enough_is_no_limit() -> None:
    assert check("fine.json", "--max-executions", "4", "--every-access").exit_code == 0
    done = check("fine.json", "--max-executions", "3", "--every-access", "--json", "r.json")
    assert done.exit_code == 3
    assert "INCONCLUSIVE  fine.json: no failure, but not all was covered.  3 executions" in done.stdout
    assert "  because --max-executions 3 reached" in done.stdout
    report = json.loads(Path("r.json").read_text())
    assert (report["executions"], report["reasons"]) == (3, ["--max-executions 3 reached"])


def test_the_time_budget_ends_the_search() -> None:
    done = check("large.json", "--max-seconds", "0.3")  # it would take years
    assert done.exit_code == 3
    assert "  because --max-seconds 0.3 reached" in done.stdout


def test_a_run_that_is_cut_makes_the_verdict_inconclusive() -> None:
    done = check("endless.json", "--max-steps", "20", "--strategy", "optimal")
    assert done.exit_code == 3
    assert "--max-steps" in done.stdout


def test_after_a_run_that_is_cut_states_are_stored() -> None:
    done = check("endless.json", "--max-steps", "20")
    assert done.exit_code == 0
    assert "states in 0 executions" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["none.json"], "none.json cannot be read"),
        (["fine.json", "--strategy", "magic"], "no strategy 'magic'; there are auto, none, classic, source, optimal"),
        (["fine.json", "--strategy", "source", "--preemptions", "1"], "goes with --strategy none or classic, not with"),
        (
            ["fine.json", "--strategy", "pct", "--preemptions", "1"],
            "goes with --strategy none or classic, not with pct",
        ),
        (["fine.json", "--preemptions", "-1"], "Invalid value for '--preemptions'"),
        (["fine.json", "--strategy", "random", "--max-seconds", "0"], "never ends: give --max-executions"),
        (["fine.json", "--timeouts", "never"], "Invalid value for '--timeouts'"),
        (["fine.json", "--max-steps", "0"], "Invalid value for '--max-steps'"),
        (
            ["fine.json", "--max-seconds", "long"],
            "Invalid value for '--max-seconds': 'long' is not a valid number",
        ),
        (["fine.json", "--json", "no/such/r.json"], "there is no folder"),
        (["fine.json", "--json", ""], "--json '': a file is needed here"),
        (["fine.json", "--html", "-"], "--html -: a file is needed here"),
        (["fine.json", "--json", "r.json", "--save", "./r.json"], "--json and --save name the same file"),
        (["fine.json", "--max-states", "5"], "--max-states goes with --strategy full or"),
        (["fine.json", "--nonsense"], "No such option"),
        ([], "Missing argument 'TARGET'"),
    ],
)
def test_what_the_user_got_wrong_is_exit_code_2(arguments: list[str], complaint: str) -> None:
    done = check(*arguments)
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("dpor: ")
    assert complaint in line


def test_quiet_says_little() -> None:
    assert check("fine.json", "-q").stdout.count("\n") == 1
    assert check("racy.json", "-q").stdout.count("\n") == 3
    assert check("fine.json", "-q").stderr == ""


def test_help_names_every_strategy_and_exit_code() -> None:
    text = check("--help").stdout
    assert all(name in text for name in (*STATELESS, *STATEFUL, *SAMPLERS))
    assert all(f"\n    {code}  " in text for code in range(5))


# ---------------------------------------------------------------------- searches that go wrong


def explorer(monkeypatch: pytest.MonkeyPatch, explore: Callable[[Optimal], Iterator[Run]]) -> None:
    """Replace the default strategy by one that explores like this."""

    class Planted(Optimal):
        def explore(self) -> Iterator[Run]:
            return explore(self)

    planted = attrs.evolve(STRATEGIES["optimal"], make=lambda system, options: Planted(system))
    monkeypatch.setitem(STRATEGIES, "optimal", planted)


def after(number: int, error: BaseException) -> Callable[[Optimal], Iterator[Run]]:
    def explore(search: Optimal) -> Iterator[Run]:
        for count, run in enumerate(Optimal.explore(search)):
            if count == number:
                raise error
            yield run

    return explore


def test_an_error_of_ours_is_exit_code_4_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer(monkeypatch, after(6, ZeroDivisionError("planted")))
    done = check("racy.json", "--all", "--json", "r.json")
    assert done.exit_code == 4
    assert "FAILED  AssertionError in T2" in done.stdout
    assert "an error of dpor itself, please report it: ZeroDivisionError: planted" in done.stderr
    assert "Traceback" not in done.stderr
    assert "planted" in Path(".dpor/internal-error.txt").read_text()
    report = json.loads(Path("r.json").read_text())
    assert (report["verdict"], report["exhaustive"]) == ("fail", False)
    assert report["reasons"] == ["ZeroDivisionError in dpor itself"]
    assert report["findings"][0]["schedule"]

    done = check("fine.json", "--traceback")
    assert done.exit_code == 0
    done = check("racy.json", "--all", "--traceback")
    assert done.exit_code == 4
    assert "Traceback (most recent call last)" in done.stderr


def test_an_error_of_ours_never_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer(monkeypatch, after(2, RecursionError("planted")))
    done = check("fine.json")
    assert done.exit_code == 4
    assert "PASSED" not in done.stdout


def test_a_program_that_is_not_deterministic_is_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer(monkeypatch, after(2, NotDeterministic("recorded was a read, now it is a write")))
    done = check("fine.json")
    assert done.exit_code == 3
    assert "  because NotDeterministic: recorded was a read, now it is a write" in done.stdout


def test_a_broken_assumption_starts_the_search_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts and findings are those of the last search."""
    searches = []

    def explore(search: Explorer) -> Iterator[Run]:
        searches.append(search)
        if len(searches) <= 2:
            return after(2, AssumptionBroken(f"fact {len(searches)}"))(search)  # type: ignore[arg-type]
        return Optimal.explore(search)  # type: ignore[arg-type]

    explorer(monkeypatch, explore)
    done = check("fine.json", "-v", "--json", "r.json", "--every-access")
    assert done.exit_code == 0
    assert "  began again: fact 1\n  began again: fact 2\n" in done.stdout
    report = json.loads(Path("r.json").read_text())
    assert (report["executions"], report["restarts"]) == (4, ["fact 1", "fact 2"])
    assert len(searches) == 3


def test_a_finding_of_an_abandoned_search_counts_only_if_it_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = []

    def explore(search: Any) -> Iterator[Run]:
        searches.append(search)
        if len(searches) == 1:
            yield from after(8, AssumptionBroken("fact"))(search)
        else:
            for run in Optimal.explore(search):
                run.findings = ()
                yield run

    explorer(monkeypatch, explore)
    assert check("racy.json", "--all").exit_code == 0


def test_a_fault_while_a_failure_is_told_does_not_lose_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: System, trace: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(AbstractSystem, "describe", broken)
    done = check("racy.json")
    assert done.exit_code == 4
    assert "FAILED  AssertionError in T2: T2: a==2" in done.stdout


# ---------------------------------------------------------------------- as a process


def dpor_process(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    env = {key: value for key, value in os.environ.items() if key != "PYTHONHASHSEED"} | environment
    return subprocess.Popen(
        [sys.executable, "-m", "dpor", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    )


def test_ctrl_c_ends_cleanly_with_what_is_known() -> None:
    process = dpor_process("check", "large.json", "--json", "r.json", "--max-seconds", "60")
    assert process.stderr is not None
    assert re.match(r"\d+ s: ", process.stderr.readline())
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 3, err
    assert "  because interrupted" in out
    assert err == ""
    assert json.loads(Path("r.json").read_text())["executions"] > 1


def test_the_hash_seed_is_fixed_unless_it_is_set() -> None:
    for environment, seed in (({}, "0"), ({"PYTHONHASHSEED": "7"}, "7"), ({"PYTHONHASHSEED": "random"}, "0")):
        process = dpor_process("check", "racy.json", "--save", "s.json", **environment)
        process.communicate(timeout=600)
        assert process.returncode == 1
        assert json.loads(Path("s.json").read_text())["hash_seed"] == seed


# ---------------------------------------------------------------------- bounds and random searches


def test_a_bound_on_preemptions_implies_classic_and_passes_if_it_left_nothing_out() -> None:
    done = check("fine.json", "--preemptions", "2")
    assert done.exit_code == 0
    assert "(classic, 2 preemptions at most)" in done.stdout


def test_a_bound_that_left_something_out_is_inconclusive() -> None:
    done = check("racy.json", "--preemptions", "0", "--json", "-")
    report = json.loads(done.stdout)
    jsonschema.validate(report, SCHEMA)
    assert done.exit_code == 3
    assert (report["strategy"], report["preemptions"], report["seed"]) == ("classic", 0, None)
    (reason,) = report["reasons"]
    assert reason.startswith("--preemptions 0 left out ")
    assert check("racy.json", "--preemptions", "0", "--strategy", "none").exit_code == 3
    assert check("racy.json", "--preemptions", "1").exit_code == 1


@pytest.mark.parametrize("strategy", SAMPLERS)
def test_a_random_search_finds_a_failure_that_its_seed_repeats(strategy: str) -> None:
    first, again = (check("racy.json", "--strategy", strategy, "--seed", "5", "--json", "-") for _ in range(2))
    report, repeated = json.loads(first.stdout), json.loads(again.stdout)
    jsonschema.validate(report, SCHEMA)
    assert first.exit_code == 1
    assert (report["seed"], report["executions"]) == (5, repeated["executions"])
    assert report["findings"] == repeated["findings"]
    assert (
        f"({strategy}, seed 5)" in check("racy.json", "--strategy", strategy, "--seed", "5", "--save", "s.json").stdout
    )
    assert CliRunner().invoke(cli, ["replay", "s.json"]).exit_code == 1


@pytest.mark.parametrize("strategy", SAMPLERS)
def test_a_random_search_never_passes(strategy: str) -> None:
    done = check("fine.json", "--strategy", strategy, "--max-executions", "50", "--every-access")
    assert done.exit_code == 3
    assert f"  because {strategy} schedules: 50 executions, 4 distinct classes seen" in done.stdout
    done = check("fine.json", "--strategy", strategy, "--max-seconds", "0.2")
    assert done.exit_code == 3
    assert "  because --max-seconds 0.2 reached\n" in done.stdout
