"""All suites on one Python, recorded; then docs/transparency.md from the records of several.

    python -m tests.transparency.record run build/transparency/3.12.json     # 20 minutes; goes on where it was
    python -m tests.transparency.record tell build/transparency/*.json > docs/transparency.md

`tell` fails if a difference has no row in `suites.EXPECTED`, if a row has none in any record, or if a run is missing.
Several files of one Python are one record, so the work can be done in parts.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.transparency.suites import EXPECTED, LANGUAGE, LIBRARY
from tests.transparency.test_stdlib_suites import differences, expectation, run

RUNS = {
    **{f"library {suite}": (suite, modules, ()) for suite, modules in LIBRARY.items()},
    **{f"language {suite}": (suite, f"test.test_{suite}", ()) for suite in LANGUAGE},
    **{f"everything {suite}": (suite, f"test.test_{suite}", ("--everything",)) for suite in LANGUAGE},
}

SUITE = "(the suite)"
"""Stands for a test where a suite came to no end, had no tests, or nothing was instrumented."""


def record(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(file.read_text()) if file.exists() else {"python": sys.version.split()[0], "runs": {}}
    for name, (suite, modules, options) in RUNS.items():
        if _done(known["runs"].get(name)):
            continue
        known["runs"][name] = told = _compared(suite, modules, options)
        file.write_text(json.dumps(known, indent=1))
        print(f"{name}: {told['tests']} tests", *sorted(told["different"]), sep="\n    ", flush=True)


def _done(told: dict[str, Any] | None) -> bool:
    """A suite that came to no end is run again the next time."""
    return told is not None and SUITE not in told["different"]


def _compared(suite: str, modules: str, options: tuple[str, ...]) -> dict[str, Any]:
    if importlib.util.find_spec(f"test.test_{suite}") is None:
        return {"tests": 0, "different": {}}
    try:
        hooked, plain = run(suite, modules, *options), run(suite, modules, "--plain")["outcomes"]
    except (AssertionError, subprocess.TimeoutExpired) as error:
        return {"tests": 0, "different": {SUITE: ["ran", repr(error)[:1000]]}}
    different = differences(plain, hooked["outcomes"])
    if not (plain and hooked["instrumented"]):
        different[SUITE] = ("instrumented and tested", "nothing")
    return {"tests": len(plain), "different": different}


def tell(files: list[Path]) -> int:
    records: dict[str, dict[str, Any]] = {}
    for file in files:
        known = json.loads(file.read_text())
        records.setdefault(known["python"], {}).update(known["runs"])
    print(_page(records))
    faults = faults_of(records)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


def faults_of(records: dict[str, dict[str, Any]]) -> list[str]:
    """A line for each difference that no row of `EXPECTED` explains, each row that explains none, and missing runs."""
    lines, needed = [], set()
    for python, runs in records.items():
        if missing := [name for name in RUNS if name not in runs]:
            lines.append(f"{python}: {len(missing)} of {len(RUNS)} runs are not recorded, the first {missing[0]}")
        for name, told in runs.items():
            for test in sorted(told["different"]):
                row = expectation(test)
                needed.add(row)
                if row is None:
                    lines.append(f"{python}, {name}: {test} differs, and no row of EXPECTED says why")
    stale = [row for row in EXPECTED if row not in needed]
    return lines + [f"{row}: no test needs this row of EXPECTED" for row in stale]


def _page(records: dict[str, Any]) -> str:
    pythons = sorted(records, key=lambda python: [int(part) for part in python.split(".")])
    lines = [
        "# Instrumented code does what plain code does",
        "",
        "Code that starts no thread behaves, instrumented, as it is. CPython's own tests run against instrumented",
        "copies of the standard library (*library*), and instrumented themselves (*language*; *everything*: with each",
        "global and each variable of an enclosing function hooked); each test must end as in plain Python.",
        "`python -m tests.transparency.record` runs them and writes this page. A dash: this Python has no such suite;",
        "nothing: it was not run.",
        "",
        "| suite | " + " | ".join(f"tests, {python}" for python in pythons) + " |",
        "|---|" + "---|" * len(pythons),
    ]
    for name in RUNS:
        cells = [_cell(records[python].get(name)) for python in pythons]
        if any(cells):
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    totals = [f"{sum(run['tests'] for run in records[python].values()):,}" for python in pythons]
    suites = [len({name.split()[1] for name, run in records[python].items() if run["tests"]}) for python in pythons]
    lines += [f"| all ({', '.join(map(str, suites))} suites) | " + " | ".join(totals) + " |", ""]
    lines += [
        "What differs, and why that is as it should be (`tests/transparency/suites.py`):",
        "",
        "| tests | why |",
        "|---|---|",
    ]
    lines += [f"| `{pattern}` | {reason} |" for pattern, reason in EXPECTED.items()]
    return "\n".join(lines)


def _cell(run: dict[str, Any] | None) -> str:
    if run is None:
        return ""
    if run["different"]:
        return f"{run['tests']}, {len(run['different'])} differ"
    return str(run["tests"] or "–")


if __name__ == "__main__":
    command, *paths = sys.argv[1:]
    if command == "run":
        record(Path(paths[0]))
    else:
        sys.exit(tell([Path(path) for path in paths]))
