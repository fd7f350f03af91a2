"""The command line. It turns arguments into `Options`, shows the report, and returns an exit code.

Imports that a quick verdict does not need (rich, json) are made where they are used: the time from the shell to the
verdict on a small program must stay well under half a second.
"""

from __future__ import annotations

import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from dpor.cli.analyze import analyze
from dpor.cli.answers import (
    EXIT_CODES,
    KEEP,
    Exit,
    OneLineErrors,
    check_outputs,
    draw,
    end_process,
    is_our_process,
    keep_folder,
    our_errors,
    same_hashes,
    to_stdout,
    traceback_option,
    verdict_options,
    write_file,
)
from dpor.cli.ci import check_ci, ci_options, write_ci_outputs
from dpor.cli.compare import compare
from dpor.cli.completing import files, strategies
from dpor.cli.doctor import doctor
from dpor.cli.explain import explain
from dpor.cli.fuzz import fuzz
from dpor.cli.lincheck import lincheck
from dpor.cli.options import options_for
from dpor.cli.workloads import workloads
from dpor.core.errors import BadSchedule, UserError
from dpor.core.interpreter import remark
from dpor.core.options import Options
from dpor.core.results import Failure, Report, Verdict, ended_by
from dpor.core.version import VERSION
from dpor.report.progress import Lines, Monitor, StatusLine
from dpor.report.text import (
    count_lines,
    headline,
    headlines,
    show,
    show_failure,
    verdict_lines,
)

if TYPE_CHECKING:
    from dpor.app.checking import Session
    from dpor.app.checkpoint import Keeper
    from dpor.cli.guard import Guarded

COLOURS = {Verdict.PASS: "green", Verdict.FAIL: "red", Verdict.INCONCLUSIVE: "yellow"}
ONE_KEY_PRESS = 0.3
"""Seconds within which two interrupts count as one."""
EXIT_OF = {Verdict.PASS: Exit.PASS, Verdict.FAIL: Exit.FINDING, Verdict.INCONCLUSIVE: Exit.INCONCLUSIVE}


@click.group(
    cls=OneLineErrors,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EXIT_CODES,
)
@click.version_option(VERSION, prog_name="dpor")
def cli() -> None:
    """Checks multithreaded Python programs: runs a function under every thread interleaving that can make a
    difference, until one fails or all are covered.

    \b
      dpor check bank.py::scenario              explore; a failure is shown with the schedule that causes it
      dpor resume .dpor/bank-scenario.checkpoint.json   go on with a check that was cut
      dpor replay .dpor/bank-scenario-1.json    run that schedule again
      dpor explain .dpor/bank-scenario-1.json   why it fails, and what would avoid it
    """
    try:
        Path.cwd()
    except OSError as error:
        end_process(f"dpor: the working folder cannot be found ({error.strerror}): go to another one", Exit.USAGE)


# ---------------------------------------------------------------------- check


@cli.command(epilog=EXIT_CODES)
@click.argument("target", shell_complete=files)
@options_for("check", strategy={"shell_complete": strategies})
@click.option("--json", "json_", type=click.Path(dir_okay=False), metavar="FILE", help="Write the report; - is stdout.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write a page for a browser: each failure, to step through; of a pass, what was explored.",
)
@ci_options
@verdict_options
def check(
    target: str,
    json_: str | None,
    html: str | None,
    sarif: str | None,
    github: bool,
    save: str | None,
    quiet: bool,
    verbose: bool,
    traceback: bool,
    **arguments: Any,
) -> None:
    """Run TARGET under every interleaving that can make a difference.

    \b
    TARGET is one of
      path/file.py::name        a function without required arguments (Class.method for a static method)
      package.module:name       the same, by the name to import
      programs.json(l)          an abstract program; --name picks one of several
      daisy, daisy:bug          a program that comes with dpor; dpor workloads lists them

    The function runs many times, each time from the same program state. It fails if a thread ends with an exception,
    an assertion fails, or no thread can go on.
    """
    with our_errors(traceback):
        from dpor.app.checking import Session
        from dpor.app.targets import target_name

        if remark():
            click.echo(f"dpor: {remark()}", err=True)
        check_outputs(
            ["json"], json=json_, html=html, sarif=sarif, save=save, checkpoint=arguments["checkpoint"] or None
        )
        check_ci(github, json_)
        arguments["expect_threads"] |= github or sarif is not None
        options = Options(**arguments)
        monitor = _monitor(quiet)
        keeper = None if options.checkpoint is not None else _keeper(target_name(target, options))
        session = Session(target, options, monitor, mapped=html is not None, keeper=keeper)

        def deliver(report: Report) -> Exit:
            code = _deliver(report, json_, save, quiet, verbose)
            if html is not None:
                from dpor.report.page import report_page

                everything = report.verdict is Verdict.PASS
                write_file(html, report_page(report, session.class_map() if everything else None))
            if sarif is not None or github:
                from dpor.report.json import to_json

                write_ci_outputs([to_json(report)], sarif, github)
            return code

        code = _searched(session, monitor, deliver)
    sys.exit(code)


