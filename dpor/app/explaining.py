"""The failures of a check, explained, each in a time of its own; if that is too short, they are reported as seen."""

from __future__ import annotations

import attrs

from dpor.app.budgets import EXPLAINING_SECONDS, MINIMISING_SECONDS, ORDERING_SECONDS, STANDSTILL, passed
from dpor.app.course import Course
from dpor.core.errors import UserError
from dpor.findings.explain import explain, undescribed, unexplained, with_orders


def explain_failures(course: Course) -> None:
    """Minimise and describe each failure of the present search, then try its events in other orders.

    Raises `AssumptionBroken` if a run for this shows a fact that the search has not met. Other orders are more likely
    to, and so they are tried last.
    """
    _explain(course)
    _order(course)


def _explain(course: Course) -> None:
    phases, results = course.phases, course.results
    phases.forgive()
    phases.patience = STANDSTILL
    for seen in results.seen.values():
        phases.allow(EXPLAINING_SECONDS)
        explained = None
        try:
            explained = explain(course.system, seen.finding, seen.schedule, passed(phases.now + MINIMISING_SECONDS))
            failure = explained.failure
        except KeyboardInterrupt:
            if not course.monitor.interruptible:
                raise
            failure = undescribed(seen.finding, seen.schedule)
        except UserError as error:
            failure = unexplained(seen.finding, seen.schedule)
            results.reasons[f"{type(error).__name__}: {error}"] = None
        except Exception:
            if not phases.is_over():
                raise
            failure = undescribed(seen.finding, seen.schedule)
        results.failures.append(course.saved(seen.counted(failure)))
        results.explained.append(explained)


def _order(course: Course) -> None:
    phases, results = course.phases, course.results
    for number, explained in enumerate(results.explained):
        if explained is not None:
            phases.allow(ORDERING_SECONDS)
            known = results.failures[number]
            try:
                ordered = with_orders(course.system, attrs.evolve(explained, failure=known), phases.is_over)
            except KeyboardInterrupt:
                if not course.monitor.interruptible:
                    raise
                return
            except Exception:
                if not phases.is_over():
                    raise
                return
            results.failures[number] = attrs.evolve(ordered, saved=known.saved)
