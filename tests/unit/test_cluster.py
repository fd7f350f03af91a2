"""The workers of a cluster find what one process finds, whoever leaves and comes. They are real ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
import pytest

import dpor
from dpor.app import cluster, sharing, shipping
from dpor.app.checking import Session
from dpor.app.shipping import Placed, ShippedProgram, differing, packed, versions
from dpor.app.targets import open_target
from dpor.app.working import Done
from dpor.core.errors import UserError
from dpor.core.options import Options
from dpor.findings.explain import Checkable
from dpor.report.progress import Monitor
from tests.unit.test_checkpoints import CLASSES, COUNTER, summary
from tests.unit.test_sharing import LATE, children_of

NURSERY = """
import asyncio, os, signal, sys
from distributed import Scheduler, Worker

async def serve(made):
    async with made as server:
        print(os.getpid(), server.address, flush=True)
        await server.finished()

children = []
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    kind, *given = line.split()
    children.append(os.fork())
    if not children[-1]:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        sys.path[:0] = given[2:]
        if kind == "scheduler":
            made = lambda: Scheduler(host="127.0.0.1", port=0, dashboard_address="127.0.0.1:0")
        else:
            made = lambda: Worker(given[0], nthreads=1, name=given[1], dashboard=False)
        async def main():
            await serve(made())
        asyncio.run(main())
        os._exit(0)
for child in children:
    try:
        os.kill(child, signal.SIGKILL)
    except ProcessLookupError:
        pass
