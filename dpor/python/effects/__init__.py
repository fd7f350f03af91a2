"""What operations of built-in containers touch, and how they are performed on shared ones.

accesses     locations of a container; what a search knows about how containers change
kinds        container types; whose code a method is
keys, set_order  which element a key means; the order of sets
reach        what comparing, showing and copying read of nested objects
calls        a call of a method, tables of entries, bound methods
generators, iteration  how an iterable is consumed: item by item, or as one operation
lists, dicts, sets, single_location   the tables
"""

from dpor.python.effects import dicts, lists, sets, single_location  # noqa: F401  (they register their container types)
from dpor.python.effects.calls import lookup_target

__all__ = ["lookup_target"]
