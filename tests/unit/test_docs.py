"""What docs/ shows is what happens: its Python runs as it stands, its commands print what is printed there.

```python                     is executed, block after block
```text                       after it: what it has printed
```python title="bank.py"     is written to that file
```console                    lines that begin with "$ " are carried out in the folder of those files;
                              what stands below each is what it prints, times aside; "..." is any lines
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROGRAMS = {
    "dpor": [sys.executable, "-m", "dpor"],
    "pytest": [sys.executable, "-m", "pytest", "-p", "dpor.pytest.plugin"],
}


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_shows_what_happens(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    names: dict[str, Any] = {}
    printed = ""
    for kind, title, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if title:
            Path(title).parent.mkdir(parents=True, exist_ok=True)
            Path(title).write_text(text, encoding="utf-8")
        elif kind == "python":
            with redirect_stdout(StringIO()) as out:
                exec(text, names)
            printed = out.getvalue()
        elif kind == "text":
            assert text == printed
        elif kind == "console":
            for command, expected in re.findall(r"^\$ ([^\n]*)\n((?:(?!\$ )[^\n]*\n)*)", text, re.MULTILINE):
                _assert_shows(_output(command), expected)


def _output(command: str) -> str:
    program, *arguments = shlex.split(command, comments=True)
    done = subprocess.run([*PROGRAMS[program], *arguments], capture_output=True, text=True, timeout=120, check=False)
    return done.stdout + done.stderr


def _assert_shows(printed: str, expected: str) -> None:
    """Line by line, where "..." stands for any number of lines, and times for any times."""
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + "\n" for line in _plain(expected))
    assert re.fullmatch(pattern, "".join(f"{line}\n" for line in _plain(printed))), f"printed was:\n{printed}"


def _plain(text: str) -> list[str]:
    return [re.sub(r"\d+\.\d\d ?s\b", "TIME", line).rstrip() for line in text.strip().splitlines()]
