"""Whichever way a program imports a module, it is the same one, and it is there again in every run."""

from __future__ import annotations

import importlib.util
import shutil
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import dpor
from dpor.python.dropins import stdlib

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
    file.write_text("import os.path\n\ndef scenario():\n    assert os.path.sep\n    os.openpty()\n")
    report = dpor.check(f"{file}::scenario")
    assert "os.openpty is not modelled" in str(report.reasons)


def test_modules_that_import_each_other_are_executed_in_the_order_of_the_first_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "circle").mkdir()
    (tmp_path / "circle" / "__init__.py").write_text("names = []\nfrom circle.inner import add\nlast = len(names)\n")
    (tmp_path / "circle" / "inner.py").write_text("from circle import names\ndef add(n): names.append(n)\nadd(0)\n")
    file = tmp_path / "circle" / "run.py"
    file.write_text(
        """
import threading
import circle

def scenario():
    threads = [threading.Thread(target=circle.add, args=(n,)) for n in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert circle.last == 1 and sorted(circle.names) == [0, 1, 2]
"""
    )
    monkeypatch.syspath_prepend(tmp_path)
    report = dpor.check(f"{file}::scenario")
    assert (report.verdict, report.executions) == ("pass", 2), report.findings


def test_what_a_run_leaves_is_finalised_before_the_next_begins(tmp_path: Path) -> None:
    """As urllib3's pools are: a finaliser that takes a lock must not be taken for a step of the next run."""
    file = tmp_path / "program.py"
    file.write_text(
        """
import threading
import weakref

class Pool:
    pass

def close(lock):
    with lock:
        pass

def scenario():
    pool, lock, seen = Pool(), threading.Lock(), []
    weakref.finalize(pool, close, lock)

    def work():
        with lock:
            seen.append(pool)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    lock.acquire()
    assert len(seen) == 2
"""
    )
    report = dpor.check(f"{file}::scenario")
    assert report.verdict == "fail"
    assert not any("NotDeterministic" in reason for reason in report.reasons), report.reasons


def test_packages_without_hooks_do_not_keep_modules_that_runs_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The target imports a package that only passes on what another one has, which is instrumented (as `attrs` does
    with `attr`): both are imported anew in each run."""
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "inner_lib.py").write_text(
        "FIRST = 1\n\nclass Box:\n    n = 0\n\n    def count(self):\n        self.n += FIRST\n"
    )
    (installed / "outer_lib.py").write_text("from inner_lib import Box\n")
    (installed / "outermost_lib.py").write_text("import outer_lib\n")
    monkeypatch.syspath_prepend(str(installed))
    program = tmp_path / "program.py"
    program.write_text(
        """
import threading

