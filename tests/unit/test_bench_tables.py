"""`python -m bench tables`: cells become tables, a verdict on their shape, and files that say what was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from bench.__main__ import cli
from bench.cells import COMBINED, DPOR, ORIGINAL, SA, Cell, Setting
from bench.compare import ROOT
from bench.shape import Holds, shape
from bench.tables import as_markdown, tables, wanted
from dpor.core.workload_list import LARGER


def cell(workload: str, setting: Setting, choices: int, finished: bool = True, outcomes: tuple[str, ...] = ()) -> Cell:
    return Cell(workload, setting, finished, choices, choices, 1.0, 0.5, 10**6, outcomes, ())


def judged(**choices: tuple[int, bool]) -> dict[str, Holds]:
    named = {"original": ORIGINAL, "sa": SA, "dpor": DPOR, "combined": COMBINED}
    cells = {("cdx", named[name]): cell("cdx", named[name], *number) for name, number in choices.items()}
    return {line.demand: line.holds for line in shape(("cdx",), cells)}


def test_every_cell_is_run_once_and_there_are_all_combinations() -> None:
    cells = wanted(tables(range(2, 12)))
    assert len(cells) == len(set(cells)) == len(LARGER) * (1 + 6 + 4 + 2 + 4)


def test_the_shape_is_judged() -> None:
    found = judged(original=(1000, True), sa=(50, True), dpor=(70, True), combined=(5, True))
    assert found == {
        "DPOR+static <= SA and DPOR": Holds.YES,
        "SA <= original": Holds.YES,
        "DPOR <= original": Holds.YES,
        "the same outcomes and failures": Holds.YES,
        "10 SA <= original": Holds.YES,
        "10 DPOR+static <= SA": Holds.YES,
    }
    assert judged(original=(40, True), sa=(50, True))["SA <= original"] is Holds.NO


def test_a_cell_out_of_budget_is_a_lower_bound() -> None:
    found = judged(original=(50, False), sa=(5, True), dpor=(60, True), combined=(60, False))
    assert found["10 SA <= original"] is Holds.YES
    assert found["DPOR <= original"] is Holds.UNKNOWN
    assert found["DPOR+static <= SA and DPOR"] is Holds.NO


def test_different_outcomes_are_seen() -> None:
    cells = {("cdx", s): cell("cdx", s, 1, outcomes=(str(s.is_static),)) for s in (ORIGINAL, SA)}
    assert {x.demand: x.holds for x in shape(("cdx",), cells)}["the same outcomes and failures"] is Holds.NO


def test_tables_are_written_with_what_ran_out_of_budget_marked() -> None:
    cells = {("cdx", ORIGINAL): cell("cdx", ORIGINAL, 1234, finished=False), ("cdx", SA): cell("cdx", SA, 5)}
    text = as_markdown(tables([11], ("cdx",)), cells, [])
    assert "| cdx | 1,234+ | 5 |  |  |" in text


def test_cells_are_run_written_and_drawn_again(tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        done = CliRunner().invoke(cli, ["tables", "11", "--workload", "cdx", "--folder", str(tmp_path), *arguments])
        assert done.exit_code == 0, done.output
        return done.output

    run("--max-states", "40")
    told: Any = json.loads((tmp_path / "tables.json").read_text())
    jsonschema.validate(told, json.loads((ROOT / "bench" / "results.schema.json").read_text()))
    assert {each["strategy"] for each in told["cells"]} == {"original", "sa", "dpor", "dpor+static"}
    assert all(not each["finished"] and "--max-states 40" in each["note"] for each in told["cells"])
    written = (tmp_path / "tables.md").read_text()
    assert "DPOR+static <= SA and DPOR, cdx: cannot be told" in run("--again")
    assert (tmp_path / "tables.md").read_text() == written


def test_figures(tmp_path: Path) -> None:
    figures = pytest.importorskip("bench.figures", exc_type=ImportError)
    cells = {(w, s): cell(w, s, 10) for w, s in wanted(tables(range(2, 12)))}
    del cells[LARGER[0], DPOR]  # nor did a run that was cut short measure it
    assert all(file.stat().st_size for file in figures.draw(cells, LARGER, tmp_path))
