"""The drop-in for `dataclasses`: what goes through the fields of objects is instrumented; all else is the real one."""

from __future__ import annotations

import dataclasses as real
from functools import cache
from pathlib import Path
from typing import Any, Final

from dpor.python.dropins import copying
from dpor.python.dropins.from_threading import only
from dpor.python.kernel.host_modules import DropInModule, shadow

_GOING_THROUGH: Final = ("asdict", "astuple", "replace")
_INNER: Final = frozenset({"_asdict_inner", "_astuple_inner", "_copy_immutable", "_replace"})
"""Helpers that these functions call, in any supported version."""


@cache
def step_by_step() -> Any:
    """Return the module with these functions and their helpers, instrumented."""
    path = Path(real.__file__)
    names = {name: value for name, value in vars(real).items() if not name.startswith("__")}
    return copying.execute(
        "dataclasses", only(path.read_text(), _INNER | set(_GOING_THROUGH)), str(path), names, lambda name: None
    )


def module() -> DropInModule:
    copy = step_by_step()
    return shadow(real, **{name: copying.in_steps(getattr(real, name), getattr(copy, name)) for name in _GOING_THROUGH})
