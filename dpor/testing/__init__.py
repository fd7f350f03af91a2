"""Generators of random programs, and judges of what explorers do with them, for those who write explorers.

`fuzz` tests an explorer. The program that it finds is made as small as possible:

>>> from dpor.explorers.source import Source
>>> class Forgetful(Source):
...     def reverse(self, first, end, action, operation):
...         if operation.kind != "lock":  # forgets the races for locks
...             super().reverse(first, end, action, operation)
>>> found = fuzz({"forgetful": Forgetful}, examples=1000)
>>> found.wrong.startswith("forgetful: misses "), "lock m" in str(found.program) or "lock n" in str(found.program)
(True, True)

docs/explorers.md shows how to write an explorer. The parts can be used alone: generators (`abstract_programs` for
Hypothesis, `random_program`, `make_program`), judges (`explore`, `disagreement`, `trace_class`, `swap_and_replay`),
`shrink` and `shrink_source`.
"""

from dpor.testing.abstract import ALL, BASE, Spec, abstract_programs, random_program
from dpor.testing.fuzzing import Disagreement, fuzz, make_program
from dpor.testing.judging import (
    PROMISES,
    Observed,
    Reference,
    TooLarge,
    disagreement,
    explore,
    reference,
    swap_and_replay,
    trace_class,
    wrong_with,
)
from dpor.testing.shrinking import shrink, shrink_source

__all__ = [
    "ALL",
    "BASE",
    "PROMISES",
    "Disagreement",
    "Observed",
    "Reference",
    "Spec",
    "TooLarge",
    "abstract_programs",
    "disagreement",
    "explore",
    "fuzz",
    "make_program",
    "random_program",
    "reference",
    "shrink",
    "shrink_source",
    "swap_and_replay",
    "trace_class",
    "wrong_with",
]
