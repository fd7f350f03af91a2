"""Programs whose objects have operators in C of which nothing is known, and modules that start threads on import."""

from __future__ import annotations

import ctypes
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import dpor
from dpor.python.kernel.assumptions import about
from dpor.python.kernel.run import run
from tests.source_outcomes import outcomes

_OPERATOR = ctypes.CFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object)
_INPLACE_ADD, _ADD = 14, 7  # Py_nb_inplace_add, Py_nb_add


class _Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]


class _Spec(ctypes.Structure):
    _fields_ = [
        *(("name", ctypes.c_char_p), ("basicsize", ctypes.c_int), ("itemsize", ctypes.c_int)),
        *(("flags", ctypes.c_uint), ("slots", ctypes.POINTER(_Slot))),
    ]


def _made_in_c() -> tuple[Any, Any]:
    """A type as an extension module would have it: `a += n` counts up what the object holds, `a + n` answers it."""
    names: dict[str, Any] = {}
    exec(
        "held = {}\ndef add(a, n): return held.get(id(a), 0) + n\n"
        "def count(a, n):\n    held[id(a)] = held.get(id(a), 0) + n\n    return a",
        names,
    )
    functions = [_OPERATOR(names["count"]), _OPERATOR(names["add"])]
    slots = (_Slot * 3)(
        *(_Slot(n, ctypes.cast(f, ctypes.c_void_p)) for n, f in zip((_INPLACE_ADD, _ADD), functions, strict=True))
    )
    spec = _Spec(b"made_in_c.Cell", 16, 0, 0, slots)
    make = ctypes.pythonapi.PyType_FromSpec
    make.restype = ctypes.py_object
    return make(ctypes.byref(spec)), (functions, slots, spec, names)


COUNTS_IN_C = """
import threading
from made_in_c import Cell

def scenario():
    cell, seen = Cell(), []

    def add():
        here = cell
        here += 1

    def look():
        seen.append(cell + 0)

    start = cell + 0
    threads = [threading.Thread(target=add), threading.Thread(target=look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen[0] - start
"""


def test_operators_in_c_are_operations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those with a number that is written out, too."""
    cell, _kept = _made_in_c()
    module = types.ModuleType("made_in_c")
    module.Cell = cell  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "made_in_c", module)
    (tmp_path / "counting.py").write_text(COUNTS_IN_C)
    report = dpor.check(f"{tmp_path}/counting.py::scenario", all=True, max_seconds=None)
    assert (report.outcomes, report.exhaustive) == (2, True)


STARTS_A_THREAD = """
import threading

x = 0
seen = []

def work():
    seen.append(x)

thread = threading.Thread(target=work)
thread.start()
x = 1
thread.join()

def scenario():
    return seen
"""


def test_globals_that_a_module_binds_after_it_has_started_a_thread(tmp_path: Path) -> None:
    """Also: a run that is stopped in the middle of an import is followed by one that imports again."""
    (tmp_path / "starting.py").write_text(STARTS_A_THREAD)
    report = dpor.check(f"{tmp_path}/starting.py::scenario", all=True, max_seconds=None)
    assert (report.outcomes, report.executions, report.exhaustive) == (2, 2, True)


def test_text_that_is_still_to_be_written_is_no_object_of_the_program(tmp_path: Path) -> None:
    """From two pieces on a `TextIOWrapper` has them in a list, which two threads would reach unseen."""
    source = """
import io
file = io.TextIOWrapper(io.BytesIO())

def work():
    file.write("a")
    file.flush()

def scenario():
    file.write("b")
    file.flush()
    run(work, work)
    return file.tell()
"""
    assert outcomes(tmp_path, source) == {3}
    assert not any(about(run.facts, "type"))


def test_functions_of_the_library_read_globals_that_the_program_replaces(tmp_path: Path) -> None:
    source = """
    import json

    class Decoder(json.JSONDecoder):
        def decode(self, text):
            return "replaced"

    def scenario():
        seen = []

        def replace():
            before = json._default_decoder
            json._default_decoder = Decoder()
            json._default_decoder = before

        run(replace, lambda: seen.append(json.loads("1")))
        return seen
    """
    found = outcomes(tmp_path, source)
    assert (found, found.incomplete) == ({(1,), ("replaced",)}, set())


@pytest.mark.parametrize(("module", "attribute"), [("sys", "sys.unraisablehook"), ("re", "re._compile")])
def test_what_code_without_hooks_reads_makes_a_check_inconclusive_if_a_thread_replaces_it(
    module: str, attribute: str, tmp_path: Path
) -> None:
    source = f"""
    import {module}

    def scenario():
        def replace():
            {attribute} = None

        run(replace, lambda: None)
    """
    assert outcomes(tmp_path, source).incomplete == {
        f"{attribute} is assigned while several threads exist: code of {module} that is not instrumented does not see"
        f" when; --trust {module} if that does not matter"
    }


def test_an_import_reads_what_threads_put_into_sys_modules(tmp_path: Path) -> None:
    source = """
    import sys, types

    def scenario():
        seen = []

        def look():
            try:
                import put_there
                seen.append(True)
            except ImportError:
                seen.append(False)

        run(lambda: sys.modules.setdefault("put_there", types.ModuleType("put_there")), look)
        return seen
    """
    found = outcomes(tmp_path, source)
    assert (found, found.incomplete) == ({(True,), (False,)}, set())


def test_what_is_registered_for_copies_is_forgotten_after_a_run(tmp_path: Path) -> None:
    source = """
    import copy, copyreg

    def scenario():
        before = type(copy.copy(ValueError())).__name__
        run(lambda: copyreg.pickle(ValueError, lambda error: (int, (7,))))
        return before, copy.copy(ValueError())
    """
    found = outcomes(tmp_path, source)
    assert (found, found.incomplete) == (
        {("ValueError", 7)},
        {"copyreg.pickle is called while several threads exist: copy and pickle do not see when"},
    )
