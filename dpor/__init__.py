"""A model checker for ordinary multithreaded Python. These are the public names; everything else may change.

Names are looked up when they are first used, so that the command line starts at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpor.checking import check
    from dpor.errors import (
        BadProgram,
        BadSchedule,
        BadTarget,
        DporError,
        InternalError,
        NotDeterministic,
        Unsupported,
        UserError,
    )
    from dpor.options import Options, Timeouts
    from dpor.outcome import Kind
    from dpor.pytest.mark import interleave
    from dpor.replaying import replay
    from dpor.report.model import Failure, Report, Verdict
    from dpor.report.steps import Step
    from dpor.runtime.control import choose
    from dpor.runtime.histories import linearizable
    from dpor.runtime.invariants import invariant
    from dpor.schedule import SavedSchedule
    from dpor.version import VERSION as __version__

_HOMES = {
    "dpor.checking": ("check",),
    "dpor.errors": (
        "BadProgram",
        "BadSchedule",
        "BadTarget",
        "DporError",
        "InternalError",
        "NotDeterministic",
        "Unsupported",
        "UserError",
    ),
    "dpor.options": ("Options", "Timeouts"),
    "dpor.outcome": ("Kind",),
    "dpor.pytest.mark": ("interleave",),
    "dpor.report.model": ("Failure", "Report", "Verdict"),
    "dpor.report.steps": ("Step",),
    "dpor.replaying": ("replay",),
    "dpor.runtime.control": ("choose",),
    "dpor.runtime.histories": ("linearizable",),
    "dpor.runtime.invariants": ("invariant",),
    "dpor.schedule": ("SavedSchedule",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "BadProgram",
    "BadSchedule",
    "BadTarget",
    "DporError",
    "Failure",
    "InternalError",
    "Kind",
    "NotDeterministic",
    "Options",
    "Report",
    "SavedSchedule",
    "Step",
    "Timeouts",
    "Unsupported",
    "UserError",
    "Verdict",
    "__version__",
    "check",
    "choose",
    "interleave",
    "invariant",
    "linearizable",
    "replay",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("dpor.version").VERSION
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'dpor' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
