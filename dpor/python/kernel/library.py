"""What is known of code outside of the program, by package: the border between the program and its host.

All Python code that acts while several threads can act is part of the program, whatever package it is in. Running shows
it: the first run in which a package acts goes on to its end, then the package is instrumented (the fact `INSTRUMENTED`)
and the search starts again (`opaque_code.demand`). A package that is in no row here is instrumented on demand.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Final, NamedTuple

STDLIB: Final = sys.stdlib_module_names - {"test"}  # many programs have a package of this name with their tests


class ModuleRow(NamedTuple):
    """Modules and packages of one sort; a package stands for all that is in it.

    harmless   those whose functions keep nothing of their arguments where another thread could find it, and read
               nothing but text and numbers, or what only the reader of a log will see: a call needs no wrapper
               (`hooks/calls`)
    others     those of which that is not known
    """

    harmless: str = ""
    others: str = ""

    @property
    def names(self) -> frozenset[str]:
        return frozenset(f"{self.harmless} {self.others}".split())


_DROP_INS: Final = ModuleRow(
    "_thread atexit dataclasses datetime functools importlib os signal time uuid",
    "_multiprocessing _queue _threading_local concurrent queue random sched secrets select selectors socket threading",
)
"""The program gets drop-ins in their place (`dpor.python.dropins.stdlib`), so they are never instrumented."""

_CONSTANT: Final = ModuleRow(
    "collections contextlib weakref",
    "bisect configparser copy csv difflib graphlib heapq json pprint reprlib shlex statistics string textwrap",
)
"""Modules of the standard library whose import makes nothing that a run changes. So a call of their functions that
reaches nothing shared needs no instrumentation, and when they are instrumented, they need not be executed again before
each run. The harmless ones pass on what they are given; what they call performs its own operations."""

CHANGING: Final = {"weakref": ("finalize",)}
"""The globals of constant modules that do change: `finalize` has a registry of what is still to be called."""

_BENEATH: Final = ModuleRow("greenlet logging typing", "dpor")
"""What runs programs, or, like logging, is watched as a whole (`dropins/logs.py`)."""

_TESTS: Final = ModuleRow("_pytest hypothesis pytest unittest", "doctest test")
"""They call what they are given, and recognise by class or mark objects that the host has made."""

_IDENTITY: Final = ModuleRow(
    "abc enum numbers operator types", "_collections_abc _py_abc annotationlib typing_extensions"
)
"""Modules whose classes and marks let the program and uninstrumented code recognise each other's objects."""

_VALUES: Final = ModuleRow("decimal fractions ipaddress pathlib zoneinfo", "_pydatetime _pydecimal _strptime")
"""Modules whose objects never change."""

_INTERPRETER: Final = ModuleRow(
    "_weakref codecs genericpath inspect io keyword linecache locale ntpath posixpath re runpy site stat sysconfig"
    " traceback warnings",
    "__future__ _bootsubprocess _pyio _sitebuiltins ast bdb codeop copyreg ctypes dis encodings opcode pdb pydoc"
    " sre_compile sre_constants sre_parse struct token tokenize trace tracemalloc zipimport",
)
"""Parts of the interpreter that are written in Python. The interpreter calls them itself, or the runtime does while the
program runs; their state belongs to the process."""

_WAITING: Final = ModuleRow("asyncio", "subprocess")
"""They wait for things outside of every schedule: pipes, sockets, processes. (What threads do to a loop of `asyncio` is
seen by `dropins/loops.py`.)"""

_IN_C: Final = ModuleRow(
    "_abc _codecs _datetime _decimal _functools _imp _io _operator _random _signal _sre _string _time _uuid _warnings"
    " builtins cmath errno faulthandler gc itertools math nt posix sys unicodedata _frozen_importlib"
)
"""Modules in C, and the import system: they handle numbers, text and the system, or pass on what they are given. (Those
of whose functions nothing is known are in no row.)"""

_NEVER_INSTRUMENTED: Final = (_DROP_INS, _BENEATH, _TESTS, _IDENTITY, _VALUES, _INTERPRETER, _WAITING)

MODELLED: Final = _DROP_INS.names
CONSTANT: Final = _CONSTANT.names
BENEATH: Final = _BENEATH.names
CLOSED: Final = frozenset({"__main__"}).union(*[row.names for row in _NEVER_INSTRUMENTED])
"""Packages that are never instrumented."""
HARMLESS_MODULES: Final = frozenset(" ".join(row.harmless for row in (*_NEVER_INSTRUMENTED, _CONSTANT, _IN_C)).split())
"""Modules (and packages) a call of whose functions needs no wrapper: see `ModuleRow.harmless`."""

GIVES_MODULES: Final = frozenset({"multiprocessing", "six"})
"""Packages that make objects for which the program must get drop-ins, or import modules by name on its behalf. They are
always instrumented."""

IN_PYTHON_TOO: Final = frozenset(
    {"lazy_object_proxy.cext", "wrapt._wrappers", "zope.interface._zope_interface_coptimizations"}
)
"""Submodules in C that call code of the program, or keep classes of it, and that their packages also have in Python: a
program does not find those in C, so it gets those in Python, which are instrumented like all else."""

_OF_HOST: Final = (
    BENEATH | _TESTS.names | {"__main__", "typing_extensions", "sitecustomize", "usercustomize", "_distutils_hack"}
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


@cache
def serves_both_sides(module: str) -> bool:
    """True if host and program use the same module of this name. Other packages than the standard library are imported
    once for each side.

    >>> serves_both_sides("json.decoder"), serves_both_sides("click.core")
    (True, False)
    """
    top = module.partition(".")[0]
    return top in STDLIB or top in _OF_HOST or top.startswith(("__editable__", "_virtualenv"))
