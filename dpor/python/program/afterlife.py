"""Code of a program that runs when its last run is long over: finalisers of objects that die later, perhaps when the
interpreter ends. Its hooks are still there, and do nothing. What else it needs is not, so its failures are no news."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable
from typing import Any

_A_HOOK = ".attr"
_OF_RELEASED = "dpor_silent"


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


def be_silent_from_now_on() -> None:
    """Report no exceptions of finalisers whose modules have been released: the garbage collector may find their
    objects at any time."""
    report = sys.unraisablehook
    if getattr(report, "__name__", "") != _OF_RELEASED:
        sys.unraisablehook = _silent(report, _OF_RELEASED)


@atexit.register
def _fail_silently() -> None:
    """Report no exceptions of finalisers of programs from now on."""
    sys.unraisablehook = _silent(sys.unraisablehook)


def _silent(report: Callable[[Any], object], name: str = "") -> Callable[[Any], None]:
    """Return a hook that reports no exceptions of code with hooks; given a name, which it gets, it does report them if
    the globals of the code are there. (It needs no globals of ours: when the interpreter ends, none are left.)"""

    def hook(unraisable: Any, report: Callable[[Any], object] = report, a_hook: str = _A_HOOK) -> None:
        trace = unraisable.exc_traceback
        names = {} if trace is None else trace.tb_frame.f_globals
        if a_hook not in names or (name and "__name__" in names):
            report(unraisable)

    hook.__name__ = name or hook.__name__
    return hook
