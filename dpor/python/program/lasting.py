"""What a program's modules hold when they have been imported, and how that is brought back after a run.

To execute all modules again before each run takes long where packages belong to the program. So what can be reached
from their globals is gone through once, when they have been imported, and after each run it is looked whether anything
in it refers to another object than it did: all of it, whoever may have changed it, Python or C. What differs is put
back in place. Dicts are told by the versions that the interpreter gives them, if it does; of all else one call of the
collector's `get_referents` gives what some hundred objects refer to, and two lists of references are compared as
memory. So this takes a fraction of a millisecond where executing takes hundreds.

    references   of containers, of the `__dict__` and slots of instances, of cells, functions and classes
    values       what holds no references and can change: bytearrays, counters, random generators

What is not gone into: the host's own modules, classes and functions, loggers and streams (`HostState` cares for what
programs change there), and what cannot change. Modules that hold anything else, of which nobody can tell whether it
has changed (a generator, a file, an object of an unknown type in C), cannot be brought back: they are executed again
(`StateUnknown`). So they are where something has changed that cannot be put back in place (`Changed`); and where a run
has dropped the last reference to something whose death it could have noticed: it did not die, since it is held here.
"""

from __future__ import annotations

import collections
import functools
import gc
import io
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
from dpor.python.kernel.classes import is_a
from dpor.python.kernel.host_modules import DropInModule
from dpor.python.kernel.run import run
from dpor.python.program.abstract import Abstract, refuse_asked
from dpor.python.program.host import HostState
from dpor.python.program.putting_back import (
    CONTAINERS,
    HEAP_TYPE,
    IMMUTABLE_BASES,
    KNOWN_BASES,
    LRU_CACHE,
    VALUES,
    Changed,
    class_restorer,
    function_restorer,
    put_into_set,
    put_value,
    restorer,
)
from dpor.python.program.unseen import unseen_words, words_of_class
from dpor.python.sharing import children, type_traits
from dpor.python.states.classes import find
from dpor.python.states.memory import addresses, referent, versions_of, words
from dpor.python.states.plans import layout
from dpor.python.states.stacks import StateUnknown

_BLOCK: Final = 256
"""So many objects are looked at in one step; only where something differs, one by one."""

_UNCHANGING: Final[frozenset[type]] = frozenset(
    {
        int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, object,
        types.CodeType, types.WrapperDescriptorType, types.MethodDescriptorType, types.GetSetDescriptorType,
        types.MemberDescriptorType, types.ClassMethodDescriptorType, re.Pattern, struct.Struct, DropInModule,
        type(sys.version_info), type(sys.flags), type(vars(collections.namedtuple("_", "a"))["a"]),
    }
)  # fmt: skip
"""Types whose objects neither change nor lead to anything that does."""

_PASSED_THROUGH: Final[frozenset[type]] = frozenset(
    {
        tuple, frozenset, slice, types.MethodType, types.MethodWrapperType, types.BuiltinFunctionType,
        types.GenericAlias, types.UnionType, types.MappingProxyType, type({}.keys()), type({}.values()),
        type({}.items()), operator.attrgetter, operator.itemgetter, operator.methodcaller, super, ContextVar,
        weakref.ReferenceType, weakref.ProxyType, weakref.CallableProxyType,
    }
)  # fmt: skip
"""Types whose objects do not change, and lead to others that may."""

_WEAK: Final = (weakref.ReferenceType, weakref.ProxyType, weakref.CallableProxyType)
_NOT_THE_PROGRAMS: Final = (logging.Manager, logging.PlaceHolder)
_LEFT_OUT: Final = frozenset({"__builtins__", "__loader__", "__spec__", "__cached__", "__file__", "__name__"})


# ---------------------------------------------------------------------- what is looked at


class _Block:
    """Some objects, and what they referred to."""

    def __init__(self, objects: list[Any]) -> None:
        self.objects = objects
        self.note()

    def note(self) -> None:
        """What they refer to now is what they are to refer to."""
        self.references = [gc.get_referents(obj) for obj in self.objects]
        self._whole = addresses(gc.get_referents(*self.objects))

    def changed(self) -> Iterator[Any]:
        """The objects that refer to something else now."""
        if addresses(gc.get_referents(*self.objects)) != self._whole:
            for obj, before in zip(self.objects, self.references, strict=True):
                if addresses(gc.get_referents(obj)) != addresses(before):
                    yield obj

    def before(self, obj: Any) -> list[Any]:
        return self.references[next(n for n, known in enumerate(self.objects) if known is obj)]

    def held(self, obj: Any) -> list[Any]:
        return gc.get_referents(obj)

    def asked(self, obj: Any) -> list[dict[Any, Any]] | None:
        """If it is a function that has got no more than a place for attributes, or its annotations as a dict, since
        somebody has asked: these dicts."""
        before, now = self.before(obj), gc.get_referents(obj)
        added = [held for held in now if all(held is not known for known in before)]
        removed = [held for held in before if all(held is not known for known in now)]
        asked = [[*chain.from_iterable(held.items())] for held in added if type(held) is dict]
        told = [[*held] for held in removed if type(held) is tuple]
        known = (
            type(obj) is types.FunctionType
            and len(asked) == len(added)
            and len(told) == len(removed)
            and [addresses(held) for held in asked if held] == [*map(addresses, told)]
        )
        return added if known else None


