"""One target under several strategies, side by side: as values, as a table for a terminal, as CSV and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import attrs

from dpor.core.plural import plural
from dpor.core.schedule import to_json_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


@attrs.frozen
class Row:
    """One target under one strategy.

    report    the JSON report of `dpor check` (see schema.json); None if there is none
    error     why there is none, or what went wrong besides; None if nothing did
    exit_code   the exit code of `dpor check`; below 0: the signal that killed it
    """

    target: str
    strategy: str
    report: Mapping[str, Any] | None = None
    error: str | None = None
    exit_code: int = 0

    @property
    def finished(self) -> bool:
        """True if the search covered everything."""
        return self.report is not None and self.error is None and bool(self.report["exhaustive"])

    @property
    def verdict(self) -> str:
        """The verdict of the report, or "refused" (the strategy cannot explore the target), or "died"."""
        if self.report is None:
            return "refused" if self.exit_code == 2 else "died"
        return str(self.report["verdict"])

    @property
    def notes(self) -> list[str]:
        """The reasons why it is not finished."""
        reasons = [] if self.report is None else list(self.report["reasons"])
        return reasons if self.error is None else [*reasons, self.error]


@attrs.frozen
class Comparison:
    """All rows of one target, in the order of the strategies.

    agree    True if the strategies that finished agree; None if fewer than two did
    lines    the same in words: one line, or what differs
    """

    target: str
    rows: tuple[Row, ...]
    agree: bool | None
    lines: tuple[str, ...]


class Measure(NamedTuple):
    """A number of a report. `shown` formats it; `cut`: True if it is a lower bound when the search was cut short."""

    name: str
    of: Callable[[Mapping[str, Any]], float | None]
    shown: Callable[[float], str] = lambda number: f"{number:,.0f}"
    cut: bool = True


MEASURES: Final = (
    Measure("choices", lambda report: report["choices"]),
    Measure("states", lambda report: report["states"]),
    Measure("matched", lambda report: report["matched"]),
    Measure("executions", lambda report: report["executions"]),
    Measure("events", lambda report: report["events"]),
    Measure("withdrawn", lambda report: len(report["restarts"])),
    Measure("seconds", lambda report: report["seconds"], lambda number: f"{number:,.2f}", cut=False),
    Measure("MB", lambda report: report["peak_memory_bytes"] / 1e6, cut=False),
)

STYLES: Final = {"pass": "green", "fail": "red", "inconclusive": "yellow", "refused": "dim", "died": "magenta"}


def value(row: Row, measure: Measure) -> str:
    """Format the number; a + marks a lower bound.

    >>> value(Row("t", "s", {"exhaustive": False, "executions": 12345}), MEASURES[3])
    '12,345+'
    """
    number = _number(row, measure)
    if number is None:
        return "-"
    return measure.shown(number) + ("+" if measure.cut and not row.finished else "")


def ratio(row: Row, rows: Sequence[Row], measure: Measure) -> str:
    """Return the ratio to the first strategy that has such a number; a bound if one of the two searches was cut
    short."""
    first = next((row for row in rows if _number(row, measure) is not None), row)
    number, base = _number(row, measure), _number(first, measure)
    if row is first or not number or not base or not (row.finished or first.finished):
        return ""
    bound = "" if row.finished and first.finished else "<" if row.finished else ">"
    return bound + times(number / base)


def times(ratio: float) -> str:
    """Format a positive ratio, with about two digits.

    >>> [times(x) for x in (0.00083, 0.012, 0.5, 1, 12.34, 12345.6)]
    ['1/1,205', '0.012×', '0.5×', '1×', '12×', '12,346×']
    """
    if ratio < 0.01:
        return f"1/{1 / ratio:,.0f}"
    return f"{ratio:,.0f}×" if ratio >= 10 else f"{ratio:.2g}×"


def _number(row: Row, measure: Measure) -> float | None:
    return None if row.report is None else measure.of(row.report)


def findings(row: Row) -> str:
    """Say how many findings of each kind there are.

    >>> findings(Row("t", "s", {"findings": [{"kind": "deadlock"}, {"kind": "assertion"}, {"kind": "assertion"}]}))
    '1 deadlock, 2 assertion'
    """
    if row.report is None:
        return "-"
    kinds = [finding["kind"] for finding in row.report["findings"]]
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)) or "0"


def notes(rows: Iterable[Row]) -> list[str]:
    """Return the lines under the table: why which strategies did not finish, each reason once.

    >>> notes([Row("t", "optimal", error="too large"), Row("t", "dpor", error="too large")])
    ['optimal, dpor: too large']
    """
    strategies: dict[str, list[str]] = {}
    for row in rows:
        if row.notes:
            strategies.setdefault("; ".join(row.notes), []).append(row.strategy)
    return [f"{', '.join(names)}: {note}" for note, names in strategies.items()]


# ---------------------------------------------------------------------- the terminal


def draw_table(comparison: Comparison, console: Console) -> None:
    """Print a table with a column for each strategy, what kept some from finishing, and whether they agree; only one
    line if none could begin."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    rows = comparison.rows
    if all(row.report is None and row.error == rows[0].error for row in rows):
        error = rows[0].error or ""
        line = error if error.startswith(comparison.target) else f"{comparison.target}: {error}"
        console.print(Text(line), soft_wrap=True)
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title=Text(comparison.target, "bold"), title_justify="left")
    table.add_column("")
    for row in rows:
        table.add_column(Text(row.strategy), justify="right")
    table.add_row("verdict", *[Text(row.verdict, STYLES[row.verdict]) for row in rows])
    table.add_row("findings", *[Text(findings(row)) for row in rows])
    for measure in MEASURES:
        table.add_row(measure.name, *[_cell(row, rows, measure) for row in rows])
    console.print(table)
    for note in notes(rows):
        console.print(Text(f"  {note}", "dim"), soft_wrap=True)
    for line in comparison.lines:
        console.print(Text(f"  {line}", "bold red" if comparison.agree is False else ""), soft_wrap=True)
    console.print()


