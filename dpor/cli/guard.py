"""A second process that delivers the verdict if the first cannot.

Nothing within a process can end one call of a C function (`sum(itertools.repeat(1))`), or report for the process when
the program takes it down (a crash, an exit in C code). So the command line does its work in a child process. The child
keeps sending that it lives, and what is known so far (`Guarded.report`). If it falls silent after its time is over, or
after Ctrl-C, it is killed; then, or if it ended without announcing it, the parent delivers the last report, with the
reason.

Only on systems with `fork`. The messages are ours and not those of `multiprocessing.connection`: that saves `_read` and
the header alone, some ten lines, and each start of `dpor` would take 20 to 30 ms longer.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import select
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Final, NoReturn

from dpor.core.home import is_our_file

PATIENCE: Final = 3.0
"""Seconds of silence, after the child's time is over, until it is killed: enough for a child that gets little processor
time."""
WHERE: Final = getattr(signal, "SIGUSR1", None)
"""The signal that asks the child where it is. C code answers it, so it works at any time."""
FORWARDED: Final = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_HEADER: Final = struct.Struct("!dI")
_ENDED: Final = -1.0
_ORPHAN: Final = 3


class Guarded:
    """The child's side of the connection."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._reported: object = None
        self._waiting: list[bytes] = []
        self._is_sending = False

    def report(self, over_at: float, news: object, known: Callable[[], object]) -> None:
        """Send that the child lives, when its time is over (by `time.monotonic`), and, if `news` has changed, what is
        `known()`."""
        message = b""
        if news != self._reported:
            self._reported = news
            message = pickle.dumps(known())
        self._send(over_at, message)

    def end(self) -> None:
        """Send that the child will end by itself, however long that takes, unless it calls `report` again."""
        self._send(_ENDED, b"")

    def _send(self, over_at: float, message: bytes) -> None:
        """Send a message. What a signal handler sends while a long one is being written comes after that."""
        self._waiting.append(_HEADER.pack(over_at, len(message)) + message)
        if self._is_sending:
            return
        self._is_sending = True
        try:
            while self._waiting:
                data = memoryview(self._waiting.pop(0))
                while data:
                    data = data[os.write(self._pipe, data) :]
        except BrokenPipeError:  # the parent was killed; nobody waits for an answer
            os._exit(_ORPHAN)
        finally:
            self._is_sending = False


def guard(deliver: Callable[[Any, str], int]) -> Guarded | None:
    """Fork. In the child, return a `Guarded`. The parent never returns: it ends like the child; or, if it has to report
    for the child, with the exit code that `deliver(known, reason)` returns. `known` is None if the child has told
    nothing.

    Returns None if no child can be made, or if a tool such as a debugger traces this process.
    """
    if WHERE is None or not hasattr(os, "fork") or sys.gettrace() or sys.getprofile():
        return None
    reads, writes = os.pipe()
    with tempfile.TemporaryFile() as file:
        places = os.dup(file.fileno())  # stays open as long as the process lives
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)  # no signal gets lost around the fork
    child = os.fork()
    if child:
        os.close(writes)
        parent = _Parent(child, reads, places, deliver)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        parent.wait()
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    os.close(reads)
    faulthandler.register(WHERE, places, all_threads=False)
    return Guarded(writes)


class _Parent:
    def __init__(self, child: int, pipe: int, places: int, deliver: Callable[[Any, str], int]) -> None:
        self.child = child
        self.pipe = pipe
        self.places = places
        self.deliver = deliver
        self.known: Any = None
        self.ended = False
        self.over_at = float("inf")
        self.heard_at = time.monotonic()
        self.interrupted = False
        for number in FORWARDED:
            signal.signal(number, self._forward)

    def wait(self) -> NoReturn:
        while True:
            if select.select([self.pipe], [], [], PATIENCE / 2)[0]:
                if not self._hear():
                    self._gone(os.waitpid(self.child, 0)[1])
            elif time.monotonic() >= max(self.over_at, self.heard_at) + PATIENCE:
                self._stuck()

    def _forward(self, number: int, frame: FrameType | None) -> None:
        """Forward a signal to the child. It may have received it from the terminal too; it ignores the second."""
        if number in (signal.SIGINT, signal.SIGTERM) and not self.ended:
            self.interrupted = True
            self.over_at = min(self.over_at, time.monotonic() + PATIENCE)
        with contextlib.suppress(ProcessLookupError):  # it has ended; its own exit code counts
            os.kill(self.child, number)

    def _hear(self) -> bool:
        """Receive a message. Return False if there will be no more."""
        header = self._read(_HEADER.size)
        if header is None:
            return False
        over_at, size = _HEADER.unpack(header)
        self.heard_at = time.monotonic()
        self.ended = over_at == _ENDED
        if self.ended:
            self.over_at = float("inf")
            return True
        self.over_at = self.heard_at if self.interrupted else over_at
        message = self._read(size)
        if message:
            self.known = message
        return message is not None

    def _read(self, size: int) -> bytes | None:
        parts = bytearray()
        while len(parts) < size:
            part = os.read(self.pipe, size - len(parts))
            if not part:
                return None
            parts += part
        return bytes(parts)

    # ------------------------------------------------------------------ reporting for the child

    def _stuck(self) -> NoReturn:
        assert WHERE is not None
        os.kill(self.child, WHERE)
        time.sleep(0.2)
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        with open(self.places, "rb") as file:
            file.seek(0)
            place = innermost_place(file.read().decode(errors="replace"))
        why = "interrupted" if self.interrupted else "the time is over (--max-seconds)"
        self._answer(f"{why}, and one call of a C function did not end{place}")

    def _gone(self, status: int) -> NoReturn:
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            if number in (signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
                os.kill(os.getpid(), number)
            if not self.ended:
                self._answer(f"the program crashed the process that it ran in ({signal.Signals(number).name})")
            os._exit(128 + number)
        code = os.waitstatus_to_exitcode(status)
        if not self.ended:
            self._answer(f"the program ended the process that it ran in, with exit code {code}")
        os._exit(code)

    def _answer(self, reason: str) -> NoReturn:
        os._exit(self.deliver(None if self.known is None else pickle.loads(self.known), reason))


def innermost_place(traceback: str) -> str:
    r"""Return the innermost place of the program in a traceback written by `faulthandler`, as the end of a sentence.

    >>> innermost_place('Stack:\n  File "/p/a.py", line 3 in work\n  File "/p/a.py", line 9 in main\n')
    ', in work at /p/a.py:3'
    """
    library = os.path.dirname(os.__file__)
    for line in traceback.splitlines():
        file, _, rest = line.strip().removeprefix('File "').partition('", line ')
        number, _, function = rest.partition(" in ")
        if rest and not is_our_file(file) and not file.startswith((library, "<")):
            return f", in {function} at {file}:{number}"
    return ""
