"""The order of names, and what functions and classes are said to be, are part of outcomes and of states."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpor
from dpor.python.kernel.classes import module_of_class
from dpor.python.program.leftovers import Library
from tests.programs import names_and_metadata as programs

NAMES = [
    name for name in vars(programs) if name.startswith(("order", "doc", "module", "annotations", "names", "arguments"))
]


@pytest.mark.parametrize("name", NAMES)
def test_both_orders_are_seen(name: str) -> None:
    target = f"{Path(programs.__file__)}::{name}"
    for strategy in ("optimal", "full", "original", "sa", "dpor", "dpor+static"):
        report = dpor.check(target, strategy=strategy, all=True)
        assert (report.verdict, report.exhaustive, len(report.outcome_digests)) == (dpor.Verdict.PASS, True, 2), (
            strategy
        )


@pytest.mark.parametrize(
    ("name", "outcomes"),
    [
        ("attributes_set_by_a_method", 1),
        ("attributes_in_a_dict_of_the_program", 2),
        ("attributes_of_a_lock_in_a_dict_of_the_program", 2),
        ("fields_of_two_objects", 3),
    ],
)
def test_attributes_that_the_program_sets_and_keeps_itself(name: str, outcomes: int) -> None:
    for strategy in ("optimal", "full", "dpor"):
        report = dpor.check(f"{Path(programs.__file__)}::{name}", strategy=strategy, all=True)
        assert (report.verdict, report.exhaustive, len(report.outcome_digests)) == (dpor.Verdict.PASS, True, outcomes)


def test_defaults_of_a_function_are_data() -> None:
    report = dpor.check(f"{Path(programs.__file__)}::defaults_without_end", strategy="dpor", all=True)
    assert (report.verdict, report.exhaustive, report.terminates) == (dpor.Verdict.PASS, True, False)


OF_OBJECTS = """
class Kind:
    n = 0

    @property
    def __module__(self):
        return "another"
"""
OF_CLASSES = """
class Naming(type):
    @property
    def __module__(cls):
        return cls.__dict__["named"]

class Kind(metaclass=Naming):
    n, named = 0, "another"
"""
SHARING = """
import threading

def scenario():
    shared = Kind()

    def step():
        shared.n += 1

    threads = [threading.Thread(target=step) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared.n == 2
"""


@pytest.mark.parametrize("kind", [OF_OBJECTS, OF_CLASSES], ids=["of objects", "of classes"])
def test_the_module_of_a_class_may_be_a_property(kind: str, tmp_path: Path) -> None:
    """As of proxies, in lazy_object_proxy and wrapt. dpor called it, or took it for a part of what the search had
    learnt, which was another property whenever the module was executed again."""
    file = tmp_path / "program.py"
    file.write_text(kind + SHARING)
    report = dpor.check(f"{file}::scenario", max_executions=50)
    assert (report.verdict, report.reasons) == ("fail", ("stopped at the first failure, execution 2",))


def test_classes_of_the_host_are_not_asked_for_their_module() -> None:
    class Kind:
        @property
        def __module__(self) -> str:  # type: ignore[override]
            return "another"

    Library()  # looks at all classes
    assert module_of_class(Kind) == ""


OF_LOCKS = """
import queue
import threading

def scenario():
    assert type(threading.RLock()).__module__ == threading.Lock().__class__.__module__ == "_thread"
    assert threading.local.__module__ == threading.local().__class__.__module__ == "_thread"
    assert queue.SimpleQueue.__module__ == "_queue"
    assert threading.Thread.__module__ == "threading"
    class Own(threading.local):
        pass
    assert Own.__module__ == __name__
"""


def test_what_stands_for_classes_in_c_names_their_modules(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(OF_LOCKS)
    assert dpor.check(f"{tmp_path}/program.py::scenario").verdict == "pass"
