"""Processes on this machine that search for another one, with pipes to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

from dpor.app.crew import Ended
from dpor.app.forking import ForkServer, SearchProcess
from dpor.app.working import Setup
from dpor.core.options import MOST_WORKERS


class _Member:
    part: int | None = None
    keys_sent: int = 0

    def __init__(self, process: SearchProcess) -> None:
        self.process = process

    def send(self, message: Any) -> None:
        """See `dpor.app.crew.Member`."""
        try:
            self.process.connection.send(message)
        except OSError:
            pass  # then nothing can be read from it either


class Processes:
    """So many processes. Implements `dpor.app.crew.Crew`.

    server   what makes them; it goes on when they have ended
    """

    most: int = MOST_WORKERS
    most_deaths: int = 2

    def __init__(self, number: int, server: ForkServer) -> None:
        self._number, self._server = number, server
        self._members: list[_Member] = []

    @property
    def members(self) -> Sequence[_Member]:
        """See `dpor.app.crew.Crew`; so for all other methods."""
        return tuple(self._members)

    def grow(self, setup: Setup, wanted: int) -> None:
        while len(self._members) < min(self._number, wanted):
            member = _Member(self._server.fork())
            self._members.append(member)
            member.send(setup)

    def listen(self, seconds: float) -> Iterator[tuple[_Member, Any]]:
        by_connection = {member.process.connection: member for member in self._members}
        for connection in wait([*by_connection], seconds):
            assert isinstance(connection, Connection)
            member = by_connection[connection]
            try:
                message = connection.recv()
            except (EOFError, OSError):
                self._members.remove(member)
                message = Ended(member.process.end())
            yield member, message

    def close(self) -> None:
        while self._members:
            self._members.pop().process.end()
