"""Processes on this machine that search for another one, with pipes to them."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, Final

from dpor.app.crew import Ended
from dpor.app.working import Setup
from dpor.core.options import MOST_WORKERS

_START: Final = "from dpor.app.working import main; main()"
"""(Not `-m`: the classes of its messages must be those of the module.)"""


class SearchProcess:
    """A process, and the connection to it.

    folder, environment   where it works, and its variables; None: those of this process
    """

    def __init__(self, folder: str | None = None, environment: Mapping[str, str] | None = None) -> None:
        self.connection, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                process_group=0,  # Ctrl-C is for us
                cwd=folder,
                env=environment,
            )

    def end(self) -> str:
        """End it. Returns how it has ended."""
        self._process.kill()
        code = self._process.wait()
        self.connection.close()
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"


class _Member(SearchProcess):
    part: int | None = None

    def send(self, message: Any) -> None:
        """See `dpor.app.crew.Member`."""
        try:
            self.connection.send(message)
        except OSError:
            pass  # then nothing can be read from it either


class Processes:
    """So many processes. Implements `dpor.app.crew.Crew`."""

    most: int = MOST_WORKERS
    most_deaths: int = 2

    def __init__(self, number: int) -> None:
        self._number = number
        self._members: list[_Member] = []

    @property
    def members(self) -> Sequence[_Member]:
        """See `dpor.app.crew.Crew`; so for all other methods."""
        return tuple(self._members)

    def grow(self, setup: Setup, wanted: int) -> None:
        while len(self._members) < min(self._number, wanted):
            member = _Member()
            self._members.append(member)
            member.send(setup)

    def listen(self, seconds: float) -> Iterator[tuple[_Member, Any]]:
        by_connection = {member.connection: member for member in self._members}
        for connection in wait([*by_connection], seconds):
            assert isinstance(connection, Connection)
            member = by_connection[connection]
            try:
                message = connection.recv()
            except (EOFError, OSError):
                self._members.remove(member)
                message = Ended(member.end())
            yield member, message

    def close(self) -> None:
        while self._members:
            self._members.pop().end()
