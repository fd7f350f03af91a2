"""Which code is part of the program, by the package that it is in: the border between the program and its host.

Python code of any package that acts while several threads can act is part of the program. It is found out by running:
the first run in which that shows goes on to its end, the package is instrumented (the fact `INSTRUMENTED`), and the
search starts again (`opaque_code.demand`). What is in no table here is instrumented on demand.
"""

from __future__ import annotations

import sys
from typing import Final

STDLIB: Final = sys.stdlib_module_names - {"test"}  # many a program's tests are in a package of this name

MODELLED: Final = frozenset(
    {
        "threading", "_thread", "_threading_local", "queue", "_queue", "functools", "time", "datetime", "random",
        "secrets", "uuid", "os", "signal", "atexit", "socket", "importlib", "sched", "concurrent",
    }
)  # fmt: skip
"""The program gets a drop-in in their place (`dpor.python.dropins.stdlib`): they are never instrumented."""

GIVES_MODULES: Final = frozenset({"six"})
"""Packages that import modules of the library by name for others, who are to get the drop-ins: always instrumented."""

CONSTANT: Final = frozenset(
    {
        "bisect", "collections", "configparser", "contextlib", "copy", "csv", "difflib", "graphlib", "heapq", "json",
        "pprint", "reprlib", "shlex", "statistics", "string", "textwrap", "weakref",
    }
)  # fmt: skip
"""Modules of the standard library that make nothing when they are imported that a run changes: a function of theirs
that comes to nothing shared is seen by nobody, and instrumented, they need not be executed again before each run."""

BENEATH: Final = frozenset({"dpor", "greenlet", "logging", "typing"})
"""What runs programs, or is watched by it as a whole (logging, see `dropins/logs.py`)."""

_PYTEST: Final = frozenset({"pytest", "_pytest", "pluggy", "hypothesis", "unittest", "doctest", "test"})
"""They call what they are given, and know by their classes and marks what the host has made."""

_IDENTITY: Final = frozenset(
    {
        "abc", "_py_abc", "_collections_abc", "annotationlib", "dataclasses", "enum", "numbers", "types", "operator",
        "typing_extensions",
    }
)  # fmt: skip
"""Modules by whose classes and marks the program and code that is not instrumented know each other's objects."""

_VALUES: Final = frozenset(
    {"_pydecimal", "_pydatetime", "_strptime", "decimal", "fractions", "ipaddress", "pathlib", "zoneinfo"}
)
"""Their objects never change."""

_INTERPRETER: Final = frozenset(
    {
        "ast", "codecs", "codeop", "ctypes", "dis", "encodings", "inspect", "io", "_pyio", "keyword",
        "linecache", "locale", "opcode", "re", "sre_compile", "sre_constants", "sre_parse", "runpy", "site",
        "sysconfig", "token", "tokenize", "traceback", "warnings", "zipimport", "__future__", "_sitebuiltins",
        "_bootsubprocess", "stat", "posixpath", "ntpath", "genericpath", "copyreg", "struct", "_weakref", "bdb", "pdb",
        "trace", "tracemalloc", "pydoc",
    }
)  # fmt: skip
"""Parts of the interpreter that are written in Python. The interpreter itself calls them, or the runtime does while the
program runs; their state is that of the process."""

_WAITING: Final = frozenset({"asyncio", "multiprocessing", "selectors", "subprocess"})
"""They wait for what no schedule has: pipes, sockets, processes."""

CLOSED: Final = MODELLED | BENEATH | _PYTEST | _IDENTITY | _VALUES | _INTERPRETER | _WAITING | {"__main__"}
"""Never instrumented."""

_OF_HOST: Final = (
    BENEATH | _PYTEST | {"__main__", "typing_extensions", "sitecustomize", "usercustomize", "_distutils_hack"}
) - {"test"}
"""The one module that is there serves both sides."""

PARTS: Final = {"_weakrefset": "weakref"}
"""Modules that are there for another, which gives out what they define: instrumented with it."""


def package_of(name: str) -> str:
    """What is to be instrumented, so that the code of this name (`module.function`) is.

    >>> package_of("collections.abc.Mapping.get"), package_of("_weakrefset.WeakSet")
    ('collections', 'weakref')
    """
    package = name.partition(".")[0]
    return PARTS.get(package, package)


def serves_both_sides(module: str) -> bool:
    """True if host and program use the same module of this name. Of all others each side has its own: those of other
    packages than the standard library.

    >>> serves_both_sides("json.decoder"), serves_both_sides("click.core")
    (True, False)
    """
    top = module.partition(".")[0]
    return top in STDLIB or top in _OF_HOST or top.startswith(("__editable__", "_virtualenv"))
