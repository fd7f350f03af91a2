"""Schedules of failures as they are saved."""

from __future__ import annotations

import sys

import attrs

from dpor.app.targets import Target, target_name
from dpor.core.options import Options
from dpor.core.outcome import Finding
from dpor.core.results import Failure
from dpor.core.schedule import SavedSchedule, hash_seed, read_sources
from dpor.findings.explain import Checkable


def saved_schedule(target: Target, options: Options, system: Checkable, failure: Failure) -> SavedSchedule:
    """Return the schedule of a failure that a check of this target has found, with all that is needed to replay it."""
    return SavedSchedule(
        target=target_name(target, attrs.evolve(options, name=None)),
        name=options.name,
        settings=options.saved(),
        facts=system.facts(),
        hash_seed=hash_seed(),
        python=sys.version.split()[0],
        sources=read_sources(system.sources()),
        schedule=failure.schedule,
        first_schedule=failure.first_schedule,
        threads=failure.threads,
        finding=Finding(
            failure.kind,
            failure.message,
            failure.thread,
            failure.file,
            failure.line,
            failure.needs_timeout,
            other=failure.other,
        ),
    )
