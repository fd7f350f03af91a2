"""Pipes, pairs of sockets, and waiting for several of them: all in memory."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import select
import selectors
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpor
from tests.under_control import once, stdlib

MODULES = {name: stdlib.module_for_program(name) for name in ("os", "select", "selectors", "socket")}
REAL = {"os": os, "select": select, "selectors": selectors, "socket": socket}


def said(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except (OSError, ValueError, KeyError, TypeError) as error:
        return type(error).__name__, getattr(error, "errno", None)


def of_a_pipe(os: Any, select: Any, **others: Any) -> list[Any]:
    r, w = os.pipe()
    seen = [
        os.write(w, b"abc"),
        os.read(r, 2),
        [part != [] for part in select.select([r], [w], [r], 0)],
        os.get_blocking(r),
        os.set_blocking(r, False),
        os.read(r, 5),
        said(lambda: os.read(r, 1)),
        said(lambda: os.write(r, b"x")),
        said(lambda: os.read(w, 1)),
        os.set_blocking(w, False),
        os.write(w, b"x" * 70000),
        said(lambda: os.write(w, b"x")),
        os.close(w),
        len(os.read(r, 100_000)),
        os.read(r, 1),
        os.close(r),
        said(lambda: os.close(r)),
        said(lambda: os.read(r, 1)),
        said(lambda: select.select([r], [], [], 0)),
        said(lambda: select.select([-1], [], [], 0)),
        said(lambda: select.select([], [], [], -1)),
    ]
    r, w = os.pipe()
    os.close(r)
    return [*seen, said(lambda: os.write(w, b"x")), os.close(w)]


def of_a_pair(socket: Any, select: Any, **others: Any) -> list[Any]:
    a, b = socket.socketpair()
    buffer = bytearray(4)
    seen = [
        isinstance(a, socket.socket),
        a.family == socket.AF_UNIX,
        a.type == socket.SOCK_STREAM,
        a.gettimeout(),
        a.getblocking(),
        a.send(b"abc"),
        a.sendall(b"de"),
        b.recv(2),
        b.recv_into(buffer),
        bytes(buffer),
        a.sendmsg([b"x", b"y"]),
        b.recvfrom(5),
        b.settimeout(0),
        b.getblocking(),
        said(lambda: b.recv(1)),
        b.setblocking(True),
        b.gettimeout(),
        b.settimeout(0.001),
        said(lambda: b.recv(1)),
        said(lambda: b.settimeout(-1)),
        a.shutdown(socket.SHUT_WR),
        said(lambda: a.send(b"x")),
        b.recv(1),
        b.send(b"z"),
        [part != [] for part in select.select([a, b], [a, b], [], 0)],
        b.close(),
        b.fileno(),
        b.close(),
        a.recv(5),
        a.recv(5),
        said(lambda: b.recv(1)),
    ]
    with a:
        pass
    return [*seen, a.fileno()]


def of_a_detached(socket: Any, os: Any, **others: Any) -> list[Any]:
    a, b = socket.socketpair()
    end = a.detach()
    seen = [a.fileno(), a.detach(), said(lambda: a.send(b"x")), a.close(), os.write(end, b"abc"), b.recv(2)]
    return [*seen, b.recv(9), b.send(b"xy"), os.read(end, 2), os.close(end), b.recv(9), b.close()]


def polled(kind: str) -> Callable[..., list[Any]]:
    def of_poll(os: Any, select: Any, socket: Any, **others: Any) -> list[Any]:
        r, w = os.pipe()
        a, b = socket.socketpair()
        names = {r: "r", w: "w", a.fileno(): "a", b.fileno(): "b"}
        poll = getattr(select, kind)()

        def ready() -> Any:
            return sorted((names[number], bits) for number, bits in poll.poll(0))

        seen = [poll.register(r, 1), poll.register(w, 4), poll.register(a), ready()]
        seen += [os.write(w, b"x"), b.send(b"y"), ready(), poll.modify(w, 0), poll.unregister(a), ready()]
        seen += [said(lambda: poll.unregister(b)), said(lambda: poll.modify(b, 1)), said(lambda: poll.register(-1))]
        seen += [os.close(w), poll.unregister(w) if kind == "poll" else None, os.read(r, 1), ready()]
        seen += [poll.register(a), b.shutdown(socket.SHUT_WR), ready(), b.close(), ready(), os.close(r), a.close()]
        if kind == "epoll":
            seen += [ready(), poll.close(), poll.closed, said(lambda: poll.poll(0))]
        return seen

    return of_poll


def of_selectors(os: Any, selectors: Any, **others: Any) -> list[Any]:
    seen = []
    for kind in ("DefaultSelector", "SelectSelector", "PollSelector", "EpollSelector"):
        r, w = os.pipe()
        with getattr(selectors, kind)() as selector:
            selector.register(r, selectors.EVENT_READ, "r")
            selector.register(w, selectors.EVENT_WRITE, "w")
            os.write(w, b"x")
            seen.append(sorted((key.data, events) for key, events in selector.select()))
            selector.unregister(w)
            os.read(r, 1)
            seen.append(selector.select(0.001))
            selector.modify(r, selectors.EVENT_READ, "other")
            os.close(w)
            seen.append([(key.data, events) for key, events in selector.select()])
        os.close(r)
    return seen


@pytest.mark.parametrize("used", [of_a_pipe, of_a_pair, of_a_detached, polled("poll"), polled("epoll"), of_selectors])
def test_one_thread_sees_what_it_sees_of_the_real_ones(used: Callable[..., Any]) -> None:
    assert once(lambda: used(**MODULES)) == used(**REAL)


# ---------------------------------------------------------------------- several threads


def started(*bodies: Callable[[], object]) -> list[threading.Thread]:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    return threads


def joined(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join()


def a_write_wakes_the_reader() -> bytes:
    r, w = os.pipe()
    threads = started(lambda: os.write(w, b"x"))
    got = os.read(r, 1)
    joined(threads)
    return got


def two_readers_of_one_byte() -> tuple[bytes, ...]:
    r, w = os.pipe()
    got: list[bytes] = [b"", b""]

    def read(n: int) -> None:
        got[n] = os.read(r, 1)

    threads = started(lambda: read(0), lambda: read(1))
    os.write(w, b"x")
    os.close(w)
    joined(threads)
    return tuple(got)


def two_readers_and_no_end() -> None:
    r, w = os.pipe()
    threads = started(lambda: os.read(r, 1), lambda: os.read(r, 1))
    os.write(w, b"x")
    joined(threads)


def a_wait_with_a_timeout() -> bool:
    r, w = os.pipe()
    threads = started(lambda: os.write(w, b"x"))
    found = select.select([r], [], [], 1)[0] != []
    joined(threads)
    return found


def closed_while_waiting() -> object:
    r, _ = os.pipe()
    got: list[object] = [None]

    def read() -> None:
        try:
            got[0] = os.read(r, 1)
        except OSError as error:
            got[0] = error.errno

    threads = started(read)
    os.close(r)
    joined(threads)
    return got[0]


def which_of_several() -> bytes:
    a, b = socket.socketpair()
    r, w = os.pipe()
    threads = started(lambda: os.write(w, b"1"), lambda: b.send(b"2"))
    order = b""
    while len(order) < 2:
        for ready in select.select([a, r], [], [])[0]:
            order += a.recv(1) if ready is a else os.read(r, 1)
    joined(threads)
    return order


def writers_of_a_full_pipe() -> int:
    r, w = os.pipe()
    os.write(w, b"x" * 65536)
    threads = started(lambda: os.write(w, b"y"))
    got = len(os.read(r, 65536)) + len(os.read(r, 1))
    joined(threads)
    return got


def registered_meanwhile() -> list[str]:
    r, w = os.pipe()
    os.write(w, b"x")
    with select.epoll() as poll:
        threads = started(lambda: poll.register(r, select.EPOLLIN))
        found = ["r" for _ in poll.poll()]
        joined(threads)
    return found


def detached() -> object:
    a, b = socket.socketpair()
    got = []

    def send() -> None:
        with contextlib.suppress(OSError):
            got.append(a.send(b"x"))

    threads = started(send)
    end = a.detach()
    joined(threads)
    os.close(end)
    return got, b.recv(1)


def through_connections(duplex: bool) -> Callable[[], object]:
    def sent() -> object:
        here, there = multiprocessing.Pipe(duplex)
        threads = started(lambda: there.send({"a": 1}), lambda: there.send("b"))
        got = [str(here.recv()), str(here.recv())]
        joined(threads)
        return got, here.poll()

    return sent


def echoed() -> bytes:
    a, b = socket.socketpair()

    def echo() -> None:
        while data := a.recv(10):
            a.sendall(data.upper())
        a.close()

    threads = started(echo)
    b.sendall(b"abc")
    got = b.recv(10)
    b.shutdown(socket.SHUT_WR)
    got += b.recv(10)
    joined(threads)
    return got


LITMUS: list[tuple[Callable[[], object], int, set[str]]] = [
    (a_write_wakes_the_reader, 1, {"returned b'x'"}),
    (two_readers_of_one_byte, 4, {"returned (b'x', b'')", "returned (b'', b'x')"}),
    (a_wait_with_a_timeout, 2, {"returned True", "returned False"}),
    (which_of_several, 6, {"returned b'12'", "returned b'21'"}),
    (writers_of_a_full_pipe, 1, {"returned 65537"}),
    (registered_meanwhile, 1, {"returned ['r']"}),
    (echoed, 1, {"returned b'ABC'"}),
]


@pytest.mark.parametrize(("program", "executions", "outcomes"), LITMUS)
def test_executions_and_outcomes(program: Callable[[], object], executions: int, outcomes: set[str]) -> None:
    report = dpor.check(program)
    assert (report.verdict, report.executions) == ("pass", executions)
    assert set(report.outcome_digests.values()) == outcomes
    for strategy in ("none", "dpor", "full") if program is not which_of_several else ("dpor",):
        other = dpor.check(program, strategy=strategy)
        assert (other.verdict, set(other.outcome_digests.values())) == ("pass", outcomes)


@pytest.mark.parametrize("duplex", [False, True])
def test_threads_use_a_pipe_of_multiprocessing(duplex: bool) -> None:
    report = dpor.check(through_connections(duplex))
    assert report.verdict == "pass", report.reasons
    assert set(report.outcome_digests.values()) == {
        """returned (["{'a': 1}", 'b'], False)""",
        """returned (['b', "{'a': 1}"], False)""",
    }


def test_a_socket_detached_while_others_use_it_is_told() -> None:
    (reason,) = dpor.check(detached).reasons
    assert reason == "a socket is detached by one thread while another may use it"


def test_what_is_in_a_pipe_is_part_of_the_state(tmp_path: Path) -> None:
    source = """
