"""The pictures of real reports that the documents show: `python -m bench.pictures` makes them anew, in docs/pictures.

Needs Chromium. The programs are those of the documents, so a picture shows what a reader's own screen does.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, DIMMED_MONOKAI

from dpor.app.replaying import Replay
from dpor.core.schedule import SavedSchedule
from dpor.report.text import headline, show_failure
from tests.browser import CHROMIUM, browser

DOCS = Path(__file__).parents[1] / "docs"
OUT = DOCS / "pictures"
COLUMNS = 122
"""Characters of the terminal."""
SVG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 -12 {terminal_width} HEIGHT">
<style>
text {{ font: {char_height}px ui-monospace, Menlo, Consolas, monospace; white-space: pre }}
{styles}
</style>
<rect x="-12" y="-12" width="100%" height="100%" fill="BACKGROUND"/>{backgrounds}{matrix}
</svg>
"""


def program(page: str, title: str) -> str:
    """The last program of this name in a page of the documents: where there are several, the one that is right."""
    block = rf'^```python title="{title}"\n(.*?)^```'
    texts: list[str] = re.findall(block, (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)
    return texts[-1]


def dpor(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "dpor", *arguments], stdout=subprocess.DEVNULL, check=False)


class _Wrapping(Console):
    """A terminal wraps long lines; a picture would cut them."""

    def print(self, *objects: Any, soft_wrap: bool | None = None, **how: Any) -> None:
        super().print(*objects, **how)


def terminal() -> None:
    """What `dpor explain` prints, as text that can be selected."""
    failure = Replay(SavedSchedule.load("bug.json")).run()
    console = _Wrapping(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    console.print(headline(failure), style="bold red", highlight=False)
    show_failure(failure, console, columns=True)
    for name, theme in (("light", DEFAULT_TERMINAL_THEME), ("dark", DIMMED_MONOKAI)):
        form = SVG.replace("BACKGROUND", theme.background_color.hex)
        drawn = console.export_svg(theme=theme, clear=False, code_format=form, unique_id="explain")
        drawn = re.sub(r' clip-path="[^"]*"', "", drawn)
        lowest = max(map(float, re.findall(r' y="([\d.]+)"', drawn)))
        (OUT / f"explain-{name}.svg").write_text(drawn.replace("HEIGHT", f"{lowest + 36:.0f}"))


def pages() -> None:
    """The page of a failure, that of a pass, and the charts of a comparison."""
    with browser(Path("profile")) as tab:
        for name in ("light", "dark"):
            tab.prefer(name)
            for page, keys, height in (("report", "r", 760), ("classes", "", 400), ("compare", "", 760)):
                tab.open(Path(f"{page}.html"))
                tab.press(*keys)
                (OUT / f"{page}-{name}.webp").write_bytes(tab.picture(1280, height))


@click.command(help=__doc__)
def main() -> None:
    if CHROMIUM is None:
        raise click.ClickException("no chromium here (Debian: apt-get install chromium)")
    OUT.mkdir(exist_ok=True)
    with TemporaryDirectory(prefix="dpor-pictures-") as folder, contextlib.chdir(folder):
        Path("tickets.py").write_text(program("how-to/report.md", "tickets.py"))
        Path("phases.py").write_text(program("how-to/strategies.md", "phases.py"))
        Path("shop.py").write_text(program("tutorial.md", "shop.py"))
        dpor("check", "tickets.py::scenario", "--save", "bug.json", "--html", "report.html")
        dpor("check", "shop.py::last_one", "--html", "classes.html")
        dpor("compare", "phases.py::scenario", "--strategies", "optimal,none,dpor,original", "--html", "compare.html")
        terminal()
        pages()
    for file in sorted(OUT.iterdir()):
        click.echo(f"{os.path.relpath(file)}  {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
