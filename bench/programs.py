"""Which programs are measured."""

from __future__ import annotations

import attrs


@attrs.frozen
class Program:
    """One row of the table.

    name    of a function in `targets/threaded.py`, or (with a blank in it) of a program in `targets/abstract.json`
    peer    CPU seconds that another partial-order checker for Python threads needs to finish it, with OS threads and
            a switch at any opcode, measured on a machine like ours; None where it did not finish or was not measured
    """

    name: str
    peer: float | None = None


PROGRAMS = (
    Program("racy_2x1", 0.11),
    Program("racy_2x3", 4.9),
    Program("racy_3x1", 1.7),
    Program("deadlock", 0.04),
    Program("philosophers_3", 0.31),
    Program("readers_4", 0.22),
    Program("readers_8", 6.2),
    Program("lastzero_3", 14.4),
    Program("private_1000", 0.17),
    Program("locked_2x3"),
    Program("buffer_1x3"),
    Program("counter 2x4"),
)
LARGE = (Program("racy_2x5"),)
"""Measured only if named: an exploration takes seconds."""

KNOWN = {program.name: program for program in (*PROGRAMS, *LARGE)}
