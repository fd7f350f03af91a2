"""The shape of [PL]'s tables: what is to be fewer than what. Judged on cells, some of which ran out of budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from bench.cells import COMBINED, DPOR, ORIGINAL, POINTERS, PRECISIONS, SA, Cell, Setting

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


def ordered(workloads: tuple[str, ...], cells: Cells) -> Iterator[Line]:
    """What holds for every workload."""
    for workload in workloads:
        original, sa, dpor, combined = (bounds(cells.get((workload, s))) for s in (ORIGINAL, SA, DPOR, COMBINED))
        yield Line(
            "DPOR+static <= SA and DPOR", workload, both(at_most(combined, sa), at_most(combined, dpor)),
            f"{combined}; {sa}, {dpor}",
        )  # fmt: skip
        yield Line("SA <= original", workload, at_most(sa, original), f"{sa}; {original}")
        yield Line("DPOR <= original", workload, at_most(dpor, original), f"{dpor}; {original}")


def particular(workload: str, cells: Cells) -> Iterator[Line]:
    """What is to hold for this workload beyond that, as in the paper's Table 10."""
    original, sa, dpor, combined = (bounds(cells.get((workload, s))) for s in (ORIGINAL, SA, DPOR, COMBINED))
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
        each = [Setting("sa", precision, "none", immutable) for precision in reversed(PRECISIONS)]
        switch = "on" if immutable else "off"
        yield from chain(f"sensitive <= callee <= insensitive <= original, immutable {switch}", *each, ORIGINAL)
    for precision in PRECISIONS:
        each = [Setting("sa", precision, "none", immutable) for immutable in (True, False)]
        yield from chain(f"{precision}: immutable on <= off", *each)
    for pointers in POINTERS[1:]:
        yield from chain(f"pointers {pointers} <= none", Setting("sa", pointers=pointers), SA)


def agreeing(workloads: tuple[str, ...], cells: Cells) -> Iterator[Line]:
    """All configurations that finished found the same."""
    for workload in workloads:
        ended = [cell for (name, _), cell in cells.items() if name == workload and cell.finished]
        found = {(cell.outcomes, cell.findings) for cell in ended}
        holds = Holds.UNKNOWN if len(ended) < 2 else Holds.YES if len(found) == 1 else Holds.NO
        counts = " or ".join(sorted({f"{len(outcomes):,} outcomes" for outcomes, _ in found}))
        yield Line(AGREE, workload, holds, f"{counts or 'none'} in {len(ended)} that finished")


def shape(workloads: tuple[str, ...], cells: Cells, *, precisions: bool) -> list[Line]:
    """All demands, one after another. `precisions`: those on the analyses' settings, too."""
    groups: list[Callable[[tuple[str, ...], Cells], Iterator[Line]]] = [ordered, agreeing]
    if precisions:
        groups.append(precise)
    lines = [line for group in groups for line in group(workloads, cells)]
    return lines + [line for workload in workloads for line in particular(workload, cells)]
