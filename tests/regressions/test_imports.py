"""Whichever way a program imports a module, it is the same one, and it is there again in every run."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpor

PACKAGE = {
    "__init__.py": "import sys\nimport package.early\nregistered = []\n",
    "early.py": "value = []\n",
    "late.py": "import threading\nlock = threading.Lock()\n",
    "run.py": """
import threading
import package
import package.late

def work():
    with package.late.lock:
        package.registered.append(len(package.early.value))

def scenario():
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert package.registered == [0, 0]
""",
}


def test_a_package_has_its_modules_in_every_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package's own code is executed anew; what imports have bound in it must not be lost."""
    (tmp_path / "package").mkdir()
    for name, source in PACKAGE.items():
        (tmp_path / "package" / name).write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    report = dpor.check(f"{tmp_path}/package/run.py::scenario")
    assert (report.verdict, report.executions) == ("pass", 2), report.findings


@pytest.mark.parametrize(
    "imports",
    [
        "threading = importlib.import_module('threading')",
        "threading = importlib.__import__('threading')",
        "threading = __import__('threading')",
        "import importlib.util; threading = importlib.import_module('threading')",
        "import concurrent.futures.thread; threading = concurrent.futures.thread.threading",
    ],
)
def test_a_lock_is_modelled_however_its_module_is_imported(imports: str, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        f"""
import importlib
{imports}

def work(lock):
    with lock:
        with lock:
            pass

def scenario():
    lock = threading.Lock()
    threading.Thread(target=work, args=(lock,)).start()
"""
    )
    report = dpor.check(f"{file}::scenario")
    assert [f.kind.value for f in report.findings] == ["deadlock"]


def test_an_import_of_a_module_inside_gives_the_package_that_is_modelled(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text("import os.path\n\ndef scenario():\n    assert os.path.sep\n    os.pipe()\n")
    report = dpor.check(f"{file}::scenario")
    assert "os.pipe is not modelled" in str(report.reasons)