"""
"""A process that has imported Dask and makes schedulers and workers of itself, which then need not do so."""


class Machine:
    """A scheduler of Dask and its workers, each a process."""

    def __init__(self, folder: Path) -> None:
        self._nursery = subprocess.Popen(
            [sys.executable, "-c", NURSERY],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=folder,
        )
        self.scheduler, self.address = self._made("scheduler")
        self._workers: list[int] = []
        self.addresses: dict[str, str] = {}

    def join(self, name: str, *path: str) -> int:
        """Let a worker come, with these folders before others from which modules are imported. Returns its process."""
        process, self.addresses[name] = self._made("worker", self.address, name, *path)
        self._workers.append(process)
        return process

    def kill(self, process: int) -> None:
        os.kill(process, signal.SIGKILL)

    def empty(self) -> None:
        """Let all workers leave."""
        while self._workers:
            with suppress(ProcessLookupError):
                self.kill(self._workers.pop())

    def close(self) -> None:
        self._nursery.communicate(timeout=30)

    def _made(self, *what: str) -> tuple[int, str]:
        assert self._nursery.stdin is not None
        assert self._nursery.stdout is not None
        self._nursery.stdin.write(" ".join(what) + "\n")
        self._nursery.stdin.flush()
        process, address = self._nursery.stdout.readline().split()
        return int(process), address


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    found = Machine(tmp_path_factory.mktemp("dask"))
    yield found
    found.close()


@pytest.fixture
def machine(dask: Machine) -> Iterator[Machine]:
    yield dask
    dask.empty()


class Hearing(Monitor):
    """Keeps what is said; `then`: what to do while the search goes on."""

    def __init__(self, then: Callable[[int], object] = lambda executions: None) -> None:
        self.lines: list[str] = []
        self._then = then

    def progress(self, progress: Any) -> None:
        self._then(progress.executions)

    def say(self, line: str) -> None:
        self.lines.append(line)


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    monkeypatch.setattr("dpor.app.strategies.hash_seed", lambda: "0")
    monkeypatch.setattr(shipping, "hash_seed", lambda: "0")
    monkeypatch.setattr(sharing, "AFTER", 300)
    Path("counter.py").write_text(COUNTER.format(least=2))
    return "counter.py::scenario"


# ---------------------------------------------------------------------- searches


def searching(worker: int) -> list[int]:
    """The processes that search for this worker."""
    return [process for server in children_of(worker) for process in children_of(server)]


class Heard:
    """What the workers of a cluster have given back.

    executions   by address: how many executions
    crew         the cluster, once it is asked for
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.executions: Counter[str] = Counter()
        self.crew: cluster.Cluster | None = None
        listen = cluster.Cluster.listen

        def heard(crew: cluster.Cluster, seconds: float) -> Iterator[Any]:
            self.crew = crew
            for member, message in listen(crew, seconds):
                if isinstance(message, Done):
                    self.executions[member.room.address] += message.executions
                yield member, message

        patch.setattr(cluster.Cluster, "listen", heard)

    def is_busy(self, address: str) -> bool:
        """True if this worker has searched, and has a part now."""
        members = () if self.crew is None else self.crew.members
        return self.executions[address] > 0 and any(
            member.room.address == address and member.part is not None for member in members
        )


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_workers_leave_and_come_and_nothing_is_lost_or_counted_twice(
    target: str, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that is killed has searched before and has a part, and the one that comes searches."""
    code = COUNTER.format(least=2).replace("def work():", "def work(times):").replace("range(3)", "range(times)")
    code = code.replace("target=work) for _ in range(2)", "target=work, args=(times,)) for times in (4, 5)")
    Path("counter.py").write_text(code)
    early = {str(number): machine.join(str(number)) for number in range(2)}
    heard = Heard(monkeypatch)
    killed = ""
    waiting: list[int] = []

    def change(executions: int) -> None:
        """When both have a part, kill one, let another one come, and let the other wait until that has searched."""
        nonlocal killed
        busy = [name for name in early if heard.is_busy(machine.addresses[name])]
        if len(busy) == 2 and not killed:
            killed, other = busy
            machine.kill(early[killed])
            waiting.extend(searching(early[other]))
            wake(signal.SIGSTOP)
            machine.join("late")
        elif waiting and heard.executions[machine.addresses["late"]]:
            wake(signal.SIGCONT)
            waiting.clear()

    def wake(how: signal.Signals) -> None:
        for process in waiting:
            with suppress(ProcessLookupError):
                os.kill(process, how)

    monitor = Hearing(change)
    try:
        options = Options(strategy="optimal", cluster=machine.address, max_seconds=120)
        report = Session(target, options, monitor).run()
    finally:
        wake(signal.SIGCONT)
    assert (report.executions, report.blocked, report.outcomes, report.exhaustive) == (9846, 0, 8, True)
    searched = {name for name, address in machine.addresses.items() if heard.executions[address]}
    assert {killed, "late"} <= searched
    assert sum(heard.executions.values()) > 0.9 * report.executions
    (line,) = monitor.lines
    assert line.endswith("has left the cluster); another one searches its part again")


def test_a_signal_does_not_make_a_search_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """The handler takes longer than the wait, as that of the beat does on a busy machine."""
    beats = 0

    def beat(*_: object) -> None:
        nonlocal beats
        beats += 1
        assert beats < 20, "it waits for ever"
        time.sleep(0.06)

    crew = cluster.Cluster("nowhere", Any, print)
    monkeypatch.setattr(crew, "_missed", lambda: iter(()))
    previous = signal.signal(signal.SIGALRM, beat)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.1)
    try:
        assert list(crew.listen(0.05)) == []
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


FAR = """\
import helpers, threading
class C: n = 0
def scenario():
    c = C()
    threads = [threading.Thread(target=helpers.work, args=(c,)) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    helpers.look(c)
    return c.n
"""
HELPERS = """\
def work(c):
    for _ in range(3):
        c.n += 1
def look(c):
    assert c.n > 2
"""


def test_a_program_travels_to_where_its_files_are_others(
    target: str, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure is told with the name that its file has here."""
    Path("far.py").write_text(FAR)
    Path("helpers.py").write_text(HELPERS)
    options = Options(strategy="optimal", all=True)
    whole = dpor.check("far.py::scenario", options)

    def changed(system: Checkable) -> ShippedProgram:
        program = packed(system)
        Path("helpers.py").write_text("assert False, 'another file'")
        return program

    monkeypatch.setattr(shipping, "packed", changed)
    machine.join("far")
    monitor = Hearing()
    report = Session("far.py::scenario", attrs.evolve(options, cluster=machine.address), monitor).run()
    assert summary(report) == summary(whole)
    assert [each.file for each in report.findings] == [each.file for each in whole.findings]
    assert monitor.lines == []


def test_what_fails_only_on_a_worker_is_no_failure(
    target: str, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that the program reads does not travel. One process goes on."""
    Path("far.py").write_text(FAR)
    reads = HELPERS.replace("assert c.n > 2", "assert c.n > 2 or Path('data.txt').read_text()")
    Path("helpers.py").write_text("from pathlib import Path\n" + reads)
    Path("data.txt").write_text("some data")
    sent = {"/no/such/file.py": b""}
    monkeypatch.setattr(
        shipping, "packed", lambda system: attrs.evolve(program := packed(system), files={**program.files, **sent})
    )
    machine.join("far")
    monitor = Hearing()
    report = Session("far.py::scenario", Options(strategy="optimal", cluster=machine.address), monitor).run()
    (line,) = monitor.lines
    assert line.startswith("a worker has found a failure that is none here (FileNotFoundError: ")
    assert (report.executions, report.exhaustive, report.findings) == (CLASSES, True, ())


def test_a_fact_that_a_worker_learns_starts_all_again(target: str, machine: Machine) -> None:
    Path("late.py").write_text(LATE.format(then="c.b = c.b + 1"))
    machine.join("any")
    report = dpor.check("late.py::scenario", strategy="optimal", cluster=machine.address)
    whole = dpor.check("late.py::scenario", strategy="optimal")
    assert (summary(report), report.restarts) == (summary(whole), whole.restarts)


def test_a_worker_with_another_version_is_refused_by_name(target: str, machine: Machine, tmp_path: Path) -> None:
    """One process goes on if there is no other worker."""
    Path("other/greenlet-0.1.dist-info").mkdir(parents=True)
    Path("other/greenlet-0.1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: greenlet\nVersion: 0.1\n")
    machine.join("old", os.path.abspath("other"))
    monitor = Hearing()
    report = Session(target, Options(strategy="optimal", cluster=machine.address), monitor).run()
    assert monitor.lines[0].startswith("the worker old of the cluster is refused: greenlet is 0.1 (")
    assert monitor.lines[1] == "no worker of the cluster can search: one process goes on alone"
    assert (report.executions, report.exhaustive) == (CLASSES, True)


def test_a_cluster_on_this_machine_needs_no_address(target: str) -> None:
    report = dpor.check(target, strategy="optimal", cluster="local")
    assert (report.executions, report.exhaustive) == (CLASSES, True)


def test_no_scheduler_is_an_error_that_is_told(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "ANSWERS_WITHIN", 0.5)
    report = dpor.check(target, strategy="optimal", cluster="tcp://127.0.0.1:9")
    (reason,) = report.reasons
    assert reason.startswith("UserError: --cluster tcp://127.0.0.1:9: no scheduler of Dask answers there")


def test_if_the_scheduler_is_lost_one_process_goes_on(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "ANSWERS_WITHIN", 0.5)
    machine = Machine(tmp_path)
    machine.join("any")
    monitor = Hearing(lambda executions: executions < 30 or machine.close())
    report = Session(target, Options(strategy="optimal", cluster=machine.address), monitor).run()
    (line,) = monitor.lines
    assert line.startswith("the scheduler of the cluster does not answer")
    assert (report.executions, report.exhaustive) == (CLASSES, True)


def test_if_dask_closes_the_connection_one_process_goes_on(
    target: str, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does so when the scheduler has been silent for a while."""
    machine.join("any")
    heard = Heard(monkeypatch)
    monitor = Hearing(lambda executions: heard.crew is None or executions < 30 or heard.crew._client.close())
    report = Session(target, Options(strategy="optimal", cluster=machine.address), monitor).run()
    (line,) = monitor.lines
    assert line.startswith("the scheduler of the cluster does not answer")
    assert (report.executions, report.exhaustive) == (CLASSES, True)


# ---------------------------------------------------------------------- what travels


def test_what_travels(target: str) -> None:
    """The sources with their neighbours, what shows where the project begins, and what must be the same."""
    for name in ("pyproject.toml", "beside.py", "data.txt", "part/__init__.py", "part/deep/late.py", "other/not.py"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("")
    Path("counter.py").write_text("import part, attrs\n" + COUNTER.format(least=2))
    program = packed(open_target(target, Options()))
    here = os.getcwd()
    found = {os.path.relpath(file, here) for file in program.files}
    assert found == {"counter.py", "beside.py", "part/__init__.py", "part/deep/late.py"}
    assert (program.folder, program.marks) == (here, (f"{here}/pyproject.toml",))
    assert here in program.path
    assert program.packages.keys() == {"Python", "dpor", "greenlet", "attrs"}


def test_an_abstract_program_travels(target: str) -> None:
    Path("p.json").write_text('{"name": "p", "spec": {"vars": {"x": 0}, "threads": [["r x a"]]}}')
    assert packed(open_target("p.json", Options())).files.keys() == {os.path.abspath("p.json")}


def test_each_version_that_differs_is_named() -> None:
    here = versions(["attrs"])
    assert differing(here) == []
    told = differing({**here, "Python": "cpython 3.0", "dpor": "0 (0)", "no-such-package": "1.0 (0)"})
    assert [line.partition(" is ")[0] for line in told] == ["Python", "dpor", "no-such-package"]
    assert told[2] == "no-such-package is not installed there, and 1.0 (0) here"


def test_files_are_used_where_they_are_if_they_are_the_same(target: str) -> None:
    program = packed(open_target(target, Options()))
    assert Placed(program).root == ""
    placed = Placed(attrs.evolve(program, files={**program.files, "/nowhere/at/all.py": b"1"}))
    root = Path(placed.root)
    assert (root / "nowhere/at/all.py").read_bytes() == b"1"
    assert Path(f"{root}{os.path.abspath('counter.py')}").read_text() == Path("counter.py").read_text()
    del placed
    assert not root.exists()


# ---------------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"strategy": "source"}, "--cluster goes with --strategy optimal, not with source"),
        ({"workers": 2}, "as the cluster has threads: leave --workers out"),
        ({"cluster": 5}, "cluster must be a name or None, not 5"),
    ],
)
def test_what_does_not_go_together_is_refused(target: str, options: dict[str, Any], says: str) -> None:
    with pytest.raises(UserError, match=says):
        dpor.check(target, **{"cluster": "local", **options})


def test_without_dask_it_is_said_how_to_install_it(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpor.app.strategies.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r'^--cluster needs Dask: pip install "dpor\[cluster\]"$'):
        dpor.check(target, cluster="local")


def test_a_worker_of_dask_imports_little_of_ours() -> None:
    """It would take the time of many processes that search."""
    code = "import sys, dpor.app.hosting; sys.exit(any(name.startswith('dpor.python') for name in sys.modules))"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
