"""A report for a person at a terminal.

Everything except tables is plain text, so rich is imported only if there is a failure to show.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from io import StringIO
from linecache import getline
from typing import TYPE_CHECKING

from dpor.core.outcome import Kind
from dpor.core.plural import plural
from dpor.core.results import Branching, Failure, Report, Verdict
from dpor.core.steps import Step
from dpor.report.columns import STYLES, show_columns
from dpor.report.folded import step_of
from dpor.report.sentences import closing, tried
from dpor.report.shortened import every_event, of_blocks
from dpor.report.words import place_text, races_with, short

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

WIDEST_VALUE = 130
LONGEST_OUTPUT = 40
PLAIN_WIDTH = 400
INDENT = 2


def plain_text(draw: Callable[[Console], None]) -> str:
    """Return what `draw` prints, without colours, as wide as it needs to be."""
    from rich.console import Console

    out = StringIO()
    draw(Console(file=out, width=PLAIN_WIDTH, color_system=None))
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


def show(report: Report, console: Console, *, verbose: bool = False) -> None:
    """Print the report: each failure, then the verdict with its reasons."""
    for failure, line in zip(report.findings, headlines(report), strict=True):
        _line(console, line, "bold red")
        show_failure(failure, console, verbose=verbose)
        console.print()
    for line in verdict_lines(report):
        _line(console, line, "bold green" if report.verdict is Verdict.PASS else "")
    if verbose:
        for line in count_lines(report):
            _line(console, line)


def _line(console: Console, text: str, style: str = "") -> None:
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


# ---------------------------------------------------------------------- lines


def headlines(report: Report) -> list[str]:
    """Return a line for each failure, numbered if there are several."""
    many = len(report.findings) > 1
    return [
        headline(failure, f"FAILED {number}" if many else "FAILED") for number, failure in enumerate(report.findings, 1)
    ]


def headline(failure: Failure, word: str = "FAILED") -> str:
    """Say in one line what went wrong and where.

    >>> headline(Failure(kind=Kind.ASSERTION, message="AssertionError: hits is 1", thread="main", file="c.py", line=20))
    'FAILED  AssertionError in main at c.py:20: hits is 1'
    """
    first = short(failure.message.split("\n", 1)[0])
    place = f" at {place_text(failure.file, failure.line)}" if failure.file else ""
    timeout = "   (only if a wait times out)" if failure.needs_timeout else ""
    if failure.kind in (Kind.ASSERTION, Kind.EXCEPTION):
        name, _, text = first.partition(": ")
        said = text or _assertion(failure)
        return f"{word}  {name} in {failure.thread}{place}{': ' if said else ''}{said}{timeout}"
    if failure.kind is Kind.DEADLOCK:
        return f"{word}  deadlock: no thread can go on{timeout}"
    if failure.kind is Kind.RACE:
        return f"{word}  data race: {first}{timeout}"
    return f"{word}  {failure.kind.value} in {failure.thread}{place}: {first}{timeout}"


def _assertion(failure: Failure) -> str:
    """Return the source line of an assertion without a message; "" if it is not one."""
    if failure.kind is not Kind.ASSERTION or failure.file is None or failure.line is None:
        return ""
    line = getline(failure.file, failure.line).strip()
    return short(line) if line.startswith("assert ") else ""


def verdict_lines(report: Report, *, quiet: bool = False) -> list[str]:
    """Return the verdict with its reasons; one line if it is exhaustive."""
    counts = _counts(report)
    dropped = []
    if report.dropped:
        were = "was" if report.dropped == 1 else "were"
        dropped = [f"  {report.dropped:,} of {plural(report.executions, 'execution')} {were} dropped by dpor.assume"]
    if report.verdict is Verdict.PASS:
        passed = f"PASSED  {report.target}: no interleaving fails.  {counts} ({_how(report)})"
        return [passed, *dropped] if report.visible else [passed, *dropped, f"  but {report.nothing_to_interleave}"]
    if report.verdict is Verdict.FAIL:
        if report.exhaustive:
            return [f"Exhaustive: every interleaving was covered.  {counts} ({_how(report)})", *dropped]
        why = "; ".join(report.reasons)
        return [f"Not exhaustive: {why}.  {counts} ({_how(report)})", *dropped, *_ways_on(report)]
    lines = [f"INCONCLUSIVE  {report.target}: no failure, but not all was covered.  {counts} ({_how(report)})"]
    if quiet:
        return lines
    lines += [f"  because {reason}" for reason in report.reasons] + dropped
    if covered := _covered(report):
        lines.append(f"  covered: {covered}")
    lines += [_branching(one) for one in report.branching]
    if report.branching:
        lines.append("    (leave out what threads need not share, or give each its own)")
    return [*lines, *_ways_on(report)]


def _covered(report: Report) -> str:
    """Say which schedules were covered, by the number of their preemptions; "" if that is not known."""
    most, part = report.covered_preemptions, report.partly_covered
    some = ""
    if part is not None:
        some = "less than 1 %" if part.share < 0.01 else f"about {100 * part.share:.0f} %"
    if most is not None:
        covered = f"all outcomes of schedules with at most {plural(most, 'preemption')}"
        return covered if part is None else f"{covered}, {some} of those with {part.preemptions}"
    if part is None:
        return ""
    within = f"with at most {plural(part.preemptions, 'preemption')}" if part.preemptions else "without preemptions"
    return f"{some} of the schedules {within}"


def _branching(one: Branching) -> str:
    place = f" at {place_text(one.file, one.line)}" if one.file else ""
    source = f": {short(one.source)}" if one.source else ""
    return f"  {100 * one.share:.0f} % of the alternatives are orders of: {one.operation}{place}{source}"


def _ways_on(report: Report) -> list[str]:
    """Say what to do next, if the search was cut."""
    lines = [f"  next: {report.next_step}"] if report.next_step else []
    resume = None if report.checkpoint is None else shlex.join(["dpor", "resume", report.checkpoint])
    if resume is not None and not report.next_step.startswith(resume):
        lines.append(f"  to go on: {resume}")
    return lines


def _counts(report: Report) -> str:
    """Say what ran, and how long that took."""
    counts = plural(report.executions, "execution")
    if report.states is not None:
        counts = f"{plural(report.states, 'state')} in {counts}"
    if report.executions_besides:
        counts += f" (and {report.executions_besides:,} besides)"
    return f"{counts}, {report.seconds:.2f} s"


def _how(report: Report) -> str:
    """Name the search, with the options that distinguish it."""
    how = report.strategy
    if report.preemptions is not None:
        how += f", {plural(report.preemptions, 'preemption')} at most"
    if report.order is not None:
        how += f", order {report.order}"
    return how if report.seed is None else f"{how}, seed {report.seed}"


def count_lines(report: Report) -> list[str]:
    """Return all counts of the search."""
    states = "" if report.states is None else f"{plural(report.states, 'state')}, {report.matched or 0:,} matched, "
    lines = [
        f"  {plural(report.executions, 'execution')}, {report.blocked:,} blocked, "
        f"{plural(report.events, 'event')}, {report.replayed:,} replayed, {plural(report.choices, 'choice')}, "
        f"{states}{plural(report.outcomes, 'outcome')}, {plural(report.deadlocks, 'deadlock')}",
        f"  {report.peak_memory_bytes / 1e6:,.0f} MB at most; "
        + ", ".join(f"{name} {version}" for name, version in report.versions.items()),
    ]
    for reason, count in report.unstored.items():
        lines.append(f"  {plural(count, 'state')} could not be stored, and so cannot be matched later: {reason}")
    if report.terminates is False:
        lines.append("  does not terminate under every schedule; this can go on for ever:")
        lines += [f"    {step.thread}  {step.source}" for step in report.cycle]
    if report.executions_besides:
        why = "before it began again, or drawn at random, in a hunt or for the estimate"
        lines.append(f"  {plural(report.executions_besides, 'execution')} besides: {why}")
    return lines + [f"  began again: {reason}" for reason in report.restarts]


# ---------------------------------------------------------------------- one failure


def show_failure(
    failure: Failure, console: Console, *, verbose: bool = False, traceback: bool = False, columns: bool = False
) -> None:
    """Print the events that lead to the failure, which threads wait for what, the traceback, and what the program
    printed.

    columns   True for a column for each thread, and what was tried to explain the failure

    A traceback of a single frame, which only repeats the headline, is left out unless `traceback` asks for it.
    """
    if failure.kind is Kind.DEADLOCK:
        for line in failure.message.splitlines():
            _line(console, f"  {line}")
    else:
        for line in failure.message.splitlines()[1:]:
            _line(console, f"  {line}")
    if failure.trace:
        console.print()
        if columns:
            show_columns(failure, console, verbose=verbose)
        else:
            _show_trace(failure, console, verbose)
    sentence = closing(failure)
    if sentence:
        console.print()
    for line in sentence:
        _line(console, f"  {line}", "bold")
    for line in tried(failure, verbose=verbose) if columns else ():
        _line(console, f"  {line}")
    frames = sum(line.lstrip().startswith("File ") for line in failure.details)
    if failure.details and (frames != 1 or verbose or traceback):
        console.print()
        for line in failure.details:
            _line(console, f"  {line}")
    if failure.output:
        console.print()
        _line(console, "  The program printed:")
        lines = failure.output.splitlines()
        if len(lines) > LONGEST_OUTPUT and not verbose:
            _line(console, f"  | ... {plural(len(lines) - LONGEST_OUTPUT, 'line')} before")
            lines = lines[-LONGEST_OUTPUT:]
        for line in lines:
            _line(console, f"  | {line if verbose else short(line)}")
    if failure.occurrences > 1:
        _line(console, f"  Seen in {failure.occurrences:,} executions.")


def _show_trace(failure: Failure, console: Console, verbose: bool) -> None:
    """Print a table, or two lines for each step if the terminal is too narrow."""
    from rich.measure import Measurement
    from rich.padding import Padding
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for _ in range(6):
        table.add_column(no_wrap=True)
    colours: dict[str, str] = {}
    told = []
    steps = failure.trace
    for row in every_event(failure) if verbose else of_blocks(failure):
        if isinstance(row, int):
            cells = _left_out(row)
        else:
            step = steps[row[0]] if verbose else step_of(steps, row)
            colour = colours.setdefault(step.thread, STYLES[len(colours) % len(STYLES)])
            cells = _cells(step, races_with(row, steps), colour, verbose)
        told.append(cells)
        table.add_row(*cells)
    needed = Measurement.get(console, console.options.update_width(PLAIN_WIDTH), table).maximum
    if INDENT + needed <= console.width:
        console.print(Padding(table, (0, 0, 0, INDENT)))
    else:
        _show_in_pairs(told, console)


def _show_in_pairs(told: Sequence[Sequence[Text]], console: Console) -> None:
    from rich.text import Text

    names = max(thread.cell_len for thread, *_ in told)
    for thread, place, source, *done in told:
        begin = Text(" " * INDENT + f"{thread.plain:{names}}  ", style=thread.style)
        console.print(Text.assemble(begin, Text("  ").join(filter(None, (place, source)))), soft_wrap=True)
        if any(done):
            begin = Text(" " * (INDENT + names + INDENT + 2))
            console.print(Text.assemble(begin, Text("  ").join(filter(None, done))), soft_wrap=True)


def _left_out(number: int) -> list[Text]:
    from rich.text import Text

    return [Text(), Text(f"... {number} more"), Text(), Text(), Text(), Text()]


def _cells(step: Step, race: str, colour: str, verbose: bool) -> list[Text]:
    from rich.text import Text

    value = step.values if verbose else short(step.values, WIDEST_VALUE)
    return [
        Text(step.thread, style=colour),
        Text(place_text(step.file, step.line), style="dim"),
        Text(step.source, style="bold" if step.racing else ""),
        Text(step.operation),
        Text(value),
        Text(race, style="red"),
    ]
