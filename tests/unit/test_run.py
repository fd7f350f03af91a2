"""The state of the run: nothing of it is left in the next one, and nothing of a search when it is over."""

import cProfile
import gc
import subprocess
import sys
from pathlib import Path

from greenlet import greenlet

import dpor
from dpor.core.errors import AssumptionBroken
from dpor.core.operations import Operation
from dpor.core.system import STOP, Trace
from dpor.python.kernel.options import RuntimeOptions
from dpor.python.kernel.run import CurrentRun
from dpor.python.kernel.type_caches import forget_programs
from dpor.python.program.system import PythonSystem
from dpor.python.sharing import code_of_types
from dpor.python.sharing.code_of_types import code_of


class _Seen:
    __slots__ = ("places",)

    def __init__(self) -> None:
        self.places: list[int] = []


def test_what_modules_attach_is_as_at_first_in_each_run() -> None:
    run = CurrentRun()
    seen = run.attach(_Seen)
    seen.places.append(1)
    run.begin(RuntimeOptions(), Trace(), lambda enabled: STOP, None)
    assert seen.places == []


RESTARTED = """
import threading

class Counter:
    n = 0

def scenario():
    counter = Counter()
    def work():
        counter.n += 1
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_the_greenlets_of_a_search_end_with_it(tmp_path: Path) -> None:
    """Each refers to its frame, where the garbage collector does not look. (A test suite of 10,000 checks had 4 GB.)"""
    (tmp_path / "program.py").write_text(RESTARTED)

    def alive() -> int:
        dpor.check(f"{tmp_path}/program.py::scenario")
        gc.collect()
        return sum(type(obj) is greenlet for obj in gc.get_objects())

    before = alive()
    assert max([alive() for _ in range(3)]) <= before  # those of earlier tests may end meanwhile


def test_caches_do_not_keep_the_classes_of_earlier_programs() -> None:
    class Local:
        pass

    code_of(Local)
    code_of(CurrentRun)
    code_of(int)
    forget_programs()
    assert Local not in code_of_types._known
    assert {CurrentRun, int} <= code_of_types._known.keys()


def test_greenlets_that_wait_end_without_a_profile_function(tmp_path: Path) -> None:
    """Python 3.15 crashed when one ended that had been waiting before the interpreter was told to tell of calls, as it
    is in some runs of each search."""
    (tmp_path / "program.py").write_text(RESTARTED)
    several = f"import dpor\nfor _ in range(10):\n    dpor.check('{tmp_path}/program.py::scenario')\nprint('done')\n"
    done = subprocess.run([sys.executable, "-c", several], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-2000:]


def test_a_check_can_be_profiled(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(RESTARTED)
    with cProfile.Profile():
        assert dpor.check(f"{tmp_path}/program.py::scenario", all=True).verdict == "pass"


def test_programs_that_run_in_turns_have_their_own_operations(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(RESTARTED)
    systems = [PythonSystem(f"{tmp_path}/program.py::scenario") for _ in range(2)]

    def operations(system: PythonSystem) -> list[Operation]:
        while True:
            try:
                system.run(trace := Trace(), lambda enabled: (enabled & -enabled).bit_length() - 1)
                return trace.operations
            except AssumptionBroken:
                pass

    for system in systems:
        operations(system)
    first, second, third = operations(systems[0]), operations(systems[1]), operations(systems[0])
    assert first == third
    assert not {*first} & {*second}
