"""Goes on with a search that was cut, from its checkpoint. `resume` is the public function."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpor.app.checking import Session
from dpor.app.checkpoint import Checkpoint, Keeper, damaged
from dpor.app.targets import Target
from dpor.core.options import DEFAULT_SECONDS, Options
from dpor.core.results import Report
from dpor.report.progress import Monitor


def resume(
    checkpoint: str | os.PathLike[str],
    target: Target | None = None,
    *,
    max_seconds: float | None = DEFAULT_SECONDS,
    max_executions: int | None = None,
    workers: int | str | None = None,
    cluster: str | None = None,
) -> Report:
    """Go on with a search that was cut, and return a report of all of it.

    `checkpoint` is the file that the check has kept (`dpor.check(..., checkpoint="file")`). If the search is cut again,
    the file has what is left then, and once nothing is left it is removed. `target` is needed if the check was given a
    callable. `max_seconds` is for this part, `max_executions` for the whole search; `workers` and `cluster` as
    in the check.

    Raises `BadCheckpoint` if the file is not a checkpoint, or if the source, Python or dpor has changed since.
    """
    kept = Checkpoint.load(checkpoint)
    options = {"max_seconds": max_seconds, "max_executions": max_executions, "workers": workers, "cluster": cluster}
    return session_of(kept, checkpoint, options, target=target).run()


def session_of(
    kept: Checkpoint,
    file: str | os.PathLike[str],
    changes: Mapping[str, Any],
    monitor: Monitor | None = None,
    target: Target | None = None,
) -> Session:
    """Return a check that goes on with what this file keeps. Raises `BadCheckpoint`."""
    kept.check()
    with damaged(file):
        options = Options(**kept.options, **changes, checkpoint=os.fspath(file))
    return Session(
        kept.target if target is None else target,
        options,
        monitor,
        keeper=Keeper(Path(file), periodic=True, written=True),
        resumed=kept,
    )
