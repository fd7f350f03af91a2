"""However a check is ended, by its budget, by Ctrl-C, or by the program itself: one verdict, with what is known."""

from __future__ import annotations

import itertools
import json
import signal
import struct
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

import dpor
from dpor.cli.guard import Guarded, guard
from dpor.cli.main import cli

PROGRAMS = """\
import ctypes, hashlib, pathlib, re, threading

def both(first, second):
    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

class Endless:
    def __iter__(self):
        return self
    def __next__(self):
        return 1

def iterator():
    pathlib.Path("begun").touch()
    for _ in Endless(): pass

def regular_expression():
    pathlib.Path("begun").touch()
    re.match(r"(a+)+$", "a" * 50 + "b")

def never_given_up():
    pathlib.Path("begun").touch()
    try:
        for _ in Endless(): pass
    finally:
        for _ in Endless(): pass

def long():
    pathlib.Path("begun").touch()
    cells = [0]
    def work():
        for _ in range(2000): cells[0] += 1
    both(work, work)

def in_c():
    pathlib.Path("begun").touch()
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)

def crash():
    ctypes.string_at(0)

def leaves():
    ctypes.PyDLL(None)._exit(0)

def fails():
    assert False

def found_before():
    order = []
    both(lambda: order.append(1), lambda: order.append(2))
    if order == [2, 1]:
        in_c()
    assert False

def leaves_finalisers():
    class Noisy:
        def __del__(self):
            log.append("gone")
    log, box = [], [None]
    box[0] = Noisy()
    def drop():
        box[0] = None
    both(drop, lambda: log.append("other"))

def hangs_beside_a_failure():
    order = []
    both(lambda: order.append(1), lambda: order.append(2))
    if order == [2, 1]:
        iterator()
    assert False
"""


ENOUGH = 600
"""Seconds that no test needs, however slow the machine is."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.py").write_text(PROGRAMS)


def dpor_process(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "dpor", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(*arguments: str) -> tuple[int, list[str]]:
    process = dpor_process(*arguments)
    out, err = process.communicate(timeout=ENOUGH)
    assert err == ""
    return process.returncode, out.splitlines()


@pytest.fixture
def over_once_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of a check is over as soon as its program has begun, and no sooner."""
    now = lambda: 1000.0 if Path("begun").exists() else 0.0
    monkeypatch.setattr("dpor.app.phases.time", SimpleNamespace(monotonic=now))


@pytest.mark.usefixtures("over_once_begun")
@pytest.mark.parametrize("name", ["iterator", "regular_expression", "never_given_up"])
def test_the_budget_reaches_inside_a_run(name: str) -> None:
    report = dpor.check(f"p.py::{name}", max_seconds=2)
    assert report.verdict == "inconclusive"
    ended, budget = report.reasons
    assert ended.startswith("a run was ended after its event 0, last in ")
    assert "p.py:" in ended
    assert budget.startswith("--max-seconds 2 reached")
    Path("begun").unlink()
    assert dpor.check("p.py::fails", max_executions=1).executions == 1  # nothing is left behind


@pytest.mark.usefixtures("over_once_begun")
def test_the_budget_reaches_inside_an_import() -> None:
    Path("slow.py").write_text("for _ in iter(lambda: 1, 2):\n    pass\ndef main(): pass\n")
    Path("slower.py").write_text("import re\nopen('begun', 'w').close()\nre.match(r'(a+)+$', 'a' * 50 + 'b')\n")
    report = dpor.check("slower.py::main", max_seconds=2)
    assert (report.verdict, report.executions) == ("inconclusive", 0)
    assert "slower.py::main was still being imported" in report.reasons[0]
    assert "slower.py:3" in report.reasons[0]
    (reason,) = dpor.check("slow.py::main").reasons
    assert "slow.py::main was still being imported; a loop went round 1000000 times" in reason


@pytest.mark.parametrize("loop", ["while True", "for _ in itertools.count()", "for _ in iter(int, 1)"])
def test_a_loop_over_an_endless_iterator_may_wait_for_another_thread(loop: str) -> None:
    Path("waits.py").write_text(
        textwrap.dedent(f"""\
            import itertools, threading

            def main():
                flags, items = [], itertools.repeat(1)

                def wait():
                    {loop}:
                        if flags:
                            break

                thread = threading.Thread(target=wait)
                thread.start()
                flags.append(1)
                thread.join()
            """)
    )
    report = dpor.check("waits.py::main", max_executions=5, max_steps=50, strategy="optimal")
    assert report.executions == 2


