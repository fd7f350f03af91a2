"""Which code is part of the program, by package: the border between the program and its host.

All Python code that acts while several threads can act is part of the program, whatever package it is in. Running shows
it: the first run in which a package acts goes on to its end, then the package is instrumented (the fact `INSTRUMENTED`)
and the search starts again (`opaque_code.demand`). A package that is in no table here is instrumented on demand.
"""

from __future__ import annotations

import sys
from typing import Final

STDLIB: Final = sys.stdlib_module_names - {"test"}  # many programs have a package of this name with their tests

MODELLED: Final = frozenset(
    {
        "threading", "_thread", "_threading_local", "queue", "_queue", "functools", "time", "datetime", "random",
        "secrets", "uuid", "os", "signal", "atexit", "socket", "importlib", "sched", "concurrent",
        "_multiprocessing",
    }
)  # fmt: skip
"""The program gets drop-ins in their place (`dpor.python.dropins.stdlib`), so they are never instrumented."""

GIVES_MODULES: Final = frozenset({"multiprocessing", "six"})
"""Packages that make what drop-ins stand for, or import modules by name on behalf of the program: always
instrumented."""

CONSTANT: Final = frozenset(
    {
        "bisect", "collections", "configparser", "contextlib", "copy", "csv", "difflib", "graphlib", "heapq", "json",
        "pprint", "reprlib", "shlex", "statistics", "string", "textwrap", "weakref",
    }
)  # fmt: skip
"""Modules of the standard library whose import makes nothing that a run changes. So a call of their functions that
reaches nothing shared needs no instrumentation, and when they are instrumented, they need not be executed again before
each run."""

BENEATH: Final = frozenset({"dpor", "greenlet", "logging", "typing"})
"""What runs programs, or, like logging, is watched as a whole (`dropins/logs.py`)."""

_PYTEST: Final = frozenset({"pytest", "_pytest", "pluggy", "hypothesis", "unittest", "doctest", "test"})
"""They call what they are given, and recognise by class or mark objects that the host has made."""

_IDENTITY: Final = frozenset(
    {
        "abc", "_py_abc", "_collections_abc", "annotationlib", "dataclasses", "enum", "numbers", "types", "operator",
        "typing_extensions",
    }
)  # fmt: skip
"""Modules whose classes and marks let the program and uninstrumented code recognise each other's objects."""

_VALUES: Final = frozenset(
    {"_pydecimal", "_pydatetime", "_strptime", "decimal", "fractions", "ipaddress", "pathlib", "zoneinfo"}
)
"""Modules whose objects never change."""

_INTERPRETER: Final = frozenset(
    {
        "ast", "codecs", "codeop", "ctypes", "dis", "encodings", "inspect", "io", "_pyio", "keyword",
        "linecache", "locale", "opcode", "re", "sre_compile", "sre_constants", "sre_parse", "runpy", "site",
        "sysconfig", "token", "tokenize", "traceback", "warnings", "zipimport", "__future__", "_sitebuiltins",
        "_bootsubprocess", "stat", "posixpath", "ntpath", "genericpath", "copyreg", "struct", "_weakref", "bdb", "pdb",
        "trace", "tracemalloc", "pydoc",
    }
)  # fmt: skip
"""Parts of the interpreter that are written in Python. The interpreter calls them itself, or the runtime does while the
program runs; their state belongs to the process."""

_WAITING: Final = frozenset({"asyncio", "selectors", "subprocess"})
"""They wait for things outside of every schedule: pipes, sockets, processes."""

CLOSED: Final = MODELLED | BENEATH | _PYTEST | _IDENTITY | _VALUES | _INTERPRETER | _WAITING | {"__main__"}
"""Packages that are never instrumented."""

_OF_HOST: Final = (
    BENEATH | _PYTEST | {"__main__", "typing_extensions", "sitecustomize", "usercustomize", "_distutils_hack"}
) - {"test"}
"""Packages of which host and program use the same modules."""

PARTS: Final = {"_weakrefset": "weakref"}
"""Modules that another one uses and whose definitions it exports: they are instrumented together with it."""


def package_of(name: str) -> str:
    """Return the package to instrument so that the code of this name (`module.function`) is instrumented.

    >>> package_of("collections.abc.Mapping.get"), package_of("_weakrefset.WeakSet")
    ('collections', 'weakref')
    """
    package = name.partition(".")[0]
    return PARTS.get(package, package)


def serves_both_sides(module: str) -> bool:
    """True if host and program use the same module of this name. Other packages than the standard library are imported
    once for each side.

    >>> serves_both_sides("json.decoder"), serves_both_sides("click.core")
    (True, False)
    """
    top = module.partition(".")[0]
    return top in STDLIB or top in _OF_HOST or top.startswith(("__editable__", "_virtualenv"))
