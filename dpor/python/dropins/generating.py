"""Classes with generated methods: what `dataclasses` and `attrs` compile for the program is instrumented.

They make the source of `__init__`, `__eq__`, `__repr__` and so on and execute it themselves, in code that is not the
program's. While a program runs, the functions by which they do that are replaced (`watched`). The replacements behave
like the real ones unless instrumented code asks for the class.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Final

import attr._make

from dpor.python.dropins.patches import Change, Patches
from dpor.python.hooks.calls.executing import instrumented, supply
from dpor.python.kernel.classes import is_a
from dpor.python.kernel.run import run

_GENERATORS: Final = frozenset({"dataclasses", "attr", "attrs"})


class Running:
    """Remembers which model thread is inside the `__repr__` of which object."""

    def __init__(self) -> None:
        self._entered: set[tuple[int, int, int]] = set()

    def enter(self, function: object, obj: object) -> bool:
        key = (id(function), id(obj), run.current.id)
        if key in self._entered:
            return False
        self._entered.add(key)
        return True

    def leave(self, function: object, obj: object) -> None:
        self._entered.discard((id(function), id(obj), run.current.id))


class _Compat:
    """Replaces `attr._compat` in generated code; its state is per model thread."""

    def __init__(self) -> None:
        from dpor.python.dropins.locals import local

        self.repr_context = local()


@cache
def _around() -> Any:
    """Return `generated_code`, instrumented. Its functions count as generated, because of the name of their file."""
    from dpor.python.dropins import copying

    source = Path(__file__).with_name("generated_code.py").read_text().replace("running: Any = None\n", "")
    return copying.execute("dataclasses", source, "<generated>", {"running": Running()}, lambda name: None)


def _asker() -> FrameType | None:
    """Return the frame of the code that asks for the class if it is instrumented, else None."""
    frame: FrameType | None = sys._getframe(2)
    if run.current is None:
        return None
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _GENERATORS:
        frame = frame.f_back
    if frame is None or not (".call" in frame.f_globals or ".call" in frame.f_builtins):
        return None
    return frame


def _exec(source: Any, globals: Any = None, locals: Any = None, /) -> None:
    """The `exec` that `dataclasses` calls."""
    frame = _asker()
    if frame is None or not is_a(globals, dict):
        exec(source, globals, locals)
        return
    if ".call" not in globals and "__name__" in globals:  # globals of somebody else's module, such as `types`
        globals = dict(globals)
    code = instrumented(source, "<string>", "exec", 0, -1, None)
    supply(globals, frame)
    exec(code, globals, locals)


def _compile_and_eval(script: str, globs: Any, locs: Any = None, filename: str = "") -> None:
    frame = _asker()
    if frame is None or not isinstance(globs, dict):
        _REAL["_compile_and_eval"](script, globs, locs, filename)
        return
    code = instrumented(script, filename, "exec", 0, -1, None)
    if "_compat" in globs:
        globs["_compat"] = _Compat()
    supply(globs, frame)
    exec(code, globs, locs)


def _instead(name: str, ours: str) -> Callable[..., Any]:
    def generator(*args: Any, **kwargs: Any) -> Any:
        return (_REAL[name] if _asker() is None else getattr(_around(), ours))(*args, **kwargs)

    return generator


def _replace(self: Any, /, **changes: Any) -> Any:
    """The method `__replace__` of dataclasses, for `copy.replace`."""
    from dpor.python.dropins.dataclasses import step_by_step

    return (_REAL["_replace"] if not run.multi else step_by_step()._replace)(self, **changes)


_CHANGED: Final[list[Change]] = [
    (names, name, ours)
    for names, name, ours in (
        (vars(dataclasses), "_recursive_repr", _instead("_recursive_repr", "recursive_repr")),
        (vars(dataclasses), "recursive_repr", _instead("recursive_repr", "recursive_repr_with")),
        (vars(dataclasses), "_replace", _replace),  # from 3.13 on
        (vars(attr._make), "_compile_and_eval", _compile_and_eval),
        (vars(attr._make), "_make_order", _instead("_make_order", "make_order")),
    )
    if name in names
]
_REAL: Final[dict[str, Any]] = {name: names[name] for names, name, _ in _CHANGED}


watched: Final = Patches([*_CHANGED, (vars(dataclasses), "exec", _exec)])
"""Active while the program runs."""
