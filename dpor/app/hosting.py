"""On a worker of Dask: a process that searches, and what passes messages between it and the coordinator.

All are functions that Dask calls there. It keeps the objects in that worker's memory as long as the coordinator holds
on to them; so if that ends, however it does, the processes and copied files go, too. Messages pass through unread.
"""

from __future__ import annotations

import os
import sys
import weakref
from typing import Any, NoReturn

from dpor.app.forking import ForkServer
from dpor.app.shipping import Placed, ShippedProgram


class _Stays:
    def __reduce__(self) -> NoReturn:
        raise TypeError("it stays where it is")


class Host(_Stays):
    """A program there, and what makes processes that search it."""

    def __init__(self, program: ShippedProgram) -> None:
        self.placed = Placed(program)
        variables = {**os.environ, "PYTHONHASHSEED": program.hash_seed or "random"}
        self.server = ForkServer(self.placed.root + program.folder, variables)
        weakref.finalize(self, self.server.close)


class Hosted(_Stays):
    """A process that searches."""

    def __init__(self, host: Host, setup: bytes) -> None:
        self._host = host
        self.process = host.server.fork()
        weakref.finalize(self, self.process.end)
        self.process.connection.send_bytes(setup)


def received(program: ShippedProgram) -> Host:
    """Put the program there. Raises `Refused`."""
    return Host(program)


def whereabouts(host: Host) -> tuple[str, list[str]]:
    """Return where it has been put, and from where Python imports modules there."""
    return host.placed.root, sys.path[:]


def started(host: Host, setup: bytes) -> Hosted:
    """Start a process."""
    return Hosted(host, setup)


def exchanged(hosted: Hosted, message: bytes) -> bytes | str:
    """Pass a message on and return what is answered; how the process has ended, if it has."""
    connection = hosted.process.connection
    try:
        connection.send_bytes(message)
        return connection.recv_bytes()
    except (EOFError, OSError):
        return hosted.process.end()


def interrupt(key: str, message: bytes, dask_worker: Any) -> None:
    """Pass on a message that is not answered, while the process is busy."""
    hosted = dask_worker.data.get(key)
    if hosted is not None:
        try:
            hosted.process.connection.send_bytes(message)
        except OSError:
            pass  # it has ended
