"""What would leave the process or its one OS thread is refused in one line; the host's own is left alone."""

from __future__ import annotations

import _thread
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpor
from dpor.core.errors import Unsupported
from tests.source_outcomes import outcomes

REFUSED = {
    "os.fork()": "os.fork is not modelled",
    "os._exit(3)": "os._exit is not modelled",
    "os.abort()": "os.abort is not modelled",
    "os.execv('/bin/true', ['true'])": "os.execv is not modelled",
    "os.kill(os.getpid(), 15)": "os.kill is not modelled",
    "signal.alarm(1)": "signal.alarm is not modelled",
    "signal.setitimer(signal.ITIMER_REAL, 1)": "signal.setitimer is not modelled",
    "os.openpty()": "os.openpty is not modelled",
    "multiprocessing.Process(target=print).start()": "(os.(pipe|fork) is not modelled|at forkserver.py)",
}

LIBRARY = """
import _thread, threading

class Worker(threading.Thread):
    pass

def start():
    Worker(target=print).start()

def start_plain():
    threading.Thread(target=print).start()

def start_raw():
    _thread.start_new_thread(print, ())
"""

IMPORTS = "import multiprocessing, os, signal, socket, sys\n"


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "library.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(str(tmp_path / "elsewhere"))
    (tmp_path / "project").mkdir()
    yield
    sys.modules.pop("library", None)


@pytest.mark.parametrize("call", REFUSED)
@pytest.mark.usefixtures("library")
def test_it_is_refused_and_nothing_is_left_behind(tmp_path: Path, call: str) -> None:
    starts = [
        vars(m).get(n) for m in (threading, _thread, os) for n in ("_start_new_thread", "start_new_thread", "fork")
    ]
    source = (
        f"{IMPORTS}import library\ndef scenario():\n    try:\n        {call}\n    except BaseException:\n        pass\n"
    )
    with pytest.raises(Unsupported, match=REFUSED[call]) as caught:
        outcomes(tmp_path / "project", source)
    assert "\n" not in str(caught.value)
    assert starts == [
        vars(m).get(n) for m in (threading, _thread, os) for n in ("_start_new_thread", "start_new_thread", "fork")
    ]
    assert subprocess.run([sys.executable, "-c", ""], check=False).returncode == 0


@pytest.mark.parametrize("call", ["start", "start_plain", "start_raw"])
@pytest.mark.usefixtures("library")
def test_a_package_that_starts_threads_is_instrumented(tmp_path: Path, call: str) -> None:
    file = tmp_path / "project" / "program.py"
    file.write_text(f"import library\ndef scenario():\n    library.{call}()\n")
    report = dpor.check(f"{file}::scenario")
    assert any("library is instrumented" in restart for restart in report.restarts)
    assert not report.findings
    refused = dpor.check(f"{file}::scenario", trust="library")
    (reason,) = refused.reasons
    assert re.match(r"Unsupported: library starts a .*, a real thread .*: leave out --trust library", reason)


def test_threads_of_the_host_may_start_meanwhile(tmp_path: Path) -> None:
    started: list[int] = []
    over = threading.Event()

    def starts_others() -> None:
        while not over.is_set():
            thread = threading.Thread(target=lambda: started.append(1))
            thread.start()
            thread.join()

    host = threading.Thread(target=starts_others)
    host.start()
    try:
        assert outcomes(tmp_path, "def scenario():\n    for i in range(100000): pass\n    return 1") == {1}
    finally:
        over.set()
        host.join()
    assert started


def test_handlers_are_kept_for_one_run(tmp_path: Path) -> None:
    host = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    source = """
        import signal
        def scenario():
            before = signal.signal(signal.SIGTERM, lambda number, frame: None)
            run(lambda: None, lambda: None)
            return before is signal.SIG_DFL, callable(signal.getsignal(signal.SIGTERM))
    """
    try:
        assert outcomes(tmp_path, source) == {(True, True)}
    finally:
        signal.signal(signal.SIGTERM, host)


def test_leaving_a_thread_ends_that_thread_alone(tmp_path: Path) -> None:
    source = """
        import sys
        def scenario():
            seen = []
            def leave():
                try:
                    sys.exit(3)
                finally:
                    seen.append(1)
            run(leave)
            return seen
    """
    assert outcomes(tmp_path, source) == {(1,)}
