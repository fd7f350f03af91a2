"""Logging of interleaved tests. pytest keeps the log records of a test to show them if it fails. A test that runs a
thousand times would keep those of all runs, so its records are printed instead, and shown with the run that is
reported."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


class _Printed(logging.Handler):
    """A handler that writes to whatever the standard error stream is at that moment."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stderr)


@contextmanager
def printed(item: pytest.Item) -> Iterator[None]:
    """Replace pytest's log handlers, except that of `caplog` if the test uses it, by one that prints."""
    plugin: Any = item.config.pluginmanager.getplugin("logging-plugin")
    if plugin is None:
        yield
        return
    root = logging.getLogger()
    asked_for = plugin.caplog_handler if "caplog" in getattr(item, "fixturenames", ()) else None
    theirs = [each for each in root.handlers if type(each).__module__ == "_pytest.logging" and each is not asked_for]
    ours = _Printed(plugin.report_handler.level)
    ours.setFormatter(plugin.formatter)
    before = list(root.handlers)
    root.handlers[:] = [*(each for each in before if each not in theirs), ours]
    try:
        yield
    finally:
        root.handlers[:] = before
