"""`dpor.outcomes` and `dpor.refines`: all outcomes of a program, as a set to compare."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator
from typing import Any, Final

import attrs

from dpor.app.checking import Session
from dpor.app.option_docs import complete
from dpor.app.targets import Target
from dpor.core.errors import IncompleteOutcomes
from dpor.core.options import Options, with_changes
from dpor.core.outcome import Kind
from dpor.core.results import NOT_FINISHED
from dpor.core.told import Failed, Outcome
from dpor.python.specs.frozen_values import freeze


@attrs.frozen(eq=False, repr=False)
class Outcomes(Collection[Outcome]):
    """The outcomes of a program: a collection of `Outcome`, fewest switches first, failures last.

    It equals a set, list or tuple of values that the target returns, compared by structure, and of `dpor.Failed`, if
    each outcome is one of these, and each of these is an outcome. (An outcome with several failures is written as a
    tuple of them.) To compare outcomes that are not complete raises `IncompleteOutcomes`.

    complete   True if the search covered everything, so that there are no others
    reasons    why not, if not
    """

    target: str
    found: tuple[Outcome, ...]
    complete: bool
    reasons: tuple[str, ...]
    is_allowed: bool = False

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.found)

    def __contains__(self, expected: object) -> bool:
        matches = _matcher(expected)
        return any(map(matches, self.found))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Outcomes):
            self.must_be_complete()
            other.must_be_complete()
            return {*map(_identity, self)} == {*map(_identity, other)}
        if not isinstance(other, set | frozenset | list | tuple):
            return NotImplemented
        self.must_be_complete()
        expected = [_matcher(each) for each in other]
        return all(any(matches(found) for matches in expected) for found in self) and all(
            any(map(matches, self)) for matches in expected
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        told = ", ".join(found.text.removeprefix("returned ") for found in self)
        return f"{{{told}}}" + ("" if self.complete else f" and perhaps others ({'; '.join(self.reasons)})")

    def must_be_complete(self) -> None:
        """Raise `IncompleteOutcomes` if there may be others, unless that is allowed."""
        if not (self.complete or self.is_allowed):
            raise IncompleteOutcomes(
                f"the outcomes of {self.target} are not all known ({'; '.join(self.reasons)}), so to compare them means"
                f" little; known are {len(self)}. Give the search more time, or allow_incomplete=True"
            )


def outcomes(
    target: Target, options: Options | None = None, *, allow_incomplete: bool = False, **changes: Any
) -> Outcomes:
    """Explore every interleaving of the target, and return all its outcomes, each with a schedule that gives it:
    `assert dpor.outcomes(scenario) == {1, 2, dpor.Failed("deadlock")}`.

    `allow_incomplete`: compare them also if the search has not covered everything. Raises `UserError` as `dpor.check`
    does, whose options it takes.
    """
    chosen = attrs.evolve(with_changes(options or Options(), changes, "dpor.outcomes"), outcomes=True)
    report = Session(target, chosen, explains=False).run()
    reasons = report.reasons or (() if report.exhaustive else (NOT_FINISHED,))
    return Outcomes(report.target, report.outcome_list, report.exhaustive, reasons, allow_incomplete)


complete(outcomes, Options)


@attrs.frozen
class Refinement:
    """Whether one program refines another: true if it does.

    more   the outcomes of the new program that the old one does not have, each with a schedule
    new, old   the outcomes of both
    """

    more: tuple[Outcome, ...]
    new: Outcomes = attrs.field(repr=False)
    old: Outcomes = attrs.field(repr=False)

    def __bool__(self) -> bool:
        return not self.more


def refines(new: Target, old: Target, options: Options | None = None, **changes: Any) -> Refinement:
    """Explore both targets, and return whether every outcome of the new one is one of the old one: `assert
    dpor.refines(lock_free, locked)`. Values are compared by structure, exceptions by kind and text, deadlocks and
    livelocks by kind.

    Takes the options of `dpor.check`. Raises `IncompleteOutcomes` if a search was cut, so that this is not known, and
    `UserError` as `dpor.check` does.
    """
    chosen = with_changes(options or Options(), changes, "dpor.refines")
    expected, found = outcomes(old, chosen), outcomes(new, chosen)
    expected.must_be_complete()
    known = {*map(_identity, expected)}
    more = tuple(each for each in found if _identity(each) not in known)
    if not more:
        found.must_be_complete()
    return Refinement(more, found, expected)


complete(refines, Options)


# ---------------------------------------------------------------------- comparing


def _matcher(expected: object) -> Callable[[Outcome], bool]:
    """Return a function that tells whether an outcome is the expected one."""
    if isinstance(expected, Outcome):
        return lambda found: _identity(found) == _identity(expected)
    failures = (expected,) if isinstance(expected, Failed) else expected
    if isinstance(failures, tuple) and failures and all(isinstance(each, Failed) for each in failures):
        return lambda found: _fails_so(found.failures, failures)
    wanted = ("returned", freeze(expected))
    return lambda found: not found.failures and found.result == wanted


def _fails_so(found: tuple[Failed, ...], expected: tuple[Failed, ...]) -> bool:
    """True if the failures are the expected ones, in some order."""
    if len(found) != len(expected):
        return False
    if not found:
        return True
    first, *rest = found
    return any(
        first.kind == each.kind
        and each.message in (None, first.message)
        and _fails_so(tuple(rest), expected[:number] + expected[number + 1 :])
        for number, each in enumerate(expected)
    )


def _identity(outcome: Outcome) -> Hashable:
    """Return what makes outcomes of two programs the same. The texts of deadlocks and livelocks tell places."""
    return tuple(
        failed.kind if failed.kind in _OF_PLACES else (failed.kind, failed.message) for failed in outcome.failures
    ) or (outcome.result,)


_OF_PLACES: Final = (Kind.DEADLOCK.value, Kind.LIVELOCK.value)
