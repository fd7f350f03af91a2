"""The drop-in for `dataclasses`: what goes through the fields of objects is instrumented; all else is the real one."""

from __future__ import annotations

import dataclasses as real
import functools
from pathlib import Path
from typing import Any, Final

from dpor.python.dropins import copying
from dpor.python.dropins.from_threading import only
from dpor.python.kernel.host_modules import DropInModule, shadow
from dpor.python.kernel.run import run

_GOING_THROUGH: Final = ("asdict", "astuple", "replace")
_INNER: Final = frozenset({"_asdict_inner", "_astuple_inner", "_copy_immutable", "_replace"})
"""What these call, in one version of Python or another."""


def _stepwise(name: str, copy: DropInModule) -> Any:
    """Return a function that reads field by field if several threads exist."""
    plain, step_by_step = getattr(real, name), getattr(copy, name)

    @functools.wraps(plain)
    def function(*args: Any, **kwargs: Any) -> Any:
        return (step_by_step if run.multi else plain)(*args, **kwargs)

    return function


def module() -> DropInModule:
    path = Path(real.__file__)
    names = {name: value for name, value in vars(real).items() if not name.startswith("__")}
    copy = copying.execute(
        "dataclasses", only(path.read_text(), _INNER | set(_GOING_THROUGH)), str(path), names, lambda name: None
    )
    return shadow(real, **{name: _stepwise(name, copy) for name in _GOING_THROUGH})
