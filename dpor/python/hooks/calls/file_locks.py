"""Locks of files (`fcntl`).

Such a lock belongs to an open file, and two open files of one path exclude each other. So each call writes the file
system as a whole: closing a file, which may release its lock, reads it. A call that would wait stops all threads, since
it waits in C; it is refused at once.
"""

from __future__ import annotations

import errno
from typing import Any, Final

from dpor.core.operations import WRITE
from dpor.python.hooks.calls.files import WHOLE
from dpor.python.hooks.calls.process import does, in_process
from dpor.python.kernel.unmodelled import refuse_to_block

try:
    import fcntl
except ImportError:  # elsewhere there is none
    fcntl = None  # type: ignore[assignment]

_WOULD_WAIT: Final = frozenset({errno.EAGAIN, errno.EACCES})


def _flock(file: Any, how: int, /) -> None:
    waits = not how & (fcntl.LOCK_NB | fcntl.LOCK_UN)
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB if waits else how)
    except OSError as error:
        if not waits or error.errno not in _WOULD_WAIT:
            raise
        refuse_to_block("fcntl.flock", "use a threading.Lock, or LOCK_NB in a loop that sleeps")


if fcntl is not None:
    does("fcntl.flock", "fcntl.lockf", "fcntl.fcntl", "fcntl.ioctl")(lambda args, kwargs: [(WHOLE, WRITE)])
    for _function, _instead in ((fcntl.flock, _flock), (fcntl.lockf, None), (fcntl.fcntl, None), (fcntl.ioctl, None)):
        in_process(_function, "fcntl", _instead)
