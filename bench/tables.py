"""[PL]'s Tables 2 to 10 for our workloads: which cells they have, and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from rich.table import Table as RichTable

from bench.cells import ALL_ACCESSES, CONFIGURATIONS, POINTERS, PRECISIONS, Cell, Setting
from bench.shape import Holds, Line
from dpor.core.workload_list import LARGER

EVERY_ACCESS: Final = "every access an event"


class Measure(NamedTuple):
    """What a table tells of its cells; "" where there is nothing to tell."""

    name: str
    of: Callable[[Cell], str]


def _choices(cell: Cell) -> str:
    return "" if cell.choices is None else f"{cell.choices:,}" + ("" if cell.finished else "+")


def _analysis(cell: Cell) -> str:
    return "" if cell.analysis_seconds is None else f"{cell.analysis_seconds:.2f}"


CHOICES = Measure("thread choices", _choices)
ANALYSIS = Measure("CPU seconds of the static analysis", _analysis)
SECONDS = Measure("CPU seconds in all", lambda cell: f"{cell.seconds:.1f}" + ("" if cell.finished else "+"))
MEMORY = Measure("peak memory in MB", lambda cell: "" if cell.memory is None else f"{cell.memory / 1e6:,.0f}")


class Table(NamedTuple):
    """rows   the name of each and its settings, under the columns; None: nothing there"""

    number: str
    title: str
    measure: Measure
    columns: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[Setting | None, ...]], ...]

    @property
    def heading(self) -> str:
        return f"Table {self.number}: {self.measure.name}, {self.title}"

    def cells(self, found: Mapping[tuple[str, Setting], Cell]) -> list[list[str]]:
        lines = []
        for name, workload, settings in self.rows:
            cells = [None if s is None else found.get((workload, s)) for s in settings]
            lines.append([name, *["" if cell is None else self.measure.of(cell) for cell in cells]])
        return lines


def _precisions(number: int, measure: Measure, workloads: Sequence[str]) -> Table:
    rows = tuple(
        (
            f"{workload}, immutable {'on' if immutable else 'off'}",
            workload,
            (
                None if immutable else ALL_ACCESSES["original"],
                *[Setting("sa", p, "none", immutable, every_access=True) for p in PRECISIONS],
            ),
        )
        for workload in workloads
        for immutable in (False, True)
    )
    title = f"without pointer analysis, {EVERY_ACCESS}"
    return Table(str(number), title, measure, ("original", *PRECISIONS), rows)


def _pointers(number: int, measure: Measure, workloads: Sequence[str]) -> Table:
    settings = tuple(Setting("sa", pointers=pointers, every_access=True) for pointers in POINTERS)
    title = f"with each pointer analysis, sensitive, immutable on, {EVERY_ACCESS}"
    return Table(str(number), title, measure, POINTERS, tuple((w, w, settings) for w in workloads))


def _configurations(measure: Measure, workloads: Sequence[str], every_access: bool) -> Table:
    settings = ALL_ACCESSES if every_access else CONFIGURATIONS
    title = "the four configurations" + (f", {EVERY_ACCESS}" if every_access else "")
    return Table("10", title, measure, tuple(settings), tuple((w, w, tuple(settings.values())) for w in workloads))


def tables(numbers: Iterable[int], workloads: Sequence[str] = LARGER) -> list[Table]:
    """Those with the numbers; of Table 10 there are three, for choices, time and memory. 11 is Table 10 once more, of
    the searches as they are by default: what no run writes is no event."""
    measures = (CHOICES, ANALYSIS, SECONDS, MEMORY)
    found = []
    for number in numbers:
        if number >= 10:
            found += [_configurations(measure, workloads, number == 10) for measure in (CHOICES, SECONDS, MEMORY)]
        elif number >= 6:
            found.append(_pointers(number, measures[number - 6], workloads))
        else:
            found.append(_precisions(number, measures[number - 2], workloads))
    return found


def wanted(shown: Iterable[Table]) -> list[tuple[str, Setting]]:
    """The cells that the tables have, each once, workload by workload."""
    every = {(workload, s) for table in shown for _, workload, settings in table.rows for s in settings if s}
    return sorted(every, key=lambda cell: (LARGER.index(cell[0]), cell[1].strategy, repr(cell[1])))


def as_rich(table: Table, found: Mapping[tuple[str, Setting], Cell]) -> RichTable:
    drawn = RichTable("", *table.columns, box=None)
    for column in drawn.columns[1:]:
        column.justify = "right"
    for row in table.cells(found):
        drawn.add_row(*row)
    return drawn


def as_markdown(shown: Sequence[Table], found: Mapping[tuple[str, Setting], Cell], lines: Sequence[Line]) -> str:
    out = ["A + marks a number that would have grown: the cell ran out of its budget.", ""]
    for table in shown:
        out += [f"## {table.heading}", ""]
        out += ["| | " + " | ".join(table.columns) + " |", "|---|" + "---:|" * len(table.columns)]
        out += ["| " + " | ".join(row) + " |" for row in table.cells(found)]
        out.append("")
    out += ["## The shape", "", "| demand | workload | | numbers |", "|---|---|---|---|"]
    out += [f"| {line.demand} | {line.workload} | {line.holds} | {line.numbers} |" for line in lines]
    return "\n".join([*out, "", summary(lines)]) + "\n"


def summary(lines: Sequence[Line]) -> str:
    counts = {holds: sum(line.holds is holds for line in lines) for holds in Holds}
    return f"{len(lines)} demands: " + ", ".join(f"{count} {holds}" for holds, count in counts.items() if count)
