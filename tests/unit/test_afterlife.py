"""Code of a program that runs when the program has been left, or when the interpreter ends."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from dpor.core.system import Trace
from dpor.python.program.system import PythonSystem

PROGRAM = """
import threading

class Thing:
    def __init__(self, said):
        self.said = said

    def __del__(self):
        self.tell(len(self.said))

    def tell(self, number):
        self.said.append(number)

class Last(Thing):
    def tell(self, number):
        use_a_global(number)

def use_a_global(number):
    pass

def scenario():
    lock = threading.Lock()
    threads = [threading.Thread(target=lock.locked) for _ in range(2)]
    for thread in threads:
        thread.start()
"""

HOST = """
import builtins, sys
from dpor.explorers import STRATEGIES
from dpor.python.kernel.options import RuntimeOptions
from dpor.python.program.system import PythonSystem

system = PythonSystem({path!r} + "::scenario", RuntimeOptions())
runs = list(STRATEGIES["optimal"](system).explore())
left = sys.modules.get("program") or system._loader.modules["program"].module
said = []
thing, builtins.kept = left.Thing(said), left.Last(said)
system.leave()
del thing
print(said)
"""


def test_finalisers_find_their_hooks_and_are_silent_at_the_end(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-c", HOST.format(path=str(program))], capture_output=True, text=True, check=False, timeout=100
    )
    assert (done.stdout, done.stderr, done.returncode) == ("[0]\n", "", 0)


CYCLE = """
died = []

class Cyclic:
    def __init__(self):
        self.me = self
    def __del__(self):
        died.append(self)

def scenario():
    global kept
    kept = Cyclic()
"""


def test_finalisers_are_silent_that_run_after_their_program_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: reported.append(unraisable.exc_value))
    (tmp_path / "program.py").write_text(CYCLE)
    gc.disable()
    try:
        system = PythonSystem(f"{tmp_path}/program.py::scenario")
        system.run(Trace(), lambda enabled: 0)
        system.leave()
        gc.collect()
        assert reported == []
    finally:
        gc.enable()
