"""No file of Python is too long to be read at once, unless it says at its top why it is."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("dpor", "statics", "workloads", "tests", "bench")
MOST_LINES = 700
REASON = "Long on purpose:"
"""What the docstring of a longer file goes on with, somewhere."""


def long_files(root: Path) -> dict[str, int]:
    """The files that are too long and give no reason, with their lines."""
    found = {}
    for path in sorted(file for folder in FOLDERS for file in (root / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        lines = text.count("\n")
        if lines > MOST_LINES and REASON not in (ast.get_docstring(ast.parse(text)) or ""):
            found[path.relative_to(root).as_posix()] = lines
    return found


def test_no_file_is_too_long() -> None:
    found = long_files(ROOT)
    assert not found, f"split these, or say in their docstring '{REASON} ...': {found}"


def test_a_long_file_needs_a_reason(tmp_path: Path) -> None:
    body = "pass\n" * (MOST_LINES - 1)
    for folder, docstring in (("dpor", '"""Rules."""\n'), ("tests", f'"""Rows. {REASON} it is one table."""\n')):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "long.py").write_text(f"{docstring}{body}pass\n")
        (tmp_path / folder / "short.py").write_text(f"{docstring}{body}")
    assert long_files(tmp_path) == {"dpor/long.py": MOST_LINES + 1}
