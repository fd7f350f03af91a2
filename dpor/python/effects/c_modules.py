"""Modules in C: which of them keep state of their own, besides the objects that they make.

That state is one location, and a call of a function or method of which nothing else is known writes it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from dpor.core.home import is_ours
from dpor.core.operations import WRITE, Accesses
from dpor.python.effects import process_state
from dpor.python.kernel.run import run

WITHOUT_STATE: Final = frozenset(
    {
        "abc", "array", "ast", "audioop", "bisect", "blake2", "bz2", "cmath", "codecs_cn", "codecs_hk",
        "codecs_iso2022", "codecs_jp", "codecs_kr", "codecs_tw", "collections", "contextvars", "crypt",
        "datetime", "elementtree", "errno", "functools", "grp", "hashlib", "heapq", "hmac", "imp", "io", "itertools",
        "json", "lzma", "binascii", "marshal", "math", "math_integer", "md5", "multibytecodec", "nis", "opcode",
        "operator",
        "pickle", "pwd", "pyexpat", "random", "sha1", "sha2", "sha256", "sha3", "sha512", "spwd", "sre", "stat",
        "statistics", "string", "struct", "suggestions", "symtable", "sysconfig", "tokenize", "types", "typing",
        "unicodedata", "uuid", "weakref", "weakrefset", "xml", "xxlimited", "xxlimited_35", "xxlimited_3_13",
        "xxsubtype", "zlib",
        "zoneinfo", "zstd",
    }
)  # fmt: skip
"""Modules of the standard library whose state is only in the objects that they make, or is a cache without visible
effects, or is the same in every run."""

WITH_ROWS: Final = frozenset(
    {
        "builtins", "codecs", "csv", "decimal", "faulthandler", "gc", "locale", "posix", "nt", "os", "signal",
        "socket", "sys", "thread", "threading", "time", "tracemalloc", "warnings", "queue", "atexit",
    }
)  # fmt: skip
"""Modules whose state is described function by function (`hooks/calls/process.py`, `hooks/calls/files.py`), or which
have drop-ins."""

WITH_STATE: Final = frozenset(
    {
        "asyncio", "ctypes", "ctypes_test", "curses", "curses_panel", "dbm", "gdbm", "fcntl", "interpchannels",
        "interpqueues", "interpreters", "lsprof", "mmap", "multiprocessing", "ossaudiodev", "posixshmem",
        "posixsubprocess", "readline", "remote_debugging", "resource", "scproxy", "select", "sqlite3", "ssl",
        "syslog", "termios",
        "testbuffer", "testcapi", "testclinic", "testclinic_limited", "testexternalinspection",
        "testimportmultiple", "testinternalcapi", "testlimitedcapi", "testmultiphase", "testsinglephase",
        "tkinter", "xxinterpchannels", "xxsubinterpreters", "xxtestfuzz",
    }
)  # fmt: skip
"""The other modules of the standard library: databases, terminals, descriptors, interpreters, and tests of C code."""

OF_OTHERS: Final = frozenset({"frozenlist", "greenlet", "markupsafe", "msgpack", "numpy", "orjson", "rpds", "wrapt"})
"""Other packages in C without state; an exception is `numpy.random`, whose functions share one generator."""

_HAVE: Final = {"numpy": ("numpy.random",)}


@lru_cache(maxsize=1024)
def keeper(module: str) -> str | None:
    """Return the name of the state that the module keeps, or None: one for all modules of a package, `_x` and `x`
    alike."""
    top = module.partition(".")[0].lstrip("_")
    if is_ours(module):  # a class that ctypes made for us
        return None
    within = next((part for part in _HAVE.get(top, ()) if module == part or module.startswith(f"{part}.")), None)
    if within is not None:
        return within
    return None if not top or top in WITHOUT_STATE or top in WITH_ROWS or top in OF_OTHERS else top


def written(module: str) -> Accesses:
    """Return the accesses by which a call of something unknown in this module writes the module's state."""
    name = keeper(module)
    if name is None:
        return ()
    part = f"what the module {name} keeps"
    process_state.before_change(part)
    return process_state.accesses(part, WRITE) if run.multi else ()
