"""Effects of operations on built-in containers: which locations they access, and how they are performed on shared ones.

accesses         locations of a container; facts of a search about how containers change
kinds            container types; who wrote a method (the program, Python code of a library, C)
keys, set_order  which element a key means; the order of sets
key_order        who looks at the order of the keys of a dict
reach            accesses to nested objects by comparing, showing and copying
calls            calls of methods, tables of entries, bound methods
generators, iteration  how an iterable is consumed: item by item, or as one operation
lists, dicts, sets, single_location   the tables
"""

from dpor.python.effects import dicts, lists, sets, single_location  # noqa: F401  (they register their container types)
from dpor.python.effects.calls import lookup_target

__all__ = ["lookup_target"]
