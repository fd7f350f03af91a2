"""File descriptors of pipes and sockets that are kept in memory, and the functions of `os` that use them.

Their numbers are not those of any file of the process. Each thread counts its own, and none is given again: a number
that is used after its end was closed is an error, never another file.
"""

from __future__ import annotations

import errno
import functools
import os as real_os
import stat
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from dpor.core.operations import Rule
from dpor.primitives.channels import (
    CLOSED,
    READING,
    WAITING,
    WRITING,
    Channel,
    CloseEnd,
    Enter,
    Leave,
    Receive,
    Send,
    SetWaits,
    first_channel,
)
from dpor.primitives.rules import Look
from dpor.python.dropins.state import library
from dpor.python.hooks.calls.calling import call
from dpor.python.kernel import assumptions, timing
from dpor.python.kernel.performing import perform
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.kernel.unmodelled import refuse, refuse_to_wait

FIRST: Final = 1 << 20
"""The first number; those of real files are lower."""
_OF_THREAD: Final = 1 << 10
_COUNT: Final = "file descriptors"
_PIPE_BUF: Final = 4096

CLOSED_IN_USE: Final = "pipes or sockets are closed while they are in use"
"""A thread may close one while another waits in a call on it: such calls are two operations."""

_LOOK: Final = Look()


def each_once(kind: Any) -> Any:
    """Return a function that makes rules, each once, because they are looked up by identity."""
    return lru_cache(maxsize=4096)(kind)


_receiving, _sending, _closing, _setting = map(each_once, (Receive, Send, CloseEnd, SetWaits))
_entering, _leaving = map(each_once, (Enter, Leave))


class Pipe(SyncObject):
    """One channel."""

    dpor_state: Channel

    def __init__(self, waits: bool = True) -> None:
        super().__init__()
        self.dpor_state = first_channel(waits)


class Descriptor:
    """What a file descriptor stands for: a channel that is read, one that is written, or one of each (a socket).

    channels, ends   the channels, and which end of each it is
    """

    def __init__(self, incoming: Pipe | None, outgoing: Pipe | None) -> None:
        data = {} if run.current is None else run.current.data
        count = data[_COUNT] = data.get(_COUNT, -1) + 1
        self.number = FIRST + (0 if run.current is None else run.current.id) * _OF_THREAD + count
        self.incoming, self.outgoing = incoming, outgoing
        both = [(channel, end) for channel, end in ((incoming, READING), (outgoing, WRITING)) if channel is not None]
        self.channels = tuple(channel for channel, _ in both)
        self.ends = tuple(end for _, end in both)
        library.descriptors[self.number] = self

    @property
    def is_socket(self) -> bool:
        return len(self.ends) == 2

    def is_closed(self) -> bool:
        state = perform(_LOOK, self.channels[0])
        return not run.unwinding and bool(state[self.ends[0]][0] == CLOSED)

    def waits(self) -> bool:
        state = perform(_LOOK, self.channels[0])
        return not run.unwinding and bool(state[self.ends[0]][1])

    def set_waits(self, waits: bool) -> None:
        _checked(perform(_setting(self.ends, waits), *self.channels))

    def receive(self, size: int, timeout: float | None = None) -> bytes:
        if self.incoming is None:
            raise _error(errno.EBADF)
        rules = _receiving(size), _receiving(size, or_timeout=True)
        got = wait_for_ends(*rules, (READING,), timeout, self.incoming)
        return got if type(got) is bytes else _checked(got) or b""

    def send(self, data: bytes, timeout: float | None = None) -> int:
        """Send as much as there is room for; return how many bytes that was."""
        if self.outgoing is None:
            raise _error(errno.EBADF)
        whole = 0 if self.is_socket else _PIPE_BUF
        rules = _sending(data, whole), _sending(data, whole, or_timeout=True)
        sent = wait_for_ends(*rules, (WRITING,), timeout, self.outgoing)
        return len(data) if run.unwinding else _checked(sent)

    def send_all(self, data: bytes, timeout: float | None = None) -> int:
        """Send all, waiting for room; if calls do not wait, as much as there is room for."""
        sent = self.send(data, timeout)
        while sent < len(data) and self.waits():
            sent += self.send(data[sent:], timeout)
        return sent

    def close(self) -> None:
        _checked(perform(_closing(self.ends), *self.channels))


