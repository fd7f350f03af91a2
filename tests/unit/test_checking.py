"""`dpor.check` and `dpor.replay` from Python: functions as targets, options, errors, Ctrl-C."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import dpor
from dpor.app import explaining
from dpor.app.checking import Session
from dpor.core.errors import AssumptionBroken
from dpor.core.options import Options, Timeouts
from dpor.report.progress import Monitor, Progress


def racy() -> None:
    """Two threads add to a list's only element."""
    cells = [0]

    def add() -> None:
        cells[0] += 1

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cells == [2]


def test_a_function_is_a_target_and_its_failure_can_be_replayed(tmp_path: Path) -> None:
    report = dpor.check(racy)
    assert report.verdict is dpor.Verdict.FAIL
    assert report.target.endswith("test_checking:racy")
    (failure,) = report.findings
    assert failure.saved is not None
    failure.saved.save(tmp_path / "s.json")
    assert dpor.replay(tmp_path / "s.json", racy).message == failure.message


def test_a_closure_is_a_target() -> None:
    limit = 1
    lock = threading.Lock()

    def guarded() -> None:
        taken = []

        def take() -> None:
            with lock:
                if len(taken) < limit:
                    taken.append(1)

        threads = [threading.Thread(target=take) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(taken) == limit

    assert dpor.check(guarded).verdict == "pass"


def test_keyword_arguments_win_over_the_options_given() -> None:
    options = Options(all=True, max_executions=1)
    assert dpor.check(racy, options, max_executions=None).exhaustive
    assert not dpor.check(racy, options).exhaustive


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"strategy": "magic"}, "no strategy 'magic'"),
        ({"max_executions": 0}, "max_executions must be a number of 1 or more, not 0"),
        ({"max_steps": "many"}, "max_steps must be a number of 1 or more, not 'many'"),
        ({"max_steps": True}, "max_steps must be"),
        ({"max_steps": None}, "max_steps must be"),
        ({"max_seconds": -1}, "max_seconds must be a number of 0 or more, not -1"),
        ({"timeouts": "never"}, "timeouts must be 'any' or 'idle', not 'never'"),
    ],
)
def test_a_wrong_option_is_a_user_error_that_shows_the_value(changes: dict[str, object], complaint: str) -> None:
    with pytest.raises(dpor.UserError, match=complaint):
        dpor.check(racy, **changes)  # type: ignore[arg-type]


def test_options_take_the_plain_forms() -> None:
    options = Options(timeouts="idle", instrument="copy")
    assert (options.timeouts, options.instrument) == (Timeouts.IDLE, ("copy",))
    assert Options(instrument=["a", "b"]).instrument == ("a", "b")


def test_a_target_that_is_none_is_a_bad_target() -> None:
    with pytest.raises(dpor.BadTarget, match="a target is"):
        dpor.check("nonsense")


class Interrupts(Monitor):
    """Presses Ctrl-C at the first opportunity."""

    def progress(self, progress: Progress) -> None:
        raise KeyboardInterrupt


def busy() -> None:
    cells = [0]

    def add() -> None:
        for _ in range(50):
            cells[0] += 1

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_ctrl_c_is_passed_on_unless_it_is_asked_for() -> None:
    with pytest.raises(KeyboardInterrupt):
        Session(busy, Options(), Interrupts()).run()
    monitor = Interrupts()
    monitor.interruptible = True
    report = Session(busy, Options(), monitor).run()
    assert (report.verdict, report.reasons) == ("inconclusive", ("interrupted",))


def test_the_same_check_gives_the_same_report() -> None:
    reports = [dpor.check(racy, all=True) for _ in range(2)]
    first, second = ([f.trace for f in r.findings] for r in reports)
    assert first == second
    counts = [(r.executions, r.blocked, r.events, r.replayed, r.choices, r.outcomes) for r in reports]
    assert counts[0] == counts[1]


@pytest.mark.parametrize("strategy", ["optimal", "dpor", "none"])
def test_a_program_that_remembers_is_told_though_no_event_differs(strategy: str, tmp_path: Path) -> None:
    count = str(tmp_path / "count")

    def program() -> int:
        thread = threading.Thread(target=print)
        thread.start()
        thread.join()
        with open(count, "a+") as file:
            file.write("x")
            return file.tell()

    report = dpor.check(program, strategy=strategy)
    assert report.verdict == "inconclusive"
    assert report.reasons == (
        "NotDeterministic: the first execution, repeated after all others, ends with another result, though each event"
        " was the same",
    )


def test_a_failure_is_not_lost_if_a_fact_shows_while_it_is_told_and_time_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    explain, withdrawn = explaining.explain, []

    def late(session: Session) -> None:
        def first(*args: Any) -> Any:
            if not withdrawn:
                withdrawn.append(True)
                session._course.phases.deadline = 0.0
                raise AssumptionBroken("planted")
            return explain(*args)

        monkeypatch.setattr(explaining, "explain", first)

    for all_ in (False, True):
        withdrawn.clear()
        session = Session(racy, Options(all=all_))
        late(session)
        report = session.run()
        assert report.restarts[-1] == "planted"
        assert (report.verdict, report.exhaustive) == ("fail", False)
        assert len(report.findings) == 1
        assert report.findings[0].saved is not None
