"""The pytest plugin: what a marked test comes to, and how that is told."""

from __future__ import annotations

import json
import sys
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree

import pytest

import dpor
import dpor.pytest.running  # so that it is not imported anew for each of the runs below

pytest_plugins = ["pytester"]

BOTH = """
import threading
import pytest
import dpor


class Account:
    def __init__(self, n=0):
        self.n = n
        self.lock = threading.Lock()

    def deposit(self, k):
        v = self.n
        self.n = v + k

    def deposit_safely(self, k):
        with self.lock:
            self.deposit(k)


def both(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

"""

RACY = """
@dpor.interleave
def test_racy():
    account = Account()
    both(lambda: account.deposit(1), lambda: account.deposit(1))
    assert account.n == 2
"""

SAFE = RACY.replace("account.deposit(", "account.deposit_safely(")


class Project:
    """A folder with tests, which pytest runs with no plugins but ours and those named."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester

    def write(self, source: str, name: str = "test_it", start: str = BOTH) -> None:
        self.pytester.makepyfile(**{name: start + source})

    def run(self, *args: str) -> pytest.RunResult:
        return self.pytester.runpytest("-p", "dpor.pytest.plugin", "-p", "no:xdist", *args)

    def check(self, source: str, *args: str, **outcomes: int) -> str:
        """Run these tests; the outcomes are as given. Returns what was printed."""
        self.write(source)
        result = self.run(*args)
        assert result.parseoutcomes() == outcomes, result.stdout.str()
        return result.stdout.str()


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for variable in ("PYTEST_ADDOPTS", "CI", "BUILD_NUMBER"):  # under CI pytest's summary repeats whole messages
        monkeypatch.delenv(variable, raising=False)
    return Project(pytester)


# ---------------------------------------------------------------------- failures


def test_a_failure_is_told_by_its_interleaving_and_how_to_replay_it(project: Project) -> None:
    text = project.check(RACY, failed=1)
    assert "AssertionError in MainThread at test_it.py:32: assert account.n == 2" in text
    assert "write Account.n" in text
    assert "<- races with" in text
    assert "Again: pytest test_it.py::test_racy --dpor-replay .pytest_cache/d/dpor/test_it-test_racy-" in text


def test_a_failure_is_replayed_alone(project: Project) -> None:
    project.check(RACY + "\ndef test_other(): pass", failed=1, passed=1)
    (saved,) = Path(".pytest_cache/d/dpor").iterdir()
    result = project.run("--dpor-replay", str(saved))
    assert result.parseoutcomes() == {"failed": 1, "deselected": 1}
    result.stdout.fnmatch_lines(["AssertionError in MainThread*", "*write Account.n*", "*Traceback (most recent call*"])


def test_a_replay_can_be_debugged(project: Project) -> None:
    """It stops where the program begins and where it fails; pytest's own debugger does not stop once more in ours."""
    project.check(RACY, failed=1)
    (saved,) = Path(".pytest_cache/d/dpor").iterdir()
    command = [sys.executable, "-m", "pytest", "-p", "dpor.pytest.plugin", "--pdb", "--dpor-replay", str(saved)]
    keys = b"continue\np 'it is', account.n\nquit\n"
    text = project.pytester.run(*command, stdin=keys).stdout.str()
    assert "-> assert account.n == 2" in text
    assert "('it is', 1)" in text
    assert "dpor/pytest" not in text
    assert "1 failed" in text


def test_the_debugger_stops_in_the_program(project: Project) -> None:
    """Not where pytest is told of the failure; and in other tests where they fail."""
    project.write(RACY + "\ndef test_other(): assert 0 == 1")
    command = [sys.executable, "-m", "pytest", "-p", "dpor.pytest.plugin", "--pdb"]
    keys = b"p 'it is', account.n\ncontinue\ncontinue\n"
    text = project.pytester.run(*command, stdin=keys).stdout.str()
    assert text.index("write Account.n") < text.index("-> assert account.n == 2") < text.index("('it is', 1)")
    assert "-> def test_other(): assert 0 == 1" in text
    assert "dpor/pytest" not in text
    assert "2 failed" in text


