"""`pytest --pdb` for interleaved tests. pytest's own debugger would stop where dpor reports the failure to pytest; this
one runs the failing schedule again and stops in the program, where it fails."""

from __future__ import annotations

from typing import Any

import pytest

from dpor.core.errors import DporError
from dpor.core.schedule import SavedSchedule
from dpor.pytest.mark import is_marked

FAILED: pytest.StashKey[SavedSchedule] = pytest.StashKey()
"""On an interleaved test that has failed: the schedule that shows the failure."""


class Debugging:
    """Replaces pytest's own debugging plugin, and passes on to it what concerns tests that are not interleaved."""

    def __init__(self, own: Any) -> None:
        self._own = own

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self._own.pytest_internalerror(excinfo)

    def pytest_exception_interact(self, node: Any, call: pytest.CallInfo[Any], report: Any) -> None:
        if not (isinstance(node, pytest.Item) and is_marked(node) and report.when == "call"):
            self._own.pytest_exception_interact(node, call, report)
        elif FAILED in node.stash:  # else the program has nothing to look at
            capture = node.config.pluginmanager.getplugin("capturemanager")
            if capture is not None:
                capture.suspend_global_capture(in_=True)
            self._look(node, report)

    def _look(self, node: Any, report: Any) -> None:
        """Print the failure, run its schedule again, and stop where it fails."""
        from dpor.app.debugger import looked_at
        from dpor.app.replaying import Replay
        from dpor.pytest.target import TestTarget

        terminal = node.config.pluginmanager.getplugin("terminalreporter")._tw
        terminal.line()
        report.toterminal(terminal)
        report._pdbshown = True  # pytest then does not print it again
        try:
            Replay(node.stash[FAILED], TestTarget(node)).run(looked_at)
        except DporError as error:
            terminal.line(f"dpor: {error}")