def test_one_call_of_a_c_function_that_does_not_end() -> None:
    for seconds in (1, 4, 16, 64):
        code, lines = run("check", "p.py::in_c", "--max-seconds", str(seconds))
        if Path("begun").exists():  # else the machine is slow
            break
    assert code == 3
    assert lines[0].startswith("INCONCLUSIVE  p.py::in_c")
    assert "the time is over (--max-seconds), and one call of a C function did not end, in in_c at " in lines[1]


def test_a_schedule_beside_the_failing_one_may_hang() -> None:
    """It is looked at when the failure is told, and when it is replayed."""
    assert run("check", "p.py::hangs_beside_a_failure", "--save", "s.json", "-q")[0] == 1
    code, lines = run("replay", "s.json")
    assert code == 1
    assert lines[0].startswith("FAILED  AssertionError in MainThread")


@pytest.mark.parametrize(
    ("name", "reason"),
    [("crash", "crashed the process that it ran in (SIG"), ("leaves", "ended the process that it ran in, with exit")],
)
def test_a_program_that_takes_the_process_down(name: str, reason: str) -> None:
    code, lines = run("check", f"p.py::{name}")
    assert code == 3
    assert lines[0].startswith("INCONCLUSIVE  ")
    assert reason in lines[1]


def interrupted(*arguments: str, pauses: Iterable[float] = (), code: int = 3) -> str:
    """Ctrl-C once the program runs, and again after each pause, while it lives. Returns what was written."""
    process = dpor_process("check", *arguments)
    while not Path("begun").exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    for pause in pauses:
        time.sleep(pause)
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=ENOUGH)
    assert process.returncode == code, err
    assert err == ""
    return out


@pytest.mark.parametrize("pauses", [[0.0, 0.0], [0.4, 0.4]])
def test_ctrl_c_again_and_again(pauses: list[float]) -> None:
    assert "  because interrupted\n" in interrupted("p.py::long", pauses=pauses)


@pytest.mark.parametrize(
    ("arguments", "code"), [(["p.py::long"], 3), (["p.py::found_before", "--all", "-q"], 1)], ids=["nothing", "failure"]
)
def test_ctrl_c_until_the_very_end(arguments: list[str], code: int) -> None:
    """It once undid the answer when it came after it."""
    out = interrupted(*arguments, pauses=itertools.repeat(0.002), code=code)
    assert out.startswith("FAILED" if code == 1 else "INCONCLUSIVE")


def test_ctrl_c_while_a_c_function_does_not_end() -> None:
    assert "because interrupted, and one call of a C function did not end" in interrupted("p.py::in_c")


def test_finalisers_at_the_end_of_the_process_are_quiet() -> None:
    code, out = run("check", "p.py::leaves_finalisers", "-q")
    assert (code, out[0][:12]) == (0, "PASSED  p.py")


def test_what_was_found_before_is_not_lost() -> None:
    out = interrupted("p.py::found_before", "--all", "--json", "r.json", "-q", code=1)
    assert out.startswith("FAILED  AssertionError in MainThread at p.py:")
    report = json.loads(Path("r.json").read_text())
    assert (report["verdict"], len(report["findings"])) == ("fail", 1)
    assert json.loads(Path(".dpor/p-found_before-1.json").read_text())["schedule"] == report["findings"][0]["schedule"]