def _searched(session: Session, monitor: Monitor, deliver: Callable[[Report], Exit]) -> Exit:
    """Run the session and deliver its report, whatever happens. Return the exit code."""
    with _stopping(monitor), _guarded(session, monitor, deliver):
        try:
            report = session.run()
        except Exception as error:
            if not isinstance(error, UserError):
                deliver(session.report(f"{type(error).__name__} in dpor itself"))
            raise
        return deliver(report)


def _keeper(name: str) -> Keeper:
    """Return what keeps a search that is cut, if the user names no file."""
    from dpor.app.checkpoint import Keeper

    return Keeper(KEEP / f"{_slug(name)}.checkpoint.json", periodic=False, prepare=keep_folder)


class _Parent:
    """The parent process, which reports if this one gets stuck or dies. Implements `dpor.report.progress.Watcher`."""

    def __init__(self, child: Guarded, session: Session) -> None:
        self._child, self._session = child, session

    def beat(self) -> None:
        self._child.report(self._session.over_at, self._session.news, self._session.report)

    def rest(self) -> None:
        self._child.end()


@contextmanager
def _guarded(session: Session, monitor: Monitor, deliver: Callable[[Report], Exit]) -> Iterator[None]:
    """If this is the `dpor` command, go on in a child process: the parent reports if the child gets stuck or dies."""
    guard = click.get_current_context().obj

    def answer(known: Report | None, reason: str) -> int:
        if known is None:
            click.echo(f"dpor: {reason}", err=True)
            return Exit.INCONCLUSIVE
        monitor.done()
        return deliver(ended_by(known, reason))

    child = guard(answer) if guard is not None else None
    if child is None:
        yield
        return
    monitor.watcher = _Parent(child, session)
    monitor.beat()
    try:
        yield
    finally:
        child.end()


def _deliver(report: Report, json_: str | None, save: str | None, quiet: bool, verbose: bool) -> Exit:
    """Save the schedules, print, write the JSON file, in an order in which nothing gets lost."""
    files = save_schedules(report, save)
    if json_ is not None:
        from dpor.report.json import dumps

        if json_ == "-":
            to_stdout(lambda: click.echo(dumps(report), nl=False))
        else:
            write_file(json_, dumps(report))
    if json_ != "-":
        to_stdout(lambda: _print(report, files, quiet, verbose))
    return EXIT_OF[report.verdict]


def _print(report: Report, files: list[str], quiet: bool, verbose: bool) -> None:
    if report.findings and not quiet:
        draw(lambda console: show(report, console, verbose=verbose))
    else:
        lines = headlines(report) + verdict_lines(report, quiet=quiet) + (count_lines(report) if verbose else [])
        click.secho(lines[0], fg=COLOURS[report.verdict])
        for line in lines[1:]:
            click.echo(line)
    if report.outcome_list and not quiet:
        from dpor.report.told import outcome_lines

        for line in outcome_lines(report, verbose=verbose):
            click.echo(line)
    for file in files:
        click.echo(f"Again: dpor replay {file}")


