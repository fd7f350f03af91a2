"""What objects of a type are to the sharing of objects: what publishing does with them, where their fields are, and
whether Python code runs when they die. All of it follows from the type alone, and is cached for the process.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable
from typing import Any, Final

from dpor.python.kernel.classes import module_of_class
from dpor.python.kernel.run import CurrentRun
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.kernel.type_caches import MOST_TYPES, type_cache
from dpor.python.sharing.shared_object import SharedObject

ATOMIC: Final[frozenset[type]] = frozenset(
    {
        int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, slice, type,
        types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, types.CodeType,
        getattr(types, "LazyImportType", types.ModuleType),
        types.MethodWrapperType, types.WrapperDescriptorType, types.MethodDescriptorType, types.GetSetDescriptorType,
        types.MemberDescriptorType, types.ClassMethodDescriptorType, property, staticmethod, re.Pattern, re.Match,
        classmethod, types.GenericAlias, types.UnionType, tuple, frozenset, types.FrameType, types.TracebackType,
    }
)  # fmt: skip
"""Types whose objects hold nothing of their own that can change (what a tuple or a function refers to may). Frames and
tracebacks are among them, although a thread's locals can be reached through them: programs do not do this."""

CONTAINED: Final = frozenset({tuple, frozenset, types.FunctionType, types.MethodType, types.BuiltinFunctionType})
"""The types in `ATOMIC` whose objects refer to other objects that publishing has to look at."""

HOLD_NOTHING: Final = frozenset({int, float, bool, str, bytes, type(None), complex, range, type})
"""Types whose objects hold nothing that has to be published. This does not apply to objects of their subclasses."""

# ---------------------------------------------------------------------- what publishing does

NOTHING_IN_IT, PASSED_THROUGH, KEPT_ALIVE, RECORDED = 1, 2, 3, 4
"""What publishing does with an object of a type. NOTHING_IN_IT: nothing, because nothing that can change is reached
through it. PASSED_THROUGH: it goes on to what the object refers to. KEPT_ALIVE: so with synchronisation objects, which
are also kept alive from then on. RECORDED: it gives the object a `SharedObject` first."""

ways: dict[type, int] = type_cache({})
"""A cache, for the process: what publishing does, by type."""

recorded: Final[set[type]] = set()
"""Classes of dpor whose objects change and are shared as those of the program are."""
_neutral: dict[type, bool] = type_cache({})
"""A cache, for the process: see `is_neutral`."""


def way_of(kind: type) -> int:
    """Return what publishing does with objects of the type: one of the constants above."""
    way = ways.get(kind)
    if way is None:
        if kind in CONTAINED:
            way = PASSED_THROUGH
        elif kind in ATOMIC or issubclass(kind, type) or _is_of_the_search(kind):
            way = NOTHING_IN_IT
        elif not is_neutral(kind):
            way = RECORDED
        else:
            way = KEPT_ALIVE if issubclass(kind, SyncObject) else PASSED_THROUGH
        if len(ways) > MOST_TYPES:
            ways.clear()
        ways[kind] = way
    return way


def _is_of_the_search(kind: type) -> bool:
    """True for what drop-ins and modules (`__spec__`) refer to, but is dpor's: it leads to nothing of the program."""
    return kind is CurrentRun or issubclass(kind, SharedObject) or module_of_class(kind).startswith(_OF_THE_SEARCH)


_OF_THE_SEARCH: Final = ("dpor.core.", "dpor.explorers.", "dpor.python.program.", "dpor.python.states.")


def is_neutral(kind: type) -> bool:
    """True for classes of dpor, mostly drop-ins. Accesses of their fields are no operations: they perform their own."""
    answer = _neutral.get(kind)
    if answer is None:
        module = module_of_class(kind)
        ours = module.startswith("dpor.python") and type(kind).__module__ != "_ctypes"
        answer = ours and kind not in recorded
        if len(_neutral) > MOST_TYPES:
            _neutral.clear()
        _neutral[kind] = answer
    return answer


def make_neutral(kind: type) -> None:
    """Treat objects of the class as drop-ins, whatever module the class is from."""
    _neutral[kind] = True
    ways[kind] = PASSED_THROUGH


# ---------------------------------------------------------------------- fields

_fields: dict[type, Callable[[Any], dict[str, Any]] | None] = type_cache({})
"""A cache, for the process: see `reader_of_dict`."""


def reader_of_dict(kind: type) -> Callable[[Any], dict[str, Any]] | None:
    """Return a function that takes an object of this type and returns its `__dict__` without calling code of the
    program.

    Returns None if such objects have no `__dict__`, or hide it.
    """
    try:
        return _fields[kind]
    except KeyError:
        pass
    if len(_fields) > 5000:  # do not keep for ever the classes that each run makes anew
        _fields.clear()
    found = None
    if kind.__dictoffset__:
        found = next((own for base in kind.__mro__ if type(own := base.__dict__.get("__dict__")) in _GETTERS), None)
    getter = _fields[kind] = None if found is None else found.__get__
    return getter


def fields(obj: Any, kind: type) -> dict[str, Any] | None:
    """Return the `__dict__` of an object of this type, or None."""
    getter = reader_of_dict(kind)
    if getter is None:
        return None
    try:
        return getter(obj)
    except TypeError:  # the bases of the class have changed
        del _fields[kind]
        getter = reader_of_dict(kind)
        return None if getter is None else getter(obj)


_GETTERS: Final = (types.GetSetDescriptorType, types.MemberDescriptorType)


# ---------------------------------------------------------------------- deaths

GENERATORS: Final[dict[type, str]] = {
    types.GeneratorType: "gi_frame",
    types.CoroutineType: "cr_frame",
    types.AsyncGeneratorType: "ag_frame",
}
"""Types whose objects are closed when they die, with the name of the attribute that has the frame."""

_finalised: dict[type, bool] = type_cache({})
"""A cache, for the process: see `is_finalised`."""


def _only_warns(finaliser: types.FunctionType) -> bool:
    """Those of `asyncio` say what has not been closed."""
    return str(finaliser.__globals__.get("__name__")).startswith("asyncio.")


def is_finalised(kind: type) -> bool:
    """True if Python code runs when an object of the class dies: the class has a `__del__` written in Python."""
    answer = _finalised.get(kind)
    if answer is None:
        if len(_finalised) > MOST_TYPES:
            _finalised.clear()
        finaliser = getattr(kind, "__del__", None)
        answer = isinstance(finaliser, types.FunctionType) and not _only_warns(finaliser)
        _finalised[kind] = answer
    return answer
