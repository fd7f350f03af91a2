"""Runs the cells of [PL]'s tables and writes what came of them: results.schema.json says how."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from bench.cells import Cell, Setting, measure
from bench.compare import ROOT
from bench.shape import Line
from dpor.app.comparing import Interrupted
from dpor.core.version import VERSION
from dpor.report.progress import counted

RESULTS = Path(__file__).parent / "results"


@attrs.frozen
class Budget:
    """Of each cell: wall seconds and states; the second is the same on every machine. None: no limit."""

    seconds: float
    states: int | None


def measured(
    wanted: Sequence[tuple[str, Setting]], budget: Budget, *, analysis: bool
) -> tuple[dict[tuple[str, Setting], Cell], bool]:
    """The cells, and whether Ctrl-C cut that short."""
    found: dict[tuple[str, Setting], Cell] = {}
    with counted(len(wanted)) as count:
        try:
            for workload, setting in wanted:
                count.begin(f"{workload}  {words(setting)}")
                cell = measure(workload, setting, budget.seconds, budget.states, analysis=analysis)
                found[workload, setting] = cell
                choices = "no report" if cell.choices is None else f"{cell.choices:,} choices"
                cut = "" if cell.finished else f", {cell.note}"
                count.end(f"{workload}  {words(setting)}: {choices}, {cell.seconds:.1f} s{cut}")
        except (Interrupted, KeyboardInterrupt):
            return found, True
    return found, False


def words(setting: Setting) -> str:
    told = setting.strategy
    if setting.is_static:
        immutable = "on" if setting.immutable else "off"
        told += f" {setting.field_access} pointers {setting.pointers} immutable {immutable}"
    return told + (", every access" if setting.every_access else "")


def to_json(
    found: Mapping[tuple[str, Setting], Cell], lines: Sequence[Line], budget: Budget, interrupted: bool
) -> dict[str, Any]:
    return {
        "schema": 1,
        "commit": commit(),
        "versions": {"dpor": VERSION, "python": platform.python_version(), "platform": platform.platform()},
        "max_seconds": budget.seconds,
        "max_states": budget.states,
        "interrupted": interrupted,
        "cells": [
            {"workload": cell.workload, **attrs.asdict(cell.setting)}
            | attrs.asdict(cell, filter=lambda field, _: field.name not in ("workload", "setting"))
            for cell in found.values()
        ],
        "shape": [{**line._asdict(), "holds": line.holds.value} for line in lines],
    }


def from_json(told: Mapping[str, Any]) -> tuple[dict[tuple[str, Setting], Cell], Budget, bool]:
    """Cells that `to_json` has told."""
    found = {}
    for each in told["cells"]:
        setting = Setting(*[each[field.name] for field in attrs.fields(Setting)])
        rest = {f.name: each[f.name] for f in attrs.fields(Cell) if f.name != "setting"}
        rest |= {"outcomes": tuple(each["outcomes"]), "findings": tuple(each["findings"])}
        found[each["workload"], setting] = Cell(setting=setting, **rest)
    return found, Budget(told["max_seconds"], told["max_states"]), bool(told["interrupted"])


def commit() -> str | None:
    """Of the checkout, with a + if it was changed since; None where there is none."""
    try:
        head, changes = (
            subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True).stdout.strip()
            for words in (("rev-parse", "HEAD"), ("status", "--porcelain", "--untracked-files=no"))
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return head + ("+" if changes else "")


def write_json(told: Mapping[str, Any], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