def _cell(row: Row, rows: Sequence[Row], measure: Measure) -> Text:
    from rich.text import Text

    text = Text(value(row, measure))
    if times := ratio(row, rows, measure):
        text.append(f" {times}", "dim")
    return text


def progress_line(row: Row) -> str:
    """Describe one finished search in a line, for a log."""
    if row.report is None:
        return f"{row.target}  {row.strategy}: {row.error}"
    executions, seconds = row.report["executions"], row.report["seconds"]
    return f"{row.target}  {row.strategy}: {row.verdict}, {plural(executions, 'execution')}, {seconds:.2f} s"


# ---------------------------------------------------------------------- files

COLUMNS: Final = (
    "verdict",
    "exhaustive",
    "choices",
    "states",
    "matched",
    "executions",
    "blocked",
    "events",
    "replayed",
    "outcomes",
    "deadlocks",
    "seconds",
    "peak_memory_bytes",
)


def to_csv(comparisons: Iterable[Comparison]) -> str:
    """Return a line for each target and strategy, with the column names of the JSON report."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(["target", "strategy", *COLUMNS, "withdrawn", "findings", "reasons", "error"])
    for row in (row for comparison in comparisons for row in comparison.rows):
        report = row.report or {}
        cells = [report.get(name) for name in COLUMNS]
        reasons = "; ".join(report.get("reasons", ()))
        counts = len(report.get("restarts", ())), len(report.get("findings", ()))
        lines.writerow([row.target, row.strategy, *cells, *counts, reasons, row.error])
    return out.getvalue()


def json_text(comparisons: Sequence[Comparison], max_seconds: float, interrupted: bool) -> str:
    """Return the text of the comparison's JSON file (see comparison.schema.json)."""
    return to_json_text(
        {
            "schema": 1,
            "max_seconds": max_seconds,
            "interrupted": interrupted,
            "rows": [
                {
                    **(row.report or {}),
                    "target": row.target,
                    "strategy": row.strategy,
                    "error": row.error,
                    "exit_code": row.exit_code,
                }
                for comparison in comparisons
                for row in comparison.rows
            ],
            "agreement": [
                {"target": comparison.target, "agree": comparison.agree, "lines": list(comparison.lines)}
                for comparison in comparisons
            ],
        }
    )
