"""`select` and `selectors`: waiting until one of several pipes or sockets is ready.

An `epoll` object is a registry, which other threads may change while a thread waits with it. A `poll` object waits for
what was registered when the wait began.
"""

from __future__ import annotations

import errno
import os
import select as real
import selectors as real_selectors
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from dpor.primitives.channels import (
    GONE,
    INVALID,
    OVER,
    READING,
    READY,
    WRITING,
    AwaitReady,
    CloseRegistry,
    Register,
)
from dpor.primitives.rules import Look
from dpor.python.dropins import copying
from dpor.python.dropins.descriptors import descriptor_of, each_once, note_closed, wait_for_ends
from dpor.python.dropins.idents import get_ident
from dpor.python.dropins.timeouts import on_grid
from dpor.python.kernel.host_modules import DropInModule, shadow
from dpor.python.kernel.performing import perform
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.kernel.unmodelled import refuse, refuse_to_wait

_LOOK: Final = Look()
_CLOSE: Final = CloseRegistry()
_awaiting, _registering = each_once(AwaitReady), each_once(Register)

# The bits of `poll`. (Those of `epoll` have the same values.)
_IN, _OUT, _ERR, _HUP, _NVAL = 1, 4, 8, 16, 32
_RDHUP: Final = 0x2000
_SHOWN: Final[Mapping[tuple[bool, int], Mapping[int, int]]] = {
    (False, READING): {READY: _IN, OVER: _HUP, GONE: _HUP, INVALID: _NVAL},
    (False, WRITING): {READY: _OUT, OVER: _OUT | _ERR, GONE: _OUT | _ERR, INVALID: _NVAL},
    (True, READING): {READY: _IN, OVER: _IN | _RDHUP, GONE: _IN | _RDHUP | _HUP, INVALID: _NVAL},
    (True, WRITING): {READY: _OUT, OVER: _OUT, GONE: _OUT | _HUP, INVALID: _NVAL},
}
"""What `poll` shows of an end of a pipe, or of a socket (True), by what it is ready for."""
_EDGES: Final = 1 << 28 | 1 << 30 | 1 << 31
_ALWAYS: Final = _ERR | _HUP | _NVAL
"""What `poll` shows whether it was asked for or not."""


def _wait_ready(
    asked: Iterable[tuple[Any, int]], timeout: float | None, what: str, registry: SyncObject | None = None
) -> dict[Any, int] | None:
    """Wait until one of these (number, bits of `poll`) shows what it was asked for, or the time, in seconds, is over.

    Returns what each shows, or None if something else is in the registry by now.
    """
    known = None if registry is None else tuple(asked)
    channels, ends, wanted, shown = [], [], [], []
    for number, bits in asked:
        found = descriptor_of(number)
        if found is None:
            refuse_to_wait(what)
        for channel, end in zip(found.channels, found.ends, strict=True):
            table = _SHOWN[found.is_socket, end]
            if found.is_socket and end == WRITING and not bits & _OUT:
                continue  # that the other one is gone shows at the reading end, too
            visible = (bits | _ALWAYS) & ~(0 if registry is None else _NVAL)
            channels.append(channel)
            ends.append(end)
            wanted.append(sum(state for state, bit in table.items() if bit & visible))
            shown.append((number, table, visible))
    blocking, timed = (_awaiting(tuple(ends), tuple(wanted), known, late) for late in (False, True))
    objects = channels if registry is None else [registry, *channels]
    ready = wait_for_ends(blocking, timed, tuple(ends), timeout, *objects)
    if ready is None or run.unwinding:
        return None if ready is None else {}
    result: dict[Any, int] = {}
    for (number, table, visible), states in zip(shown, ready or (), strict=bool(ready)):
        for state, bits in table.items():
            if states & state and bits & visible:
                result[number] = result.get(number, 0) | bits & visible
    if run.multi and any(bits & _NVAL for bits in result.values()):
        note_closed()
    return result


def _number(file: Any) -> int:
    number = file if isinstance(file, int) else file.fileno()
    if not isinstance(number, int):
        raise TypeError("argument must be an int, or have a fileno() method.")
    if number < 0:
        raise ValueError(f"file descriptor cannot be a negative integer ({number})")
    return number


def _seconds(timeout: Any, unit: float = 1.0) -> float | None:
    """Return the seconds of a timeout; None if there is none."""
    return None if timeout is None or timeout < 0 else on_grid(timeout * unit)


def _are_real(numbers: Iterable[int]) -> bool:
    """True if all are real files, on which a thread that is alone may wait."""
    return not run.multi and all(descriptor_of(number) is None for number in numbers)


def select(rlist: Any, wlist: Any, xlist: Any, timeout: Any = None, /) -> tuple[list[Any], list[Any], list[Any]]:
    if timeout is not None and timeout < 0:
        raise ValueError("timeout must be non-negative")
    reads, writes, others = ([(file, _number(file)) for file in files] for files in (rlist, wlist, xlist))
    numbers = [number for _, number in (*reads, *writes, *others)]
    if _are_real(numbers):
        return real.select(rlist, wlist, xlist, timeout)
    asked: dict[int, int] = dict.fromkeys(numbers, 0)
    for files, bits in ((reads, _IN), (writes, _OUT)):
        for _, number in files:
            asked[number] |= bits
    found = _wait_ready(asked.items(), _seconds(timeout), "select.select") or {}
    if any(bits & _NVAL for bits in found.values()):
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return (
        [file for file, number in reads if found.get(number, 0) & (_IN | _HUP | _ERR)],
        [file for file, number in writes if found.get(number, 0) & (_OUT | _ERR)],
        [],
    )


