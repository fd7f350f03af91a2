"""The shape of [PL]'s tables: what is to be fewer than what. Judged on cells, some of which ran out of budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from bench.cells import ALL_ACCESSES, CONFIGURATIONS, POINTERS, PRECISIONS, Cell, Setting

Cells: TypeAlias = Mapping[tuple[str, Setting], Cell]

AGREE: Final = "the same outcomes and failures"


class Holds(StrEnum):
    YES = "holds"
    NO = "does not hold"
    UNKNOWN = "cannot be told: out of budget"


class Line(NamedTuple):
    """One demand on one workload, and the numbers behind the answer."""

    demand: str
    workload: str
    holds: Holds
    numbers: str


class Bounds(NamedTuple):
    """A number of choices lies between these; `most` None: nobody knows."""

    least: int
    most: int | None

    def __str__(self) -> str:
        return f"{self.least:,}{'+' if self.most is None else ''}"


UNKNOWN = Bounds(0, None)


def bounds(cell: Cell | None) -> Bounds:
    """
    >>> str(bounds(None))
    '0+'
    """
    if cell is None or cell.choices is None:
        return UNKNOWN
    return Bounds(cell.choices, cell.choices if cell.finished else None)


def at_most(few: Bounds, many: Bounds, factor: float = 1) -> Holds:
    """Is `few`, `factor` times, at most `many`?

    >>> [str(at_most(Bounds(10, 10), many, 5)) for many in (Bounds(50, None), Bounds(49, 49), Bounds(49, None))]
    ['holds', 'does not hold', 'cannot be told: out of budget']
    """
    if few.most is not None and few.most * factor <= many.least:
        return Holds.YES
    if many.most is not None and few.least * factor > many.most:
        return Holds.NO
    return Holds.UNKNOWN


def both(one: Holds, other: Holds) -> Holds:
    if Holds.NO in (one, other):
        return Holds.NO
    return Holds.YES if one is other is Holds.YES else Holds.UNKNOWN


def ordered(workload: str, original: Bounds, sa: Bounds, dpor: Bounds, combined: Bounds) -> Iterator[Line]:
    """What holds for every workload."""
    yield Line(
        "DPOR+static <= SA and DPOR", workload, both(at_most(combined, sa), at_most(combined, dpor)),
        f"{combined}; {sa}, {dpor}",
    )  # fmt: skip
    yield Line("SA <= original", workload, at_most(sa, original), f"{sa}; {original}")
    yield Line("DPOR <= original", workload, at_most(dpor, original), f"{dpor}; {original}")


def particular(workload: str, original: Bounds, sa: Bounds, dpor: Bounds, combined: Bounds) -> Iterator[Line]:
    """What is to hold for this workload beyond that, as in the paper's Table 10."""
    if workload == "raytracer":
        holds = both(at_most(dpor, Bounds(10, 10)), at_most(Bounds(100, 100), sa))
        yield Line("DPOR <= 10 where SA has hundreds", workload, holds, f"{dpor}; {sa}")
    if workload in ("simplejbb", "cocome"):
        yield Line("20 DPOR <= SA", workload, at_most(dpor, sa, 20), f"{dpor}; {sa}")
    if workload in ("credemo", "jpapabench", "cdx"):
        yield Line("10 SA <= original", workload, at_most(sa, original, 10), f"{sa}; {original}")
    if workload == "cdx":
        yield Line("10 DPOR+static <= SA", workload, at_most(combined, sa, 10), f"{combined}; {sa}")


def precise(workloads: tuple[str, ...], cells: Cells) -> Iterator[Line]:
    """More exact analyses leave no more choices."""

    def chain(demand: str, *settings: Setting) -> Iterator[Line]:
        for workload in workloads:
            found = [bounds(cells.get((workload, setting))) for setting in settings]
            holds = Holds.YES
            for few, many in pairwise(found):
                holds = both(holds, at_most(few, many))
            yield Line(demand, workload, holds, ", ".join(map(str, found)))

    for immutable in (True, False):
        each = [Setting("sa", precision, "none", immutable, True) for precision in reversed(PRECISIONS)]
        switch = "on" if immutable else "off"
        yield from chain(
            f"sensitive <= callee <= insensitive <= original, immutable {switch}", *each, ALL_ACCESSES["original"]
        )
    for precision in PRECISIONS:
        each = [Setting("sa", precision, "none", immutable, True) for immutable in (True, False)]
        yield from chain(f"{precision}: immutable on <= off", *each)
    for pointers in POINTERS[1:]:
        setting = Setting("sa", pointers=pointers, every_access=True)
        yield from chain(f"pointers {pointers} <= none", setting, ALL_ACCESSES["SA"])


def agreeing(workloads: tuple[str, ...], cells: Cells) -> Iterator[Line]:
    """All configurations that finished found the same."""
    for workload in workloads:
        ended = [cell for (name, _), cell in cells.items() if name == workload and cell.finished]
        found = {(cell.outcomes, cell.findings) for cell in ended}
        holds = Holds.UNKNOWN if len(ended) < 2 else Holds.YES if len(found) == 1 else Holds.NO
        counts = " or ".join(sorted({f"{len(outcomes):,} outcomes" for outcomes, _ in found}))
        yield Line(AGREE, workload, holds, f"{counts or 'none'} in {len(ended)} that finished")


def shape(workloads: tuple[str, ...], cells: Cells) -> list[Line]:
    """All demands on the tables that the cells are of, one after another."""
    settings = {setting for _, setting in cells}
    lines = list(agreeing(workloads, cells))
    if Setting("sa", "callee", every_access=True) in settings:
        lines += precise(workloads, cells)
    for table, note in ((ALL_ACCESSES, ", every access an event"), (CONFIGURATIONS, "")):
        if not settings.isdisjoint(table.values()):
            for demands in (ordered, particular):
                for workload in workloads:
                    found = [bounds(cells.get((workload, setting))) for setting in table.values()]
                    lines += [line._replace(demand=line.demand + note) for line in demands(workload, *found)]
    return lines
