"""A message that says why a check does not pass, and names a cure: with the cure, the check passes."""

from __future__ import annotations

import py_compile
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any, Final

import attrs
import pytest

import dpor


@attrs.frozen
class Cure:
    """One cure.

    named    the words of the message that name it
    before   source with a function `scenario`, which does not pass
    after    source in which the cure has been applied; "": it is an option
    given    options before
    options  options after
    """

    named: str
    before: str
    after: str = ""
    given: dict[str, Any] = attrs.field(factory=dict)
    options: dict[str, Any] = attrs.field(factory=dict)


TWO: Final = """
import os, select, socket, threading, time
lock, done = threading.Lock(), []

def run(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
"""Each source begins with this."""


def _replaced(source: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


def _of_options(named: str, source: str, options: dict[str, Any], **given: Any) -> Cure:
    return Cure(named, source, given=given, options=options)


def _of_source(named: str, source: str, *pairs: tuple[str, str], **given: Any) -> Cure:
    return Cure(named, source, _replaced(source, *pairs), given, given)


CALLS_COLORSYS = """
import colorsys

def work():
    colorsys.rgb_to_hsv(0.1, 0.2, 0.3)
    with lock:
        done.append(1)

def scenario():
    run(work, work)
    assert len(done) == 2
"""

CALLS_BYTECODE = CALLS_COLORSYS.replace("colorsys.rgb_to_hsv(0.1, 0.2, 0.3)", "bytecode.increment()").replace(
    "import colorsys", "import bytecode"
)

LOOKS_AT_SHARED = """
import inspect

class Shared:
    def __init__(self):
        self.value = 0

shared = Shared()

def scenario():
    def write():
        shared.value = 1
    run(write, lambda: inspect.getmembers(shared))
"""

REPLACES_A_FUNCTION = """
import inspect

class Shared:
    pass

def scenario():
    def replace():
        inspect.isclass = inspect.isclass
    run(replace, lambda: inspect.getmembers(Shared))
"""

POLLS = """
event = threading.Event()

def scenario():
    def wait():
        while not event.wait(0.1):
            pass
    run(wait, event.set)
"""

IS_LONG = """
def scenario():
    def work():
        for i in range(20):
            with lock:
                done.append(i)
    run(work)
    assert len(done) == 20
"""

LOOKS_AT_THE_CLOCK = """
def scenario():
    value = [0]
    def wait():
        end = time.monotonic() + 0.002
        while time.monotonic() < end and not value[0]:
            pass
    def write():
        value[0] = 1
    run(wait, write)
"""

REUSES_IDENTS = """
def scenario():
    seen = {}
    def note():
        seen[threading.get_ident()] = 1
    run(note)
    run(note)
    assert 1 <= len(seen) <= 2
"""

READS_A_PIPE = """
def scenario():
    r, w = os.pipe()
    def read():
        assert os.readv(r, [bytearray(1)]) == 1
    run(read, lambda: os.write(w, b"x"))
"""

SENDS_DATAGRAMS = """
import queue

def scenario():
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    send, receive = a.send, lambda: b.recv(1)
    run(receive, lambda: send(b"x"))
"""

SENDS_OUT_OF_BAND = """
def scenario():
    a, b = socket.socketpair()
    run(lambda: b.recv(1), lambda: a.send(b"x", socket.MSG_DONTWAIT))
"""

POLLS_EDGES = """
def scenario():
    r, w = os.pipe()
    poll = select.epoll()
    poll.register(r, select.EPOLLIN | select.EPOLLET)
    run(lambda: poll.poll(), lambda: os.write(w, b"x"))
"""

USES_PROCESSES = """
from concurrent.futures import ProcessPoolExecutor

def scenario():
    with ProcessPoolExecutor(2) as pool:
        assert [*pool.map(abs, [-1, -2])] == [1, 2]
"""

LEAVES = """
def scenario():
    def work():
        with lock:
            done.append(1)
        os._exit(0)
    run(work, work)
"""

INTERRUPTS = """
import _thread

def scenario():
    def work():
        _thread.interrupt_main()
    run(work, lambda: None)
"""

STARTS_REAL_THREADS = """
import starting

def scenario():
    def work():
        with lock:
            done.append(1)
    thread, other = starting.start(work), starting.start(work)
    thread.join()
    other.join()
    assert len(done) == 2
"""

WAITS_FOR_A_PIPE_IN_A_LOOP = """
import asyncio

def scenario():
    a, b = socket.socketpair()
    a.setblocking(False)
    async def main():
        loop = asyncio.get_running_loop()
        got = loop.create_future()
        loop.add_reader(a, lambda: got.set_result(a.recv(1)))
        return await got
    run(lambda: asyncio.run(main()), lambda: b.send(b"x"))
