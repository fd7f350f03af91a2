"""[PL]'s Figures 14 and 15, for our workloads, and Table 10 as a chart. Needs matplotlib: the extra `bench`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib

from bench.cells import ALL_ACCESSES, CONFIGURATIONS, POINTERS, PRECISIONS, Cell, Setting
from bench.compare import geometric_mean

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "dpor"  # the same picture is the same file

from matplotlib import pyplot  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

Found = Mapping[tuple[str, Setting], Cell]


def draw(found: Found, workloads: Sequence[str], folder: Path) -> list[Path]:
    """Write the figures. Returns the files."""
    precisions = {"original": ALL_ACCESSES["original"]} | {
        f"{precision}\nimmutable {'on' if immutable else 'off'}": Setting("sa", precision, "none", immutable, True)
        for immutable in (False, True)
        for precision in PRECISIONS
    }
    pointers = {name: Setting("sa", pointers=name, every_access=True) for name in POINTERS}
    return [
        _means(found, workloads, precisions, folder / "figure-14.svg"),
        _means(found, workloads, pointers, folder / "figure-15.svg"),
        _choices(found, workloads, folder / "table-10.svg"),
    ]


def _means(found: Found, workloads: Sequence[str], settings: Mapping[str, Setting], file: Path) -> Path:
    """Geometric means of the total times of the workloads that every setting finished."""
    ended = [w for w in workloads if all((w, s) in found and found[w, s].finished for s in settings.values())]
    figure, axes = pyplot.subplots(figsize=(9, 4))
    axes.bar(list(settings), [geometric_mean(found[w, s].seconds for w in ended) for s in settings.values()])
    axes.set_ylabel("CPU seconds, geometric mean")
    axes.set_title(f"Over {', '.join(ended) or 'no workload'}", fontsize="small")
    axes.tick_params(axis="x", labelsize="small")
    return _save(figure, file)


def _choices(found: Found, workloads: Sequence[str], file: Path) -> Path:
    """Hatched: out of budget, at least so many. Workloads of which cells are missing are left out."""
    workloads = [w for w in workloads if all((w, s) in found for s in CONFIGURATIONS.values())]
    figure, axes = pyplot.subplots(figsize=(9, 4))
    width = 0.8 / len(CONFIGURATIONS)
    for i, (name, setting) in enumerate(CONFIGURATIONS.items()):
        cells = [found[w, setting] for w in workloads]
        places = [n + (i - 1.5) * width for n in range(len(workloads))]
        bars = axes.bar(places, [cell.choices or 0 for cell in cells], width, label=name)
        for bar, cell in zip(bars, cells, strict=True):
            if not cell.finished:
                bar.set_hatch("///")
    axes.set_yscale("log")
    axes.set_ylabel("thread choices")
    axes.set_xticks(range(len(workloads)), workloads)
    axes.legend()
    return _save(figure, file)


def _save(figure: Figure, file: Path) -> Path:
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)
    return file