class _Dicts:
    """Some dicts, and their items."""

    def __init__(self, objects: list[dict[Any, Any]]) -> None:
        self.objects = objects
        self._versions = versions_of(objects)
        self._items = {id(obj): dict.copy(obj) for obj in objects}
        self.note()

    def note(self) -> None:
        self._noted = self._look()

    def _look(self) -> object:
        if self._versions is not None:
            return self._versions()
        # The collector does not visit keys that are texts.
        return addresses([*chain.from_iterable(map(dict.keys, self.objects)), *gc.get_referents(*self.objects)])

    def changed(self) -> Iterator[Any]:
        now = self._look()
        if now != self._noted:
            found = [obj for obj in self.objects if _items(obj) != _items(self._items[id(obj)])]
            if not found:
                self._noted = now
            yield from found

    def before(self, obj: Any) -> list[Any]:
        return [*self._items[id(obj)], *self._items[id(obj)].values()]

    def held(self, obj: Any) -> list[Any]:
        return [*dict.keys(obj), *dict.values(obj)]

    def has_other_names(self, obj: Any) -> bool:
        """Are there others, or others that stand for nothing?"""
        before = self._items[id(obj)]
        return [(name, value is None) for name, value in before.items()] != [
            (name, value is None) for name, value in obj.items()
        ]

    def asked(self, obj: Any) -> None:
        return None


class _Hidden:
    """Some objects, and what of them the collector does not show."""

    def __init__(self, objects: list[tuple[Any, list[int]]]) -> None:
        self.objects = [obj for obj, _ in objects]
        self._counts = [len(places) for _, places in objects]
        self._look = words([place for _, places in objects for place in places])
        self.note()

    def note(self) -> None:
        self._noted = self._look()

    def changed(self) -> Iterator[Any]:
        now = self._look()
        if now != self._noted:
            first = 0
            for obj, count in zip(self.objects, self._counts, strict=True):
                if now[first : first + count] != self._noted[first : first + count]:
                    yield obj
                first += count

    def before(self, obj: Any) -> list[Any]:
        return []

    def held(self, obj: Any) -> list[Any]:
        return []

    def asked(self, obj: Any) -> None:
        return None


def _items(obj: dict[Any, Any]) -> bytes:
    return addresses([*dict.keys(obj), *dict.values(obj)])