def test_telling_what_is_known_may_take_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report may be long, and its reader slow: by then the parent no longer waits for a word."""
    said: list[str] = []
    child = SimpleNamespace(report=lambda *_: said.append("I live"), end=lambda: said.append("I answer"))
    monkeypatch.setattr("dpor.cli.main._deliver", lambda *_: said.append("the answer") or 0)
    CliRunner().invoke(cli, ["check", "p.py::fails"], obj=lambda answer: child)
    assert said[said.index("the answer") - 1 :] == ["I answer", "the answer", "I answer"]


def shell(line: str) -> subprocess.CompletedProcess[str]:
    command = f"{sys.executable} -m dpor {line}"
    return subprocess.run(command, shell=True, capture_output=True, text=True, timeout=ENOUGH, check=False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("to", [">&-", ">&- <&- 2>&-", ">/dev/full", "--json - >/dev/full", "--json /dev/full -q"])
def test_the_verdict_counts_where_nothing_can_be_written(to: str) -> None:
    done = shell(f"check p.py::fails {to}")
    assert done.returncode == 1, done.stderr
    assert done.stderr.count("\n") == ("/dev/full" in to)
    assert "No space left on device" in done.stderr or "/dev/full" not in to
    assert shell("--help >/dev/full").stderr == "dpor: standard output cannot be written: No space left on device\n"


def test_a_beat_amid_a_long_message_comes_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known may be longer than a pipe holds, and the signal of the next beat comes while it is written."""
    child, written = Guarded(0), [b""]

    def write(pipe: int, data: memoryview) -> int:
        if len(written) == 1:
            written.append(b"")
            child.report(2.0, "news", lambda: None)
        written.append(bytes(data[:10]))
        return len(written[-1])

    monkeypatch.setattr("os.write", write)
    child.report(1.0, "news", lambda: "x" * 100)
    first, second = struct.pack("!d", 1.0), struct.pack("!dI", 2.0, 0)
    assert b"".join(written).startswith(first)
    assert b"".join(written).endswith(second)


def test_there_is_no_second_process_where_a_tool_watches_this_one() -> None:
    sys.setprofile(lambda *_: None)
    try:
        assert guard(lambda known, reason: 0) is None
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize(
    ("made", "waits"),
    [("_thread.allocate_lock()", "waits in C code"), ("threading.Semaphore()", "waits for a real condition")],
)
def test_a_real_lock_that_a_library_holds_is_instrumented_or_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: str, waits: str
) -> None:
    library, project = tmp_path / "library", tmp_path / "project"
    library.mkdir()
    project.mkdir()
    (library / "lending.py").write_text(
        "import _thread, contextlib, threading\n"
        f"lock = {made}\n"
        "@contextlib.contextmanager\n"
        "def lent():\n"
        "    lock.acquire()\n"
        "    try: yield\n"
        "    finally: lock.release()\n"
    )
    (project / "borrowing.py").write_text(
        "import threading, lending\n"
        "def scenario():\n"
        "    cells = [0]\n"
        "    def work():\n"
        "        with lending.lent(): cells[0] += 1\n"
        "    threads = [threading.Thread(target=work) for _ in range(2)]\n"
        "    for thread in threads: thread.start()\n"
        "    for thread in threads: thread.join()\n"
    )
    monkeypatch.syspath_prepend(library)
    monkeypatch.setattr("dpor.python.kernel.loops.WAITING", 5)
    target = f"{project / 'borrowing.py'}::scenario"
    assert dpor.check(target).verdict == "pass"
    report = dpor.check(target, trust=["lending"])
    assert report.verdict == "inconclusive"
    assert f"lending.py:5) {waits}" in report.reasons[0]


def test_a_library_that_waits_for_its_own_condition_is_instrumented_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a method of the library is all that the thread runs."""
    library, project = tmp_path / "library", tmp_path / "project"
    library.mkdir()
    project.mkdir()
    (library / "boxing.py").write_text(
        "import threading\n"
        "class Box:\n"
        "    def __init__(self):\n"
        "        self.changed, self.items = threading.Condition(), []\n"
        "    def put(self, item):\n"
        "        with self.changed:\n"
        "            self.items.append(item)\n"
        "            self.changed.notify()\n"
        "    def get(self):\n"
        "        with self.changed:\n"
        "            while not self.items: self.changed.wait()\n"
        "            return self.items.pop()\n"
    )
    (project / "unpacking.py").write_text(
        "import threading, boxing\n"
        "def scenario():\n"
        "    box = boxing.Box()\n"
        "    thread = threading.Thread(target=box.get)\n"
        "    thread.start()\n"
        "    box.put(1)\n"
        "    thread.join()\n"
    )
    monkeypatch.syspath_prepend(library)
    monkeypatch.setattr("dpor.python.kernel.loops.WAITING", 10**9)
    target = f"{project / 'unpacking.py'}::scenario"
    assert dpor.check(target).verdict == "pass"
    report = dpor.check(target, trust=["boxing"])
    assert "boxing.py:11) waits for a real condition" in report.reasons[0]
