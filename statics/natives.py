"""What is known of functions and classes outside the program, by dotted name. All others may do anything."""

from __future__ import annotations

import builtins
import collections
import itertools
import threading
import types
from typing import Final

TEXT: Final = ("__format__", "__str__", "__repr__")
ORDER: Final = ("__lt__", "__gt__", "__eq__", "__hash__")

INERT_MODULES: Final = frozenset(
    {"time", "math", "random", "itertools.count", "typing", "__future__", "abc", "enum.auto"}
)
NOT_INERT: Final = frozenset(
    {
        *(f"random.{name}" for name in ("choice", "choices", "sample", "shuffle")),
        *(f"math.{name}" for name in ("fsum", "prod", "sumprod", "dist", "hypot")),
        *(f"typing.{name}" for name in ("cast", "NamedTuple", "get_type_hints", "no_type_check", "overload")),
    }
)
"""Functions of these modules that read their arguments, or return them."""
"""Their functions touch nothing of the program's objects but what they are given, and give plain values."""

INERT: Final = frozenset(
    {
        "builtins.isinstance", "builtins.issubclass", "builtins.callable", "builtins.id", "builtins.range",
        "builtins.object",
        "builtins.chr", "builtins.ord", "builtins.input", "builtins.object.__init__",
        "builtins.object.__init_subclass__", "builtins.type.__init__",
        "threading.get_ident",
        "threading.active_count", "os.getpid", "sys.exit",
        "builtins.BaseException.with_traceback",
    }
)  # fmt: skip

PROTOCOLS: Final = {
    "builtins.len": ("__len__",), "builtins.str": TEXT, "builtins.repr": TEXT, "builtins.ascii": TEXT,
    "builtins.print": TEXT, "builtins.format": TEXT, "builtins.int": ("__int__", "__index__", "__trunc__"),
    "builtins.float": ("__float__", "__index__"), "builtins.bool": ("__bool__", "__len__"),
    "builtins.abs": ("__abs__",),
    "builtins.round": ("__round__",), "builtins.hash": ("__hash__",), "builtins.complex": ("__complex__", "__float__"),
    "builtins.bytes": ("__bytes__",), "builtins.divmod": ("__divmod__", "__rdivmod__"), "builtins.hex": ("__index__",),
    "builtins.pow": ("__pow__", "__rpow__"), "builtins.bin": ("__index__",), "builtins.oct": ("__index__",),
}  # fmt: skip
"""Functions that call these special methods of their arguments, and return a plain value."""

COLLECTORS: Final = {
    "builtins.list": "list", "builtins.tuple": "tuple", "builtins.set": "set", "builtins.frozenset": "set",
    "builtins.dict": "dict", "builtins.sorted": "list", "builtins.reversed": "iterator", "builtins.map": "iterator",
    "builtins.filter": "iterator", "builtins.iter": "iterator", "builtins.enumerate": "pairs", "builtins.zip": "pairs",
    "collections.deque": "deque", "collections.OrderedDict": "dict", "collections.defaultdict": "dict",
    "collections.Counter": "dict", "queue.Queue": "queue", "queue.LifoQueue": "queue", "queue.PriorityQueue": "queue",
    "queue.SimpleQueue": "queue", "itertools.chain": "iterator", "itertools.product": "pairs",
    "itertools.islice": "iterator", "itertools.cycle": "iterator", "itertools.repeat": "iterator",
    "builtins.bytearray": "list",
}  # fmt: skip
"""Functions that make a container of the items of their arguments, calling any function among the arguments on them.

Iterators do so when they are advanced; "pairs" are iterators over tuples.
"""

PICKERS: Final = frozenset(
    {"builtins.next", "builtins.min", "builtins.max", "builtins.sum", "builtins.any", "builtins.all",
    "functools.reduce"}
)  # fmt: skip
"""Functions that return an item of their arguments, calling any function among the arguments on it."""

LOCKS: Final = frozenset(
    {
        "threading.Lock", "threading.RLock", "threading.Semaphore", "threading.BoundedSemaphore", "threading.Event",
        "threading.Condition", "threading.Barrier",
    }
)  # fmt: skip
"""Classes whose methods touch no object of the program; they may call a function that they are given."""

THREADS: Final = frozenset({"threading.Thread", "threading.Timer"})
EXECUTORS: Final = frozenset({"concurrent.futures.ThreadPoolExecutor", "concurrent.futures.thread.ThreadPoolExecutor"})

CONTROLS: Final = LOCKS | THREADS | EXECUTORS
"""Classes with nothing inside that code of the program could reach or iterate over."""

READING_METHODS: Final = frozenset(
    {
        "get", "index", "count", "copy", "keys", "values", "items", "union", "intersection", "difference", "issubset",
        "issuperset", "isdisjoint", "symmetric_difference", "qsize", "empty", "full", "__len__", "__iter__",
        "__getitem__",
        "__contains__", "__eq__", "__next__", "__bool__", "__lt__", "__gt__", "__le__", "__ge__",
        "__hash__", "__repr__",
    }
)  # fmt: skip
"""Methods of containers that change nothing; for a queue, `get` takes an element away."""


