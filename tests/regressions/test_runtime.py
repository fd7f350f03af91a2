"""Programs of which dpor once missed an outcome that real threads showed, as small as they could be made."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pytest

from dpor.core.errors import AssumptionBroken
from dpor.core.system import Ending
from dpor.explorers import STRATEGIES
from dpor.python.program.system import PythonSystem
from dpor.python.specs.frozen_values import freeze

HEAD = """
import collections
import threading

class Box:
    def __init__(self, v=None):
        self.v = v

def run(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def results(source: str, tmp_path: Path, strategy: str) -> set[Hashable]:
    """All that `scenario` returns, by structure, or the failures."""
    file = tmp_path / "program.py"
    file.write_text(HEAD + source)
    system = PythonSystem(f"{file}::scenario")
    while True:
        found: set[Hashable] = set()
        try:
            for run in STRATEGIES[strategy](system).explore():
                if run.ending is Ending.COMPLETE:
                    assert isinstance(run.outcome, tuple)
                    found.add(run.outcome[1] or run.outcome[0])
        except AssumptionBroken:
            continue
        return found


@pytest.mark.parametrize("strategy", ["none", "optimal"])
class TestMissedOutcomes:
    @pytest.mark.parametrize(
        ("container", "change", "error"),
        [
            ("{}", "x[1] = 2", "RuntimeError: dictionary changed size during iteration"),
            ("set()", "x.add(1)", "RuntimeError: Set changed size during iteration"),
            ("collections.deque()", "x.append(1)", "RuntimeError: deque mutated during iteration"),
        ],
    )
    @pytest.mark.parametrize("loop", ["for n in x: pass", "[n for n in x]", "list(map(lambda n: n, x))"])
    def test_an_iterator_is_made_before_its_first_step(
        self, container: str, change: str, error: str, loop: str, tmp_path: Path, strategy: str
    ) -> None:
        source = f"""
def scenario():
    x = {container}
    def read():
        {loop}
    def write():
        {change}
    run(read, write)
"""
        found = results(source, tmp_path, strategy)
        assert found == {freeze(None), (f"Thread-1 (read): {error}",)}

    def test_an_iterator_over_a_view_is_made_before_its_first_step(self, tmp_path: Path, strategy: str) -> None:
        source = """
def scenario():
    x = {}
    def read():
        for n in x.values():
            pass
    def write():
        x[1] = 2
    run(read, write)
"""
        error = "Thread-1 (read): RuntimeError: dictionary changed size during iteration"
        assert results(source, tmp_path, strategy) == {freeze(None), (error,)}

    def test_unary_operators_that_are_not_instrumented_read(self, tmp_path: Path, strategy: str) -> None:
        source = """
def scenario():
    x = collections.Counter(p=1)
    seen = []
    def read():
        seen.append(len(+x))
    def write():
        x["p"] = -1
    run(read, write)
    return seen
"""
        expected: list[Any] = [[0], [1]]
        assert results(source, tmp_path, strategy) == {freeze(value) for value in expected}

    def test_a_method_in_c_that_the_class_overrides_and_calls_by_super(self, tmp_path: Path, strategy: str) -> None:
        source = """
class L(list):
    def append(self, item):
        super().append(item)
def scenario():
    x = L()
    run(lambda: x.append(1), lambda: x.append(2))
    return list(x)
"""
        expected: list[Any] = [[1, 2], [2, 1]]
        assert results(source, tmp_path, strategy) == {freeze(value) for value in expected}

    def test_struct_pack_into_writes(self, tmp_path: Path, strategy: str) -> None:
        source = """
import struct
def scenario():
    x = bytearray(1)
    seen = []
    run(lambda: struct.pack_into("b", x, 0, 1), lambda: seen.append(x[0]))
    return seen
"""
        expected: list[Any] = [[0], [1]]
        assert results(source, tmp_path, strategy) == {freeze(value) for value in expected}

    def test_what_is_returned_while_others_go_on_is_read_then(self, tmp_path: Path, strategy: str) -> None:
        source = """
def scenario():
    x = Box([])
    threading.Thread(target=lambda: x.v.append(1)).start()
    return [x]
"""
        found = {repr(value) for value in results(source, tmp_path, strategy)}
        assert len(found) == 2

    @pytest.mark.parametrize(
        ("error", "change", "texts"),
        [
            ("ValueError([])", "e.args[0].append(1)", {"ValueError: []", "ValueError: [1]"}),
            ("ValueError(1)", "e.args = (2,)", {"ValueError: 1", "ValueError: 2"}),
            ("OSError(5, 'p')", "e.strerror = 'q'", {"OSError: [Errno 5] p", "OSError: [Errno 5] q"}),
            ("Told(Box(0))", "e.args[0].v = 1", {"Told: 0", "Told: 1"}),
        ],
    )
    def test_the_text_of_an_exception_is_made_when_it_ends_the_thread(
        self, error: str, change: str, texts: set[str], tmp_path: Path, strategy: str
    ) -> None:
        source = f"""
class Told(Exception):
    def __str__(self):
        return str(self.args[0].v)
def scenario():
    e = {error}
    def fail():
        raise e
    thread = threading.Thread(target=fail, name="failing")
    thread.start()
    {change}
    thread.join()
"""
        assert results(source, tmp_path, strategy) == {(f"failing: {text}",) for text in texts}
