"""`dpor fuzz`: programs at random; the first fault is made small and saved."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import jsonschema
import pytest
from click.testing import CliRunner, Result

import dpor
from dpor import testing
from dpor.cli.main import cli
from dpor.explorers import STATEFUL, STATELESS, STRATEGIES, Dpor, Source, Strategy
from dpor.model import AbstractSystem
from dpor.python.program.system import PythonSystem
from dpor.testing import Disagreement, disagreement, make_program

SCHEMA = json.loads((Path(dpor.__file__).parent / "report" / "fuzz.schema.json").read_text())


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def report() -> Any:
    content = json.loads(Path("r.json").read_text())
    jsonschema.validate(content, SCHEMA)
    return content


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def test_no_fault_is_exit_code_0() -> None:
    done = run("fuzz", "--examples", "40", "--cyclic", "--json", "r.json")
    assert done.exit_code == 0
    content = report()
    judged, too_large = content["judged"], content["too_large"]
    assert judged + too_large == 40
    assert judged > 30
    assert content["disagreement"] is None
    names = ", ".join([*STATELESS, *STATEFUL])
    assert done.stdout.startswith(f"PASSED  {names}: no fault on {judged} programs (")
    assert len(done.stderr.splitlines()) == 20
    assert done.stderr.splitlines()[-1].startswith("[40/40] no fault up to seed 39, ")


@pytest.mark.parametrize(("kind", "examples", "least"), [("abstract", 60, 50), ("python", 6, 2)])
def test_outcomes_stay_right_where_the_analysis_is_wrong(kind: str, examples: int, least: int) -> None:
    words = ["--kind", kind, "--examples", str(examples), "--cyclic", "--strategies", "sa,dpor+static"]
    assert run("fuzz", "--lies", *words, "--json", "r.json").exit_code == 0
    assert report()["lies"] is True
    assert report()["judged"] >= least


@pytest.mark.parametrize(
    ("strategy", "kind", "seed"), [("sa", "abstract", 97), ("sa", "python", 24), ("dpor+static", "python", 10)]
)
def test_lies_that_are_believed_are_a_fault(
    strategy: str, kind: Any, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the others can fail. The seeds are the first at which it shows."""
    program = make_program(seed, kind, cyclic=True)
    for system in (AbstractSystem, PythonSystem):
        monkeypatch.setattr(system, "withdraw_facts", lambda self, facts: None)
    monkeypatch.setattr(PythonSystem, "_never_written", lambda self: self._unhooked)
    found = Disagreement(seed, f"{strategy}: misses an outcome", program, lies=True)
    test, *_ = found.save(tmp_path)
    target = f"{test}::scenario" if kind == "python" else tmp_path / f"fuzz_{seed}.json"
    assert disagreement(target, [strategy], lies=seed).startswith(f"{strategy}: misses ")
    assert f"['{strategy}'], lies={seed}) == " in test.read_text()


def test_lies_go_with_an_analysis() -> None:
    done = run("fuzz", "--lies", "--strategies", "dpor,optimal")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "dpor: --lies goes with sa or dpor+static, of which none is among --strategies\n"


class Forgetful(Source):
    """Passes over races of writes."""

    def reverse(self, first: int, end: int, action: int, operation: Any) -> None:
        if operation.kind != "write":
            super().reverse(first, end, action, operation)


def as_source(explorer: type[Source]) -> Strategy:
    """The strategy `source` with another explorer."""
    return attrs.evolve(STRATEGIES["source"], make=lambda system, options: explorer(system))


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STRATEGIES, "source", as_source(Forgetful))


