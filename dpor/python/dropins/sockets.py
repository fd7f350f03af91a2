"""`socket`: pairs of connected sockets are kept in memory; all that would reach other processes is refused."""

from __future__ import annotations

import errno
import socket as real
from collections.abc import Iterable
from typing import Any, Final

from dpor.primitives.channels import READING, WRITING, Shut
from dpor.python.dropins.descriptors import Descriptor, Pipe, each_once
from dpor.python.dropins.timeouts import duration
from dpor.python.hooks.operators import setitem
from dpor.python.kernel.host_modules import DropInModule, shadow
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.performing import perform
from dpor.python.kernel.run import run
from dpor.python.kernel.unmodelled import refuse, refuse_to_wait, refusing
from dpor.python.sharing import type_traits

_WAITING: Final = (
    "accept", "connect", "connect_ex", "listen", "makefile", "recv", "recv_into", "recvfrom", "recvfrom_into",
    "recvmsg", "recvmsg_into", "send", "sendall", "sendfile", "sendmsg", "sendto",
)  # fmt: skip
_NOT_OF_PAIRS: Final = ("accept", "bind", "connect", "connect_ex", "dup", "ioctl", "listen", "makefile",
    "recvfrom_into", "recvmsg", "recvmsg_into", "sendfile", "sendto", "share")  # fmt: skip
_shutting = each_once(Shut)


def _refused(what: str) -> Any:
    def refused(*args: Any, **kwargs: Any) -> Any:
        refuse_to_wait(what)

    return refused


def _not_of_pairs(name: str) -> Any:
    return refusing(f"socket.socket.{name} of a pair", "use send, sendall, recv, recv_into and shutdown")


def module() -> DropInModule:
    """A socket may be made and closed, as some modules do when they are imported to test the system."""
    methods = {name: _refused(f"socket.socket.{name}") for name in _WAITING if hasattr(real.socket, name)}
    kind: Any = type("socket", (real.socket,), {"__slots__": (), "__module__": "socket", **methods})
    others = {name: _not_of_pairs(name) for name in _NOT_OF_PAIRS}
    paired: Any = type("socket", (_Paired, kind), {"__slots__": (), "__module__": "socket", **others})
    type_traits.make_neutral(paired)

    def socketpair(family: Any = None, type: Any = real.SOCK_STREAM, proto: int = 0) -> tuple[Any, Any]:
        if type & ~_FLAGS != real.SOCK_STREAM:
            refuse("socket.socketpair of another type than SOCK_STREAM", "use a queue.Queue for messages")
        there, back = Pipe(), Pipe()
        family = getattr(real, "AF_UNIX", real.AF_INET) if family is None else family
        return paired(Descriptor(there, back), family), paired(Descriptor(back, there), family)

    names = ("create_connection", "create_server", "fromfd")
    refused = {name: _refused(f"socket.{name}") for name in names}
    return shadow(real, socket=kind, SocketType=kind, socketpair=socketpair, **refused)


_FLAGS: Final = getattr(real, "SOCK_NONBLOCK", 0) | getattr(real, "SOCK_CLOEXEC", 0)


