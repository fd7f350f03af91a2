"""Notes why a run stands for less than everything that the program can do, so that the verdict cannot be "pass"."""

from __future__ import annotations

from typing import NoReturn

from dpor.core.plural import plural
from dpor.core.system import Ending
from dpor.python.kernel.model_thread import UnwindThread
from dpor.python.kernel.program_frames import last_place
from dpor.python.kernel.run import run


def incomplete(reason: str) -> None:
    """Note that this run stands for less than everything, for this reason: the verdict cannot be "pass"."""
    _note(run.incomplete, reason)


def incomplete_if_multithreaded(reason: str) -> None:
    """Like `incomplete`, but only if another thread exists or is started later in the run."""
    _note(run.incomplete if run.multi and not run.watched else run.incomplete_if_multithreaded, reason)


def _note(reasons: dict[str, None], reason: str) -> None:
    reasons[reason] = None
    run.unseen |= run.watched


def cut(reason: str, ending: Ending) -> NoReturn:
    """End the run at once, with this ending, and note that it is incomplete. Raises `UnwindThread`."""
    incomplete(f"{reason}{run.above.loops_unseen()}")
    run.ending = ending
    run.hub.switch()
    raise UnwindThread


def why_cut() -> str:
    """Say why the run was cut, where the thread was, and what to do."""
    if run.most_events < run.options.max_steps:
        return f"a run was ended after its event {run.position:,}{last_place()}"
    return (
        f"a run was cut after {plural(run.options.max_steps, 'event')} (--max-steps){last_place()}: if it waits in a"
        " loop for another thread, a lower --max-steps comes sooner to the other schedules; if it is only long, give a"
        " higher one"
    )
