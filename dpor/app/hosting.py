"""On a worker of Dask: a process that searches, and what passes messages between it and the coordinator.

All are functions that Dask calls there. It keeps the objects in that worker's memory as long as the coordinator holds
on to them; so if that ends, however it does, the processes and copied files go, too. Messages pass through unread.
"""

from __future__ import annotations

import os
import sys
import weakref
from typing import Any, NoReturn

from dpor.app.processes import SearchProcess
from dpor.app.shipping import Placed, Program


class Hosted:
    """A process that searches a program."""

    def __init__(self, placed: Placed, setup: bytes) -> None:
        program = placed.program
        variables = {**os.environ, "PYTHONHASHSEED": program.hash_seed or "random"}
        self._placed = placed
        self.process = SearchProcess(placed.root + program.folder, variables)
        weakref.finalize(self, self.process.end)
        self.process.connection.send_bytes(setup)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a process stays where it is")


def place(program: Program) -> Placed:
    """Put the program there. Raises `Refused`."""
    return Placed(program)


def described(placed: Placed) -> tuple[str, list[str]]:
    """Return where it has been put, and from where Python imports modules there."""
    return placed.root, sys.path[:]


def host(placed: Placed, setup: bytes) -> Hosted:
    """Start a process."""
    return Hosted(placed, setup)


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
