"""A process that searches parts of a tree for another one (`dpor.app.sharing`).

It gets a `Setup` and loads the program once. Then it gets parts, and sends back for each what is left of it and what
has been found. It asks the other process for the numbers of locations and threads that it does not know, so that all
processes agree on them. A message that comes while it searches means that it should stop and give back what it has.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from traceback import format_exc
from types import FrameType
from typing import Any, Final

import attrs

from dpor.app.found import Results
from dpor.app.targets import beat_of, open_target
from dpor.core.errors import AssumptionBroken, OutOfTime, UserError
from dpor.core.options import Options
from dpor.core.pulse import beating
from dpor.core.system import Ending, StateKey
from dpor.explorers import DIVIDED, STATEFUL, STRATEGIES
from dpor.explorers.parts import SearchOfPart
from dpor.explorers.shared_graph import SearchOfStates
from dpor.explorers.states import StatefulSearch
from dpor.findings.explain import Checkable

EVENTS: Final = 15_000
"""New and repeated events after which a part is given back, ..."""
EVENTS_WITH_STATES: Final = 30_000
"""... if states are stored: then larger parts repeat less."""


@attrs.frozen
class Setup:
    """What a worker needs to know. `known`: facts, and the numbers of locations and threads. `accesses`: what has been
    seen of accesses, some of which are no events; None if each is one."""

    target: str
    options: Options
    known: Any
    accesses: Any
    path: Sequence[str]


@attrs.frozen
class Assignment:
    number: int
    content: Any


@attrs.frozen
class Known:
    """Newly known keys of states; earlier ones were already sent."""

    keys: Sequence[StateKey]


@attrs.frozen
class Asked:
    """A question for the number of a location or a thread."""

    what: str
    name: Any


@attrs.frozen
class Done:
    """What a worker gives back.

    rest, results   see `SearchOfPart.rest`, `SearchOfStates.rest` and `Results.to_json`
    accesses        what the worker has seen of accesses
    """

    number: int
    rest: Any
    results: Any
    accesses: Any

    @property
    def executions(self) -> int:
        return int(self.results["counts"]["executions"])


@attrs.frozen
class Broken:
    """An assumption has been broken.

    facts, accesses   what is known now
    runs              how many the worker has made since it last gave something back
    """

    reason: str
    facts: Any
    accesses: Any
    runs: int


@attrs.frozen
class Failed:
    """The worker cannot go on. `reason` is for the user if it is the program's fault; else a traceback."""

    reason: str
    is_ours: bool


class _Worker:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stopped = self._asks = False
        self._known: dict[StateKey, int] = {}
        setup: Setup = connection.recv()
        self._options = setup.options
        sys.path[:] = setup.path
        self._beat_of_run = beat_of(setup.target)
        self._system: Checkable = open_target(setup.target, setup.options, setup.known)
        self._system.number_by(self._ask)
        self._system.see_every_access(setup.accesses is None)
        if setup.accesses is not None:
            self._system.recall_accesses(setup.accesses)

    def work(self) -> None:
        with beating(self._beat):
            while True:
                message = self._connection.recv()
                if isinstance(message, Known):
                    self._known.update({key: number for number, key in enumerate(message.keys, len(self._known))})
                elif isinstance(message, Assignment):
                    self._stopped = False
                    self._connection.send(self._searched(message))

    def _searched(self, part: Assignment) -> Done | Broken | Failed:
        options, system = self._options, self._system
        search, most = self._search_of(part.content), EVENTS if options.explorer in DIVIDED else EVENTS_WITH_STATES
        results, last = Results(search.stats), None
        try:
            for run in search.explore():
                if run.ending is Ending.ENDED:
                    break
                results.take(run, search.trace, system, options)
                last = run
                enough = search.stats.events + search.stats.replayed >= most
                if self._stopped or enough or (results.seen and not options.all):
                    search.settle()
                    break
        except OutOfTime:
            pass
        except AssumptionBroken as fact:
            return Broken(fact.reason, system.facts(), system.accesses(), search.stats.executions + fact.runs)
        again = search.take_back()
        if (why := cannot_be_shared(system, options)) is not None:
            return Failed(why, False)
        if isinstance(search, SearchOfPart):
            results.branching = search.branching
        found = results.to_json(search.stats, again if again is last else None)
        try:
            rest = search.rest()
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            return Failed(f"what has been found cannot be sent ({error})", False)
        return Done(part.number, rest, found, system.accesses())

    def _search_of(self, content: Any) -> SearchOfPart | SearchOfStates:
        options, system = self._options, self._system
        if options.explorer in STATEFUL:
            whole = STRATEGIES[options.explorer].make(system, options)
            assert isinstance(whole, StatefulSearch)
            whole.pace = self._pace
            return SearchOfStates(whole, content, self._known)
        search = SearchOfPart(system, options.order, options.seed, content)
        search.pace = self._pace
        return search

    def _pace(self) -> None:
        if self._stopped:
            raise OutOfTime

    def _ask(self, what: str, name: Any) -> Any:
        self._asks = True
        self._connection.send(Asked(what, name))
        while (answer := self._connection.recv()) is None:
            self._stopped = True
        self._asks = False
        return answer

    def _beat(self, frame: FrameType | None) -> None:
        if not (self._stopped or self._asks) and self._connection.poll():
            self._stopped = True
        self._beat_of_run(frame, 0 if self._stopped else None)


def cannot_be_shared(system: Checkable, options: Options) -> str | None:
    """Return why the processes cannot understand each other, or None."""
    if system.locations() is None:
        return "what threads share has a key that other processes cannot name"
    if options.explorer in STATEFUL and not system.states_are_common():
        return "states have something that other processes cannot name"
    return None


def serve(connection: Connection) -> None:
    """Search what comes by this connection, until the other process ends."""
    try:
        try:
            _Worker(connection).work()
        except UserError as error:
            connection.send(Failed(f"{type(error).__name__}: {error}", False))
        except (EOFError, OSError):
            raise
        except Exception:
            connection.send(Failed(format_exc(), True))
    except (EOFError, OSError):  # it has ended
        pass
