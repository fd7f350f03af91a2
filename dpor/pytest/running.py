"""Checks or replays one interleaved test, and reports the verdict to pytest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import Any, NoReturn

import pytest

from dpor.app.checking import Session
from dpor.app.replaying import Replay
from dpor.core.errors import BadTarget, DporError, UserError
from dpor.core.outcome import Kind
from dpor.core.results import NOTHING_SHARED, ONE_THREAD, Failure, Report, Verdict
from dpor.core.schedule import SavedSchedule
from dpor.pytest.debugging import FAILED
from dpor.pytest.logs import printed
from dpor.pytest.mark import VERDICT, options_of_test
from dpor.pytest.store import FailureStore, save, slug
from dpor.pytest.target import TestTarget
from dpor.report.text import headline, plain_text, show_failure, verdict_lines

_COUNTS = ("strategy", "exhaustive", "executions", "blocked", "events", "outcomes", "seconds")
_CALLED_OFF: dict[str, Callable[[str], BaseException]] = {
    "Skipped": lambda reason: pytest.skip.Exception(reason, _use_item_location=True),
    "XFailed": pytest.xfail.Exception,
}
"""By name: exceptions by which a test says that it is not to be judged, and pytest's own exception to raise instead."""


def run_test(item: pytest.Function, replayed: SavedSchedule | None) -> None:
    """Check the test, or replay the schedule.

    Raises pytest's exception if the test fails, is skipped or cannot be checked, and with `--dpor-strict` also if the
    verdict is inconclusive.
    """
    before = list(item.user_properties)
    try:
        with printed(item):
            if replayed is None:
                _check(item)
            else:
                _replay(item, replayed)
    except UserError as error:
        raise _error(item, str(error)) from None
    except DporError as error:
        raise _error(item, f"an error of dpor itself, please report it: {error}") from error
    finally:  # each execution may have recorded the same properties
        item.user_properties[:] = before + [
            new for new in dict.fromkeys(item.user_properties[len(before) :]) if new not in before
        ]


def _check(item: pytest.Function) -> None:
    store = FailureStore(item.config)
    known = store.load(item)
    session = Session(
        TestTarget(item),
        options_of_test(item),
        suspects=() if known is None else [known.schedule, known.first_schedule],
    )
    report = session.run()
    for name in _COUNTS:
        item.user_properties.append((f"dpor.{name}", getattr(report, name)))
    if report.reasons:
        item.user_properties.append(("dpor.reasons", "; ".join(report.reasons)))
    _call_off(report)
    file = None
    if report.verdict is Verdict.FAIL:
        file = _keep(item, store, report)
        if (saved := report.findings[0].saved) is not None:
            item.stash[FAILED] = saved
    elif report.verdict is Verdict.PASS:
        store.forget(item)
    _write(item, report)
    vacuous = [reason for reason in report.reasons if reason in (NOTHING_SHARED, ONE_THREAD)]
    if vacuous or (report.verdict is Verdict.PASS and not report.visible):
        reason = vacuous[0] if vacuous else report.nothing_to_interleave
        raise _error(item, f"{reason}. Does it start threads, and do they change something that they share?")
    item.user_properties.append((VERDICT, report.verdict.value))
    if report.verdict is Verdict.FAIL:
        pytest.fail(_failure_text(item, report, file), pytrace=False)
    if report.verdict is Verdict.INCONCLUSIVE and item.config.getoption("dpor_strict"):
        pytest.fail("\n".join(verdict_lines(report)), pytrace=False)


def _replay(item: pytest.Function, saved: SavedSchedule) -> NoReturn:
    replay = Replay(saved, TestTarget(item))
    failure = _debugged(item, replay) if item.config.getoption("usepdb") else replay.run()
    item.user_properties.append((VERDICT, Verdict.FAIL.value))
    pytest.fail(_as_text(failure, traceback=True), pytrace=False)


def _debugged(item: pytest.Function, replay: Replay) -> Failure:
    """Replay under the debugger, at the terminal: stop pytest from capturing meanwhile."""
    from dpor.app.debugger import debugged

    capture: Any = item.config.pluginmanager.getplugin("capturemanager")
    if capture is None:
        return replay.run(debugged)
    capture.suspend(in_=True)
    try:
        return replay.run(debugged)
    finally:
        capture.resume()


def _error(item: pytest.Function, message: str) -> BaseException:
    item.user_properties.append((VERDICT, "error"))
    return pytest.fail.Exception(f"dpor: {message}", pytrace=False)


def _call_off(report: Report) -> None:
    """Raise pytest's exception if the test has called `pytest.skip` or `pytest.xfail`, `BadTarget` if it cannot be
    run."""
    for failure in report.findings[:1]:
        name, _, reason = failure.message.partition(": ")
        if failure.kind is Kind.EXCEPTION and name == BadTarget.__name__:
            raise BadTarget(reason)
        if failure.kind is Kind.EXCEPTION and name in _CALLED_OFF:
            raise _CALLED_OFF[name](reason)


# ---------------------------------------------------------------------- what is written


def _keep(item: pytest.Function, store: FailureStore, report: Report) -> str | None:
    """Save the schedule of the first failure. Returns the file from which it can be replayed, None if there is none."""
    failure = report.findings[0]
    if failure.saved is None:
        return None
    kept = store.keep(item, failure.saved)
    folder = item.config.getoption("dpor_report")
    return save(failure.saved, Path(folder) / f"{slug(item.nodeid)}-schedule.json") if folder is not None else kept


def _write(item: pytest.Function, report: Report) -> None:
    """Write the report as JSON to the folder of `--dpor-report`, if given, and as a page if there is a failure to look
    at.

    Raises `UserError` if a file cannot be written.
    """
    folder = item.config.getoption("dpor_report")
    if folder is None:
        return
    from dpor.report.json import dumps

    texts = {".json": dumps(report)}
    if report.findings:
        from dpor.report.page import report_page

        texts[".html"] = report_page(report)
    for suffix, text in texts.items():
        try:
            Path(folder, slug(item.nodeid) + suffix).write_text(text, encoding="utf-8")
        except OSError as error:
            raise UserError(f"--dpor-report {folder}: cannot be written: {error.strerror or error}") from None


def _failure_text(item: pytest.Function, report: Report, file: str | None) -> str:
    parts = [_as_text(failure, verbose=item.config.option.verbose > 1) for failure in report.findings]
    text = "\n".join([*parts, *verdict_lines(report)])
    return text if file is None else f"{text}\nAgain: pytest {quote(item.nodeid)} --dpor-replay {quote(file)}"


def _as_text(failure: Failure, *, verbose: bool = False, traceback: bool = False) -> str:
    """Return what went wrong and the steps that lead to it, as text."""
    steps = plain_text(lambda console: show_failure(failure, console, verbose=verbose, traceback=traceback))
    return f"{headline(failure, '').strip()}\n{steps}"
