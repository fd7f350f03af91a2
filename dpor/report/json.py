"""A report as one JSON object; `schema.json`, beside this file, documents it."""

from __future__ import annotations

from typing import Any

import attrs

from dpor.core.explanation import Explanation
from dpor.core.results import Failure, Report
from dpor.core.schedule import to_json_text
from dpor.core.steps import Step
from dpor.core.told import Outcome


def to_json(report: Report) -> dict[str, Any]:
    """Return the object, of plain JSON types only."""
    fields = {field.name: getattr(report, field.name) for field in attrs.fields(Report)}
    return {
        "schema": Report.schema,
        **fields,
        "verdict": report.verdict.value,
        "reasons": list(report.reasons),
        "restarts": list(report.restarts),
        "findings": [failure_to_json(failure) for failure in report.findings],
        "branching": [attrs.asdict(one) for one in report.branching],
        "partly_covered": None if report.partly_covered is None else attrs.asdict(report.partly_covered),
        "unstored": dict(report.unstored),
        "cycle": [_step(step) for step in report.cycle],
        "outcome_list": [_outcome(outcome) for outcome in report.outcome_list],
        "outcome_digests": dict(report.outcome_digests),
        "versions": dict(report.versions),
    }


def failure_to_json(failure: Failure) -> dict[str, Any]:
    """Return one of the report's findings, in the form of `finding` in `schema.json`."""
    fields = {field.name: getattr(failure, field.name) for field in attrs.fields(Failure) if field.name != "saved"}
    return {
        **fields,
        "kind": failure.kind.value,
        "schedule": list(failure.schedule),
        "first_schedule": list(failure.first_schedule),
        "threads": list(failure.threads),
        "trace": [_step(step) for step in failure.trace],
        "details": list(failure.details),
        "explanation": None if failure.explanation is None else _explanation(failure.explanation),
    }


def _explanation(explanation: Explanation) -> dict[str, Any]:
    return {
        **attrs.asdict(explanation, recurse=False),
        "edges": [list(edge) for edge in explanation.edges],
        "reorderings": [{**one.order._asdict(), "fails": one.fails} for one in explanation.reorderings],
        "whenever": [order._asdict() for order in explanation.whenever],
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "text": outcome.text,
        "failures": [attrs.asdict(failed) for failed in outcome.failures],
        "schedule": list(outcome.schedule),
        "switches": outcome.switches,
        "least": outcome.least,
        "threads": list(outcome.threads),
        "trace": [_step(step) for step in outcome.trace],
    }


def _step(step: Step) -> dict[str, Any]:
    return attrs.asdict(step)


def dumps(report: Report) -> str:
    """Return the text of the report's file, which ends with a newline."""
    return to_json_text(to_json(report))


def dumps_failure(failure: Failure) -> str:
    """Return the text of one failure's file, which ends with a newline."""
    return to_json_text(failure_to_json(failure))
