"""The page of a failure, in a browser: it renders, steps, filters threads, and runs no script of the program."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

import dpor
from dpor.app.checking import Session
from dpor.core.explanation import Edge, Explanation
from dpor.core.options import Options
from dpor.core.results import Failure
from dpor.core.steps import Step
from dpor.report.page import failure_page, report_page
from tests.browser import CHROMIUM, Browser, browser

HOSTILE = """
import threading

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)><!--"


class Box:
    def __init__(self):
        self.value = EVIL


def scenario():
    box = Box()
    table = {EVIL: 0}

    def body():
        text = box.value  # <script>alert(3)</script> "quoted" & more
        seen = table[EVIL]
        table[EVIL] = seen + 1
        print(text)

    threads = [threading.Thread(target=body, name=EVIL + str(number)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert table[EVIL] == 2, EVIL
"""
CORRECT = """
import threading


def scenario():
    lock, seen = threading.Lock(), []

    def body(number):
        with lock:
            seen.append(number)

    threads = [threading.Thread(target=body, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
CURRENT = "document.querySelector('li.event[aria-current]')"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no chromium here: the pages are not tried in a browser (Debian: apt-get install chromium)")
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def hostile() -> Failure:
    Path("hostile.py").write_text(HOSTILE)
    (failure,) = dpor.check("hostile.py::scenario").findings
    return failure


def show(tab: Browser, page: str) -> None:
    Path("page.html").write_text(page, encoding="utf-8")
    tab.open(Path("page.html"))


def test_a_hostile_program_gets_no_script_into_the_page(tab: Browser) -> None:
    failure = hostile()
    show(tab, failure_page(failure, "hostile.py::scenario"))
    events = tab.value("document.querySelectorAll('li.event').length")
    assert events == len(failure.trace)
    for _ in range(events):  # what the script tells of each event, too
        tab.press("ArrowDown")
    assert "onerror=alert(2)" in tab.value("document.querySelector('aside').textContent")
    assert tab.value("document.querySelectorAll('img, script').length") == 2, "the data and our own script"
    assert not tab.dialogs
    assert all(address.startswith("file:") for address in tab.opened), "no network"


def test_keys_step_through_the_events_and_show_their_state(tab: Browser) -> None:
    failure = hostile()
    show(tab, failure_page(failure, "hostile.py::scenario"))
    tab.press("j")
    assert tab.value(f"{CURRENT}.textContent").split("start")[0].strip().endswith(".")
    tab.press("ArrowDown", "ArrowDown", "ArrowUp")
    assert tab.value(f"[...document.querySelectorAll('li.event')].indexOf({CURRENT})") == 1
    tab.press("End")
    assert tab.value(f"[...document.querySelectorAll('li.event')].indexOf({CURRENT})") == len(failure.trace) - 1
    tab.press("Home", "r")
    assert tab.value(f"{CURRENT}.classList.contains('racing')")
    shown = tab.value("document.querySelector('aside').textContent")
    assert "Variables of" in shown
    assert "Happens after" in shown or "Shared, as last seen" in shown
    tab.press("s")
    target = tab.value("document.querySelector(':target').textContent")
    assert target.strip().startswith(str(next(step.line for step in failure.trace if step.racing)))


def test_threads_can_be_hidden(tab: Browser) -> None:
    failure = hostile()
    show(tab, failure_page(failure, "hostile.py::scenario"))
    visible = "[...document.querySelectorAll('li.event')].filter(item => item.offsetParent !== null).length"
    arrows = "document.querySelectorAll('path.edge').length"
    every, drawn = tab.value(visible), tab.value(arrows)
    assert drawn == len(failure.explanation.edges)  # type: ignore[union-attr]
    tab.press("2")
    own = sum(action & 0xFFFF == 1 for action in failure.schedule)
    assert tab.value(visible) == every - own
    assert tab.value(arrows) < drawn
    tab.press("2")
    assert (tab.value(visible), tab.value(arrows)) == (every, drawn)


def test_it_is_light_or_dark_as_the_reader_s_system_is(tab: Browser) -> None:
    show(tab, failure_page(hostile(), "hostile.py::scenario"))
    colour = "getComputedStyle(document.body).backgroundColor"
    assert tab.value(colour) == "rgb(255, 255, 255)"
    tab.prefer("dark")
    assert tab.value(colour) == "rgb(20, 24, 31)"


def five_hundred_events() -> Failure:
    steps = tuple(
        Step(
            f"worker-{at % 5}",
            "some/where.py",
            at % 40 + 1,
            "self.total[key] = self.total.get(key, 0) + amount",
            "write Account.total",
            f"{{'key': {at}}}",
            at in (498, 499),
            variables=tuple((f"variable_{number}", f"some value {at}") for number in range(10)),
        )
        for at in range(500)
    )
    return Failure(
        kind=dpor.Kind.ASSERTION,
        message="AssertionError: no",
        thread="worker-0",
        schedule=tuple(at % 5 for at in range(500)),
        threads=tuple(f"worker-{number}" for number in range(5)),
        trace=steps,
        explanation=Explanation(edges=tuple(Edge(at, at + 1) for at in range(499))),
    )


def test_a_failure_of_500_events_is_a_small_page(tab: Browser) -> None:
    page = failure_page(five_hundred_events(), "some/where.py::scenario")
    assert len(page.encode()) < 1_000_000
    show(tab, page)
    assert tab.value("document.querySelectorAll('li.event').length") == 500
    assert tab.value("document.querySelectorAll('path.edge').length") == 499


def test_a_failure_without_a_trace_has_a_page(tab: Browser) -> None:
    failure = Failure(kind=dpor.Kind.DEADLOCK, message="t waits", thread="t", schedule=(0, 0))
    show(tab, failure_page(failure, "x.py::y"))
    tab.press("ArrowDown", "End", "Home", "r", "1", "s", "n")
    assert "t waits" in tab.value("document.body.textContent")


def test_the_page_of_a_pass_maps_the_classes() -> None:
    Path("correct.py").write_text(CORRECT)
    session = Session("correct.py::scenario", Options(), mapped=True)
    report = session.run()
    explored = session.class_map()
    assert (report.executions, len(explored.classes), explored.left_out) == (6, 6, 0)
    page = report_page(report, explored)
    assert "6 classes, all there are" in page
    assert page.count("<b>returned None</b>") == 6


def test_only_some_failures_are_shown_in_full() -> None:
    failure = hostile()
    report = dpor.check("hostile.py::scenario")
    page = report_page(attrs.evolve(report, findings=(failure,) * 12))
    assert len(re.findall(r'<section class="failure">', page)) == 10
    assert "2 more failures" in page


def test_the_command_line_writes_pages() -> None:
    Path("hostile.py").write_text(HOSTILE)
    Path("correct.py").write_text(CORRECT)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "dpor", *arguments], capture_output=True, text=True, timeout=600)

    assert run("check", "hostile.py::scenario", "--html", "fail.html", "--save", "s.json").returncode == 1
    assert 'section class="failure"' in Path("fail.html").read_text()
    assert run("check", "correct.py::scenario", "--html", "pass.html").returncode == 0
    assert "What was explored" in Path("pass.html").read_text()
    explained = run("explain", "s.json", "--html", "again.html", "--json", "-")
    assert explained.returncode == 1, explained.stderr
    assert '"whenever"' in explained.stdout
    assert 'section class="failure"' in Path("again.html").read_text()
    missing = run("explain", "s.json", "--html", "nowhere/x.html")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr.startswith("dpor: nowhere/x.html: there is no folder")