import os, threading

def scenario():
    r, w = os.pipe()
    threads = [threading.Thread(target=os.write, args=(w, data)) for data in (b"a", b"b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return os.read(r, 2)
"""
    file = tmp_path / "program.py"
    file.write_text(source)
    for strategy in ("dpor", "full", "optimal"):
        report = dpor.check(f"{file}::scenario", strategy=strategy)
        assert set(report.outcome_digests.values()) == {"returned b'ab'", "returned b'ba'"}, strategy


def test_who_waits_for_ever_is_said_to_wait_for_bytes() -> None:
    (failure,) = dpor.check(two_readers_and_no_end).findings
    assert "waits for bytes in Pipe #" in failure.message


def test_an_end_closed_while_a_thread_waits_on_it_leaves_that_waiting() -> None:
    report = dpor.check(closed_while_waiting, all=True)
    assert "pipes or sockets are closed while they are in use" in report.restarts
    (failure,) = report.findings
    assert "waits for bytes" in failure.message
    assert "returned 9" in report.outcome_digests.values()


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("socket.create_connection(('localhost', 80))", "socket.create_connection at program.py:5"),
        ("real.connect(('localhost', 80))", "socket.socket.connect at program.py:5"),
        ("real.accept()", "socket.socket.accept at program.py:5"),
        ("select.select([real], [], [])", "select.select at program.py:5"),
        ("os.dup(os.pipe()[0])", "os.dup of a pipe or socket is not modelled"),
        ("socket.socketpair()[0].makefile()", "socket.socket.makefile of a pair is not modelled"),
        ("socket.socketpair(type=socket.SOCK_DGRAM)", "socket.socketpair of another type"),
        ("poll.register(os.pipe()[0], select.EPOLLIN | select.EPOLLET)", "select.epoll with EPOLLET"),
    ],
)
def test_what_would_wait_for_others_is_refused_at_once(tmp_path: Path, call: str, why: str) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "import os, select, socket, threading\n"
        "def scenario():\n"
        "    poll = select.epoll()\n"
        "    def work():\n"
        f"        with socket.socket() as real: {call}\n"
        "    thread = threading.Thread(target=work)\n"
        "    thread.start()\n"
        "    thread.join()\n"
    )
    report = dpor.check(f"{file}::scenario")
    (reason,) = report.reasons
    assert why in reason


def test_a_queue_of_multiprocessing_passes_what_threads_give_each_other(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "import multiprocessing, threading\n"
        "def scenario():\n"
        "    q = multiprocessing.SimpleQueue()\n"
        "    thread = threading.Thread(target=q.put, args=(1,))\n"
        "    thread.start()\n"
        "    got = q.get()\n"
        "    thread.join()\n"
        "    return got\n"
    )
    report = dpor.check(f"{file}::scenario")
    assert (report.verdict, set(report.outcome_digests.values())) == ("pass", {"returned 1"})


def test_an_event_loop_does_not_wait_for_a_pair_of_sockets(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "import asyncio, socket\n"
        "async def main():\n"
        "    a, b = socket.socketpair()\n"
        "    a.setblocking(False)\n"
        "    await asyncio.get_running_loop().sock_recv(a, 1)\n"
        "def scenario():\n"
        "    asyncio.run(main())\n"
    )
    (reason,) = dpor.check(f"{file}::scenario").reasons
    assert "that an event loop waits for a pipe or a pair of sockets is not modelled" in reason
