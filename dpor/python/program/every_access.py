"""Searches in which each access to a field or a container that several threads reach is an operation, as in Java
Pathfinder. Other searches leave out what no run has written.
"""

from __future__ import annotations

from dpor.python.effects.accesses import EVERYTHING
from dpor.python.hooks.attributes import is_field_key


class EveryAccess(set[object]):
    """The facts (`driving.SearchState.facts`) of a search that is to see every access.

    unhooked   attributes whose loads have no hooks because an analysis says that nobody writes them: these are assumed
               silent, so that the first store of one shows that the analysis was wrong
    """

    def __init__(self) -> None:
        super().__init__((EVERYTHING,))
        self.unhooked: frozenset[str] = frozenset()

    def __contains__(self, fact: object) -> bool:
        if isinstance(fact, tuple) and is_field_key(fact) and fact[-1] not in self.unhooked:
            return True
        return super().__contains__(fact)
