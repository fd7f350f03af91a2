"""A failing run at a terminal: a column for each thread, time downwards.

There is one event a row, so its text may run on to the right edge over the columns of later threads; their lanes go on
in the next row. So there is room for text at 80 columns, whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from dpor.operations import THREAD_MASK, ThreadId
from dpor.report.model import Failure
from dpor.report.steps import Step
from dpor.report.words import is_shown, plural, races_with, short

if TYPE_CHECKING:
    from rich.console import Console

LONGEST = 60
"""Events to show; of longer runs the middle is left out (unless verbose)."""
AROUND = 3
"""Events to show before and after those that matter, in longer runs."""
ROOM = 44
"""Characters for the text of the last column, at least."""
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
    """The lines of the picture, none wider than `width` characters unless verbose."""
    owners = threads_of(failure)
    threads = sorted(set(owners))
    lanes = _Lanes(failure, threads, width)
    yield from lanes.header()
    for number in range(len(owners)) if verbose else shown(failure):
        if number < 0:
            yield [Span(f"  ... {plural(-number, 'event')} more")]
        else:
            yield from lanes.event(number, threads.index(owners[number]), verbose)


def threads_of(failure: Failure) -> list[ThreadId]:
    """The thread of each event of the run."""
    return [action & THREAD_MASK for action in failure.schedule[: len(failure.trace)]]


def shown(failure: Failure) -> Iterator[int]:
    """The numbers of the events to show; -n stands for n left out."""
    steps = failure.trace
    told = [number for number, step in enumerate(steps) if is_shown(step)]
    kept = set(told) if len(told) <= LONGEST else _kept(failure, told)
    left_out = 0
    for number in told:
        if number in kept:
            if left_out:
                yield -left_out
            left_out = 0
            yield number
        else:
            left_out += 1


def _kept(failure: Failure, told: Sequence[int]) -> set[int]:
    """The beginning, the end, and what is around the events that matter."""
    edge = LONGEST // 3
    whenever = failure.explanation.whenever if failure.explanation is not None else ()
    matter = {number for order in whenever for number in (order.earlier, order.later)}
    kept = {*told[:edge], *told[-edge:]}
    for at, number in enumerate(told):
        if failure.trace[number].racing or number in matter:
            kept.update(told[max(0, at - AROUND) : at + AROUND + 1])
    return kept


class _Lanes:
    def __init__(self, failure: Failure, threads: Sequence[ThreadId], width: int) -> None:
        names = failure.threads
        self._names = [names[thread] if thread < len(names) else f"thread {thread}" for thread in threads]
        self._steps = failure.trace
        self._width = width
        self._lane = min(WIDEST_LANE, max(2, (width - 2 - ROOM) // max(1, len(threads) - 1)))

    def _left(self, lane: int) -> Line:
        """The lanes of the threads before this one."""
        return [Span("  " + "|".ljust(self._lane) * lane, "dim")]

    def header(self) -> Iterator[Line]:
        names = [Span(short(name, self._width - 4), _style(lane)) for lane, name in enumerate(self._names)]
        if all(len(name.text) < self._lane for name in names[:-1]):
            yield [Span("  "), *(Span(name.text.ljust(self._lane), name.style) for name in names[:-1]), *names[-1:]]
        else:
            for lane, name in enumerate(names):
                yield [*self._left(lane), name]

    def event(self, number: int, lane: int, verbose: bool) -> Iterator[Line]:
        step = self._steps[number]
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
        if step.racing:
            yield [
                *left,
                Span("| ", _style(lane)),
                Span(short("    " + races_with(step, self._steps), room - 2), "red"),
            ]


def _done(step: Step) -> str:
    """What was done, what value was there, what became of locks."""
    text = f"{step.operation}: {step.value}" if step.value else step.operation
    for name, state in step.locks:
        text += f"  [{state}]" if name in step.operation else f"  [{name}: {state}]"
    return text


def _style(lane: int) -> str:
    return STYLES[lane % len(STYLES)]
