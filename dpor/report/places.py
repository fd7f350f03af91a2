"""Where a finding is, for tools that show it beside the source; from the JSON reports of `dpor check`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import attrs

WORDS = {
    "deadlock": "No thread can go on",
    "assertion": "An assertion fails",
    "exception": "A thread ends with an exception",
    "livelock": "Threads go round for ever",
    "race": "A data race",
    "invariant": "An invariant does not hold",
    "linearizability": "A history that no order of the calls explains",
}
"""What each kind of finding is, in words."""


class SourceLine(NamedTuple):
    file: str
    line: int | None


@attrs.frozen
class Located:
    """One finding of one target, however many strategies found it.

    finding     as in the JSON report
    place       where it is; the target's file if it has no place of its own
    other       the second place of a data race
    """

    target: str
    finding: Mapping[str, Any]
    place: SourceLine | None
    other: SourceLine | None
    strategies: tuple[str, ...]

    @property
    def message(self) -> str:
        """The description of the failure, as one text; for a deadlock, a line for each thread that waits."""
        finding = self.finding
        words = WORDS[finding["kind"]]
        text = f"{words}: {finding['message']}" if finding["kind"] != "deadlock" else f"{words}\n{finding['message']}"
        return text + (" (only if a wait times out)" if finding.get("needs_timeout") else "")


def located(reports: Iterable[Mapping[str, Any]]) -> list[Located]:
    """Return the findings of these reports; those of one kind at one place of one target are one."""
    found: dict[tuple[Any, ...], Located] = {}
    for report in reports:
        for finding in report["findings"]:
            place, other = place_of(report["target"], finding), split(finding.get("other"))
            key = report["target"], finding["kind"], place, other, None if finding["file"] else finding["message"]
            known = found.get(key)
            if known is None:
                found[key] = Located(report["target"], finding, place, other, (report["strategy"],))
            else:
                found[key] = attrs.evolve(known, strategies=(*known.strategies, report["strategy"]))
    return list(found.values())


def place_of(target: str, finding: Mapping[str, Any] | None = None) -> SourceLine | None:
    """Return where a finding is; the file that the target names if the finding has no place of its own.

    >>> place_of("shop/bank.py::scenario")
    SourceLine(file='shop/bank.py', line=None)
    """
    if finding is not None and finding["file"]:
        return SourceLine(finding["file"], finding["line"])
    file = target.removeprefix("pytest ").partition("::")[0]
    if file.endswith((".json", ".jsonl")) or "::" in target:
        return SourceLine(file, None)
    return None


def split(place: str | None) -> SourceLine | None:
    """Parse a place that is written as file:line."""
    if place is None:
        return None
    file, _, line = place.rpartition(":")
    return SourceLine(file, int(line)) if file and line.isdecimal() else SourceLine(place, None)


def within(file: str, root: str) -> str:
    """Return the path relative to the root folder of the repository, with slashes, if it lies under it; else
    absolute."""
    path = Path(os.path.abspath(file))
    root_path = Path(os.path.abspath(root))
    return path.relative_to(root_path).as_posix() if path.is_relative_to(root_path) else path.as_posix()
