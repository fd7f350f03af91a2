"""Code of a program that runs when its last run is long over: finalisers of objects that die later, perhaps when the
interpreter ends. Its hooks are still there, and do nothing. What else it needs is not, so its failures are no news."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable
from typing import Any

_A_HOOK = ".attr"


def release(names: dict[str, Any]) -> None:
    """Release what the globals of a module of the program hold, apart from its hooks: finalisers of that find nothing
    else there."""
    report = sys.unraisablehook
    sys.unraisablehook = _silent(report)
    try:
        for name in [name for name in names if not name.startswith(".") and name != "__builtins__"]:
            del names[name]
    finally:
        sys.unraisablehook = report


def begin_again(names: dict[str, Any], first: dict[str, Any]) -> None:
    """Give a module of the program its first globals, between runs."""
    release(names)
    names.clear()
    names.update(first)


@atexit.register
def _fail_silently() -> None:
    """Report no exceptions of finalisers of programs from now on."""
    sys.unraisablehook = _silent(sys.unraisablehook)


def _silent(report: Callable[[Any], object]) -> Callable[[Any], None]:
    """Return a hook that reports no exceptions of code with hooks. (It needs no globals of ours: when the interpreter
    ends, none are left.)"""

    def hook(unraisable: Any, report: Callable[[Any], object] = report, a_hook: str = _A_HOOK) -> None:
        trace = unraisable.exc_traceback
        if trace is None or a_hook not in trace.tb_frame.f_globals:
            report(unraisable)

    return hook