COMPARING_METHODS: Final = frozenset(
    {
        *("index", "count", "remove", "sort", "__contains__"),
        *("__eq__", "__ne__", "__lt__", "__gt__", "__le__", "__ge__"),
    }
)
"""Methods of sequences that compare their elements; any method of other containers may do so."""

_SETS: Final[tuple[type, ...]] = (set, frozenset, type({}.keys()), type({}.items()))
_METHODS: Final = {
    kind: {name for class_ in classes for name in dir(class_)}
    for kind, classes in {
        "list": (
            list, bytearray, range, map, filter, zip, enumerate, itertools.chain, types.GeneratorType, type(iter([])),
            *_SETS,
        ),
        "tuple": (tuple, slice),
        "set": _SETS,
        "dict": (
            dict, collections.OrderedDict, collections.defaultdict, collections.Counter, list, collections.deque,
            *_SETS,
        ),
    }.items()
}  # fmt: skip
"""By kind of built-in container: the attributes of all classes that are modelled as this kind."""


def has_method(kind: str, name: str) -> bool:
    """True if built-in containers that are modelled as this kind may have the attribute."""
    return kind not in _METHODS or name in _METHODS[kind]


def may_have(name: str, attribute: str) -> bool:
    """True if objects of the native class may have the attribute by their class."""
    module, _, klass = name.rpartition(".")
    known = {"builtins": builtins, "threading": threading}.get(module)
    return known is None or not hasattr(known, klass) or hasattr(getattr(known, klass), attribute)


def is_plain_class(name: str) -> bool:
    """True if the class does nothing special with classes that inherit from it."""
    known = _MODELLED if name.count(".") else ()
    return (
        name in known
        or name in INERT
        or name.rpartition(".")[0] in ("builtins", "typing", "abc", "threading", "collections")
    )


def is_inert(name: str) -> bool:
    """True if the function touches no object of the program."""
    module, _, short = name.rpartition(".")
    if module == "builtins.object":
        return short.startswith("__") and short not in _MATTER
    return name in INERT or ((name in INERT_MODULES or module in INERT_MODULES) and name not in NOT_INERT)


_MATTER: Final = frozenset(
    f"__{name}__"
    for name in ("new", "setattr", "delattr", "getattribute", "getattr", "reduce", "reduce_ex", "getstate", "class")
)
"""Attributes of object that access fields."""


OPENERS: Final = frozenset(
    {
        "builtins.exec", "builtins.eval", "builtins.globals", "builtins.locals", "builtins.vars", "sys._getframe",
        "inspect.currentframe", "inspect.stack", "builtins.__import__", "sys.modules", "importlib.import_module",
        "gc.get_objects", "gc.get_referents", "gc.get_referrers",
    }
)  # fmt: skip
"""Functions that reach variables by name."""

PEEKING: Final = frozenset({"sys._getframe", "inspect.currentframe", "inspect.stack"}) | {
    f"gc.get_{name}" for name in ("objects", "referents", "referrers")
}
"""Functions that reach objects nobody passed to them: neither the analysis nor a run sees that these are shared."""

RUNNING: Final = frozenset({"threading.current_thread", "threading.main_thread", "threading.enumerate"})
"""Functions that return thread objects."""

REPLACED: Final = frozenset(
    f"__{name}__" for name in ("dict", "class", "bases", "code", "defaults", "kwdefaults", "closure", "globals")
)
"""Attributes with which a program changes what an object is, or what a function does."""
GIVE_UP: Final = frozenset({"__closure__", "cell_contents", "redirect_stdout", "redirect_stderr", "f_locals"})
"""Attributes that reach variables, or the standard output, without naming them."""

WRAPPERS: Final = frozenset({"functools.partial", "functools.cached_property"})
DATACLASS_METHODS: Final = frozenset(
    {"__eq__", "__lt__", "__gt__", "__le__", "__ge__", "__repr__", "__hash__", "__str__", "__format__", "__ne__"}
)
DATACLASSES: Final = frozenset({"dataclasses.dataclass", "dataclasses.field"})
FOREIGN: Final = "foreign"
"""The name of all native things that nothing is known of."""

_MODELLED: Final = CONTROLS.union(INERT, PROTOCOLS, COLLECTORS, PICKERS, OPENERS, WRAPPERS, DATACLASSES, RUNNING)
_PREFIXES: Final = frozenset(
    ".".join(parts[:length]) for parts in (name.split(".") for name in _MODELLED) for length in range(1, len(parts) + 1)
)


def attribute(name: str, of: str) -> str:
    """The name of an attribute of a native thing, or FOREIGN if nothing depends on which it is."""
    whole = f"{name}.{of}"
    known = whole in _PREFIXES or name in CONTROLS or name in INERT_MODULES
    return whole if known or (name.startswith("builtins") and whole.count(".") <= 2) else FOREIGN
