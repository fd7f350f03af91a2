"""Hooks for built-in functions, types and C functions that instrumented code calls.

calling    `call`, the hook: what is called in place of each callee
table      which modules and methods need no wrapper
registry   the wrappers, by function
unknown    functions of which nothing is known: one step that changes all that it can reach
consumers  functions that consume an iterable, as one operation or item by item; iterators over iterators
abstract   `isinstance` and `issubclass` where the program has a `__subclasshook__`
objects    attributes by name, `id`, `hash`, text, namespaces
formatting `str.format` with fields that name attributes or items
executing  `exec`, `eval`, `compile`
contexts   `decimal`
tracebacks `traceback`
environment   functions that look at the environment of the process
process    functions that look at or change the state of the process
files      functions that are given paths, and open files; `file_locks`: `fcntl`
operating  `operator`, `heapq`, `bisect`, `copy`; `ordering`: the twins of `heapq` and `bisect`
pickles    `pickle`
"""

from dpor.python.hooks.calls.calling import call, call_after

__all__ = ["call", "call_after"]
