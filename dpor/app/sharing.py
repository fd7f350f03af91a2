"""One search by several processes: this one keeps the tree (`dpor.explorers.parts.SharedTree`), and *workers*
(`dpor.app.working`), the members of a `Crew`, search parts of it.

Parts are taken back in the order in which they were given away, whichever worker has them and however long that takes.
As a part ends after so many events, not after some time, what is searched when does not depend on the number of
workers, and neither does the failure that is found first. (A search that is cut takes what there is.)

If a worker dies, another one gets its part: what it had found there has not been counted.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from dpor.app.crew import Crew, Ended, GivenBack, Member
from dpor.app.forking import ForkServer
from dpor.app.found import Results, Seen
from dpor.app.processes import Processes
from dpor.app.working import Asked, Assignment, Broken, Done, Failed, Known, Setup, cannot_be_shared
from dpor.core.errors import AssumptionBroken, InternalError, NotDeterministic
from dpor.core.options import Options
from dpor.core.schedule import follow
from dpor.core.system import Ending, Trace
from dpor.explorers import Stats
from dpor.explorers.parts import SharedTree
from dpor.explorers.search import Search
from dpor.explorers.shared_graph import SharedGraph
from dpor.explorers.states import StatefulSearch
from dpor.findings.explain import Checkable

AFTER: Final = 20_000
"""New and repeated events of a search after which it is shared: before that, to start workers takes longer than to go
on alone."""
PARTS_OF_GRAPH: Final = 8
"""Parts of a graph that are given away at once. With more, workers know less and search more twice."""
PATIENCE: Final = 1.0
"""Seconds that workers have to give back their parts when the search is over."""
LOOK_EVERY: Final = 0.05


class Sharing:
    """A search that is shared by workers.

    search    what has been searched so far
    most      how many executions there may be
    results   what it has found; grows
    say       tells the user something in one line
    server    makes the workers of this machine (`prepared`)
    """

    def __init__(
        self,
        target: str,
        options: Options,
        system: Checkable,
        search: Search | StatefulSearch,
        most: int | None,
        results: Results,
        say: Callable[[str], None],
        server: ForkServer | None,
    ) -> None:
        self._system, self._results, self._say = system, results, say
        self._all = options.all
        if (why := cannot_be_shared(system, options)) is not None:
            raise GivenBack(why)
        names = system.locations() or []
        self._names, self._number_of = names, {name: number for number, name in enumerate(names)}
        self._facts = system.facts()
        known = None if self._facts is None else {**self._facts, "locations": names}
        self._setup = Setup(target, options, known, system.accesses(), sys.path[:])
        self._threads = {(p, nth): number for p, nth, number in known["threads"]} if known is not None else {}
        self._crew = _crew(options, system, say, server)
        self._ahead = 2 * self._crew.most  # parts given away before the first comes back; for any number of workers
        self._stats, self._most = search.stats, most
        self._tree: SharedTree | SharedGraph
        if isinstance(search, StatefulSearch):
            self._ahead, self._tree = PARTS_OF_GRAPH, SharedGraph(search)
        else:
            order, seed = options.order, options.seed
            self._tree = SharedTree(search.nodes[0], search.stats, few=self._ahead, order=order, seed=seed)
        self._parts: dict[int, Assignment] = {}  # those that have been given away and not been taken back, by number
        self._to_do: deque[int] = deque()
        self._done: dict[int, Done] = {}
        self._deaths: dict[int, int] = {}

    def __enter__(self) -> Sharing:
        return self

    def __exit__(self, *error: object) -> None:
        self._crew.close()
        self._tree.end()
        self.agree()

    def agree(self) -> None:
        """Adopt the workers' numbers of locations and threads."""
        if self._facts is not None:
            threads = [[*child, number] for child, number in self._threads.items()]
            self._system.agree(self._names, {**self._facts, "threads": threads})

    def settle(self) -> None:
        """Let the tree be complete, so that it can be kept."""
        self._tree.settle()
        self.agree()

    # ------------------------------------------------------------------ going on

    def go_on(self) -> bool:
        """Give parts to workers, and take back what they have done, for a moment. Returns False if nothing is left.

        Raises `AssumptionBroken` if a worker has met one, `GivenBack` if this process has to go on alone. That is
        so when a part exceeds the execution budget; it stays in the tree."""
        self._give()
        if not self._parts:
            return False
        self._crew.grow(self._setup, len(self._parts) - len(self._done))
        for worker in self._crew.members:
            if worker.part is None and self._to_do:
                keys = self._tree.keys
                if len(keys) > worker.keys_sent:
                    worker.send(Known(keys[worker.keys_sent :]))
                    worker.keys_sent = len(keys)
                worker.part = self._to_do.popleft()
                worker.send(self._parts[worker.part])
        self._listen(LOOK_EVERY)
        while self._parts and (first := next(iter(self._parts))) in self._done:
            if not self._fits(first):
                raise GivenBack("--max-executions is nearly reached")
            self._take(first)
            if self._results.seen and not self._all:
                break
            self._give()
        return True

    def _give(self) -> None:
        while len(self._parts) < self._ahead and (given := self._tree.give()) is not None:
            number, content = given
            self._parts[number] = Assignment(number, content)
            self._to_do.append(number)

    def stop(self) -> None:
        """Let the workers give back their parts as they are, as far as they do so soon."""
        for worker in self._busy():
            worker.send(None)
        end = time.monotonic() + PATIENCE
        while self._busy() and time.monotonic() < end:
            self._listen(LOOK_EVERY)
        for number in [number for number in self._parts if number in self._done]:
            if self._fits(number):
                self._take(number)

    def _busy(self) -> list[Member]:
        return [worker for worker in self._crew.members if worker.part is not None]

    def _fits(self, number: int) -> bool:
        """True if there may be as many executions as this part has in addition."""
        return self._most is None or self._stats.executions + self._done[number].executions <= self._most

    def _take(self, number: int) -> None:
        done = self._done[number]
        found = Results.from_json(done.results)
        for group, seen in found.seen.items():
            if group not in self._results.seen and not self._fails_here(seen):
                raise GivenBack(f"a worker has found a failure that is none here ({seen.finding.message})")
        del self._done[number], self._parts[number]
        if done.accesses is not None:
            self._system.recall_accesses(done.accesses)
        self._results.add(found)
        self._tree.take(number, done.rest)

    def _fails_here(self, seen: Seen) -> bool:
        """True if what a worker has found is a failure in this process, too. (On another machine, a file that the
        program reads may be missing.)"""
        self.agree()
        accesses = self._system.accesses()
        self._system.see_every_access(True)  # as the schedule does
        try:
            run = self._system.run(Trace(), follow(seen.schedule))
        except NotDeterministic:
            return False
        finally:
            if accesses is not None:
                self._system.see_every_access(False)
                self._system.recall_accesses(accesses)
        return run.ending is Ending.ENDED or any(each.group == seen.finding.group for each in run.findings)

    # ------------------------------------------------------------------ messages

    def _listen(self, seconds: float) -> None:
        for worker, message in self._crew.listen(seconds):
            match message:
                case Ended(how):
                    self._bury(worker.part, how)
                case Asked(what, name):
                    worker.send(self._answer(what, name))
                case Done(number):
                    worker.part = None
                    self._done[number] = message
                case Broken(reason, facts, accesses, runs):
                    self._facts = facts
                    if accesses is not None:
                        self._system.recall_accesses(accesses)
                    raise AssumptionBroken(reason, runs)
                case Failed(reason, True):
                    raise InternalError(f"a worker has failed: {reason}")
                case Failed(reason, _):
                    raise GivenBack(reason)

    def _answer(self, what: str, name: Any) -> Any:
        if what == "thread":
            self._threads.setdefault(name, len(self._threads) + 1)
            return [[*child, number] for child, number in self._threads.items()]
        known, text = name
        if text not in self._number_of:
            self._number_of[text] = len(self._names)
            self._names.append(text)
        return self._names[known:]

    def _bury(self, number: int | None, how: str) -> None:
        """A worker has ended: another one gets its part."""
        if number is None:
            self._say(f"a worker has ended ({how})")
            return
        self._deaths[number] = deaths = self._deaths.get(number, 0) + 1
        if deaths >= self._crew.most_deaths:
            raise GivenBack(f"the same part of the search has ended {deaths} workers ({how})")
        self._say(f"a worker has ended ({how}); another one searches its part again")
        self._to_do.appendleft(number)


@contextmanager
def prepared(options: Options) -> Iterator[ForkServer | None]:
    """Context of a search that may be shared: what is needed for that is started, to be there in time."""
    server = ForkServer() if options.cluster is None and options.is_shared else None
    try:
        yield server
    finally:
        if server is not None:
            server.close()


def _crew(options: Options, system: Checkable, say: Callable[[str], None], server: ForkServer | None) -> Crew:
    if server is not None:
        return Processes(options.processes, server)
    from dpor.app.cluster import Cluster
    from dpor.app.shipping import packed

    assert options.cluster is not None
    return Cluster(options.cluster, packed(system), say)


def is_worth_it(stats: Stats, since: int) -> bool:
    """True if a search is so large that it should be shared. `since`: its work (`dpor.app.stages.work`) when it was
    shared before."""
    return stats.events + stats.replayed >= AFTER + since
