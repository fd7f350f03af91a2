"""The workers of a Dask cluster as a `Crew`. Each has room for as many processes (`dpor.app.hosting`) as threads.

A message and its answer are one task, pinned to the worker that has the process. As the task takes a thread until the
answer is there, Dask knows that the worker is busy. Workers may come and go. If one has left, Dask waits for it to come
back; so its tasks are forgotten as soon as it is missed, and nothing that they might still answer is heard.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from queue import Empty, Queue
from typing import Any, Final

import attrs

from dpor.app import hosting
from dpor.app.crew import Ended, GivenBack
from dpor.app.shipping import Refused, ShippedProgram
from dpor.app.working import Broken, Done, Setup
from dpor.core.errors import UserError
from dpor.core.options import LOCAL_CLUSTER, processors

ANSWERS_WITHIN: Final = 10
"""Seconds that the scheduler has to answer."""
COMES_WITHIN: Final = 30.0
"""Seconds for which a search waits while the cluster has no worker."""
LOOK_EVERY: Final = 0.2
"""Seconds between checks of which workers exist."""
_UNREACHABLE: Final = (OSError, RuntimeError, ValueError)
"""What Dask raises if somebody cannot be reached."""


@attrs.frozen
class _Room:
    """Room for a process on a worker.

    host        what is there, as a future of Dask
    root, path  see `hosting.whereabouts`
    """

    address: str
    host: Any
    root: str
    path: Sequence[str]

    def adapted(self, setup: Setup, program: ShippedProgram) -> Setup:
        """Return the setup for a process there."""
        target = self.root + setup.target if os.path.isabs(setup.target) else setup.target
        return attrs.evolve(setup, target=target, path=[*(self.root + folder for folder in program.path), *self.path])

    def as_here(self, message: Any) -> Any:
        """Return the message with remote paths replaced by local ones."""
        if not self.root or not isinstance(message, (Done, Broken)):
            return message
        content = json.dumps(attrs.asdict(message, recurse=False)).replace(self.root, "")
        return type(message)(**json.loads(content))


class _Member:
    part: int | None = None
    keys_sent: int = 0

    def __init__(self, crew: Cluster, room: _Room, setup: bytes) -> None:
        self.room = room
        self._crew = crew
        self._hosted = crew.submit(room.address, hosting.started, room.host, setup)

    def send(self, message: Any) -> None:
        """See `dpor.app.crew.Member`."""
        sent = pickle.dumps(message)
        if message is None:
            self._crew.interrupt(self.room.address, self._hosted.key, sent)
        else:
            self._crew.ask(self._hear, self.room.address, hosting.exchanged, self._hosted, sent)

    def _hear(self, answer: Any) -> tuple[_Member, Any] | None:
        if answer.status == "error":
            return self, Ended(str(answer.exception()))
        if answer.status != "finished":
            return None  # the worker or the scheduler is gone, which shows elsewhere
        result = answer.result()
        return self, Ended(result) if isinstance(result, str) else self.room.as_here(pickle.loads(result))


class Cluster:
    """The cluster whose scheduler has this address, or, for "local", one on this machine that ends with the search.
    Implements `dpor.app.crew.Crew`.

    say   tells the user something in one line
    """

    most: int = 64
    most_deaths: int = 4

    def __init__(self, address: str, program: ShippedProgram, say: Callable[[str], None]) -> None:
        self._address, self._program, self._say = address, program, say
        self._members: list[_Member] = []
        self._rooms: list[_Room] = []  # those that are free
        self._workers: set[str] = set()
        self._refused: set[str] = set()
        # (Not a `SimpleQueue`: before Python 3.13, a signal can make its `get` forget the timeout.)
        self._heard: Queue[tuple[Callable[[Any], tuple[_Member, Any] | None], Any]] = Queue()
        self._client: Any = None
        self._local: Any = None
        self._next_look = self._nobody_since = 0.0

    @property
    def members(self) -> Sequence[_Member]:
        """See `dpor.app.crew.Crew`; so for the next three methods."""
        return tuple(self._members)

    def grow(self, setup: Setup, wanted: int) -> None:
        if self._client is None:
            self._connect()
        while self._rooms and len(self._members) < min(self.most, wanted):
            room = self._rooms.pop(0)
            self._members.append(_Member(self, room, pickle.dumps(room.adapted(setup, self._program))))
        now = time.monotonic()
        if self._workers - self._refused:
            self._nobody_since = now
        elif self._workers or now > self._nobody_since + COMES_WITHIN:
            raise GivenBack("no worker of the cluster can search")

    def listen(self, seconds: float) -> Iterator[tuple[_Member, Any]]:
        yield from self._missed()
        try:
            heard = [self._heard.get(timeout=seconds)]
            while not self._heard.empty():
                heard.append(self._heard.get_nowait())
        except Empty:
            return
        for understand, answer in heard:
            said = understand(answer)
            if said is not None and said[0] in self._members:
                member, message = said
                if isinstance(message, Ended):
                    self._members.remove(member)
                    self._rooms.append(member.room)
                yield member, message

    def close(self) -> None:
        for member in self._members:
            if member.part is not None:
                member.send(None)
        self._members.clear()
        self._rooms.clear()
        if self._client is not None:
            self._client.close()
        if self._local is not None:
            self._local.close()

    # ------------------------------------------------------------------ Dask

    def _connect(self) -> None:
        dask: Any = import_module("distributed")
        if self._address == LOCAL_CLUSTER:
            self._local = dask.LocalCluster(
                n_workers=1,
                threads_per_worker=processors(),
                processes=False,  # those that search are
                memory_limit=None,
                silence_logs=logging.CRITICAL,
                dashboard_address="127.0.0.1:0",  # there always is one
            )
        try:
            self._client = dask.Client(self._local or self._address, timeout=ANSWERS_WITHIN, set_as_default=False)
        except _UNREACHABLE as error:
            raise UserError(f"--cluster {self._address}: no scheduler of Dask answers there: {error}") from error
        self._nobody_since = time.monotonic()

    def submit(self, address: str, function: Callable[..., Any], *given: Any) -> Any:
        """Let a worker call a function. Returns a future of Dask. Raises `GivenBack` if the scheduler is lost."""
        with self._reaching():
            return self._client.submit(function, *given, workers=[address], allow_other_workers=False, pure=False)

    def ask(
        self,
        understand: Callable[[Any], tuple[_Member, Any] | None],
        address: str,
        function: Callable[..., Any],
        *given: Any,
    ) -> None:
        """The same; what it returns is heard later, by `listen`."""
        self.submit(address, function, *given).add_done_callback(lambda future: self._heard.put((understand, future)))

    def interrupt(self, address: str, key: str, message: bytes) -> None:
        """Pass a message on to a process that is busy."""
        with suppress(GivenBack), self._reaching():  # if the worker has left, nobody needs to hear it
            self._client.run(hosting.interrupt, key, message, workers=[address], on_error="ignore")

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """Context of a call that the scheduler has to hear. Dask closes the client if it has not answered for a while;
        calls of a closed client raise various errors, or wait for ever."""
        lost = "the scheduler of the cluster does not answer"
        if self._is_closed():
            raise GivenBack(f"{lost} (Dask has closed the connection)")
        try:
            yield
        except Exception as error:
            if isinstance(error, _UNREACHABLE) or self._is_closed():
                raise GivenBack(f"{lost} ({error})") from error
            raise

    def _is_closed(self) -> bool:
        return self._client.status not in ("running", "connecting")

    def _missed(self) -> Iterator[tuple[_Member, Any]]:
        """Look which workers there are, from time to time. Yields the members of those that have left."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + LOOK_EVERY
        with self._reaching():
            threads: dict[str, int] = self._client.nthreads()
        for address in threads.keys() - self._workers:
            host = self.submit(address, hosting.received, self._program)
            self.ask(self._greeted(address, threads[address], host), address, hosting.whereabouts, host)
        self._workers = {*threads}
        self._refused &= self._workers
        self._rooms = [room for room in self._rooms if room.address in threads]
        left = [member for member in self._members if member.room.address not in threads]
        for member in left:
            self._members.remove(member)
        for member in left:
            yield member, Ended(f"{member.room.address} has left the cluster")

    def _greeted(self, address: str, threads: int, host: Any) -> Callable[[Any], None]:
        def understand(answer: Any) -> None:
            if answer.status == "finished":
                self._rooms += [_Room(address, host, *answer.result())] * threads
            elif answer.status == "error":
                error = answer.exception()
                why = str(error) if isinstance(error, Refused) else f"{type(error).__name__}: {error}"
                known = self._client.scheduler_info().get("workers", {}).get(address, {})
                self._refused.add(address)
                self._say(f"the worker {known.get('name', address)} of the cluster is refused: {why}")

        return understand
