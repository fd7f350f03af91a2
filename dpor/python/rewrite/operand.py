"""`.operand`: a link of a chained comparison in a scope where no temporary may be bound.

`a < f() < c` evaluates its middle operand once, and `c` only if the first comparison holds. A function can bind the
middle operand to a temporary. A comprehension cannot (it would bind it in the function around it, which several
threads may share), nor can a class body or a module (whose names are all visible). There the chain stays a chain, of
operands that carry the comparison with their right-hand neighbour:

    .operand(.lt, a) < .operand(.lt, f()) < c

The operator between them is always `<`: it stands for the comparison that the operand on its left carries, also for
`is` and `not in`, which no class could redefine.
"""

from __future__ import annotations

from collections.abc import Callable


class Operand:
    """An operand with the comparison to make with the next operand. The program never sees one."""

    __slots__ = ("compare", "negated", "value")

    def __init__(self, compare: Callable[[object, object], object], value: object, negated: bool = False) -> None:
        self.compare = compare
        self.value = value
        self.negated = negated

    def __lt__(self, other: object) -> object:
        result = self.compare(self.value, other.value if type(other) is Operand else other)
        return not result if self.negated else result