"""

WAITS_FOR_A_PIPE_IN_A_THREAD = """
import asyncio

def scenario():
    a, b = socket.socketpair()
    async def main():
        loop = asyncio.get_running_loop()
        got = loop.create_future()
        def wait():
            loop.call_soon_threadsafe(got.set_result, a.recv(1))
        thread = threading.Thread(target=wait)
        thread.start()
        await got
        thread.join()
    run(lambda: asyncio.run(main()), lambda: b.send(b"x"))
"""

CURES: Final = {
    "a package outside of --only: --only": _of_options(
        "add --only colorsys, or --trust colorsys",
        CALLS_COLORSYS,
        {"only": ("starting", "colorsys")},
        only=("starting",),
    ),
    "a package outside of --only: --trust": _of_options(
        "add --only colorsys, or --trust colorsys",
        CALLS_COLORSYS,
        {"only": ("starting",), "trust": ("colorsys",)},
        only=("starting",),
    ),
    "a package without its source": _of_options("--trust bytecode", CALLS_BYTECODE, {"trust": ("bytecode",)}),
    "code that is one step": _of_options("--trust inspect", LOOKS_AT_SHARED, {"trust": ("inspect",)}),
    "attributes that such code reads": _of_options("--trust inspect", REPLACES_A_FUNCTION, {"trust": ("inspect",)}),
    "waits that time out": _of_options(
        "strategies that store states need no limit", POLLS, {"strategy": "dpor"}, strategy="optimal"
    ),
    "long runs": _of_options("give a higher one", IS_LONG, {"max_steps": 500}, max_steps=30),
    "loops that look at the clock": _of_options(
        "only optimal", LOOKS_AT_THE_CLOCK, {"strategy": "optimal"}, strategy="dpor"
    ),
    "idents": _of_options("by searches without states", REUSES_IDENTS, {"strategy": "optimal"}, strategy="dpor"),
    "pipes": _of_source("use os.read", READS_A_PIPE, ("os.readv(r, [bytearray(1)]) == 1", "os.read(r, 1) == b'x'")),
    "pairs of sockets": _of_source(
        "use a queue.Queue",
        SENDS_DATAGRAMS,
        ("a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)", "q = queue.Queue()"),
        ("a.send, lambda: b.recv(1)", "q.put, q.get"),
    ),
    "flags of sockets": _of_source("leave it out", SENDS_OUT_OF_BAND, (", socket.MSG_DONTWAIT", "")),
    "flags of epoll": _of_source("leave the flag out", POLLS_EDGES, (" | select.EPOLLET", "")),
    "processes": _of_source(
        "use ThreadPoolExecutor",
        USES_PROCESSES,
        ("import ProcessPoolExecutor", "import ThreadPoolExecutor"),
        ("with ProcessPoolExecutor", "with ThreadPoolExecutor"),
    ),
    "the end of the process": _of_source("raise SystemExit", LEAVES, ("os._exit(0)", "raise SystemExit")),
    "interrupts": _of_source(
        "raise the exception in the thread", INTERRUPTS, ("_thread.interrupt_main()", "raise SystemExit")
    ),
    "threads of a trusted package": _of_options(
        "leave out --trust starting", STARTS_REAL_THREADS, {}, trust=("starting",)
    ),
    "event loops that wait for pipes": Cure(
        "let a thread wait for it, and call loop.call_soon_threadsafe",
        WAITS_FOR_A_PIPE_IN_A_LOOP,
        WAITS_FOR_A_PIPE_IN_A_THREAD,
    ),
}


@pytest.fixture(autouse=True)
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Packages outside of the project: one in bytecode, one that starts threads."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    source = folder / "source"
    source.write_text("n = 0\ndef increment():\n    global n\n    n += 1\n")
    py_compile.compile(str(source), cfile=str(folder / "bytecode.pyc"))
    (folder / "starting.py").write_text(
        "import threading\ndef start(target):\n    t = threading.Thread(target=target)\n    t.start()\n    return t\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    yield
    for name in ("bytecode", "starting"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("cure", CURES.values(), ids=CURES)
def test_a_cure_that_is_named_works(tmp_path: Path, cure: Cure) -> None:
    def check(source: str, options: dict[str, Any]) -> dpor.Report:
        project = tmp_path / "project"
        project.mkdir(exist_ok=True)
        file = project / f"program{len(list(project.iterdir()))}.py"
        file.write_text(TWO + dedent(source))
        return dpor.check(f"{file}::scenario", max_seconds=30, **options)

    before = check(cure.before, cure.given)
    assert before.verdict == "inconclusive"
    assert any(cure.named in reason for reason in before.reasons), before.reasons
    after = check(cure.after or cure.before, cure.options)
    assert (after.verdict, after.reasons) == ("pass", ()), after.findings
