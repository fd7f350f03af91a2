"""Workloads as targets: by name, with arguments; `dpor workloads` lists them."""

from __future__ import annotations

import functools
import importlib
import inspect
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import dpor
from dpor.cli.guard import innermost_place
from dpor.cli.main import cli
from dpor.core.errors import BadTarget
from dpor.core.workload_list import FOLDER, named, workloads
from dpor.python.program.system import PythonSystem
from dpor.python.states.frames import Layouts


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def test_all_are_listed_with_their_parameters() -> None:
    shown = run("workloads").stdout
    told = json.loads(run("workloads", "--json").stdout)
    assert [each["name"] for each in told] == list(workloads())
    for each in told:
        assert each["name"] in shown
        assert each["about"].endswith(".")


@pytest.mark.parametrize("name", workloads())
def test_the_parameters_are_those_of_main_and_the_docstring_tells_them(name: str) -> None:
    module = importlib.import_module(f"dpor.workloads.{name}")
    parameters = workloads()[name].parameters
    assert {p.name: p.default for p in inspect.signature(module.main).parameters.values()} == parameters
    for parameter in parameters:
        assert f"`{parameter}`" in (module.__doc__ or "") or parameter == "bug"
    assert ("bug" in parameters) == ("bug=True" in (module.__doc__ or ""))


def test_arguments_follow_a_colon() -> None:
    report = dpor.check("raytracer:bug,size=2")
    assert report.target == "raytracer:bug,size=2"
    assert report.verdict is dpor.Verdict.FAIL
    assert dpor.replay(report.findings[0].saved).kind == report.findings[0].kind  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("target", "complaint"),
    [
        ("cdx:speed=2", "cdx has no 'speed'; it takes bug,frames=2,planes=2,slots=3"),
        ("cdx:frames", "cdx takes frames=2, not frames"),
        ("cdx:frames=many", "cdx takes frames=2, not frames=many"),
        ("cdx:bug=1", "cdx takes bug, not bug=1"),
    ],
)
def test_wrong_arguments_are_named(target: str, complaint: str) -> None:
    with pytest.raises(BadTarget, match=complaint):
        dpor.check(target)


def test_the_functions_of_one_that_the_host_has_imported_are_targets() -> None:
    racy = importlib.import_module("dpor.workloads.racy_counter").main
    assert dpor.check(racy, strategy="sa").verdict is dpor.Verdict.FAIL
    raytracer = importlib.import_module("dpor.workloads.raytracer").main
    assert dpor.check(functools.partial(raytracer, bug=True, size=2)).verdict is dpor.Verdict.FAIL


def test_a_place_in_one_is_a_place_in_the_program() -> None:
    here = workloads()["daisy"].file
    assert innermost_place(f'File "{FOLDER.parent}/system.py", line 3 in run\n  File "{here}", line 9 in main\n') == (
        f", in main at {here}:9"
    )


@pytest.mark.parametrize("file", ["daisy.py", "daisy"])
def test_a_file_of_that_name_is_not_passed_over_in_silence(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(file).write_text("def bug(): pass\n")
    with pytest.raises(BadTarget, match=rf"daisy names a workload, and {file} lies here: say daisy.py::NAME or "):
        named("daisy")
    assert named("daisy:bug") is None, "a module's function, as for any other module"


def test_the_code_of_a_workload_is_no_code_of_dpor() -> None:
    """Where states are told, variables that our own frames will not read again are left out; a program's are not."""
    system = PythonSystem("locked_counter")
    (path,) = (path for path in system.sources() if path.endswith("locked_counter.py"))
    code = compile("", path, "exec")
    assert not Layouts([]).of(code).is_ours