class Lasting:
    """What was in the modules when it was made, and in what else they have left. Raises `StateUnknown` if it could not
    be brought back."""

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
        self._unseen: list[tuple[Any, list[int]]] = []
        self._collect()
        for obj in self._others:
            if is_a(obj, set):  # in an order that it will have again
                put_into_set(obj, set(obj))
        names_of_all = list(self._modules.values())
        names_of_classes = [names for _, names in self._classes.values()]
        self._blocks: list[_Block | _Dicts] = [
            *(_Dicts(part) for part in _parts([*names_of_all, *self._dicts, *names_of_classes])),
            *(_Block(part) for part in _parts(self._others)),
        ]
        self._before_functions = len(self._blocks)
        self._blocks += [_Block(part) for part in _parts(self._functions)]
        self._hidden = [_Hidden(part) for part in _parts(self._unseen)]
        self._abstract = Abstract(self.is_known)
        self._kinds = [kind for kind, _ in self._classes.values()]
        self._derived = self._count_derived()
        for obj in chain(names_of_all, self._dicts, self._others):
            self._restorers[id(obj)] = restorer(obj)
        for function in self._functions:
            self._restorers[id(function)] = function_restorer(function)
        for kind, names in self._classes.values():
            self._restorers[id(names)] = class_restorer(kind, names)

    def watches(self, obj: Any) -> bool:
        """Is it noticed if the object refers to something else?"""
        return id(obj) in self._number or id(obj) in self._restorers or type(obj) in _UNCHANGING

    def is_known(self, obj: Any) -> bool:
        """Has it been there since the modules were imported?"""
        return id(obj) in self._number and type(obj) not in _UNCHANGING

    def puts_back(self, obj: Any) -> bool:
        """Is it a class or a function that gets back what it had?"""
        number = id(gc.get_referents(obj.__dict__)[0]) if is_a(obj, type) else id(obj)
        return number in self._restorers

    # ------------------------------------------------------------------ going through it

    def _collect(self) -> None:
        stack: list[Any] = []
        for names in reversed(self._modules.values()):
            self._note(names)
            stack += [
                value for key, value in reversed(names.items()) if not key.startswith(".") and key not in _LEFT_OUT
            ]
        self._go_through(stack)
        weak = self._weak
        self._weak = []
        self._go_through(self._left)
        self._refuse_held_elsewhere(weak)

    def _go_through(self, stack: list[Any]) -> None:
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
        """What is to be gone through next. Notes the object where it can change."""
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
        if kind is io.TextIOWrapper and obj in (sys.__stdin__, sys.__stdout__, sys.__stderr__):
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
        """Raises `StateUnknown` if some of the weak references are to what only others hold, who may drop it."""
        for reference in weak:
            obj = referent(reference)
            if obj is not None and id(obj) not in self._number and not self._is_of_host(obj):
                raise StateUnknown(f"a {type(obj).__qualname__} is held by what is not the program's")

    def _is_of_host(self, obj: Any) -> bool:
        is_named = is_a(obj, (type, types.FunctionType))
        kind: Any = obj if is_named else type(obj)
        return self._is_hosts(kind.__module__, kind.__qualname__, kind)

    def _look_at(self, obj: Any, tell: Callable[[Any], Any]) -> None:
        self._values.append((obj, tell, tell(obj)))

    def _inside_cache(self, obj: Any) -> list[Any]:
        """The cache of `functools`, which code has that got no drop-in."""
        functions = [child for child in gc.get_referents(obj) if type(child) is types.FunctionType]
        if functions and all(self._is_hosts(each.__module__, each.__qualname__, obj) for each in functions):
            return []
        if any(each.__module__ in self._modules for each in functions) or not functions:
            if obj.cache_info()[-1]:
                raise StateUnknown("there is something in a cache in C")
            self._look_at(obj, VALUES[LRU_CACHE])
        return functions

    def _inside_module(self, module: types.ModuleType) -> list[Any]:
        """One that is not imported, but made by code, is an object like others."""
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
            self._look_at(obj, VALUES[value])
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
        places = [*unseen_words(obj, kind, base)]
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
            raise StateUnknown(f"the class {kind.__qualname__} answers itself which classes are derived from it")
        return [type(kind), *kind.__bases__, *names.values()]

    def _inside_function(self, function: types.FunctionType) -> list[Any]:
        if not is_hooked(function.__code__) and self._is_hosts(function.__module__, function.__qualname__, function):
            return []
        self._functions.append(function)
        untyped: Any = function  # typeshed has no `__builtins__`
        # Of what `exec` has made, the globals are no module's.
        names = [untyped.__builtins__] if ".call" in untyped.__builtins__ else [function.__globals__]
        names.append(untyped.__builtins__)
        # To ask for the `__dict__` would make one, and nearly no function has any.
        return [held for held in gc.get_referents(function) if all(held is not n for n in names)]

    def _is_hosts(self, module: Any, qualname: str, obj: Any) -> bool:
        """Is it what a module that is not the program's has under its name?"""
        if module in self._modules or not is_a(module, str):
            return False
        home = sys.modules.get(module)
        return home is not None and (
            find(home, qualname) is obj or (is_ours(module) and type(obj) is types.FunctionType)
        )

    # ------------------------------------------------------------------ after a run, and in it

    def changed(self) -> Iterator[tuple[int, list[Any]]]:
        """What refers to something else than it did: its number, and what it refers to now. (Not a function that code
        without hooks has changed: who finds something new there is noticed when he touches it.)"""
        for block in self._blocks if run.dirty else self._blocks[: self._before_functions]:
            for obj in block.changed():
                kind, _ = self._classes.get(id(obj), (None, None))
                yield self._number[id(obj if kind is None else kind)], self._held_by(obj, kind)

    def _held_by(self, obj: Any, kind: type | None) -> list[Any]:
        """What every thread can reach from the object by now. `kind`: whose attributes it is, or None."""
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
        """True if anything was changed. Raises `Changed` if it cannot be put back."""
        found = [(block, objects) for block in self._all() if (objects := [*block.changed()])]
        values = [(obj, before) for obj, tell, before in self._values if tell(obj) != before]
        if found:
            self._refuse_deaths(found)
            self._refuse_other_answers(found)
        self._abstract.refuse_registered(self.is_known)
        for _, objects in found:
            for obj in objects:
                if id(obj) not in self._restorers:
                    raise Changed(f"a {type(obj).__qualname__} was changed")
                _carefully(self._restorers[id(obj)], obj)
        for obj, before in values:
            _carefully(functools.partial(put_value, obj, before), obj)
        if found or values:
            self._look_again()
        if self._count_derived() != self._derived:
            gc.collect(0)  # classes are in cycles, and those of the run are young
            derived = self._count_derived()
            if any(map(operator.gt, derived, self._derived)):
                raise Changed("a class was derived from one of a module, and is still there")
            self._derived = derived
        return bool(found or values)

    def _all(self) -> Iterable[_Block | _Dicts | _Hidden]:
        return chain(self._blocks, self._hidden)

    def _look_again(self) -> None:
        """Raises `Changed` if anything, whether it has been put back or not, is not as it was: what was compared on the
        way may have been the program's, and changed more."""
        asked: list[dict[Any, Any]] = []
        for block in self._all():
            for obj in block.changed():
                dicts = block.asked(obj)
                if dicts is None:
                    raise Changed(f"what is in a {type(obj).__qualname__} was changed")
                asked += dicts
            block.note()
        for obj, tell, before in self._values:
            if tell(obj) != before:
                raise Changed(f"what is in a {type(obj).__qualname__} was changed")
        for names in asked:
            self._note(names)
            self._restorers[id(names)] = restorer(names)
        self._blocks[:0] = map(_Dicts, _parts(asked))
        self._before_functions += len([*_parts(asked)])

    def _refuse_other_answers(self, found: list[tuple[_Block | _Dicts | _Hidden, list[Any]]]) -> None:
        """Raises `Changed` if an abstract class may remember about a class what does not hold any more, or did not in
        the run, since the class had other attributes."""
        for block, objects in found:
            for obj in objects:
                if id(obj) in self._classes and isinstance(block, _Dicts) and block.has_other_names(obj):
                    refuse_asked(self.is_known)

    def _count_derived(self) -> list[int]:
        """How many classes are derived from each of the program's, which no reference shows."""
        return [*map(len, map(type.__subclasses__, self._kinds))]

    # ------------------------------------------------------------------ what would have died

    def _refuse_deaths(self, found: list[tuple[_Block | _Dicts | _Hidden, list[Any]]]) -> None:
        """Raises `Changed` if the run has dropped the last reference to what can be referred to weakly, or has a
        `__del__`."""
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
        for obj in fallen:  # which grows
            kind = type(obj)
            if issubclass(kind, type):
                continue  # which is in a cycle, and does not die in a run
            if kind.__weakrefoffset__ or type_traits.is_finalised(kind):
                raise Changed(f"a {kind.__qualname__} would have died")
            for child in gc.get_referents(obj):
                number = id(child)
                less[number] += 1
                if number in self._number and less[number] == self._holders[number]:
                    fallen.append(child)

    def _count_holders(self) -> Counter[int]:
        """How many references to each of its parts there were in all of it."""
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


