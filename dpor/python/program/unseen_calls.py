"""Finds the Python code without hooks that the program runs, whichever way leads to it.

Hooks see which functions threads call, and of which classes they have objects. But C code and modules that are never
instrumented call what they are given (`json.dumps(default=f)`, `cmp_to_key(f)`, `context.run(f)`), a decorator and a
`raise` call without a hook, and so does what a class is given later. And what a function without hooks changes in its
own module, also before there are threads or after them, would be there in the next run. So in some runs the interpreter
tells of each call (`sys.setprofile`): if a function of a package runs that could be instrumented, it is from then on.
These are the first runs of a search, and then those that are twice as far: most code runs in each run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, Final

from dpor.core.home import is_ours
from dpor.python.kernel import opaque_code
from dpor.python.kernel.library import CONSTANT, STDLIB, package_of
from dpor.python.kernel.run import run

_OF_RUNTIME: Final = STDLIB | {"attr", "attrs", "greenlet", "sortedcontainers"}
"""Packages that the runtime itself uses during runs."""
_IMPORT_SYSTEM: Final = ("importlib", "_frozen_importlib")


def is_to_be_watched(number: int) -> bool:
    """True for the runs to watch, counted from 0 in each search."""
    return number & (number - 1) == 0


@contextmanager
def watched() -> Iterator[None]:
    """Watch the calls of a run, unless somebody else profiles it."""
    if sys.getprofile() is not None:
        yield
        return
    alone: dict[int, CodeType] = {}
    among_others: dict[int, CodeType] = {}

    def called(frame: FrameType, event: str, _: Any) -> None:
        code, known = frame.f_code, among_others if run.multi else alone
        if event == "call" and id(code) not in known and run.current is not None and not run.unwinding:
            known[id(code)] = code
            _look_at(frame)

    sys.setprofile(called)
    try:
        yield
    finally:
        sys.setprofile(None)


def _look_at(frame: FrameType) -> None:
    if _has_hooks(frame):
        return
    module = str(frame.f_globals.get("__name__"))
    package = package_of(module)
    if is_ours(module) or package in CONSTANT or (package in STDLIB and not run.multi):
        return  # (the state of the library is put back without hooks)
    callers = _modules_up_to_hooks(frame)
    if any(caller.startswith(_IMPORT_SYSTEM) for caller in callers):
        return  # what imports run is not the program's doing; modules of the program have hooks
    if package in _OF_RUNTIME and (callers[-1:] == [""] or any(map(is_ours, callers))):
        return  # the runtime has called it, perhaps for its own purposes
    opaque_code.demand(module, f"{module}.{frame.f_code.co_qualname} runs")


def _has_hooks(frame: FrameType) -> bool:
    return ".call" in frame.f_globals or ".call" in frame.f_builtins


def _modules_up_to_hooks(frame: FrameType | None) -> list[str]:
    """Return the modules of the frame and of its callers, up to the nearest frame with hooks; the last is "" if there
    is none."""
    modules = []
    while frame is not None and not _has_hooks(frame):
        modules.append(str(frame.f_globals.get("__name__")))
        frame = frame.f_back
    return modules if frame is not None else [*modules, ""]
