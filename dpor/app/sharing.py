"""One search by several processes on this machine: this one keeps the tree (`dpor.explorers.parts.SharedTree`), and
*workers* (`dpor.app.working`) search parts of it.

Parts are taken back in the order in which they were given away, whichever worker has them and however long that takes.
As a part ends after so many events, not after some time, what is searched when does not depend on the number of
workers, and neither does the failure that is found first. (A search that is cut takes what there is.)

If a worker dies, another one gets its part: what it had found there has not been counted.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, Final

from dpor.app.found import Results
from dpor.app.working import Asked, Broken, Done, Failed, Part, Setup
from dpor.core.errors import AssumptionBroken, InternalError
from dpor.core.options import MOST_WORKERS, Options
from dpor.explorers import Stats
from dpor.explorers.parts import SharedTree
from dpor.explorers.tree import Node
from dpor.findings.explain import Checkable

AFTER: Final = 20_000
"""New and repeated events of a search after which it is shared: before that, to start workers takes longer than to go
on alone."""
AHEAD: Final = 2 * MOST_WORKERS
"""Parts that may be given away before the first of them has come back. Does not depend on the number of workers."""
PATIENCE: Final = 1.0
"""Seconds that workers have to give back their parts when the search is over."""
MOST_DEATHS: Final = 2
"""How often a part may end the process that searches it."""
LOOK_EVERY: Final = 0.05
_START: Final = "from dpor.app.working import main; main()"
"""(Not `-m`: the classes of its messages must be those of the module.)"""


class _Worker:
    """The connection to a worker, and the number of the part that it has."""

    def __init__(self, setup: Setup) -> None:
        self.connection, theirs = Pipe()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                process_group=0,  # Ctrl-C is for us
            )
        self.part: int | None = None
        self.connection.send(setup)

    def send(self, message: Any) -> bool:
        """Send a message. Returns False if the worker has died."""
        try:
            self.connection.send(message)
        except OSError:
            return False
        return True

    def end(self) -> str:
        """End the process. Returns how it has ended."""
        self.process.kill()
        code = self.process.wait()
        self.connection.close()
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"


class GivenBack(Exception):
    """The search cannot be shared; one process has to go on. `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Sharing:
    """A search that is shared by workers.

    results   what it has found; grows
    say       tells the user something in one line
    """

    def __init__(
        self,
        target: str,
        options: Options,
        system: Checkable,
        tree: tuple[Node, Stats],
        results: Results,
        say: Callable[[str], None],
    ) -> None:
        self._system, self._results, self._say = system, results, say
        self._all = options.all
        names = system.locations()
        if names is None:
            raise GivenBack("what threads share has a key that other processes cannot name")
        self._names, self._number_of = names, {name: number for number, name in enumerate(names)}
        self._facts = system.facts()
        known = None if self._facts is None else {**self._facts, "locations": names}
        self._setup = Setup(target, options, known, sys.path[:])
        self._threads = {(p, nth): number for p, nth, number in known["threads"]} if known is not None else {}
        self._tree = SharedTree(*tree, few=AHEAD)
        self._parts: dict[int, Part] = {}  # those that have been given away and not been taken back, by number
        self._to_do: deque[int] = deque()
        self._done: dict[int, Done] = {}
        self._deaths: dict[int, int] = {}
        self._workers: list[_Worker] = []
        self._wanted = options.processes

    def __enter__(self) -> Sharing:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers:
            worker.end()
        self._tree.end()
        self.agree()

    def agree(self) -> None:
        """Let the system of this process give everything the numbers that the workers have."""
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

        Raises `AssumptionBroken` if a worker has met one, `GivenBack` if this process has to go on alone."""
        self._give()
        if not self._parts:
            return False
        while len(self._workers) < min(self._wanted, len(self._parts)):
            self._workers.append(_Worker(self._setup))
        for worker in [worker for worker in self._workers if worker.part is None]:
            if self._to_do:
                worker.part = self._to_do.popleft()
                if not worker.send(self._parts[worker.part]):
                    self._bury(worker)
        self._listen(LOOK_EVERY)
        while self._parts and (first := next(iter(self._parts))) in self._done:
            self._take(first)
            if self._results.seen and not self._all:
                break
            self._give()
        return True

    def _give(self) -> None:
        while len(self._parts) < AHEAD and (given := self._tree.give()) is not None:
            number, content = given
            self._parts[number] = Part(number, content)
            self._to_do.append(number)

    def stop(self) -> None:
        """Let the workers give back their parts as they are, as far as they do so soon."""
        busy = [worker for worker in self._workers if worker.part is not None]
        for worker in busy:
            worker.send(None)
        end = time.monotonic() + PATIENCE
        while any(worker.part is not None for worker in busy) and time.monotonic() < end:
            self._listen(LOOK_EVERY)
            busy = [worker for worker in busy if worker in self._workers]
        for number in [number for number in self._parts if number in self._done]:
            self._take(number)

    def _take(self, number: int) -> None:
        done = self._done.pop(number)
        del self._parts[number]
        self._tree.take(number, done.rest)
        self._results.add(Results.from_json(done.results))

    # ------------------------------------------------------------------ messages

    def _listen(self, seconds: float) -> None:
        by_connection = {worker.connection: worker for worker in self._workers}
        for connection in wait([*by_connection], seconds):
            assert isinstance(connection, Connection)
            worker = by_connection[connection]
            try:
                message = connection.recv()
            except (EOFError, OSError):
                self._bury(worker)
                continue
            match message:
                case Asked(what, name):
                    worker.send(self._answer(what, name))
                case Done(number):
                    worker.part = None
                    self._done[number] = message
                case Broken(reason, facts):
                    self._facts = facts
                    raise AssumptionBroken(reason)
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

    def _bury(self, worker: _Worker) -> None:
        """The worker has died: another one gets its part."""
        self._workers.remove(worker)
        how, number = worker.end(), worker.part
        if number is None:
            raise GivenBack(f"a worker could not be started ({how})")
        self._deaths[number] = self._deaths.get(number, 0) + 1
        if self._deaths[number] >= MOST_DEATHS:
            raise GivenBack(f"the same part of the search has ended {MOST_DEATHS} workers ({how})")
        self._say(f"a worker has ended ({how}); another one searches its part again")
        self._to_do.appendleft(number)


def is_worth_it(stats: Stats) -> bool:
    """True if a search is so large that it should be shared."""
    return stats.events + stats.replayed >= AFTER
