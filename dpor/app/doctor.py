"""Tests whether dpor works here: programs whose verdicts and numbers are known, what the interpreter allows, and which
modules of a target are instrumented. It prints nothing: see `dpor.cli.doctor`.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, entry_points, version

import attrs

from dpor.app.checking import check
from dpor.app.replaying import replay
from dpor.app.targets import open_target
from dpor.core.errors import DporError
from dpor.core.home import HOME
from dpor.core.interpreter import remark
from dpor.core.options import Options
from dpor.core.plural import plural
from dpor.core.pulse import is_free
from dpor.core.schedule import relative
from dpor.core.version import VERSION
from dpor.python.kernel.library import CLOSED
from dpor.python.program.system import PythonSystem
from dpor.python.rewrite import cache

_DEFAULT = Options()
RACY, RACY_CLASSES = "dpor.workloads.racy_counter:main", 34
LOCKED, LOCKED_CLASSES = "dpor.workloads.locked_counter:main", 20


@attrs.frozen
class Examined:
    """One examined item. `good`: True or False, or None if it is only information."""

    good: bool | None
    text: str


def examine(target: str | None = None, options: Options = _DEFAULT) -> Iterator[Examined]:
    """Examine everything, quick items first. Raises `UserError` if the target cannot be loaded."""
    yield Examined(None, _versions())
    if remark():
        yield Examined(None, remark())
    yield from map(_tried, (_known_race, _known_pass, _states))
    yield _timer()
    yield _pytest()
    yield _cache()
    if target is not None:
        yield from _modules(target, options)


def _versions() -> str:
    system = f"{platform.python_implementation()} {platform.python_version()} on {platform.system()}"
    others = ", ".join(f"{name} {version(name)}" for name in ("greenlet", "attrs", "click"))
    return f"dpor {VERSION} in {relative(HOME)}; {system}; {others}"


# ---------------------------------------------------------------------- known programs


def _tried(look: Callable[[], Examined]) -> Examined:
    try:
        return look()
    except DporError as error:
        return Examined(False, f"{type(error).__name__}: {error}")


def _known_race() -> Examined:
    report = check(RACY, all=True)
    text = f"a known race: {RACY}: {report.verdict}, {plural(report.executions, 'execution')}"
    if report.verdict != "fail" or report.executions != RACY_CLASSES or report.findings[0].saved is None:
        return Examined(False, f"{text}; expected were fail and {RACY_CLASSES}")
    failure = replay(report.findings[0].saved)
    return Examined(True, f"{text}; replayed: {failure.message}")


def _known_pass() -> Examined:
    report = check(LOCKED)
    text = f"a known correct program: {LOCKED}: {report.verdict}, {plural(report.executions, 'execution')}"
    if report.verdict != "pass" or report.executions != LOCKED_CLASSES:
        return Examined(False, f"{text}; expected were pass and {LOCKED_CLASSES}")
    return Examined(True, text)


def _states() -> Examined:
    report = check(LOCKED, strategy="dpor")
    if report.verdict != "pass":
        return Examined(False, f"states: {LOCKED} under dpor: {report.verdict}; expected was pass")
    for reason in report.unstored:
        without = (
            "states cannot be stored, so --strategy dpor gains nothing here, and no loop is seen to wait by spinning"
        )
        return Examined(None, f"{without}: {reason}")
    return Examined(True, f"states can be stored: {report.states} of {LOCKED}, {report.matched} matched")


# ---------------------------------------------------------------------- the installation


def _timer() -> Examined:
    if is_free():
        return Examined(True, "a timer: budgets end runs that make no operation any more")
    return Examined(None, "no timer here: budgets are looked at between runs only")


def _pytest() -> Examined:
    try:
        found = version("pytest")
    except PackageNotFoundError:
        return Examined(None, "pytest is not installed here: pip install 'dpor[pytest]' for interleaved tests")
    if any(each.name == "dpor" for each in entry_points(group="pytest11")):
        return Examined(True, f"pytest {found} loads the plugin of dpor")
    return Examined(False, f"pytest {found} does not know the plugin of dpor: install dpor again")


def _cache() -> Examined:
    folder = cache.user_folder()
    if os.environ.get(cache.VARIABLE) or folder is None:
        return Examined(None, "rewritten modules are not kept on disk: every check begins with rewriting them")
    entries, size = cache.Cache(folder).size()
    return Examined(None, f"rewritten modules are kept in {folder}: {plural(entries, 'file')}, {size / 1e6:.1f} MB")


def _modules(target: str, options: Options) -> Iterator[Examined]:
    """Yield which parts of a target are instrumented, which are not, and which are trusted."""
    system = open_target(target, options)
    for path in sorted(system.sources()):
        yield Examined(None, f"{target}: instrumented: {relative(path)}")
    if isinstance(system, PythonSystem):
        for package in system.foreign():
            if package in options.trust:
                yield Examined(None, f"{target}: trusted, each call is one step: {package}")
            elif options.only:
                yield Examined(None, f"{target}: left out by --only, inconclusive if it runs among threads: {package}")
            else:
                yield Examined(None, f"{target}: not instrumented, until its code runs among threads: {package}")
        trusted = " ".join(sorted(name for name in CLOSED if not name.startswith("_")))
        yield Examined(None, f"{target}: modelled, or trusted to be as in dpor's tables: {trusted}")
