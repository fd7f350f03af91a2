"""Measures commits against each other: in turns, in processes of their own, so that a noisy machine is so to each."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import attrs

from bench.measure import Measurement

HERE = Path(__file__).parent
ROOT = HERE.parent


@attrs.frozen
class Comparison:
    """A program in two commits: the fastest of all rounds for each, or None where that commit cannot run it."""

    program: str
    before: Measurement | None
    after: Measurement | None

    @property
    def ratio(self) -> float | None:
        """How many times faster the second commit explores it."""
        if self.before is None or self.after is None:
            return None
        return self.before["seconds"] / self.after["seconds"]


def measured(directory: Path, names: Iterable[str], strategy: str, seconds: float) -> dict[str, Measurement]:
    """The programs, explored by the `dpor` of this directory. What fails is missing."""
    found: dict[str, Measurement] = {}
    for name in names:
        done = subprocess.run(
            [sys.executable, "-P", str(HERE / "measure.py"), strategy, str(seconds), name],
            env={**os.environ, "PYTHONPATH": str(directory), "PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            found[name] = json.loads(done.stdout)
        else:
            print(f"{name} in {directory.name}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
    return found


def compare(
    before: str, after: str | None, names: Sequence[str], strategy: str, seconds: float, rounds: int
) -> list[Comparison]:
    """Two revisions; `after` None is the working tree. Raises `subprocess.CalledProcessError` if one is unknown."""
    with ExitStack() as stack:
        first = stack.enter_context(checked_out(before))
        second = ROOT if after is None else stack.enter_context(checked_out(after))
        best: dict[Path, dict[str, Measurement]] = {first: {}, second: {}}
        for name in names:
            for _ in range(rounds):
                for directory in (first, second):
                    keep_fastest(best[directory], measured(directory, [name], strategy, seconds / rounds))
        return [Comparison(name, best[first].get(name), best[second].get(name)) for name in names]


def keep_fastest(best: dict[str, Measurement], new: Mapping[str, Measurement]) -> None:
    for name, measurement in new.items():
        if name not in best or measurement["seconds"] < best[name]["seconds"]:
            best[name] = measurement


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """A temporary worktree of the revision."""
    with tempfile.TemporaryDirectory(prefix="bench-") as parent:
        directory = Path(parent) / revision.replace("/", "-")
        git("worktree", "add", "--quiet", "--detach", str(directory), revision)
        try:
            yield directory
        finally:
            git("worktree", "remove", "--force", str(directory))


def git(*arguments: str) -> None:
    subprocess.run(["git", "-C", str(ROOT), *arguments], check=True)


def geometric_mean(ratios: Iterable[float]) -> float:
    """
    >>> round(geometric_mean([1, 10, 100]), 6)
    10.0
    """
    logarithms = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else math.nan
