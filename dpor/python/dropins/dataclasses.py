"""The drop-in for `dataclasses`: what goes through the fields of objects is instrumented; all else is the real one."""

from __future__ import annotations

import dataclasses as real
from pathlib import Path
from typing import Final

from dpor.python.dropins import copying
from dpor.python.dropins.from_threading import only
from dpor.python.kernel.host_modules import DropInModule, shadow

_GOING_THROUGH: Final = ("asdict", "astuple", "replace")
_INNER: Final = frozenset({"_asdict_inner", "_astuple_inner", "_copy_immutable", "_replace"})
"""Helpers that these functions call, in any supported version."""


def module() -> DropInModule:
    path = Path(real.__file__)
    names = {name: value for name, value in vars(real).items() if not name.startswith("__")}
    copy = copying.execute(
        "dataclasses", only(path.read_text(), _INNER | set(_GOING_THROUGH)), str(path), names, lambda name: None
    )
    return shadow(real, **{name: copying.stepwise(getattr(real, name), getattr(copy, name)) for name in _GOING_THROUGH})