def _carefully(put_back: Callable[[], None], obj: Any) -> None:
    """What is compared on the way may be the program's, and may fail."""
    try:
        put_back()
    except Changed:
        raise
    except Exception as error:
        raise Changed(f"a {type(obj).__qualname__} was changed, and cannot be put back ({error})") from None


def _parts(objects: list[Any]) -> Iterable[list[Any]]:
    return [objects[at : at + _BLOCK] for at in range(0, len(objects), _BLOCK)]


def _look_for_hidden_state(kind: type) -> None:
    """Raises `StateUnknown` if objects of the class hold what nobody sees."""
    while kind.__base__ is not None and kind.__base__.__basicsize__ == kind.__basicsize__ and not kind.__itemsize__:
        kind = kind.__base__  # which holds all that there is, in whatever the class is written
    content, _ = layout(kind)
    if content is not None and all(base not in KNOWN_BASES for base in kind.__mro__):
        raise StateUnknown(f"objects of type {kind.__module__}.{kind.__qualname__} have a state of their own")


def _attributes(kind: type) -> list[Any]:
    return [_unwrapped(value) for name, value in kind.__dict__.items() if not name.startswith("__")]


def _unwrapped(held: Any) -> Any:
    return held.__func__ if is_a(held, (staticmethod, classmethod)) else held
