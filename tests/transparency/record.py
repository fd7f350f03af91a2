"""All suites on one Python, recorded; then docs/transparency.md from the records of several.

    python -m tests.transparency.record run build/transparency/3.12.json     # 20 minutes; goes on where it was
    python -m tests.transparency.record tell build/transparency/*.json > docs/transparency.md

`tell` fails if a difference has no row in `suites.EXPECTED`, or a row none in any record.
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


def record(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(file.read_text()) if file.exists() else {"python": sys.version.split()[0], "runs": {}}
    for name, (suite, modules, options) in RUNS.items():
        if name in known["runs"] or importlib.util.find_spec(f"test.test_{suite}") is None:
            continue
        known["runs"][name] = told = _compared(suite, modules, options)
        file.write_text(json.dumps(known, indent=1))
        print(f"{name}: {told['tests']} tests", *sorted(told["different"]), sep="\n    ", flush=True)


def _compared(suite: str, modules: str, options: tuple[str, ...]) -> dict[str, Any]:
    try:
        hooked, plain = run(suite, modules, *options), run(suite, modules, "--plain")["outcomes"]
    except (AssertionError, subprocess.TimeoutExpired) as error:
        return {"tests": 0, "different": {"(the suite)": ["ran", repr(error)[:1000]]}}
    different = differences(plain, hooked["outcomes"])
    if not hooked["instrumented"]:
        different["(the suite)"] = ("instrumented", "nothing")
    return {"tests": len(plain), "different": different}


def tell(files: list[Path]) -> int:
    records = {known["python"]: known["runs"] for known in (json.loads(file.read_text()) for file in files)}
    differing = {test: run for runs in records.values() for run in runs.values() for test in run["different"]}
    unexpected = sorted(test for test in differing if expectation(test) is None)
    stale = sorted(set(EXPECTED) - {expectation(test) for test in differing})
    print(_page(records))
    for test in unexpected:
        print(f"{test} differs, and no row of EXPECTED says why", file=sys.stderr)
    for row in stale:
        print(f"{row}: no test needs this row of EXPECTED", file=sys.stderr)
    return 1 if unexpected or stale else 0


def _page(records: dict[str, Any]) -> str:
    pythons = sorted(records, key=lambda python: [int(part) for part in python.split(".")])
    lines = [
        "# Instrumented code does what plain code does",
        "",
        "Code that starts no thread behaves, instrumented, as it is. CPython's own tests run against instrumented",
        "copies of the standard library (*library*), and instrumented themselves (*language*; *everything*: with each",
        "global and each variable of an enclosing function hooked); each test must end as in plain Python.",
        "",
        "| suite | " + " | ".join(f"tests, {python}" for python in pythons) + " |",
        "|---|" + "---|" * len(pythons),
    ]
    for name in RUNS:
        cells = [_cell(records[python].get(name)) for python in pythons]
        if any(cells):
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    totals = [f"{sum(run['tests'] for run in records[python].values()):,}" for python in pythons]
    suites = [len({name.split()[1] for name in records[python]}) for python in pythons]
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
    return f"{run['tests']}" + (f", {len(run['different'])} differ" if run["different"] else "")


if __name__ == "__main__":
    command, *paths = sys.argv[1:]
    if command == "run":
        record(Path(paths[0]))
    else:
        sys.exit(tell([Path(path) for path in paths]))
