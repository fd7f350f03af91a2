"""What README.md and docs/ show is what happens: Python runs as it stands, commands print what is printed there.

```python                     is executed, block after block
```text                       after it: what it has printed
```python title="bank.py"     is written to that file
```console                    lines that begin with "$ " are carried out in the folder of those files;
                              what stands below each is what it prints, times aside; "..." is any lines.
                              Lines of progress, which come where the machine is busy, are left out
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import click
import pytest

from dpor.cli.main import cli
from dpor.core.options import Options, options_of

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md")))
BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROGRAMS = {
    "dpor": [sys.executable, "-m", "dpor"],
    "pytest": [sys.executable, "-m", "pytest", "-p", "dpor.pytest.plugin"],
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS.parent)))
def test_a_page_shows_what_happens(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("DPOR_CHECK", "0")  # as for a reader
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
    done = subprocess.run([*PROGRAMS[program], *arguments], capture_output=True, text=True, timeout=600, check=False)
    return done.stdout + re.sub(r"^\d+ s: .*\n", "", done.stderr, flags=re.MULTILINE)


def _assert_shows(printed: str, expected: str) -> None:
    """Line by line; "..." alone stands for any number of lines, at the end of a line for any text."""
    pattern = "".join(map(_pattern, _plain(expected)))
    assert re.fullmatch(pattern, "".join(f"{line}\n" for line in _plain(printed))), f"printed was:\n{printed}"


def _pattern(line: str) -> str:
    if line.strip() == "...":
        return r"(?:.*\n)*?"
    start, _, end = line.partition("...")
    return re.escape(line) + "\n" if end or start == line else re.escape(start) + ".*\n"


def _plain(text: str) -> list[str]:
    return [re.sub(r"\d+\.\d\d ?s\b", "TIME", line).rstrip() for line in text.strip().splitlines()]


def test_options_that_are_named_exist() -> None:
    commands = [command for command in cli.commands.values() if isinstance(command, click.Command)]
    ours = {name for command in commands for option in command.params for name in option.opts}
    plugin = (DOCS.parent / "dpor" / "pytest" / "plugin.py").read_text(encoding="utf-8")
    others = {"--help", "--junitxml", "--no-deps", "--host", "--nthreads"}  # click's, pytest's, pip's, Dask's
    of_pytest = {about.pytest.flag for _, about in options_of(Options) if about.pytest is not None}
    known = ours | of_pytest | set(re.findall(r"--dpor-\w+", plugin)) | others
    for page in PAGES:
        assert set(re.findall(r"(?<![\w-])--[a-z][\w-]*", page.read_text(encoding="utf-8"))) <= known, page


def test_pictures_are_there_and_small() -> None:
    """`python -m bench.pictures` makes them."""
    shown = {
        (page.parent / file).resolve()
        for page in PAGES
        for file in re.findall(r'src(?:set)?="([^"]*)"', page.read_text(encoding="utf-8"))
    }
    assert shown == set((DOCS / "pictures").iterdir())
    assert max(file.stat().st_size for file in shown) < 100_000


def test_the_site_can_be_built(tmp_path: Path) -> None:
    """Links, navigation, and the names that the reference is made of."""
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", str(DOCS.parent / "mkdocs.yml")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [*command, "--site-dir", str(tmp_path)], capture_output=True, text=True, env=environment, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
