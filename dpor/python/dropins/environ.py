"""`os.environ`: CPython's own class, instrumented, on the dict of the real one."""

from __future__ import annotations

import os as real
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any

from dpor.python.dropins import copying
from dpor.python.dropins.from_threading import only

_GIVEN = ("putenv", "unsetenv", "_clearenv", "_exists")


def names() -> dict[str, Any]:
    """Return the replacements for names in `os`."""
    given = {name: vars(real)[name] for name in _GIVEN if name in vars(real)}
    source = only(Path(real.__file__).read_text(), {"_Environ"})
    kind = copying.execute(
        "os", source, "<os>", {"MutableMapping": MutableMapping, "Mapping": Mapping, **given}, lambda name: None
    )._Environ
    found: dict[str, Any] = {"_Environ": kind}
    for name, getter in (("environ", "getenv"), ("environb", "getenvb")):
        if hasattr(real, name):
            found[name] = environ = kind.__new__(kind)
            vars(environ).update(vars(vars(real)[name]))
            found[getter] = _getter(environ)
    return found


def _getter(environ: Mapping[Any, Any]) -> Any:
    def getenv(key: Any, default: Any = None) -> Any:
        return environ.get(key, default)

    return getenv
