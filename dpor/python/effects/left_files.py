"""Files that a run leaves changed.

What lies in the folder for temporary files is removed after each run (`hooks/calls/files.py`). Other files stay as a
run leaves them, so that a later run may find something else than an earlier one, and do something else. Nothing is
restored there: what was there before a check is not ours to write. So a run is incomplete if it comes to a path and
does not find there what the first run found that changed it.
"""

from __future__ import annotations

import os
import stat
from typing import Any, Final

from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.run import run


class _Visited:
    """The paths that the present run has come to."""

    def __init__(self) -> None:
        self.paths: set[str] = set()


_now: Final = run.attach(_Visited)
_found: Final[dict[str, Any]] = {}
"""What the first run of this check that changed a path had found there."""
_MOST: Final = 1 << 20
"""Bytes of a file that are compared."""


def begin_check() -> None:
    _found.clear()


def visit(path: str, *, to_change: bool) -> None:
    """Called before the run looks at the path, or changes what is there."""
    if run.current is None or run.unwinding:
        return
    if path in _found:
        if path not in _now.paths and _found[path] != _at(path):
            incomplete(
                f"{path} is not as an earlier run has found it, as runs change it: let them work in a folder that"
                " tempfile makes, which is removed after each run"
            )
    elif to_change:
        _found[path] = _at(path)
    else:
        return
    _now.paths.add(path)


def _at(path: str) -> Any:
    """Return what can be told of what is there; None if nothing is."""
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            return status.st_mode
        if status.st_size > _MOST:
            return status.st_mode, status.st_size, status.st_mtime_ns
        with open(path, "rb") as file:
            return status.st_mode, file.read()
    except OSError:
        return None
