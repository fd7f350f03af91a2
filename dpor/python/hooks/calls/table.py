"""What modules, functions and methods of the standard library do with their arguments, besides the harmless modules
(`kernel/library.py`)."""

from __future__ import annotations

from typing import Final

STATEFUL_MODULES: Final = frozenset(
    {
        "codecs", "collections", "weakref", "_weakrefset", "re", "unittest.result", "unittest.runner",
        "unittest.suite",
    }
)  # fmt: skip
"""Harmless modules with classes, written in Python, whose objects change or write to files: their methods are not
harmless."""

READING_MODULES: Final = frozenset(
    {
        "math", "math.integer", "_json", "_pickle", "zlib", "binascii", "_struct", "_hashlib", "_statistics", "marshal",
        "_csv", "_bisect",
    }
)  # fmt: skip
"""Modules whose C functions read their arguments and change nothing."""

TEXT_MODULES: Final = frozenset({"re", "_sre", "io", "_io", "codecs", "_codecs", "os", "posix", "nt"})
"""Harmless modules that read text, which may be in a bytearray, and change nothing."""

PASSING_MODULES: Final = frozenset({"_weakrefset", "abc", "contextlib", "operator", "posixpath", "re"})
"""Harmless modules none of whose functions in Python looks into a dict that it is given."""

WRITING_FUNCTIONS: Final = frozenset(
    {
        "pack_into", "dump", "pprint", "pp", "copyfileobj", "print", "print_exc", "print_exception", "print_last",
        "print_list", "print_stack", "print_tb", "showwarning",
    }
)  # fmt: skip
"""Names of functions and methods in these and in harmless modules that are exceptions: they write to their
arguments."""

READING_PYTHON_MODULES: Final = frozenset({"statistics", "json", "json.encoder", "pprint", "reprlib"})
READING_FUNCTIONS: Final = frozenset(
    {
        ("inspect", "getattr_static"),
        ("copy", "copy"), ("copy", "deepcopy"), ("heapq", "nlargest"), ("heapq", "nsmallest"),
    }
)  # fmt: skip
"""Modules, and names in modules, whose Python functions read their arguments and change nothing."""

READS_ARGUMENTS: Final = frozenset(
    {
        "extend", "extendleft", "update", "union", "intersection", "difference", "symmetric_difference", "issubset",
        "issuperset", "isdisjoint", "intersection_update", "difference_update", "symmetric_difference_update",
        "index", "count", "remove", "sort", "join", "__init__", "__contains__", "__next__", "send", "throw", "close",
        "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__repr__", "__setitem__", "writelines", "fromlist",
    }
    | {f"__{prefix}{name}__" for prefix in ("", "i", "r") for name in ("add", "or", "and", "xor", "sub")}
)  # fmt: skip
"""Methods of containers that read their arguments: they need a wrapper even if their own container is private."""
