"""What a run prints, and what it reads: its standard streams."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dpor.python.kernel.streams import BehindStream

MOST_OUTPUT = 1_000_000
"""Bytes of one run's output that are kept; the rest is only counted."""


class Sink:
    """Where the program's output goes: nowhere; for the run that is reported, into memory; in the debugger, to the real
    streams. A context manager around each run."""

    def __init__(self) -> None:
        self._kept: _Kept | None = None
        self._aloud = False
        self._streams = [_stdin(), _stream(_Nowhere()), _stream(_Nowhere())]

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
        """Begin a run with fresh streams, whatever programs have done with them. Standard input is empty."""
        self._before = sys.stdin, sys.stdout, sys.stderr
        if not all(map(_is_as_new, self._streams)):  # making them costs as much as a thread
            self._streams = [_stdin(), _stream(_Nowhere()), _stream(_Nowhere())]
        stdin, stdout, stderr = self._streams
        sys.stdin = stdin
        if self._kept is not None:
            sys.stdout, sys.stderr = _stream(self._kept), _stream(self._kept)
        elif not self._aloud:
            sys.stdout, sys.stderr = stdout, stderr

    def __exit__(self, *_: object) -> None:
        sys.stdin, sys.stdout, sys.stderr = self._before


def _stdin() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), "utf-8", "strict")


def _stream(to: Any) -> io.TextIOWrapper:
    return io.TextIOWrapper(to, "utf-8", "backslashreplace", write_through=type(to) is _Kept)


def _is_as_new(stream: io.TextIOWrapper) -> bool:
    """True if no program has closed, detached or changed the stream. (What was written to it went nowhere.)"""
    try:
        buffer = stream.buffer
        settings = stream.errors, stream.encoding, stream.line_buffering, stream.write_through
        if type(buffer) is io.BytesIO:
            as_new = settings == ("strict", "utf-8", False, False) and not buffer.getvalue()
        else:
            as_new = settings == ("backslashreplace", "utf-8", False, False)
        return as_new and not stream.closed and not stream.__dict__ and not buffer.__dict__
    except ValueError:  # closed or detached
        return False


class _Nowhere(BehindStream):
    def write(self, data: Any) -> int:
        return len(data)

    def writable(self) -> bool:
        return True


class _Kept(_Nowhere):
    def __init__(self) -> None:
        self._data = bytearray()
        self._lost = 0

    def write(self, data: Any) -> int:
        taken = data[: max(0, MOST_OUTPUT - len(self._data))]
        self._data += taken
        self._lost += len(data) - len(taken)
        return len(data)

    def text(self) -> str:
        more = f"\n... and {self._lost:,} bytes more\n" if self._lost else ""
        return self._data.decode("utf-8", "backslashreplace") + more
