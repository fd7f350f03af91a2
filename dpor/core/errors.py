"""Exceptions for errors of the user and for faults of dpor. What the checked program does wrong is a `Finding`."""

from __future__ import annotations


class DporError(Exception):
    """The base of all exceptions that this package raises on purpose."""


class UserError(DporError):
    """Something that the reader can act on: one line that names the value and what to do."""


class BadTarget(UserError):
    """The target cannot be found, loaded or called."""


class BadProgram(UserError):
    """An abstract program that is not in the format of `dpor.model`."""


class BadSchedule(UserError):
    """A saved schedule that cannot be read, or that belongs to another source."""


class BadCheckpoint(UserError):
    """A checkpoint that cannot be read or written, or that belongs to another source."""


class Unsupported(UserError):
    """The program does something that dpor knows of but does not model."""


class NotDeterministic(UserError):
    """A replay differed from what was recorded, although it made the same choices."""


class Unfinished(UserError):
    """The time was over before the program could be loaded."""


class IncompleteOutcomes(UserError):
    """Outcomes are compared that are not all known."""


class OutOfTime(DporError):
    """The time of a search ran out during long work between two runs."""


class GivenUp(UserError):
    """A run that was made to explain a finding took too long."""


class InternalError(DporError):
    """A fault of dpor. Only the command line catches it (exit code 4)."""


class AssumptionBroken(DporError):
    """A run has broken an assumption of the search. The search starts again without it.

    Raised by a system, caught by `dpor.app.checking`.

    reason   is shown to the user
    runs     how many runs are counted nowhere: the one that has broken it, if it was a run that did
    """

    def __init__(self, reason: str, runs: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.runs = runs
