"""The hooks of pytest: they add options, choose the tests to interleave, and report verdicts.

Every pytest run where dpor is installed loads this module. So what a check needs is imported only when the first marked
test runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dpor.core.errors import UserError
from dpor.core.interpreter import remark
from dpor.pytest.mark import VERDICT, add_options, is_marked, of_command_line

if TYPE_CHECKING:
    from dpor.core.schedule import SavedSchedule

_LETTERS = {"inconclusive": "i", "error": "E"}
_REPLAYED: pytest.StashKey[SavedSchedule] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    _leave_our_assertions(pluginmanager)
    group = parser.getgroup("dpor", "dpor: tests marked interleave, under every interleaving of their threads")
    add_options(group)
    group.addoption(
        "--dpor-report", metavar="DIR", help="write the report of each of them there, and failing schedules"
    )
    group.addoption(
        "--dpor-replay", metavar="FILE", help="run only the test of this saved schedule, once, as it failed"
    )
    group.addoption("--dpor-strict", action="store_true", help="an inconclusive test fails")


def _leave_our_assertions(pluginmanager: pytest.PytestPluginManager) -> None:
    """Keep pytest from rewriting dpor's assertions, as it does for all packages that come with a plugin: some of them
    are in drop-ins for the standard library, and must raise what the library raises. pytest has no public way to
    exclude a package."""
    hook: Any = pluginmanager.rewrite_hook
    getattr(hook, "_must_rewrite", set()).discard("dpor")
    getattr(hook, "_marked_for_rewrite_cache", {}).clear()


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "interleave(strategy=..., max_seconds=..., ...): run the test under every interleaving of its threads; the"
        " options are those of dpor.check",
    )
    try:
        _check_options(config)
    except UserError as error:
        raise pytest.UsageError(f"dpor: {error}") from None
    own = config.pluginmanager.getplugin("pdbinvoke")
    if own is not None:
        from dpor.pytest.debugging import Debugging

        config.pluginmanager.unregister(own)
        config.pluginmanager.register(Debugging(own), "pdbinvoke")


def _check_options(config: pytest.Config) -> None:
    folder, replayed = config.getoption("dpor_report"), config.getoption("dpor_replay")
    given = of_command_line(config)
    if "strategy" in given:
        from dpor.app.strategies import strategy_named

        strategy_named(given["strategy"])
    if folder is not None:
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"--dpor-report {folder}: the folder cannot be made: {error.strerror or error}") from None
    if replayed is not None:
        from dpor.core.schedule import SavedSchedule

        config.stash[_REPLAYED] = SavedSchedule.load(replayed)


# ---------------------------------------------------------------------- which tests


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--dpor-replay`, select only the test of the schedule."""
    saved = config.stash.get(_REPLAYED, None)
    if saved is None:
        return
    from dpor.core.schedule import OF_PYTEST

    chosen = [item for item in items if OF_PYTEST + item.nodeid == saved.target]
    if not chosen:
        raise pytest.UsageError(
            f"dpor: --dpor-replay: the schedule is of {saved.target.removeprefix(OF_PYTEST)}, which is not among the"
            " tests collected here"
        )
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


def _is_interleaved(item: Any) -> bool:
    return isinstance(item, pytest.Item) and is_marked(item)


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: Any) -> object:
    """Give pytest a placeholder for fixtures that each execution of an interleaved test sets up itself."""
    if not _is_interleaved(request.node):
        return None
    from dpor.pytest.fixtures import is_renewed

    if not is_renewed(fixturedef):
        return None
    fixturedef.cached_result = (_LATER, fixturedef.cache_key(request), None)
    return _LATER


class _Later:
    def __repr__(self) -> str:
        return "<set up in each execution>"


_LATER = _Later()


# ---------------------------------------------------------------------- running one


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if _is_interleaved(item):
        from dpor.pytest.target import refuse_unrepeatable

        try:
            refuse_unrepeatable(item)
        except UserError as error:
            raise pytest.fail.Exception(f"dpor: {error}", pytrace=False) from None


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> object:
    if not _is_interleaved(pyfuncitem):
        return None
    from dpor.pytest.running import run_test

    run_test(pyfuncitem, pyfuncitem.config.stash.get(_REPLAYED, None))
    return True


# ---------------------------------------------------------------------- telling


def _property(report: Any, name: str) -> Any:
    return next((value for key, value in reversed(report.user_properties) if key == name), None)


def pytest_report_header() -> list[str]:
    return [f"dpor: {remark()}"] if remark() else []


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: Any) -> tuple[str, str, str] | None:
    """Report an inconclusive test as neither passed nor failed, and a test that dpor cannot run as an error."""
    verdict = _property(report, VERDICT) if report.when == "call" else None
    if (verdict == "inconclusive" and report.passed) or (verdict == "error" and report.failed):
        return verdict, _LETTERS[verdict], verdict.upper()
    return None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    told: Iterator[str] = (
        f"{report.nodeid}: {_property(report, 'dpor.reasons')} (executions: {_property(report, 'dpor.executions')})"
        for report in terminalreporter.getreports("inconclusive")
    )
    for number, line in enumerate(told):
        if number == 0:
            terminalreporter.write_sep("=", "inconclusive: no failure found, and not everything covered")
        terminalreporter.write_line(line)