def scenario():
    from outermost_lib import outer_lib

    box = outer_lib.Box()
    threads = [threading.Thread(target=box.count) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return box.n
"""
    )
    report = dpor.check(f"{program}::scenario")
    assert (report.verdict, report.outcomes) == ("pass", 2), (report.findings, report.reasons)


def test_the_run_that_imports_pools_first_is_like_all_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It registered a function with `threading` for its end, and others did not."""
    for name in [name for name in stdlib.made_modules if name.startswith("concurrent")]:
        monkeypatch.delitem(stdlib.made_modules, name)
    file = tmp_path / "program.py"
    file.write_text(
        "def scenario():\n"
        "    from concurrent.futures import ThreadPoolExecutor\n"
        "    with ThreadPoolExecutor(1) as pool:\n"
        "        assert pool.submit(int).result() == 0\n"
    )
    assert dpor.check(f"{file}::scenario").verdict == "pass"


def test_the_library_forgets_what_packages_stored_in_it_before_they_had_hooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `zope.interface` says of the library's classes what they implement, and patches of other packages do. The
    package is imported without hooks first, and then with hooks, since threads use its objects."""
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "marks_lib.py").write_text(
        """
import collections
import textwrap

class Mark:
    n = 0

    def count(self):
        self.n += 1

def dedent(text):
    return before(text)

before = textwrap.dedent
stale = [type(value) for value in vars(collections.Counter).values() if type(value).__name__ == "Mark"]
assert before.__name__ == "dedent" and before.__module__ == "textwrap", before
assert not stale, stale
textwrap.dedent = dedent
collections.Counter.mark = Mark()
"""
    )
    monkeypatch.syspath_prepend(str(installed))
    program = tmp_path / "program.py"
    program.write_text(
        """
import threading
import marks_lib

def scenario():
    mark = marks_lib.Mark()
    threads = [threading.Thread(target=mark.count) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert mark.n == 2, "a lost update"
"""
    )
    report = dpor.check(f"{program}::scenario")
    assert [finding.message for finding in report.findings] == ["AssertionError: a lost update"], report.reasons


def test_packages_without_hooks_do_not_keep_what_is_executed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `attrs` passes on the functions of `attr`, which is instrumented: these would compare marks of an earlier run
    with those of this one."""
    installed = tmp_path / "site-packages"
    (installed / "outer_lib").mkdir(parents=True)
    (installed / "inner_lib.py").write_text(
        """
NOTHING = object()

def field(default=NOTHING):
    return default is NOTHING

class Box:
    n = 0

    def count(self):
        self.n += 1
"""
    )
    (installed / "outer_lib" / "__init__.py").write_text("import inner_lib\nfrom outer_lib import names\n")
    (installed / "outer_lib" / "names.py").write_text("from inner_lib import Box, field\n")
    (installed / "outermost_lib.py").write_text("import outer_lib\n\ndef make():\n    return outer_lib.names.Box()\n")
    monkeypatch.syspath_prepend(str(installed))
    program = tmp_path / "program.py"
    program.write_text(
        """
import threading
import inner_lib, outer_lib, outermost_lib

assert outer_lib.names.field()

def scenario():
    box = outermost_lib.make()
    assert isinstance(box, inner_lib.Box)
    threads = [threading.Thread(target=box.count) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return box.n
"""
    )
    report = dpor.check(f"{program}::scenario")
    assert (report.verdict, report.outcomes) == ("pass", 2), (report.findings, report.reasons)


def test_packages_that_are_imported_again_have_their_modules_in_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `rpds` does with `from .rpds import *`: there is only one of each module in C, also for a new package."""
    spec = importlib.util.find_spec("_bisect")
    if spec is None or spec.origin is None or not spec.origin.endswith(tuple(EXTENSION_SUFFIXES)):
        pytest.skip("this Python has `_bisect` in its executable")
    installed = tmp_path / "site-packages"
    (installed / "half_c").mkdir(parents=True)
    shutil.copy(spec.origin, installed / "half_c")
    (installed / "half_c" / "__init__.py").write_text(
        "from ._bisect import *\n\nmodule, made = _bisect, []\n\ndef add(n):\n    insort_left(made, n)\n"
    )
    monkeypatch.syspath_prepend(str(installed))
    program = tmp_path / "program.py"
    program.write_text(
        """
import threading
import half_c

def scenario():
    assert half_c.module is half_c._bisect
    threads = [threading.Thread(target=half_c.add, args=(n,)) for n in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(half_c.made) == 2
"""
    )
    report = dpor.check(f"{program}::scenario")
    assert report.verdict == "pass", (report.findings, report.reasons)


def test_what_stands_for_a_module_is_not_asked_for_its_attributes(tmp_path: Path) -> None:
    """As Twisted's proxies of modules with deprecated names: to look at one called it, which looked at it again."""
    (tmp_path / "proxied.py").write_text(
        """
import sys

class Proxy:
    def __init__(self, module):
        object.__setattr__(self, "module", module)

    def __getattribute__(self, name):
        return getattr(object.__getattribute__(self, "module"), name)

items = []
sys.modules[__name__] = Proxy(sys.modules[__name__])
"""
    )
    program = tmp_path / "program.py"
    program.write_text(
        """
import threading
import proxied

def scenario():
    threads = [threading.Thread(target=lambda: proxied.__dict__["items"].append(1)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert proxied.items == [1, 1]
"""
    )
    report = dpor.check(f"{program}::scenario")
    assert report.verdict == "pass", (report.findings, report.reasons)


def test_programs_get_the_part_in_python_of_packages_whose_part_in_c_calls_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As wrapt's wrappers: what their part in C calls would be one step."""
    (tmp_path / "wrapt").mkdir()
    (tmp_path / "wrapt" / "_wrappers.py").write_text("part = 'in C'\n")
    (tmp_path / "wrapt" / "__init__.py").write_text(
        "part = 'in Python'\ntry:\n    from ._wrappers import part\nexcept ImportError:\n    pass\n"
    )
    program = tmp_path / "program.py"
    program.write_text("import wrapt\n\ndef scenario():\n    assert wrapt.part == 'in Python'\n")
    report = dpor.check(f"{program}::scenario")
    assert report.verdict == "pass", (report.findings, report.reasons)


def test_packages_that_runs_import_change_the_state_of_others_in_each_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package that a thread imports was one step, and stayed: what it had done elsewhere was missing from the next
    run on."""
    installed = tmp_path / "installed"
    installed.mkdir()
    (installed / "counted.py").write_text("n = 0\ndef count():\n    global n\n    old = n\n    n = old + 1\n")
    for name in ("counting", "counting_too"):
        (installed / f"{name}.py").write_text("import counted\ncounted.count()\n")
    monkeypatch.syspath_prepend(str(installed))
    (tmp_path / "project").mkdir()
    file = tmp_path / "project" / "program.py"
    file.write_text(
        """
import threading
import counted

def run(first, second):
    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

def by_threads():
    def first():
        import counting
    def second():
        import counting_too
    run(first, second)
    assert counted.n == 2

def before():
    import counting
    lock = threading.Lock()
    def count():
        with lock:
            counted.count()
    run(count, count)
    assert counted.n == 3
"""
    )
    report = dpor.check(f"{file}::by_threads")
    assert [finding.kind.value for finding in report.findings] == ["assertion"]
    assert any("counting is imported while several threads exist" in restart for restart in report.restarts)
    report = dpor.check(f"{file}::before")
    assert (report.verdict, report.executions) == ("pass", 2), report.findings
