"""A model checker for ordinary multithreaded Python. These are the public names; everything else may change.

Names are looked up when they are first used, so that the command line starts at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpor.app.checking import check
    from dpor.app.outcomes import Outcomes, Refinement, outcomes, refines
    from dpor.app.replaying import replay
    from dpor.app.resuming import resume
    from dpor.core.errors import (
        BadCheckpoint,
        BadProgram,
        BadSchedule,
        BadTarget,
        DporError,
        IncompleteOutcomes,
        InternalError,
        NotDeterministic,
        Unsupported,
        UserError,
    )
    from dpor.core.options import Options, Timeouts
    from dpor.core.outcome import Kind
    from dpor.core.results import Failure, Report, Verdict
    from dpor.core.schedule import SavedSchedule
    from dpor.core.steps import Step
    from dpor.core.told import Failed, Outcome
    from dpor.core.version import VERSION as __version__
    from dpor.pytest.mark import interleave
    from dpor.python.kernel.data_choices import choose
    from dpor.python.kernel.interest import assume, reached
    from dpor.python.specs.histories import linearizable
    from dpor.python.specs.invariants import invariant
    from dpor.scenarios.concurrent import concurrent
    from dpor.scenarios.operations import operation

_HOMES = {
    "dpor.app.checking": ("check",),
    "dpor.core.errors": (
        "BadCheckpoint",
        "BadProgram",
        "BadSchedule",
        "BadTarget",
        "DporError",
        "IncompleteOutcomes",
        "InternalError",
        "NotDeterministic",
        "Unsupported",
        "UserError",
    ),
    "dpor.core.options": ("Options", "Timeouts"),
    "dpor.core.outcome": ("Kind",),
    "dpor.pytest.mark": ("interleave",),
    "dpor.core.results": ("Failure", "Report", "Verdict"),
    "dpor.core.steps": ("Step",),
    "dpor.core.told": ("Failed", "Outcome"),
    "dpor.app.outcomes": ("Outcomes", "Refinement", "outcomes", "refines"),
    "dpor.app.replaying": ("replay",),
    "dpor.app.resuming": ("resume",),
    "dpor.python.kernel.data_choices": ("choose",),
    "dpor.python.kernel.interest": ("assume", "reached"),
    "dpor.python.specs.histories": ("linearizable",),
    "dpor.python.specs.invariants": ("invariant",),
    "dpor.scenarios.concurrent": ("concurrent",),
    "dpor.scenarios.operations": ("operation",),
    "dpor.core.schedule": ("SavedSchedule",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "BadCheckpoint",
    "BadProgram",
    "BadSchedule",
    "BadTarget",
    "DporError",
    "Failed",
    "Failure",
    "IncompleteOutcomes",
    "InternalError",
    "Kind",
    "NotDeterministic",
    "Options",
    "Outcome",
    "Outcomes",
    "Refinement",
    "Report",
    "SavedSchedule",
    "Step",
    "Timeouts",
    "Unsupported",
    "UserError",
    "Verdict",
    "__version__",
    "assume",
    "check",
    "choose",
    "concurrent",
    "interleave",
    "invariant",
    "linearizable",
    "operation",
    "outcomes",
    "reached",
    "refines",
    "replay",
    "resume",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("dpor.core.version").VERSION
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'dpor' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
