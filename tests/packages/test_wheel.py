"""The wheel, installed in fresh environments: what a user gets runs outside the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import dpor

pytestmark = [pytest.mark.network, pytest.mark.slow]

ROOT = Path(__file__).parents[2]

PROGRAM = """
import threading

import dpor

class Counter:
    n = 0

def scenario():
    counter = Counter()
    def add():
        counter.n += 1
    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.n == 2

test_scenario = dpor.interleave(scenario)
"""


def interpreter(version: str) -> str | None:
    """A Python of this version: on the path, or of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    found = shutil.which(f"python{version}"), *map(str, pyenv.glob(f"{version}.*/bin/python"))
    return next((each for each in found if each is not None and _runs(each)), None)


def _runs(python: str) -> bool:  # what pyenv has on the path may be a version that is not chosen
    return subprocess.run([python, "-c", "import venv, ensurepip"], capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    copy = shutil.copytree(ROOT, folder / "dpor", ignore=shutil.ignore_patterns(".*", "build", "*.egg-info"))
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, copy], check=True)
    (made,) = folder.glob("*.whl")
    return made


def test_dpor_is_all_that_is_installed(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names} == {"dpor", f"dpor-{dpor.__version__}.dist-info"}
    for folder in ("statics", "workloads"):
        sources = {f"dpor/{folder}/{path.name}" for path in (ROOT / folder).glob("*.py")}
        assert sources == {name for name in names if name.startswith(f"dpor/{folder}/")}


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_the_wheel_runs_outside_the_checkout(version: str, wheel: Path, tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    subprocess.run([python, "-m", "venv", tmp_path / "venv"], check=True)
    commands = tmp_path / "venv" / "bin"
    subprocess.run([commands / "pip", "install", "-q", f"{wheel}[pytest]"], check=True)
    (tmp_path / "test_it.py").write_text(PROGRAM)

    def run(*command: str) -> tuple[int, str]:
        environment = {"PATH": f"{commands}:/usr/bin:/bin", "HOME": str(tmp_path)}
        done = subprocess.run(
            [commands / command[0], *command[1:]],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    code, text = run("dpor", "doctor", "test_it.py::scenario")
    assert code == 0, text
    assert "in venv/lib" in text
    assert "loads the plugin of dpor" in text
    assert run("python", "-m", "dpor", "--version") == run("dpor", "--version")
    code, text = run("dpor", "check", "test_it.py::scenario", "--sarif", "out.sarif", "--json", "out.json")
    assert (code, "FAILED  AssertionError in MainThread" in text) == (1, True), text
    assert run("dpor", "replay", ".dpor/test_it-scenario-1.json")[0] == 1
    code, text = run("dpor", "compare", "test_it.py::scenario", "--strategies", "optimal,dpor", "--html", "out.html")
    assert (code, "agree: 2 outcomes" in text) == (0, True), text
    code, text = run("pytest", "test_it.py")
    assert (code, "--dpor-replay" in text) == (1, True), text
    typed = "import dpor, pathlib; assert (pathlib.Path(dpor.__file__).parent / 'py.typed').exists()"
    assert run("python", "-c", typed)[0] == 0
