"""The search of Java Pathfinder: a choice wherever it could matter in the present state, and state matching [PL, 3.3].

Here                            In the paper
first()                         the scheduling choice of Fig. 2
system.is_choice(thread, ...)   "globally relevant" for the original: a synchronisation, or an access to an object that
                                is reachable from several threads in the present state (dynamic escape analysis)

Where there is no choice the thread goes on: no other thread can reach what it is about to access, and none will before
the thread itself lets it. So what is planned at a state is a persistent set. Difference: a cycle without a choice is
broken (`StatefulSearch.complete`), whereas Java Pathfinder ends a transition after a number of instructions.
"""

from __future__ import annotations

from collections.abc import Iterable

from dpor.core.operations import ThreadId
from dpor.core.system import StatefulSystem, Store, SyncChoices
from dpor.explorers.search import threads_of
from dpor.explorers.states import StatefulSearch


class Original(StatefulSearch):
    """A stateful search that plans all enabled threads where a choice could matter, and otherwise the one that is
    running.
    """

    def __init__(
        self, system: StatefulSystem, store: Store = Store.EVENTS, sync_choices: SyncChoices = SyncChoices.ALL
    ) -> None:
        super().__init__(system, store)
        self.sync_choices = sync_choices

    def first(self, enabled: int) -> int:
        threads = self.trace.threads
        if threads and enabled >> threads[-1] & 1:
            candidates: Iterable[ThreadId] = threads[-1:]
        else:  # it has ended or must wait: that is a choice, unless only shared objects count
            candidates = threads_of(enabled) if self.sync_choices is SyncChoices.SHARED else ()
        for thread in candidates:
            if not self.system.is_choice(thread, self.sync_choices):
                return 1 << thread
        return enabled