class poll(SyncObject):
    """`select.poll()`."""

    _MASK: Final = _IN | 2 | _OUT

    def __init__(self) -> None:
        super().__init__()
        self.dpor_state = ()

    def register(self, fd: Any, eventmask: int = _MASK, /) -> None:
        self._set(fd, eventmask)

    def modify(self, fd: Any, eventmask: int, /) -> None:
        self._set(fd, eventmask, new=False)

    def unregister(self, fd: Any, /) -> None:
        number = _number(fd)
        if perform(_registering(number, None, False), self) == -errno.ENOENT:
            raise KeyError(number)

    def _set(self, fd: Any, eventmask: int, new: bool | None = None) -> None:
        found = perform(_registering(_number(fd), eventmask, new), self)
        if type(found) is int and found < 0:
            raise OSError(-found, os.strerror(-found))

    def poll(self, timeout: float | None = None, /) -> list[tuple[int, int]]:
        asked = perform(_LOOK, self)
        if run.unwinding:
            return []
        if _are_real(number for number, _ in asked):
            plain = real.poll()
            for number, bits in asked:
                plain.register(number, bits)
            return plain.poll(timeout)
        return list((_wait_ready(asked, _seconds(timeout, 0.001), "select.poll") or {}).items())


class epoll(SyncObject):
    """`select.epoll()`. `dpor_known`: what each thread knows to be registered, from its own calls."""

    _MASK: Final = _IN | 2 | _OUT

    def __init__(self, sizehint: int = -1, flags: int = 0) -> None:
        super().__init__()
        self.dpor_state = ()
        self.dpor_known: dict[int, Any] = {}

    def register(self, fd: Any, eventmask: int = _MASK) -> None:
        self._set(fd, eventmask, new=True)

    def modify(self, fd: Any, eventmask: int) -> None:
        self._set(fd, eventmask, new=False)

    def unregister(self, fd: Any) -> None:
        self._set(fd, None, new=False)

    def _set(self, fd: Any, eventmask: int | None, *, new: bool) -> None:
        if eventmask is not None and eventmask & _EDGES:
            refuse("select.epoll with EPOLLET, EPOLLONESHOT or EPOLLEXCLUSIVE", "leave the flag out")
        number = _number(fd)
        found = descriptor_of(number)
        if found is not None and found.is_closed():
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        result = perform(_registering(number, eventmask, new), self)
        if result == -errno.EBADF:
            raise ValueError(_CLOSED)
        if type(result) is int and result < 0:
            raise OSError(-result, os.strerror(-result))
        self._learn()

    def _learn(self) -> None:
        self.dpor_known[get_ident()] = self.dpor_state

    def poll(self, timeout: float | None = None, maxevents: int = -1) -> list[tuple[int, int]]:
        seconds = _seconds(timeout)
        while True:
            asked = self.dpor_known.get(get_ident(), ())
            if asked is None:
                raise ValueError(_CLOSED)
            if asked and _are_real(number for number, _ in asked):
                return self._of_real(asked, timeout)
            found = _wait_ready(asked, seconds, "select.epoll", self)
            if found is not None:
                return list(found.items())[: maxevents if maxevents > 0 else None]
            self._learn()

    @staticmethod
    def _of_real(asked: Any, timeout: float | None) -> list[tuple[int, int]]:
        with real.epoll() as plain:
            for number, bits in asked:
                plain.register(number, bits)
            return plain.poll(timeout)

    def close(self) -> None:
        perform(_CLOSE, self)
        self._learn()

    @property
    def closed(self) -> bool:
        return perform(_LOOK, self) is None

    def fileno(self) -> int:
        refuse("select.epoll.fileno", "wait with the object itself")

    def __enter__(self) -> epoll:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


_CLOSED: Final = "I/O operation on closed epoll object"


def module() -> DropInModule:
    ours = {kind.__name__: kind for kind in (select, poll, epoll) if hasattr(real, kind.__name__)}
    found = shadow(real, **ours)
    for name in ("kqueue", "devpoll"):
        vars(found).pop(name, None)
    return found.settle()


def selectors_module(drop_in_for: Callable[[str], ModuleType | None]) -> DropInModule:
    """CPython's own source, instrumented, on our `select`. (While it is executed it tries the real one.)"""
    path = Path(str(real_selectors.__file__))
    found = copying.execute("selectors", path.read_text(), str(path), {}, lambda name: None)
    ours = {id(vars(real)[name]): kind for name, kind in vars(drop_in_for("select")).items() if name in _OURS}
    names = vars(found)
    names["select"] = drop_in_for("select")
    for kind in [kind for kind in names.values() if isinstance(kind, type)]:
        for name, value in list(vars(kind).items()):
            if id(value) in ours:
                given = ours[id(value)]
                setattr(kind, name, given if isinstance(given, type) else staticmethod(given))
    names["DefaultSelector"] = names.get("EpollSelector") or names.get("PollSelector") or names["SelectSelector"]
    return found.settle()


_OURS: Final = {"select", "poll", "epoll"}
