"""Programs that use packages from outside of their project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Writes a program, and modules that are found as if they were installed: `written(source, **modules)`. Returns the
    target, which is its function `scenario`."""

    def written(source: str, **modules: str) -> str:
        outside, project = tmp_path / "installed", tmp_path / "project"
        for folder in (outside, project):
            folder.mkdir()
        for name, text in modules.items():
            (outside / f"{name}.py").write_text(text)
        (project / "program.py").write_text(source)
        monkeypatch.syspath_prepend(outside)
        return f"{project}/program.py::scenario"

    return written
