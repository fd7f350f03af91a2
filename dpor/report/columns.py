"""A failing run at a terminal: a column for each thread, time downwards.

Each row has one event, so its text may extend to the right edge, across the columns of later threads; their columns go
on in the next row. So 80 columns are enough, whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from dpor.core.operations import THREAD_MASK, ThreadId
from dpor.core.plural import plural
from dpor.core.results import Failure
from dpor.core.steps import Step
from dpor.report.folded import Row, step_of
from dpor.report.shortened import every_event, of_run
from dpor.report.words import done, races_with, short

if TYPE_CHECKING:
    from rich.console import Console

ROOM = 44
"""The least number of characters for the text of the last column."""
WIDEST_LANE = 24
WIDEST = 120


class Span(NamedTuple):
    text: str
    style: str = ""


Line: TypeAlias = list[Span]
STYLES = ("cyan", "magenta", "green", "blue", "yellow", "bright_red")


def show_columns(failure: Failure, console: Console, *, verbose: bool = False) -> None:
    """Print the run."""
    from rich.text import Text

    for line in lines(failure, min(console.width, WIDEST), verbose=verbose):
        console.print(Text.assemble(*line), soft_wrap=True)


def lines(failure: Failure, width: int, *, verbose: bool = False) -> Iterator[Line]:
    """Yield the lines of the picture, none wider than `width` characters unless verbose."""
    owners = thread_of_each(failure)
    threads = sorted(set(owners))
    lanes = _Lanes(failure, threads, width)
    yield from lanes.header()
    for row in every_event(failure) if verbose else of_run(failure):
        if isinstance(row, int):
            yield [Span(f"  ... {plural(row, 'event')} more")]
        else:
            yield from lanes.row(row, threads.index(owners[row[0]]), verbose)


def thread_of_each(failure: Failure) -> list[ThreadId]:
    """Return the thread of each event of the run."""
    return [action & THREAD_MASK for action in failure.schedule[: len(failure.trace)]]


class _Lanes:
    def __init__(self, failure: Failure, threads: Sequence[ThreadId], width: int) -> None:
        names = failure.threads
        self._names = [names[thread] if thread < len(names) else f"thread {thread}" for thread in threads]
        self._steps = failure.trace
        self._width = width
        self._lane = min(WIDEST_LANE, max(2, (width - 2 - ROOM) // max(1, len(threads) - 1)))

    def _left(self, lane: int) -> Line:
        """Return the columns of the threads before this one."""
        return [Span("  " + "|".ljust(self._lane) * lane, "dim")]

    def header(self) -> Iterator[Line]:
        names = [Span(short(name, self._width - 4), _style(lane)) for lane, name in enumerate(self._names)]
        if all(len(name.text) < self._lane for name in names[:-1]):
            yield [Span("  "), *(Span(name.text.ljust(self._lane), name.style) for name in names[:-1]), *names[-1:]]
        else:
            for lane, name in enumerate(names):
                yield [*self._left(lane), name]

    def _variables(self, number: int) -> str:
        """Return the function's variables whose values differ from those at the thread's previous event, in words."""
        step = self._steps[number]
        before = next((each.variables for each in reversed(self._steps[:number]) if each.thread == step.thread), ())
        return ", ".join(f"{name} = {value}" for name, value in step.variables if (name, value) not in before)

    def row(self, row: Row, lane: int, verbose: bool) -> Iterator[Line]:
        step = self._steps[row[0]] if verbose else step_of(self._steps, row)
        room = 10_000 if verbose else self._width - 2 - lane * self._lane
        mark = "* " if step.racing else "| "
        place = "" if step.line is None else f"{step.line}  "
        head = short(f"{mark}{place}{step.source or step.operation}", room)
        done = short(_done(step), room - 6) if step.source else ""
        style = "bold red" if step.racing else ""
        left = self._left(lane)
        if done and len(head) + 3 + len(done) <= room:
            yield [*left, Span(mark, _style(lane)), Span(head[2:], style), Span("   " + done, "dim")]
            done = ""
        else:
            yield [*left, Span(mark, _style(lane)), Span(head[2:], style)]
        if done:
            yield [*left, Span("| ", _style(lane)), Span("    " + done, "dim")]
        changed = self._variables(row[0]) if verbose else ""
        if changed:
            yield [*left, Span("| ", _style(lane)), Span(f"    {changed}", "dim")]
        if step.racing:
            yield [
                *left,
                Span("| ", _style(lane)),
                Span(short("    " + races_with(row, self._steps), room - 2), "red"),
            ]


def _done(step: Step) -> str:
    """Return what was done, with the value, and how locks changed."""
    text = done(step)
    for name, state in step.locks:
        text += f"  [{state}]" if name in step.operation else f"  [{name}: {state}]"
    return text


def _style(lane: int) -> str:
    return STYLES[lane % len(STYLES)]
