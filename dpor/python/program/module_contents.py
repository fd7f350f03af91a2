"""The objects that a program's modules can reach, and how they are restored after a run.

To execute all modules again before each run takes long if packages belong to the program. So `ModuleContents` walks
once through all objects that their globals can reach, when they have been imported. After each run it compares what
each of them refers to (`watching.py`), whoever may have changed it, Python or C, and restores in place what differs
(`restoring.py`). This takes a fraction of a millisecond where executing takes hundreds.

    references   of containers, of the `__dict__` and slots of instances, of cells, functions and classes
    values       of objects that hold no references and can change: bytearrays, counters, random generators
    words        of memory that hold what `get_referents` does not show (`hidden_words.py`)

The walk leaves out the host's own modules, classes, functions, loggers and streams (`HostState` restores what programs
change there), and whatever cannot change. Some objects do not show whether they have changed: a generator, a file, an
object of an unknown type in C. A module that holds one cannot be restored (`StateUnknown`), and is executed again
before each run. The same holds if a change cannot be undone in place (`CannotRestore`), and if a run has dropped the
last reference to an object whose death it could have noticed: `ModuleContents` refers to it, so it did not die.
"""

from __future__ import annotations

import builtins
import collections
import functools
import gc
import io
import json
import logging
import operator
import re
import struct
import sys
import types
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from itertools import chain
from typing import Any, Final

from dpor.core.home import is_ours
from dpor.python.dropins.logs import HandlerLock
from dpor.python.effects.kinds import is_hooked
from dpor.python.kernel.classes import HEAP_TYPE, is_a
from dpor.python.kernel.host_modules import DropInModule
from dpor.python.kernel.run import run
from dpor.python.kernel.type_caches import forget_types
from dpor.python.program.abstract_classes import AbstractClasses, refuse_asked
from dpor.python.program.hidden_words import hidden_words_of, words_of_class
from dpor.python.program.host import HostState
from dpor.python.program.restoring import (
    CONTAINERS,
    IMMUTABLE_BASES,
    KNOWN_BASES,
    LRU_CACHE,
    VALUES,
    CannotRestore,
    class_restorer,
    function_restorer,
    restore_set,
    restore_value,
    restorer,
)
from dpor.python.program.sink import is_as_new
from dpor.python.program.watching import DictBlock, HiddenBlock, ObjectBlock, parts
from dpor.python.sharing import children, type_traits
from dpor.python.states.classes import find
from dpor.python.states.memory import referent
from dpor.python.states.plans import layout
from dpor.python.states.stacks import StateUnknown

_UNCHANGING: Final[frozenset[type]] = frozenset(
    {
        int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, object,
        types.CodeType, types.WrapperDescriptorType, types.MethodDescriptorType, types.GetSetDescriptorType,
        types.MemberDescriptorType, types.ClassMethodDescriptorType, re.Pattern, struct.Struct, DropInModule,
        type(sys.version_info), type(sys.flags), type(vars(collections.namedtuple("_", "a"))["a"]),
    }
)  # fmt: skip
"""Types whose objects neither change nor refer to anything that does."""

_PASSED_THROUGH: Final[frozenset[type]] = frozenset(
    {
        tuple, frozenset, slice, types.MethodType, types.MethodWrapperType, types.BuiltinFunctionType,
        types.GenericAlias, types.UnionType, types.MappingProxyType, type({}.keys()), type({}.values()),
        type({}.items()), operator.attrgetter, operator.itemgetter, operator.methodcaller, super, ContextVar,
        json.scanner.c_make_scanner, json.encoder.c_make_encoder,  # type: ignore[attr-defined]
        weakref.ReferenceType, weakref.ProxyType, weakref.CallableProxyType,
        vars(builtins).get("frozendict", tuple),  # from 3.15 on
    }
)  # fmt: skip
"""Types whose objects do not change, but refer to others that may."""

_MOST_TIMES: Final = 5
_WEAK: Final = (weakref.ReferenceType, weakref.ProxyType, weakref.CallableProxyType)
_NOT_THE_PROGRAMS: Final = (logging.Manager, logging.PlaceHolder)
_LEFT_OUT: Final = frozenset({"__builtins__", "__loader__", "__spec__", "__cached__", "__file__", "__name__"})