class _Paired:
    """One of a pair of sockets. The real object that it is has no file descriptor.

    dpor_timeout   seconds; None: calls wait; 0: they do not
    dpor_setter    the thread that has set a timeout while there were several
    dpor_users     the threads that have used it while there were several
    dpor_detached  True if one has detached it
    """

    dpor_timeout: float | None
    dpor_setter: int | None

    def __init__(self, found: Descriptor, family: Any) -> None:
        self.dpor_own = found
        self.dpor_family = family
        self.dpor_timeout = real.getdefaulttimeout()
        self.dpor_setter = None
        self.dpor_users: set[int] = set()
        self.dpor_detached = False

    @property
    def dpor_found(self) -> Descriptor:
        if run.multi:
            self.dpor_users.add(run.current.id)
            if self.dpor_detached and len(self.dpor_users) > 1:
                incomplete("a socket is detached by one thread while another may use it")
        return self.dpor_own

    family = property(lambda self: real.AddressFamily(self.dpor_family))
    type = property(lambda self: real.SOCK_STREAM)
    proto = property(lambda self: 0)
    timeout = property(lambda self: self.dpor_timeout)
    _closed = property(lambda self: self.dpor_found.is_closed())

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = " [closed]" if self._closed else ""
        return f"<socket.socket{state} fd={self.fileno()}, family={int(self.family)}, type={int(self.type)}, proto=0>"

    def fileno(self) -> int:
        return -1 if self.dpor_found.is_closed() else self.dpor_found.number

    def close(self) -> None:
        try:
            self.dpor_found.close()
        except OSError as error:
            if error.errno != errno.EBADF:
                raise

    def detach(self) -> int:
        """The descriptor stays open, for `os.read` and the like; the socket is as one that is closed."""
        number = self.fileno()
        if number >= 0:
            self.dpor_own, self.dpor_detached = Descriptor(Pipe(), Pipe()), True
            self.close()
        return number

    def shutdown(self, how: int, /) -> None:
        found = self.dpor_found
        if how not in (real.SHUT_RD, real.SHUT_WR, real.SHUT_RDWR):
            raise OSError(errno.EINVAL, "Invalid argument")
        which = {real.SHUT_RD: (READING,), real.SHUT_WR: (WRITING,)}.get(how, found.ends)
        channels = [channel for channel, end in zip(found.channels, found.ends, strict=True) if end in which]
        if perform(_shutting(which), *channels) == -errno.EBADF:
            raise OSError(errno.EBADF, "Bad file descriptor")

    # ------------------------------------------------------------------ waiting or not

    def setblocking(self, flag: Any, /) -> None:
        self.settimeout(None if flag else 0.0)

    def getblocking(self) -> bool:
        return self.gettimeout() != 0

    def settimeout(self, value: float | None, /) -> None:
        if value is not None and value < 0:
            raise ValueError("Timeout value out of range")
        self.dpor_timeout = value if value is None else float(value)
        if value and run.multi:
            self.dpor_setter = run.current.id
        self.dpor_found.set_waits(value is None or value > 0)

    def gettimeout(self) -> float | None:
        return self.dpor_timeout if self.dpor_found.waits() else 0.0

    def dpor_seconds(self) -> float | None:
        """How long a call waits at most. (Whether it waits at all is part of the channel's state.)"""
        if self.dpor_setter is not None and self.dpor_setter != run.current.id:
            incomplete("the timeout of a socket is set by one thread while another may use it")
        return duration(self.dpor_timeout) if self.dpor_timeout else None

    # ------------------------------------------------------------------ bytes

    def recv(self, bufsize: int, flags: int = 0, /) -> bytes:
        self.dpor_refuse(flags)
        if bufsize < 0:
            raise ValueError("negative buffersize in recv")
        return _timely(self.dpor_found.receive, bufsize, self.dpor_seconds())  # type: ignore[no-any-return]

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        view = memoryview(buffer).cast("B")
        got = self.recv(nbytes or len(view), flags)
        setitem(got, view, slice(0, len(got)))
        return len(got)

    def recvfrom(self, bufsize: int, flags: int = 0, /) -> tuple[bytes, Any]:
        return self.recv(bufsize, flags), None

    def send(self, data: Any, flags: int = 0, /) -> int:
        self.dpor_refuse(flags)
        return _timely(self.dpor_found.send_all, bytes(data), self.dpor_seconds())  # type: ignore[no-any-return]

    def sendall(self, data: Any, flags: int = 0, /) -> None:
        if self.send(data, flags) < len(bytes(data)):
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    def sendmsg(self, buffers: Iterable[Any], ancdata: Any = (), flags: int = 0, address: Any = None, /) -> int:
        if ancdata:
            refuse("socket.socket.sendmsg with ancillary data", "threads share their objects anyway")
        return self.send(b"".join(bytes(part) for part in buffers), flags)

    def dpor_refuse(self, flags: int) -> None:
        if flags & ~getattr(real, "MSG_NOSIGNAL", 0):
            refuse("a flag of socket.socket.send or recv", "leave it out")

    # ------------------------------------------------------------------ the rest

    def getsockname(self) -> Any:
        return ""

    getpeername = getsockname

    def getsockopt(self, level: int, optname: int, buflen: int = 0, /) -> Any:
        return b"" if buflen else 0

    def setsockopt(self, *args: Any) -> None:
        """Nothing to do: the options of a pair in memory change nothing that a program sees."""

    def get_inheritable(self) -> bool:
        return False

    def set_inheritable(self, inheritable: bool) -> None:
        """Nothing to do: there are no other processes."""


def _timely(call: Any, what: Any, seconds: float | None) -> Any:
    try:
        return call(what, seconds)
    except BlockingIOError:
        if seconds is None:
            raise
        raise TimeoutError("timed out") from None
