"""What a run prints, and what it reads: its standard streams."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from operator import attrgetter
from typing import Any, Final

from dpor.python.kernel.streams import BehindStream

MOST_OUTPUT = 1_000_000
"""Bytes of one run's output that are kept; the rest is only counted."""


class Sink:
    """Where the program's output goes: nowhere; for the run that is reported, into memory; in the debugger, to the real
    streams. A context manager around each run."""

    def __init__(self) -> None:
        self._kept: _Kept | None = None
        self._aloud = False
        self._streams = [_stdin(), _stream(), _stream()]

    @property
    def nowhere(self) -> io.TextIOWrapper:
        return self._streams[2]

    def keep(self) -> None:
        self._kept = _Kept()

    def kept(self) -> str:
        kept, self._kept = self._kept, None
        return "" if kept is None else kept.text()

    @contextmanager
    def aloud(self) -> Iterator[None]:
        self._aloud = True
        try:
            yield
        finally:
            self._aloud = False

    def __enter__(self) -> None:
        """Begin a run with streams that are as new, whatever programs have done with them. Standard input is empty.

        They are the same streams in all runs, since modules may hold them, until a program changes one.
        """
        self._before = sys.stdin, sys.stdout, sys.stderr
        if not all(map(is_as_new, self._streams)):  # making them costs as much as a thread
            self._streams = [_stdin(), _stream(), _stream()]
        stdin, stdout, stderr = self._streams
        sys.stdin = stdin
        if self._kept is not None:
            for stream in (stdout, stderr):
                stream.flush()  # what earlier runs have printed
                stream.buffer.to = self._kept  # type: ignore[attr-defined]
                stream.reconfigure(write_through=True)
        if not self._aloud:
            sys.stdout, sys.stderr = stdout, stderr

    def __exit__(self, *_: object) -> None:
        sys.stdin, sys.stdout, sys.stderr = self._before
        if self._kept is not None:
            for stream in self._streams[1:]:
                with suppress(ValueError):  # closed or detached
                    stream.buffer.to = None  # type: ignore[attr-defined]
                    stream.reconfigure(write_through=False)


def _stdin() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), "utf-8", "strict")


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(_Output(), "utf-8", "backslashreplace")  # type: ignore[arg-type]


def is_as_new(stream: io.TextIOWrapper) -> bool:
    """True if no program has closed, detached or changed the stream. (What was written to it went nowhere.)"""
    try:
        buffer = stream.buffer
        if type(buffer) is io.BytesIO:
            return _settings(stream) == _OF_INPUT and not buffer.__dict__ and not buffer.getvalue()
        return _settings(stream) == _OF_OUTPUT and buffer.__dict__ == _UNUSED
    except ValueError:  # closed or detached
        return False


_settings: Final = attrgetter("errors", "encoding", "line_buffering", "write_through", "closed", "__dict__")
_OF_INPUT: Final[tuple[object, ...]] = ("strict", "utf-8", False, False, False, {})
_OF_OUTPUT: Final[tuple[object, ...]] = ("backslashreplace", "utf-8", False, False, False, {})
_UNUSED: Final = {"to": None}


class _Output(BehindStream):
    """Output that is kept in `to`, or goes nowhere."""

    def __init__(self) -> None:
        self.to: _Kept | None = None

    def write(self, data: Any) -> int:
        if self.to is not None:
            self.to.add(data)
        return len(data)

    def writable(self) -> bool:
        return True


class _Kept:
    def __init__(self) -> None:
        self._data = bytearray()
        self._lost = 0

    def add(self, data: Any) -> None:
        taken = data[: max(0, MOST_OUTPUT - len(self._data))]
        self._data += taken
        self._lost += len(data) - len(taken)

    def text(self) -> str:
        more = f"\n... and {self._lost:,} bytes more\n" if self._lost else ""
        return self._data.decode("utf-8", "backslashreplace") + more