def test_a_schedule_of_a_test_is_not_for_dpor_replay(project: Project) -> None:
    project.check(RACY, failed=1)
    (saved,) = Path(".pytest_cache/d/dpor").iterdir()
    with pytest.raises(dpor.UserError, match=r"run pytest test_it\.py::test_racy --dpor-replay"):
        dpor.replay(saved)


def test_a_failure_is_tried_first_until_it_is_mended(project: Project) -> None:
    project.check(RACY, failed=1)
    again = project.check(f"\n\n{RACY}", failed=1)  # other lines, the same failure
    assert "stopped at a failure of an earlier check, which is still there.  1 execution" in again
    project.check(SAFE, passed=1)
    assert not [*Path(".pytest_cache/d/dpor").iterdir()]


def test_reports_and_schedules_are_written(project: Project) -> None:
    text = project.check(RACY, "--dpor-report", "out", failed=1)
    files = sorted(path.name for path in Path("out").iterdir())
    schedule, page, report = files
    assert f"--dpor-replay out/{schedule}" in text
    assert "write Account.n" in Path("out", page).read_text()
    assert json.loads(Path("out", report).read_text())["verdict"] == "fail"


# ---------------------------------------------------------------------- other verdicts


def test_an_inconclusive_test_is_told_as_such_and_fails_only_if_strict(project: Project) -> None:
    source = SAFE.replace("@dpor.interleave", "@dpor.interleave(max_executions=2)")
    text = project.check(source, inconclusive=1)
    assert "test_it.py::test_racy: --max-executions 2 reached (executions: 1)" in text
    project.check(source, "--dpor-strict", failed=1)


def test_a_test_without_a_visible_operation_is_an_error(project: Project) -> None:
    source = """
@dpor.interleave
def test_without_threads():
    assert Account().n == 0

@dpor.interleave
def test_nothing_in_common():
    def alone():
        account = Account()
        account.deposit(1)
    both(alone, alone)
"""
    assert project.check(source, errors=2).count("there was nothing to interleave") == 2


def test_skip_and_xfail_in_a_test_are_what_they_say(project: Project) -> None:
    source = """
@dpor.interleave
def test_skipped():
    pytest.skip("not today")

@dpor.interleave
def test_to_fail():
    pytest.xfail("known")

@pytest.mark.xfail
@dpor.interleave
def test_expected():
    account = Account()
    both(lambda: account.deposit(1), lambda: account.deposit(1))
    assert account.n == 2
"""
    project.check(source, skipped=1, xfailed=2)


