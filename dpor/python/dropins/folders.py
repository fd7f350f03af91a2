"""Python functions of `os` that do several things to the file system one after the other: CPython's own source,
instrumented."""

from __future__ import annotations

import os as real
from pathlib import Path
from typing import Any

from dpor.python.dropins import copying
from dpor.python.dropins.from_threading import only

_NAMES = {"makedirs", "removedirs", "renames", "walk"}
_PARTS = {"_walk"}
"""Functions that these call, in some versions."""


def names() -> dict[str, Any]:
    """Return the replacements for these names in `os`."""
    given = {
        name: value for name, value in vars(real).items() if not name.startswith("__") and name not in _NAMES | _PARTS
    }
    source = only(Path(real.__file__).read_text(), _NAMES | _PARTS)
    module = copying.execute("os", source, "<os>", given, lambda name: None)
    return {name: vars(module)[name] for name in _NAMES}