def save_schedules(report: Report, save: str | None) -> list[str]:
    """Write the schedule of each failure. Return the files."""
    files = []
    for number, failure in enumerate(report.findings, 1):
        if failure.saved is None:
            continue
        if save is None:
            path = KEEP / f"{_slug(report.target)}-{number}.json"
            if not keep_folder():
                continue
        else:
            path = Path(save)
            path = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
        try:
            failure.saved.save(path)
        except BadSchedule as error:  # the failure is shown anyway
            click.echo(f"dpor: {error}", err=True)
        else:
            files.append(str(path))
    return files


def _slug(target: str) -> str:
    """Make a file name of a target: `bank-scenario` of `a/bank.py::scenario`."""
    last = target.replace("\\", "/").rsplit("/", 1)[-1]
    return re.sub(r"\W+", "-", re.sub(r"\.(py|jsonl?)\b", "", last)).strip("-") or "target"


def _monitor(quiet: bool) -> Monitor:
    monitor = Monitor() if quiet else StatusLine() if sys.stderr.isatty() else Lines()
    monitor.interruptible = True
    return monitor


@contextmanager
def _stopping(monitor: Monitor) -> Iterator[None]:
    """Context in which Ctrl-C and SIGTERM are only noted; the session ends its work at its next beat. An exception
    would be raised in the program, or in the middle of an update of our own data."""
    beats = hasattr(signal, "setitimer")
    last = float("-inf")

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > ONE_KEY_PRESS:  # both the terminal and our parent may send it
            monitor.stops += 1
        last = now
        if not beats:
            raise KeyboardInterrupt

    stopping = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        if not is_our_process():  # a late Ctrl-C must not change the answer
            for number, before in stopping.items():
                signal.signal(number, before)


# ---------------------------------------------------------------------- resume


@cli.command(epilog=EXIT_CODES)
@click.argument("file", type=click.Path(dir_okay=False))
@options_for("resume")
@click.option("--json", "json_", type=click.Path(dir_okay=False), metavar="FILE", help="Write the report; - is stdout.")
@verdict_options
def resume(
    file: str,
    json_: str | None,
    save: str | None,
    quiet: bool,
    verbose: bool,
    traceback: bool,
    **changes: Any,
) -> None:
    """Go on with a search that was cut, from the FILE that dpor check has kept.

    The source must be the one that was checked, and dpor and Python the same. If the search is cut again, FILE has what
    is left then; once nothing is left, it is removed. The report is one of the whole search.
    """
    with our_errors(traceback):
        from dpor.app.checkpoint import Checkpoint
        from dpor.app.resuming import session_of

        check_outputs(["json"], json=json_, save=save)
        kept = Checkpoint.load(file)
        same_hashes(kept.hash_seed)
        monitor = _monitor(quiet)
        session = session_of(kept, file, changes, monitor)
        code = _searched(session, monitor, lambda report: _deliver(report, json_, save, quiet, verbose))
    sys.exit(code)


# ---------------------------------------------------------------------- replay


@cli.command(epilog=EXIT_CODES)
@click.argument("file", type=click.Path(dir_okay=False))
@click.option(
    "--pdb",
    is_flag=True,
    help="Run it in the debugger: stop where the target begins (set breakpoints; c continues), then where it fails.",
)
@click.option("-v", "--verbose", is_flag=True, help="Show every step.")
@traceback_option
def replay(file: str, pdb: bool, verbose: bool, traceback: bool) -> None:
    """Run the schedule in FILE, saved by dpor check, once more.

    The source must be the one that was checked. Exit code 1 means that it failed as before.
    """
    with our_errors(traceback):
        from dpor.app.replaying import Replay
        from dpor.core.schedule import SavedSchedule

        saved = SavedSchedule.load(file)
        same_hashes(saved.hash_seed)
        if pdb:
            from dpor.app.debugger import debugged
        failure = Replay(saved).run(debugged if pdb else None)
        to_stdout(lambda: _print_replayed(failure, verbose))
    sys.exit(Exit.FINDING)


def _print_replayed(failure: Failure, verbose: bool) -> None:
    click.secho(headline(failure), fg="red", bold=True)
    draw(lambda console: show_failure(failure, console, verbose=verbose, traceback=True))


cli.add_command(analyze)
cli.add_command(compare)
cli.add_command(doctor)
cli.add_command(explain)
cli.add_command(fuzz)
cli.add_command(lincheck)
cli.add_command(workloads)
