"""A process that has imported all that a search needs, and makes of itself, by `fork`, those that search.

To import takes a hundred times as long as to load a small program. So it is done once for all workers, and begins when
the check begins, beside its first executions. The server has no threads and no program; each worker loads that itself.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection, Pipe
from multiprocessing.reduction import recv_handle, send_handle
from threading import Lock
from typing import Final

DIE_WITH_PARENT: Final = 1
"""The number of this request to Linux (`man prctl`)."""
PATIENCE: Final = 1.0
"""Seconds that a server has to end."""
FORK: Final = "fork"
END: Final = "end"
_START: Final = "from dpor.app.forking import main; main()"
"""(Not `-m`: the classes of messages must be those of the modules.)"""
USED: Final = ("dpor.app.working", "dpor.python.program.system", "dpor.python.kernel.options")


class SearchProcess:
    """A process that searches, and the connection to it (`dpor.app.working.serve`)."""

    def __init__(self, server: ForkServer, number: int, connection: Connection) -> None:
        self._server, self._number = server, number
        self.connection = connection

    def end(self) -> str:
        """End it. Returns how it has ended."""
        self.connection.close()
        code = self._server.end(self._number)
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"


class ForkServer:
    """The server, as other processes see it.

    folder, environment   where it works, and its variables; None: those of this process
    """

    def __init__(self, folder: str | None = None, environment: Mapping[str, str] | None = None) -> None:
        self._folder, self._environment = folder, environment
        self._lock = Lock()
        self._number = 0
        self._begin()

    def _begin(self) -> None:
        self._control, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                process_group=0,  # Ctrl-C is for us
                cwd=self._folder,
                env=self._environment,
            )

    def fork(self) -> SearchProcess:
        """Make a process, as soon as the server has imported all. Does not wait for it."""
        with self._lock:
            if self._process.poll() is not None:
                self._control.close()
                self._begin()
            self._number += 1
            ours, theirs = Pipe()
            with theirs, suppress(OSError):  # if it has just ended, so has what it would have made
                self._control.send((FORK, self._number))
                send_handle(self._control, theirs.fileno(), self._process.pid)
            return SearchProcess(self, self._number, ours)

    def end(self, number: int) -> int:
        """End the process with this number. Returns its exit code, or the server's, if it has died together with
        its children."""
        with self._lock:
            try:
                self._control.send((END, number))
                return int(self._control.recv())
            except (EOFError, OSError):
                return self._process.wait()

    def close(self) -> None:
        """End it, and all that it has made. (If it does that itself, the time that they took counts as ours.)"""
        self._control.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(PATIENCE if self._number else 0)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def main() -> None:
    """Run the server. Its argument is the file descriptor of the connection."""
    control = Connection(int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with_parent()
    for module in USED:
        import_module(module)
    children: dict[int, int] = {}
    try:
        while True:
            request, number = control.recv()
            if request == FORK:
                with Connection(recv_handle(control)) as connection:
                    children[number] = _forked(control, connection)
            elif number in children:
                child = children.pop(number)
                os.kill(child, signal.SIGKILL)
                control.send(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            else:
                control.send(-signal.SIGKILL)  # a server before this one has made it, and it has ended with that
    except (EOFError, OSError):  # the other process has ended
        pass
    for child in children.values():
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _forked(control: Connection, connection: Connection) -> int:
    child = os.fork()
    if not child:
        try:
            control.close()
            _die_with_parent()
            from dpor.app.working import serve

            serve(connection)
        finally:
            os._exit(0)
    return child


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
