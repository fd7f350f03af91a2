"""Whatever Python compiles can be rewritten and compiled: every module of the standard library, its tests included."""

from __future__ import annotations

import sysconfig
import warnings
from pathlib import Path

import pytest

from dpor.python.rewrite import instrument

LIBRARY = Path(sysconfig.get_path("stdlib"))


def refused(paths: list[Path]) -> list[str]:
    """The modules that Python compiles and that cannot be instrumented."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in paths:
            try:
                source = path.read_text(encoding="utf-8")
                compile(source, str(path), "exec", dont_inherit=True)
            except (SyntaxError, ValueError):
                continue
            try:
                instrument(source, str(path))
            except Exception as error:
                found.append(f"{path.relative_to(LIBRARY)}: {error!r}")
    return found


def library() -> list[Path]:
    return sorted(path for path in LIBRARY.rglob("*.py") if "site-packages" not in path.parts)


def test_a_sample_of_the_library_compiles() -> None:
    files = library()
    sample = files[:: len(files) // 40]
    assert refused(sample) == []


@pytest.mark.slow
def test_the_whole_library_compiles() -> None:
    assert refused(library()) == []
