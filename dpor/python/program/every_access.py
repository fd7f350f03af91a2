"""Searches that take nothing for unwritten: each access to a field or a container that several threads reach is an
operation, as in Java Pathfinder. Others leave out what no run has been seen to write.
"""

from __future__ import annotations

from dpor.python.effects.accesses import EVERYTHING
from dpor.python.hooks.attributes import is_field_key


class EveryAccess(set[object]):
    """What is known by a search (`driving.Search.facts`) that is to see every access."""

    def __init__(self) -> None:
        super().__init__((EVERYTHING,))

    def __contains__(self, fact: object) -> bool:
        return is_field_key(fact) or super().__contains__(fact)
