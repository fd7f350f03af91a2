"""Searches that take nothing for unwritten: each access to a field or a container that several threads reach is an
operation, as in Java Pathfinder. Others leave out what no run has been seen to write.
"""

from __future__ import annotations

from dpor.python.effects.accesses import EVERYTHING
from dpor.python.hooks.attributes import is_field_key


class EveryAccess(set[object]):
    """What is known by a search (`driving.Search.facts`) that is to see every access.

    unhooked   the attributes whose loads are not hooked, as an analysis says that nobody writes them: the first store
               of one is to show that it was wrong
    """

    def __init__(self) -> None:
        super().__init__((EVERYTHING,))
        self.unhooked: frozenset[str] = frozenset()

    def __contains__(self, fact: object) -> bool:
        if isinstance(fact, tuple) and is_field_key(fact) and fact[-1] not in self.unhooked:
            return True
        return super().__contains__(fact)
