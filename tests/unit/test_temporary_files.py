"""Temporary files: their names are the same in each run, and what a run leaves is deleted."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpor


def twice(body: Callable[[], object]) -> None:
    threads = [threading.Thread(target=body) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def folders() -> None:
    made: dict[str, int] = {}

    def make() -> None:
        folder = tempfile.mkdtemp()
        made[folder] = 1
        (Path(folder) / "left").touch()

    twice(make)
    assert len(made) == 2
    assert all(map(os.path.isdir, made))


def files() -> None:
    made: dict[str, int] = {}

    def make() -> None:
        handle, path = tempfile.mkstemp(".txt", "begins")
        os.close(handle)
        made[path] = 1

    twice(make)
    assert len(made) == 2


def named() -> None:
    made: dict[str, int] = {}

    def make() -> None:
        with tempfile.NamedTemporaryFile() as file:
            made[file.name] = 1

    twice(make)
    assert len(made) == 2


def removed() -> None:
    made: dict[str, int] = {}

    def make() -> None:
        folder = tempfile.mkdtemp()
        made[folder] = 1
        if len(made) == 1:
            shutil.rmtree(folder)

    twice(make)
    assert len(made) == 2


@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
@pytest.mark.parametrize("program", [folders, files, removed])
def test_paths_may_be_keys(
    program: Callable[[], None], strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    report = dpor.check(program, all=True, strategy=strategy, max_seconds=None)
    assert (report.verdict, report.reasons) == (dpor.Verdict.PASS, ())
    assert not any(any(folder.iterdir()) for folder in tmp_path.iterdir())  # of a folder that is kept for the next run


@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
def test_files_that_are_closed_when_they_die_take_many_executions(strategy: str) -> None:
    report = dpor.check(named, strategy=strategy, max_seconds=None, max_executions=100)
    assert not report.findings
    assert report.reasons == ("--max-executions 100 reached",)


def test_the_host_makes_its_own_as_before() -> None:
    before: Any = tempfile.mkdtemp
    dpor.check(files)
    assert tempfile.mkdtemp is before
    with tempfile.TemporaryDirectory() as folder:
        assert os.path.isdir(folder)
