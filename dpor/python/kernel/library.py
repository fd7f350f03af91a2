"""Modules of the standard library, by what becomes of them when a program uses them."""

from __future__ import annotations

from typing import Final

MODELLED: Final = frozenset(
    {
        "threading", "_thread", "_threading_local", "queue", "_queue", "functools", "time", "datetime", "random",
        "secrets", "uuid", "os", "signal", "atexit", "socket", "importlib", "sched", "concurrent",
    }
)  # fmt: skip
"""The program gets a stand-in in their place (`dpor.python.dropins.stdlib`): they are never instrumented."""

ON_DEMAND: Final = frozenset(
    {
        "bisect", "collections", "configparser", "contextlib", "copy", "csv", "difflib", "graphlib", "heapq", "json",
        "pprint", "reprlib", "shlex", "statistics", "string", "textwrap", "weakref",
    }
)  # fmt: skip
"""Instrumented as soon as something of theirs that is given a shared object would be a single step: the search then
begins again. All are in Python, do the same instrumented as plain (`docs/transparency.md`), and make nothing when they
are imported that a run changes, so they need not be executed again before each run. Not among them: modules by whose
classes and marks the program and code that is not instrumented know each other's objects (`dataclasses`, `enum`,
`numbers`)."""

PARTS: Final = {"_weakrefset": "weakref"}
"""Modules that are there for another, which gives out what they define: instrumented with it."""


def package_of(name: str) -> str:
    """What is to be instrumented, so that the code of this name (`module.function`) is."""
    package = name.partition(".")[0]
    return PARTS.get(package, package)