def wait_for_ends(
    blocking: Rule, timed: Rule, ends: tuple[int, ...], timeout: float | None, *objects: SyncObject
) -> Any:
    """Perform a call that may wait, on these ends of channels. Returns False if its time is up."""
    if CLOSED_IN_USE in run.facts and timeout != 0 and run.multi and len(ends) == len(objects):
        found = perform(_entering(blocking, ends=ends), *objects)
        if found != WAITING:
            return found
        blocking, timed = _leaving(blocking, ends=ends), _leaving(timed, ends=ends)
    if timeout is None:
        found = perform(blocking, *objects)
    elif timeout == 0:
        found = timing.perform_now(timed, *objects)
    else:
        found = timing.perform_timed(blocking, timed, timeout, *objects)
    if found == -errno.EBADF and run.multi:
        note_closed()
    return found


def note_closed() -> None:
    """Note that a call has met an end that is closed: another order may be that it waited already."""
    if CLOSED_IN_USE not in run.facts:
        assumptions.broken(CLOSED_IN_USE, CLOSED_IN_USE)


def _error(number: int) -> OSError:
    return OSError(number, real_os.strerror(number))


def _checked(result: Any) -> Any:
    """Return the result of an operation on channels, or raise the error that it stands for."""
    if result is False:
        raise _error(errno.EAGAIN)
    if type(result) is int and result < 0:
        raise _error(-result)
    return result


# ---------------------------------------------------------------------- os


def descriptor_of(number: Any) -> Descriptor | None:
    """Return what this number stands for; None if it is that of a real file."""
    return library.descriptors.get(number) if type(number) is int and number >= FIRST else None


def is_endless(number: Any) -> bool:
    """True for a real file on which a call may wait for ever."""
    try:
        mode = real_os.fstat(number).st_mode
    except (OSError, TypeError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or real_os.isatty(number)


def _of_os(name: str, ours: Callable[..., Any] | None) -> Callable[..., Any]:
    """Return the drop-in for a function of `os` whose first argument is a file descriptor. `ours` is what it does to
    one of a modelled pipe or socket; None: that is refused."""
    real = getattr(real_os, name)

    @functools.wraps(real)
    def function(*args: Any, **kwargs: Any) -> Any:
        found = descriptor_of(args[0]) if args else None
        if found is None:
            if run.multi and ours in _WAITING and args and is_endless(args[0]):
                refuse_to_wait(f"os.{name}")
            return call(real)(*args, **kwargs)
        if ours is None:
            refuse(f"os.{name} of a pipe or socket", "use os.read, os.write, os.close, os.set_blocking, select")
        return ours(found, *args[1:], **kwargs)

    return function


def _read(found: Descriptor, size: int, /) -> bytes:
    return found.receive(size)


def _write(found: Descriptor, data: Any, /) -> int:
    return found.send_all(bytes(data))


def pipe() -> tuple[int, int]:
    return _ends(Pipe())


def pipe2(flags: int, /) -> tuple[int, int]:
    return _ends(Pipe(not flags & real_os.O_NONBLOCK))


def _ends(channel: Pipe) -> tuple[int, int]:
    return Descriptor(channel, None).number, Descriptor(None, channel).number


_WAITING: Final = (_read, _write)
_OURS: Final[dict[str, Callable[..., Any]]] = {
    "read": _read,
    "write": _write,
    "close": Descriptor.close,
    "set_blocking": Descriptor.set_waits,
    "get_blocking": Descriptor.waits,
    "set_inheritable": lambda found, inheritable: None,
    "get_inheritable": lambda found: False,
    "isatty": lambda found: False,
}
_REFUSED: Final = (
    "dup", "dup2", "fdopen", "fpathconf", "fstat", "fsync", "ftruncate", "lockf", "lseek", "pread", "preadv", "pwrite",
    "pwritev", "readinto", "readv", "sendfile", "splice", "writev",
)  # fmt: skip


def names() -> dict[str, Any]:
    """Return the replacements for names in `os`."""
    found = {name: _of_os(name, _OURS.get(name)) for name in (*_OURS, *_REFUSED) if hasattr(real_os, name)}
    made = {made.__name__: made for made in (pipe, pipe2) if hasattr(real_os, made.__name__)}
    return {**found, **made}
