"""What `with` does to a context manager is seen by other threads, also if its `__enter__` and `__exit__` are in C or in
code without hooks: the end of such a `with` was part of the step before it, so others never came in between."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.source_outcomes import outcomes

PROGRAM = """
import contextlib, io, mmap, os

class Text(io.StringIO):
    pass

def scenario():
    told = []
    {made}
    def one():
        {managed}
    def other():
        try:
            told.append(repr({looked}))
        except (ValueError, BufferError):
            told.append("closed")
    run(one, other)
    return told[0]
"""
STREAM = "with stream: stream.write({})"
USES = {
    "bytes": ("stream = io.BytesIO()", STREAM.format("b'x'"), "stream.getvalue()", {"b''", "b'x'", "closed"}),
    "text": ("stream = io.StringIO()", STREAM.format("'x'"), "stream.getvalue()", {"''", "'x'", "closed"}),
    "derived": ("stream = Text()", STREAM.format("'x'"), "stream.getvalue()", {"''", "'x'", "closed"}),
    "closing": (
        "stream = io.StringIO()",
        "with contextlib.closing(stream): stream.write('x')",
        "stream.getvalue()",
        {"''", "'x'", "closed"},
    ),
    "view": (
        "data = bytearray(b'a')",
        "with memoryview(data) as view: view[0] = 64",
        "(data[0], data.append(1))",
        {"(97, None)", "(64, None)", "closed"},
    ),
    "view released": ("view = memoryview(b'a')", "with view: pass", "view[0]", {"97", "closed"}),
    "several": (
        "streams = io.StringIO(), io.StringIO()",
        "with streams[0], streams[1]: pass",
        "[stream.closed for stream in streams]",
        {"[False, False]", "[False, True]", "[True, True]"},
    ),
    "memory": ("memory = mmap.mmap(-1, 1)", "with memory: memory[0] = 1", "memory[0]", {"0", "1", "closed"}),
    "folder": ("folder = os.scandir('/')", "with folder: pass", "next(folder, None) is None", {"False", "True"}),
}


@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
@pytest.mark.parametrize("use", USES)
def test_the_end_of_with_is_an_operation(use: str, strategy: str, tmp_path: Path) -> None:
    made, managed, looked, expected = USES[use]
    found = outcomes(tmp_path, PROGRAM.format(made=made, managed=managed, looked=looked), strategy)
    assert (found, found.incomplete) == (expected, set())


def test_a_thread_sees_the_end_of_with_before_the_next_statement(tmp_path: Path) -> None:
    """The view is still there when the data cannot grow, though its last use is over."""
    source = """
    def scenario():
        data, told = bytearray(b"a"), []
        def one():
            with memoryview(data) as view:
                view[0] = 64
        def other():
            told.append(data[0])
            try:
                data.append(1)
            except BufferError:
                told.append("busy")
        run(one, other)
        return told
    """
    assert outcomes(tmp_path, source) == {(97,), (64,), (97, "busy"), (64, "busy")}


def test_a_transaction_ends_with_the_statement(tmp_path: Path) -> None:
    source = """
    import sqlite3

    def scenario():
        told, base = [], sqlite3.connect(":memory:", check_same_thread=False)
        base.execute("create table t(x)")
        def one():
            with base:
                base.execute("insert into t values (1)")
        def other():
            told.append(base.in_transaction)
        run(one, other)
        base.close()
        return told[0]
    """
    assert outcomes(tmp_path, source) == {False, True}
