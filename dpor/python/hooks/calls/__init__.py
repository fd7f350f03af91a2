"""Built-in functions, types and C functions, when instrumented code calls them.

calling    `call`, the hook: what is called in place of what
table      which function has which wrapper, and which modules need none
unknown    functions that nothing is known of: one step that changes what it can reach
consumers  functions that consume an iterable, as one operation or item by item; iterators over iterators
objects    attributes by name, `id`, `hash`, text, namespaces
executing  `exec`, `eval`, `compile`
generating the methods that `dataclasses` and `attrs` make
contexts   `decimal`
tracebacks `traceback`
environment   functions that look at the environment of the process
operating  `operator`, `heapq`, `bisect`, `copy`
"""

from dpor.python.hooks.calls.calling import call

__all__ = ["call"]