class ModuleContents:
    """All objects that modules could reach when this was made, and what each referred to.

    modules   the modules, by name
    host      the state of the host's modules that a run can change; None if there is none
    left      objects that importing the modules has stored elsewhere

    Raises `StateUnknown` if it could not be restored.
    """

    def __init__(self, modules: Mapping[str, types.ModuleType], host: HostState | None, left: list[Any]) -> None:
        self._host = host
        self._left = left
        self._modules = {name: vars(module) for name, module in modules.items()}
        self._number: dict[int, int] = {}
        self._order: list[Any] = []
        self._dicts: list[dict[Any, Any]] = []
        self._others: list[Any] = []
        self._classes: dict[int, tuple[type, dict[str, Any]]] = {}
        self._functions: list[types.FunctionType] = []
        self._values: list[tuple[Any, Callable[[Any], Any], Any]] = []
        self._restorers: dict[int, Callable[[], None]] = {}
        self._holders: Counter[int] | None = None
        self._weak: list[Any] = []
        self._streams: list[io.TextIOWrapper] = []  # those of the run
        self._unseen: list[tuple[Any, list[int]]] = []
        self._abstract = AbstractClasses()
        self._collect()
        for obj in self._others:
            if is_a(obj, set):  # in an order that it will have again
                restore_set(obj, set(obj))
        names_of_all = list(self._modules.values())
        names_of_classes = [names for _, names in self._classes.values()]
        self._blocks: list[ObjectBlock | DictBlock] = [
            *(DictBlock(part) for part in parts([*names_of_all, *self._dicts, *names_of_classes])),
            *(ObjectBlock(part) for part in parts(self._others)),
        ]
        self._before_functions = len(self._blocks)
        self._blocks += [ObjectBlock(part) for part in parts(self._functions)]
        self._hidden = [HiddenBlock(part) for part in parts(self._unseen)]
        self._abstract.begin(self.is_known)
        self._kinds = [kind for kind, _ in self._classes.values()]
        self._derived = self._count_derived()
        for obj in chain(names_of_all, self._dicts, self._others):
            self._restorers[id(obj)] = restorer(obj)
        for function in self._functions:
            self._restorers[id(function)] = function_restorer(function)
        for kind, names in self._classes.values():
            self._restorers[id(names)] = class_restorer(kind, names)

    def watches(self, obj: Any) -> bool:
        """True if `changed` would yield the object if it referred to something else."""
        return id(obj) in self._number or id(obj) in self._restorers or type(obj) in _UNCHANGING

    def is_known(self, obj: Any) -> bool:
        """True if the modules could reach the object when this was made."""
        return id(obj) in self._number and type(obj) not in _UNCHANGING

    def restores(self, obj: Any) -> bool:
        """True if it is a class or a function whose attributes `restore` restores."""
        number = id(gc.get_referents(obj.__dict__)[0]) if is_a(obj, type) else id(obj)
        return number in self._restorers

    # ------------------------------------------------------------------ the walk

    def _collect(self) -> None:
        stack: list[Any] = []
        for names in reversed(self._modules.values()):
            self._note(names)
            stack += [
                value for key, value in reversed(names.items()) if not key.startswith(".") and key not in _LEFT_OUT
            ]
        self._walk(stack)
        weak = self._weak
        self._weak = []
        self._walk(self._left)
        self._refuse_held_elsewhere(weak)

    def _walk(self, stack: list[Any]) -> None:
        while stack:
            obj = stack.pop()
            kind = type(obj)
            if kind in _UNCHANGING or id(obj) in self._number:
                continue
            self._note(obj)
            stack += reversed(self._inside(obj, kind))

    def _note(self, obj: Any) -> None:
        self._number[id(obj)] = len(self._order)
        self._order.append(obj)

    def _inside(self, obj: Any, kind: type) -> list[Any]:
        """Return what the walk visits next. Notes the object if it can change."""
        if issubclass(kind, _WEAK):
            self._weak.append(obj)
        if issubclass(kind, type):
            return self._inside_class(obj)
        if kind is types.FunctionType:
            return self._inside_function(obj)
        if (
            kind in _PASSED_THROUGH
            or issubclass(kind, (types.GenericAlias, types.BuiltinFunctionType))
            or (
                issubclass(kind, tuple) and "n_sequence_fields" in vars(kind)  # as of `sys.float_info`
            )
        ):
            return [child for child in gc.get_referents(obj) if type(child) is not types.ModuleType]
        if issubclass(kind, types.ModuleType):
            return self._inside_module(obj)
        if issubclass(kind, _NOT_THE_PROGRAMS):
            return []
        if kind.__module__ == "_abc" or kind.__name__ == "cython_function_or_method":
            return []
        if issubclass(kind, logging.Logger) and self._host is not None and self._host.knows(obj):
            return []
        if issubclass(kind, logging.Handler) and type(obj.lock) is not HandlerLock:  # the host's
            return []
        if kind is io.TextIOWrapper:
            if obj in (sys.__stdin__, sys.__stdout__, sys.__stderr__):
                return []
            if obj in (sys.stdin, sys.stdout, sys.stderr) and is_as_new(obj):
                self._streams.append(obj)
                return []
        if (kind.__module__ == "_io" or is_ours(kind.__module__)) and issubclass(kind, io.IOBase) and obj.closed:
            return []
        if kind is LRU_CACHE:
            return self._inside_cache(obj)
        if kind is types.CellType:
            self._others.append(obj)
            return gc.get_referents(obj)
        return self._inside_instance(obj, kind)

    def _refuse_held_elsewhere(self, weak: list[Any]) -> None:
        """Raise `StateUnknown` if a weak reference is to an object that only others hold, since they may drop it."""
        for reference in weak:
            obj = referent(reference)
            if obj is not None and id(obj) not in self._number and not self._is_of_host(obj):
                raise StateUnknown(f"a {type(obj).__qualname__} is held by what is not the program's")

    def _is_of_host(self, obj: Any) -> bool:
        is_named = is_a(obj, (type, types.FunctionType))
        kind: Any = obj if is_named else type(obj)
        return self._is_hosts(kind.__module__, kind.__qualname__, kind)

    def _watch_value(self, obj: Any, value_of: Callable[[Any], Any]) -> None:
        self._values.append((obj, value_of, value_of(obj)))

    def _inside_cache(self, obj: Any) -> list[Any]:
        """As `_inside`, for a cache of `functools` in C, as code has that did not get the drop-in."""
        functions = [child for child in gc.get_referents(obj) if type(child) is types.FunctionType]
        if functions and all(self._is_hosts(each.__module__, each.__qualname__, obj) for each in functions):
            return []
        if any(each.__module__ in self._modules for each in functions) or not functions:
            if obj.cache_info()[-1]:
                raise StateUnknown("a cache in C is not empty")
            self._watch_value(obj, VALUES[LRU_CACHE])
        return functions

    def _inside_module(self, module: types.ModuleType) -> list[Any]:
        """As `_inside`: a module that code has made, and not imported, is an object like others."""
        names = vars(module)
        if id(names) in self._number or sys.modules.get(str(names.get("__name__"))) is module:
            return []
        self._note(names)
        self._dicts.append(names)
        return [value for key, value in names.items() if key not in _LEFT_OUT]

    def _inside_instance(self, obj: Any, kind: type) -> list[Any]:
        if is_ours(kind.__module__) and not kind.__module__.startswith("dpor.python.dropins") and self._is_of_host(obj):
            return []
        value = next((base for base in kind.__mro__ if base in VALUES), None)
        base = next((base for base in kind.__mro__ if base in CONTAINERS or base in IMMUTABLE_BASES), value)
        if value is not None:
            self._watch_value(obj, VALUES[value])
        if kind is not base:
            try:
                _look_for_hidden_state(kind)
            except StateUnknown:
                if base not in CONTAINERS or kind.__flags__ & HEAP_TYPE:
                    raise
        found: list[Any] = []
        fields = type_traits.fields(obj, kind)
        if fields is not None and id(fields) not in self._number:
            self._note(fields)
            self._dicts.append(fields)
            found += fields.values()
        if issubclass(kind, dict):
            self._dicts.append(obj)
            if children.HOOKS_OF in obj:
                return []
            found += dict.keys(obj)
            if kind is not dict:
                self._others.append(obj)
        elif base not in _UNCHANGING or kind is not base:
            self._others.append(obj)
        places = [*hidden_words_of(obj, kind, base)]
        if places:
            self._unseen.append((obj, places))
        return found + [child for child in gc.get_referents(obj) if child is not fields]

    def _inside_class(self, kind: type) -> list[Any]:
        if not kind.__flags__ & HEAP_TYPE or self._is_hosts(kind.__module__, kind.__qualname__, kind):
            return []
        (names,) = gc.get_referents(kind.__dict__)
        self._classes[id(names)] = (kind, names)
        self._unseen.append((kind, words_of_class(kind)))
        hook = _unwrapped(names.get("__subclasshook__"))
        if type(hook) is types.FunctionType and is_hooked(hook.__code__):
            self._abstract.remember_nothing(kind)
        return [type(kind), *kind.__bases__, *names.values()]

    def _inside_function(self, function: types.FunctionType) -> list[Any]:
        if not is_hooked(function.__code__) and self._is_hosts(function.__module__, function.__qualname__, function):
            return []
        self._functions.append(function)
        untyped: Any = function  # typeshed has no `__builtins__`
        # The globals of code that `exec` has run belong to no module.
        names = [untyped.__builtins__] if ".call" in untyped.__builtins__ else [function.__globals__]
        names.append(untyped.__builtins__)
        # Reading `__dict__` would make one, and nearly no function has any.
        return [held for held in gc.get_referents(function) if all(held is not n for n in names)]

    def _is_hosts(self, module: Any, qualname: str, obj: Any) -> bool:
        """True if a module that is not the program's has this object under its name."""
        if module in self._modules or not is_a(module, str):
            return False
        home = sys.modules.get(module)
        return home is not None and (
            find(home, qualname) is obj or (is_ours(module) and type(obj) is types.FunctionType)
        )

    # ------------------------------------------------------------------ during a run, and after it

    def changed(self) -> Iterator[tuple[int, list[Any]]]:
        """Yield the objects that refer to something else than they did, each as (its number, what it refers to now).
        Functions only if the program has stored something in one: what uninstrumented code has stored in a function is
        noticed when a thread uses it."""
        for block in self._blocks if run.dirty else self._blocks[: self._before_functions]:
            for obj in block.changed():
                kind, _ = self._classes.get(id(obj), (None, None))
                yield self._number[id(obj if kind is None else kind)], self._held_by(obj, kind)

    def _held_by(self, obj: Any, kind: type | None) -> list[Any]:
        """Return what every thread can reach from the object now. `kind`: the class whose `__dict__` it is, or None."""
        if kind is not None:
            return _attributes(kind)
        if type(obj) is types.FunctionType:
            return children.children(obj, types.FunctionType)
        if not is_a(obj, dict):
            return gc.get_referents(obj)
        if all(obj is not names for names in self._modules.values()):
            return [*dict.keys(obj), *dict.values(obj)]
        found = [value for key, value in obj.items() if not key.startswith((".", "__"))]
        new = [value for value in found if is_a(value, type) and id(value) not in self._number]
        return found + [held for each in new for held in _attributes(each)]

    def restore(self) -> bool:
        """Return True if anything had changed. Raises `CannotRestore` if it cannot be undone.

        What is restored may have held the last references to objects of the run, whose finalisers then change more.
        """
        for number in range(_MOST_TIMES):
            if not self._restore_once():
                return number > 0
        raise CannotRestore("finalisers change what is restored")

    def _restore_once(self) -> bool:
        if not all(map(is_as_new, self._streams)):
            raise CannotRestore("a standard stream was changed")
        found = [(block, objects) for block in self._all() if (objects := [*block.changed()])]
        values = [(obj, before) for obj, value_of, before in self._values if value_of(obj) != before]
        if found:
            self._refuse_deaths(found)
            self._refuse_other_answers(found)
        self._abstract.restore(self.is_known)
        for _, objects in found:
            for obj in objects:
                if id(obj) not in self._restorers:
                    raise CannotRestore(f"a {type(obj).__qualname__} was changed")
                _carefully(self._restorers[id(obj)], obj)
        for obj, before in values:
            _carefully(functools.partial(restore_value, obj, before), obj)
        if found or values:
            self._look_again()
        if self._count_derived() != self._derived:
            self._forget_derived()
        return bool(found or values)

    def _all(self) -> Iterable[ObjectBlock | DictBlock | HiddenBlock]:
        return chain(self._blocks, self._hidden)

    def _look_again(self) -> None:
        """Raise `CannotRestore` if anything is not as it was: restoring may have compared objects by methods of the
        program, which may have changed more."""
        made: list[dict[Any, Any]] = []
        for block in self._all():
            for obj in block.changed():
                dicts = block.made_on_demand(obj)
                if dicts is None:
                    raise CannotRestore(f"what is in a {type(obj).__qualname__} was changed")
                made += dicts
            block.note()
        for obj, value_of, before in self._values:
            if value_of(obj) != before:
                raise CannotRestore(f"what is in a {type(obj).__qualname__} was changed")
        for names in made:
            self._note(names)
            self._restorers[id(names)] = restorer(names)
        self._blocks[:0] = map(DictBlock, parts(made))
        self._before_functions += len([*parts(made)])

    def _refuse_other_answers(self, found: list[tuple[ObjectBlock | DictBlock | HiddenBlock, list[Any]]]) -> None:
        """Raise `CannotRestore` if a class had other attributes in the run and an abstract class has been asked about
        it: its remembered answer may be wrong now, or may have been in the run."""
        for block, objects in found:
            for obj in objects:
                if id(obj) in self._classes and isinstance(block, DictBlock) and block.has_other_names(obj):
                    refuse_asked(self.is_known)

    def _forget_derived(self) -> None:
        """Let classes die that the run has derived from the program's."""
        for generation in 0, 2:  # classes are in cycles, and those of the run are young, unless it was collected
            forget_types({*chain.from_iterable(map(type.__subclasses__, self._kinds))})
            gc.collect(generation)
            derived = self._count_derived()
            if not any(map(operator.gt, derived, self._derived)):
                self._derived = derived
                return
        raise CannotRestore("a class was derived from one of a module, and is still alive")

    def _count_derived(self) -> list[int]:
        """Return how many classes are derived from each of the program's: no reference shows that."""
        return [*map(len, map(type.__subclasses__, self._kinds))]

    # ------------------------------------------------------------------ objects that would have died

    def _refuse_deaths(self, found: list[tuple[ObjectBlock | DictBlock | HiddenBlock, list[Any]]]) -> None:
        """Raise `CannotRestore` if the run has dropped the last reference to an object that has a `__del__`, or can be
        referred to weakly."""
        less: Counter[int] = Counter()
        for block, objects in found:
            for obj in objects:
                less.update(map(id, block.before(obj)))
                less.subtract(map(id, block.held(obj)))
        lost = [number for number, count in less.items() if count > 0 and number in self._number]
        if not lost:
            return
        if self._holders is None:
            self._holders = self._count_holders()
        fallen = [self._order[self._number[number]] for number in lost if less[number] >= self._holders[number]]
        for obj in fallen:  # the loop adds to it
            kind = type(obj)
            if issubclass(kind, type):
                continue  # a class is in a cycle, and does not die in a run
            if kind.__weakrefoffset__ or type_traits.is_finalised(kind):
                raise CannotRestore(f"a {kind.__qualname__} would have died")
            for child in gc.get_referents(obj):
                number = id(child)
                less[number] += 1
                if number in self._number and less[number] == self._holders[number]:
                    fallen.append(child)

    def _count_holders(self) -> Counter[int]:
        """Return, by `id`, how many references there were to each object from all others."""
        counted: Counter[int] = Counter()
        noted: dict[int, None] = {}
        for block in self._blocks:
            for obj in block.objects:
                noted[id(obj)] = None
                counted.update(map(id, block.before(obj)))
        for obj in self._order:
            if id(obj) not in noted:
                counted.update(map(id, gc.get_referents(obj)))
        return counted


def _carefully(restore: Callable[[], None], obj: Any) -> None:
    """Restoring may compare objects by methods of the program, which may raise."""
    try:
        restore()
    except CannotRestore:
        raise
    except Exception as error:
        raise CannotRestore(f"a {type(obj).__qualname__} was changed, and cannot be restored ({error})") from None


def _look_for_hidden_state(kind: type) -> None:
    """Raise `StateUnknown` if objects of the class have a state that cannot be read."""
    while kind.__base__ is not None and kind.__base__.__basicsize__ == kind.__basicsize__ and not kind.__itemsize__:
        kind = kind.__base__  # the base holds all there is, whatever language the class is written in
    content, _ = layout(kind)
    if content is not None and all(base not in KNOWN_BASES for base in kind.__mro__):
        raise StateUnknown(f"objects of type {kind.__module__}.{kind.__qualname__} have a state of their own")


def _attributes(kind: type) -> list[Any]:
    return [_unwrapped(value) for name, value in kind.__dict__.items() if not name.startswith("__")]


def _unwrapped(held: Any) -> Any:
    return held.__func__ if is_a(held, (staticmethod, classmethod)) else held