def test_of(file: str) -> Callable[[], None]:
    """The test function in a file."""
    spec = importlib.util.spec_from_file_location("saved", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.test_the_strategies_agree  # type: ignore[no-any-return]


test_of.__test__ = False  # type: ignore[attr-defined]


@pytest.mark.usefixtures("forgetful")
def test_a_fault_is_made_small_and_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("fuzz", "--json", "r.json")
    assert done.exit_code == 4
    found = report()["disagreement"]
    seed = found["seed"]
    assert done.stdout.startswith(f"FAILED  {found['wrong']}; seed {seed}, after ")
    assert json.dumps(found["program"]) in done.stdout
    assert sum(len(body) for body in found["program"]["threads"]) <= 3
    assert found["files"] == [f".dpor/test_fuzz_{seed}.py", f".dpor/fuzz_{seed}.json"]
    assert done.stdout.endswith(f"Again: pytest .dpor/test_fuzz_{seed}.py\n       dpor check .dpor/fuzz_{seed}.json\n")
    assert run("check", found["files"][1]).exit_code in (0, 1)
    assert run("fuzz", "--seed", str(seed), "--examples", "1").exit_code == 4

    saved = test_of(found["files"][0])
    with pytest.raises(AssertionError):
        saved()
    monkeypatch.setitem(STRATEGIES, "source", as_source(Source))
    saved()


@pytest.mark.usefixtures("forgetful")
def test_a_fault_on_a_python_program_is_saved_as_python(monkeypatch: pytest.MonkeyPatch) -> None:
    source = """
import threading
def scenario():
    unused = 1
    box = Box()
    def read():
        box.seen = box.x
    def write():
        box.x = 1
    threads = [threading.Thread(target=target) for target in (read, write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return box.seen
class Box:
    x = 0
"""
    monkeypatch.setattr("dpor.testing.fuzzing.python_program", lambda seed, most: source)
    Path("kept").mkdir()
    done = run("fuzz", "--kind", "python", "--seed", "7", "--examples", "1", "--strategies", "source", "--save", "kept")
    assert done.exit_code == 4
    assert done.stdout.startswith("FAILED  source: misses 2 of 3 outcomes; seed 7, after 0 programs")
    assert "unused" not in done.stdout
    assert done.stdout.endswith("dpor check kept/test_fuzz_7.py::scenario\n")
    assert run("check", "kept/test_fuzz_7.py::scenario").exit_code in (0, 1)
    saved = test_of("kept/test_fuzz_7.py")
    with pytest.raises(AssertionError):
        saved()
    monkeypatch.setitem(STRATEGIES, "source", as_source(Source))
    saved()


def test_ctrl_c_keeps_the_smallest_program_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """And without any fault so far, tells how many programs were judged."""
    judge, calls = testing.fuzzing.disagreement, 0

    def interrupted(*arguments: Any) -> str:
        nonlocal calls
        calls += 1
        if calls == stop:
            raise KeyboardInterrupt
        return judge(*arguments)

    monkeypatch.setattr(testing.fuzzing, "disagreement", interrupted)
    stop = 5
    done = run("fuzz")
    assert done.exit_code == 3
    assert done.stdout.startswith(
        "INTERRUPTED  none, classic, source, optimal, full, original, alone, sa, dpor, dpor+static: no fault on "
    )
    monkeypatch.setitem(STRATEGIES, "source", as_source(Forgetful))
    first = testing.fuzz(["source"])
    assert first is not None
    calls, stop = 0, calls - stop + 2
    cut = testing.fuzz(["source"])
    assert cut is not None
    assert len(str(cut.program)) >= len(str(first.program))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--strategies", "magic"], "no strategy 'magic'"),
        (["--save", "nowhere"], "--save nowhere: there is no such folder"),
        (["--json", "no/r.json"], "there is no folder"),
    ],
)
def test_what_the_user_got_wrong_is_exit_code_2(arguments: list[str], complaint: str) -> None:
    done = run("fuzz", *arguments)
    assert done.exit_code == 2
    assert complaint in done.stderr


def test_a_search_that_crashes_or_does_not_end_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    class Crashes(Dpor):
        def between(self) -> None:
            raise ZeroDivisionError("planted")

    class Endless(Source):
        def _go_back(self) -> bool:
            self.happens_before.cut(0)
            self.trace.cut(0)
            del self.nodes[1:]
            self.nodes[0].branches.clear()
            return True

    monkeypatch.setattr(testing.judging, "ENDLESS", 50)
    monkeypatch.setenv("DPOR_CHECK", "0")  # or it would say so itself
    program = {"vars": {"x": 0}, "threads": [["w x 1"], ["r x a"]]}
    assert testing.disagreement(program, {"mine": Crashes}) == "mine: raises ZeroDivisionError: planted"
    assert testing.disagreement(program, {"mine": Endless}).startswith("mine: does not end: ")
