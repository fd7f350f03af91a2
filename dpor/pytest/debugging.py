"""`pytest --pdb`: pytest's debugger would stop where we tell pytest of a failure. It is to stop in the program."""

from __future__ import annotations

from typing import Any

import pytest

from dpor.core.errors import DporError
from dpor.core.schedule import SavedSchedule
from dpor.pytest.mark import is_marked

FAILED: pytest.StashKey[SavedSchedule] = pytest.StashKey()
"""Of an interleaved test that has failed: the schedule that shows it."""


class Debugging:
    """In place of pytest's own plugin, which is left to stop in tests that are not interleaved."""

    def __init__(self, own: Any) -> None:
        self._own = own

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self._own.pytest_internalerror(excinfo)

    def pytest_exception_interact(self, node: Any, call: pytest.CallInfo[Any], report: Any) -> None:
        if not (isinstance(node, pytest.Item) and is_marked(node) and report.when == "call"):
            self._own.pytest_exception_interact(node, call, report)
        elif FAILED in node.stash:  # else nothing of the program is to be looked at
            capture = node.config.pluginmanager.getplugin("capturemanager")
            if capture is not None:
                capture.suspend_global_capture(in_=True)
            self._look(node, report)

    def _look(self, node: Any, report: Any) -> None:
        """Tell the failure, run its schedule again, and stop where it fails."""
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