def test_junit_has_the_verdict_and_the_counts(project: Project) -> None:
    project.check(SAFE, "--junitxml", "junit.xml", passed=1)
    properties = {p.get("name"): p.get("value") for p in ElementTree.parse("junit.xml").iter("property")}
    assert (properties["dpor.verdict"], properties["dpor.executions"], properties["dpor.strategy"]) == (
        "pass",
        "2",
        "optimal",
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("@dpor.interleave(budget=3)\ndef test(): pass", "@interleave has no option 'budget'; there are strategy, "),
        ("@pytest.mark.interleave(3)\ndef test(): pass", "takes options by name, such as max_seconds=10, not 3"),
        ("@dpor.interleave(strategy='best')\ndef test(): pass", "no strategy 'best'; there are "),
        ("@dpor.interleave\nasync def test(): pass", "test is async"),
        (
            "import unittest\nclass TestOld(unittest.TestCase):\n    @dpor.interleave\n    def test(self): pass",
            "unittest.TestCase: make it a plain function",
        ),
        (
            "import functools\nimport hypothesis, hypothesis.strategies as st\n@dpor.interleave\n"
            "@hypothesis.given(st.integers())\ndef test(n): pass",
            "call dpor.check inside the test instead",
        ),
        (
            "def setup_module(): pass\n@dpor.interleave\ndef test(): pass",
            "setup_module is called once, not in each execution",
        ),
        (
            "@pytest.fixture(scope='module')\ndef event(): return threading.Event()\n"
            "@dpor.interleave\ndef test(event): both(event.set, event.wait)",
            "the fixture 'event': a Event was made outside of the program: make it in the function that is checked, or"
            " give the fixture function scope",
        ),
        ("@pytest.fixture\nasync def a(): pass\n@dpor.interleave\ndef test(a): pass", "the fixture 'a' is async"),
    ],
)
def test_what_cannot_be_interleaved_is_an_error_with_the_reason(project: Project, source: str, message: str) -> None:
    project.write(source)
    result = project.run("-W", "ignore")
    assert result.parseoutcomes() == {"errors": 1}
    assert message in result.stdout.str()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--dpor-strategy", "magic"), "dpor: no strategy 'magic'; there are auto, none, classic, source, optimal"),
        (("--dpor-budget", "-1"), "--dpor-budget: max_seconds must be a number of 0 or more, not -1"),
        (("--dpor-replay", "none.json"), "none.json: cannot be read: No such file or directory"),
        (("--dpor-report", "test_it.py"), "--dpor-report test_it.py: the folder cannot be made: File exists"),
    ],
)
def test_wrong_options_are_told_at_once(project: Project, args: tuple[str, ...], message: str) -> None:
    project.write(SAFE)
    result = project.run(*args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in result.stderr.str()


def test_the_command_line_goes_before_the_mark(project: Project) -> None:
    source = SAFE.replace("@dpor.interleave", "@dpor.interleave(strategy='none', max_seconds=0)")
    project.check(source, "--dpor-strategy", "source", "--dpor-budget", "30", "--junitxml", "junit.xml", passed=1)
    assert 'name="dpor.strategy" value="source"' in Path("junit.xml").read_text()


# ---------------------------------------------------------------------- fixtures


def test_each_execution_has_fixtures_of_its_own(project: Project) -> None:
    """Set up and torn down in each, in pytest's order; what one execution changes is not there in the next."""
    (project.pytester.path / "conftest.py").write_text(
        BOTH
        + """
@pytest.fixture
def log():
    return []

@pytest.fixture
def account(log, request):
    request.addfinalizer(lambda: log.append("finalizer"))
    log.append("set up")
    yield Account()
    log.append("torn down")

@pytest.fixture(autouse=True)
def whole(log):
    yield
    assert log == ["set up", "overridden", "test", "torn down", "finalizer"], log
"""
    )
    source = """
@pytest.fixture
def account(account, log):
    log.append("overridden")
    account.n = 7
    return account

@pytest.mark.parametrize("k", [1, 2])
@dpor.interleave
def test_account(k, request):
    account = request.getfixturevalue("account")
    request.getfixturevalue("log").append("test")
    both(lambda: account.deposit_safely(k), lambda: account.deposit_safely(k))
    assert account.n == 7 + 2 * k
"""
    text = project.check(source, "-v", "--junitxml", "junit.xml", passed=2)
    assert "test_account[1] PASSED" in text
    assert Path("junit.xml").read_text().count('name="dpor.executions" value="2"') == 2


def test_fixtures_of_conftest_are_instrumented(project: Project) -> None:
    (project.pytester.path / "conftest.py").write_text(BOTH + "@pytest.fixture\ndef account(): return Account()")
    source = """
@dpor.interleave
def test_racy(account):
    both(lambda: account.deposit(1), lambda: account.deposit(1))
    assert account.n == 2
"""
    project.check(source, failed=1)


def test_objects_of_classes_of_conftest_are_copied(project: Project) -> None:
    conftest = BOTH + '@pytest.fixture(scope="module")\ndef account(): return Account()'
    (project.pytester.path / "conftest.py").write_text(conftest)
    source = """
@pytest.mark.parametrize("again", [0, 1])
@dpor.interleave
def test_from_the_beginning(account, again):
    both(lambda: account.deposit_safely(1), lambda: account.deposit_safely(1))
    assert account.n == 2
"""
    project.check(source, passed=2)


def test_modules_can_be_parameters(project: Project) -> None:
    project.pytester.makepyfile(bank=BOTH.replace("import pytest\nimport dpor\n", ""))
    source = """
import bank

@pytest.mark.parametrize("module", [bank])
@dpor.interleave
def test_it(module):
    account = module.Account()
    module.both(lambda: account.deposit(1), lambda: account.deposit(1))
    assert account.n == 2
"""
    assert "<- races with" in project.check(source, failed=1)


def test_an_error_in_a_fixture_is_a_failure(project: Project) -> None:
    source = """
@pytest.fixture
def account():
    account = Account()
    yield account
    assert account.n == 2

@dpor.interleave
def test_racy(account):
    both(lambda: account.deposit(1), lambda: account.deposit(1))
"""
    assert "test_it.py:32: assert account.n == 2" in project.check(source, failed=1)


def test_methods_have_an_object_of_their_own(project: Project) -> None:
    source = """
@dpor.interleave
class TestAccount:
    def setup_method(self):
        self.account = Account(5)

    @pytest.fixture
    def mine(self):
        return self.account

    def test_account(self, mine):
        both(lambda: mine.deposit(1), lambda: self.account.deposit(1))
        assert self.account.n == 7

def setup_function(function):
    global ready
    ready = function.__name__

@dpor.interleave
def test_prepared():
    account = Account()
    both(lambda: account.deposit_safely(1), lambda: account.deposit_safely(1))
    assert ready == "test_prepared"
"""
    project.check(source, failed=1, passed=1)


def test_values_of_wider_scope_are_copied_for_each_execution(project: Project) -> None:
    source = """
import enum, io

class Colour(enum.Enum):
    RED = 1

@pytest.fixture(scope="module")
def items():
    return [0]

@pytest.fixture(scope="session")
def stream():
    return io.BytesIO()

@dpor.interleave
@pytest.mark.parametrize("colour", [Colour.RED])
def test_items(items, colour):
    both(lambda: items.append(1), lambda: items.append(1))
    assert items == [0, 1, 1]
    assert colour is Colour.RED

@dpor.interleave
def test_stream(stream):
    account = Account()
    both(lambda: account.deposit(1), lambda: account.deposit(1))
"""
    text = project.check(source, passed=1, inconclusive=1)
    assert "the session-scoped fixture 'stream' has a BytesIO that cannot be copied" in text


def test_fixtures_of_pytest_are_as_new_in_each_execution(project: Project) -> None:
    source = """
import logging, os

@dpor.interleave
def test_them(tmp_path, monkeypatch, capsys, caplog, record_property):
    assert not [*tmp_path.iterdir()]
    assert "DPOR_TEST" not in os.environ
    monkeypatch.setenv("DPOR_TEST", "1")
    (tmp_path / "there").mkdir()
    account = Account()
    both(lambda: account.deposit_safely(1), lambda: account.deposit_safely(1))
    logging.warning("done")
    assert len(caplog.records) == 1
    print("done")
    assert capsys.readouterr().out == "done\\n"
    record_property("n", account.n)
"""
    project.check(source, "--junitxml", "junit.xml", "-o", "junit_family=xunit1", passed=1)
    properties = [p.get("name") for p in ElementTree.parse("junit.xml").iter("property")]
    assert properties.count("n") == 1


def test_the_log_of_the_run_that_is_told_is_shown_and_no_other(project: Project) -> None:
    """Nor what the workers of a pool log when they are ended with the run."""
    source = """
import logging
from concurrent.futures import ThreadPoolExecutor

@dpor.interleave
def test_pool():
    account = Account()
    def deposit(n):
        logging.warning("deposit %s", n)
        account.deposit(n)
    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(deposit, n) for n in (1, 2)]:
            future.result()
    assert account.n == 3
"""
    text = project.check(source, failed=1)
    assert "Captured log call" not in text
    assert "UnwindThread" not in text
    printed = text.split("The program printed:\n")[1].split("\n\n")[0]
    assert sorted(line.split("deposit ")[1] for line in printed.splitlines()) == ["1", "2"]


def test_strategies_that_store_states_see_what_fixtures_have_to_do(project: Project) -> None:
    source = """
@pytest.fixture
def account():
    account = Account()
    yield account
    assert account.n == 2

@dpor.interleave(strategy="dpor")
def test_racy(account):
    both(lambda: account.deposit(1), lambda: account.deposit(1))
"""
    project.check(source, failed=1)


# ---------------------------------------------------------------------- beside other plugins


def test_beside_asyncio(project: Project) -> None:
    pytest.importorskip("pytest_asyncio")
    source = "\n@pytest.mark.asyncio\nasync def test_async(): pass\n"
    project.write(SAFE + source)
    result = project.run("-p", "pytest_asyncio.plugin", "-W", "ignore")
    assert result.parseoutcomes() == {"passed": 2}


def test_beside_coverage(project: Project) -> None:
    """What the threads of a test execute counts."""
    pytest.importorskip("pytest_cov")
    project.pytester.makepyfile(bank=BOTH.replace("import pytest\nimport dpor\n", ""))
    project.write(SAFE, start="import dpor\nfrom bank import Account, both\n")
    Path(".coveragerc").write_text("[run]\nconcurrency = thread, greenlet\n")
    command = [sys.executable, "-m", "pytest", "-p", "dpor.pytest.plugin", "-p", "pytest_cov.plugin"]
    result = project.pytester.run(*command, "--cov", "bank", "--cov-report", "term-missing")
    assert result.parseoutcomes() == {"passed": 1}
    result.stdout.fnmatch_lines(["bank.py *100%*"])


def test_beside_xdist(project: Project) -> None:
    project.write(RACY + SAFE.replace("test_racy", "test_safe"))
    result = project.pytester.runpytest("-p", "dpor.pytest.plugin", "-p", "xdist", "-n", "1", "--junitxml", "junit.xml")
    assert result.parseoutcomes() == {"failed": 1, "passed": 1}
    assert 'name="dpor.verdict" value="fail"' in Path("junit.xml").read_text()


def test_plain_tests_are_left_alone(project: Project) -> None:
    source = """
made = []

@pytest.fixture
def account():
    made.append(1)
    return Account()

def test_plain(account):
    account.deposit(1)
    assert account.n == 1
    assert made == [1]
"""
    project.check(source, passed=1)


def test_assertions_of_dpor_itself_are_not_rewritten(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of plugins that are installed, pytest rewrites the whole packages."""
    if not any(each.name == "dpor" for each in entry_points(group="pytest11")):
        pytest.skip("dpor is not installed here")
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    source = """
@dpor.interleave
def test_group():
    account = Account()
    both(lambda: account.deposit_safely(1), lambda: account.deposit_safely(1))
    try:
        threading.Thread(group=1)
    except AssertionError as error:
        assert str(error) == "group argument must be None for now"
"""
    project.write(source)
    result = project.pytester.runpytest_subprocess()
    assert result.parseoutcomes() == {"passed": 1}, result.stdout.str()


def test_the_plugin_imports_no_search_before_it_is_needed(project: Project) -> None:
    source = """
def test_plain():
    import sys
    assert "dpor.app.checking" not in sys.modules
    assert "dpor.python" not in sys.modules
"""
    project.write(source, start="")
    result = project.pytester.runpytest_subprocess("-p", "dpor.pytest.plugin")
    assert result.parseoutcomes() == {"passed": 1}
