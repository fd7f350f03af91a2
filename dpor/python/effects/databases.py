"""Calls of `sqlite3` that wait for a lock of a database: the threads that hold it must go on meanwhile.

SQLite waits in C, with all threads stopped, until its time is up. So here it is told to wait for a millisecond. A call
that finds a database locked is made again once a call of another thread may have released a lock, and fails if nothing
else can move. (That it fails because others are slow is not tried: usually it waits for five seconds.)
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from dpor.primitives.semaphores import CommutingV
from dpor.primitives.spinning import Spin
from dpor.python.effects import left_files
from dpor.python.kernel import assumptions, timing
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.performing import perform
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import Fixed

_LOCKED: Final = "a call of sqlite3 waits for a lock"
"""The fact that one does: from then on calls that may release locks are counted."""
_ONCE: Final = frozenset({"executemany", "executescript", "backup", "deserialize"})
"""Methods that may have done a part of their work before they find the database locked."""
_LEAST: Final = 1
"""Milliseconds that a call really waits, of a connection whose calls wait."""
_release: Final = CommutingV()
_await: Final = lru_cache(maxsize=4096)(Spin)
_seconds: Final[dict[int, float]] = {}
"""By `id` of a connection: how long its calls are to wait. Connections may outlive a run, and cannot tell any more."""


def perform_call(obj: Any, name: str, yield_before: Callable[[], None], call: Callable[[], Any]) -> Any:
    """Perform a method of a connection, cursor or blob. `yield_before`: yields before the operation that it is."""
    connection = obj if isinstance(obj, sqlite3.Connection) else getattr(obj, "connection", None)
    seconds = _patience(connection)
    until = timing.now() + seconds
    while True:
        yield_before()
        try:
            done = call()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or run.unwinding or not seconds:
                raise
            if name in _ONCE:
                incomplete(f"{name} of sqlite3 finds a database locked: it is not made again")
                raise
            if _LOCKED not in run.facts:
                assumptions.broken(_LOCKED, _LOCKED, at_once=True)
            releases = _releases()
            with timing.until(until):
                perform(_await((releases.dpor_state,)), releases)
            if timing.now() >= until:
                seconds = 0.0
        else:
            if _LOCKED in run.facts and not _is_in_transaction(connection):
                perform(_release, _releases())
            return done


def _is_in_transaction(connection: Any) -> bool:
    """True if the connection holds locks until it ends a transaction."""
    try:
        return bool(connection.in_transaction)
    except (sqlite3.Error, AttributeError):  # it is closed
        return False


def _releases() -> Fixed:
    """Return the object whose state is the number of calls in this run that may have released locks."""
    data = run.threads[0].data
    if _LOCKED not in data:
        data[_LOCKED] = Fixed("locks of sqlite3")
        data[_LOCKED].dpor_state = 0
    return data[_LOCKED]  # type: ignore[no-any-return]


def _patience(connection: Any) -> float:
    """Let calls of the connection hardly wait; return how many seconds they are to wait."""
    try:
        asking = sqlite3.Cursor(connection)
        (milliseconds,) = asking.execute("PRAGMA busy_timeout").fetchone()
        if milliseconds > _LEAST:
            _seconds[id(connection)] = milliseconds / 1000
            for _, _, file in asking.execute("PRAGMA database_list").fetchall():
                if file:
                    left_files.visit(os.path.realpath(file), to_change=True)
            asking.execute(f"PRAGMA busy_timeout = {_LEAST}")
            asking.execute("PRAGMA synchronous = OFF")  # nothing has to outlast a crash of the machine
        asking.close()
    except (sqlite3.Error, TypeError):  # it is closed
        return 0.0
    return _seconds.get(id(connection), 0.0) if milliseconds else 0.0
