"""`sys.modules` as the program sees it: with the drop-ins in place of the modules that they replace.

The real one cannot contain them, because uninstrumented code would find them there and keep them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from dpor.python.dropins import copying

_REAL: Final = sys.modules
_SOURCE: Final = Path(__file__).with_name("modules_of_program.py")


@cache
def modules_of_program(drop_in_for: Callable[[str], ModuleType | None]) -> Any:
    """Return the program's `sys.modules`."""

    def given(name: str, module: Any) -> Any:
        return _in_place_of(drop_in_for, name, module)

    given.__module__ = __name__
    source = _SOURCE.read_text().replace("real: Any = None\n", "").replace("given: Any = None\n", "")
    names = {"real": _REAL, "given": given}
    return copying.execute("sys", source, "<sys>", names, lambda name: None).Modules()


def replacement_for(drop_in_for: Callable[[str], ModuleType | None], value: Any) -> Any:
    """Return what the program gets in place of an object of others: a module's drop-in, its `sys.modules`, or the
    object itself."""
    if value is _REAL:
        return modules_of_program(drop_in_for)
    return _in_place_of(drop_in_for, value.__name__, value) if type(value) is ModuleType else value


def is_replaced(name: str) -> bool:
    """True if the program has put an object of its own into `sys.modules` under the name of a module of the library."""
    module = _REAL.get(name)
    return module is not None and not _is_module(name, module)


def _in_place_of(drop_in_for: Callable[[str], ModuleType | None], name: str, module: Any) -> Any:
    return (drop_in_for(name) or module) if _is_module(name, module) else module


def _is_module(name: str, module: Any) -> bool:
    """True if an import has made the module, under this name."""
    return type(module) is ModuleType and getattr(module.__spec__, "name", None) == name
