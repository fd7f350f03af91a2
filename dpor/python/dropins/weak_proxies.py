"""The drop-in for `weakref.proxy`. Its class is written in Python and instrumented, so operations on a proxy are those
on its object. (Two proxies of one object are two objects, where CPython makes one.)"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from dpor.python.dropins import copying


def weak_proxy(obj: Any, callback: Callable[[Any], object] | None = None, /) -> Any:
    """Return what the program gets for `weakref.proxy(obj, callback)`."""
    return _code().proxy_of(obj, callback)


@cache
def _code() -> Any:
    """Return `program_proxies`, instrumented. Its functions count as generated, because of the name of their file."""
    source = Path(__file__).with_name("program_proxies.py").read_text()
    return copying.execute("weakref", source, "<weak proxies>", {}, lambda name: None)
