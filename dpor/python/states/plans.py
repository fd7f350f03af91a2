"""Plans: how objects are encoded, by type. A plan is made when the first object of a type is encoded.

An object of a class written in Python is encoded by its class, the contents of its built-in base, its slots and its
`__dict__`. Its size shows whether a class has any other state: a type made in C that keeps something of its own has
more room than that accounts for, and its objects raise `StateUnknown`.
"""

from __future__ import annotations

import enum
import gc
import io
import logging
import sys
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any, Final

from dpor.core.home import is_ours
from dpor.core.operations import Operation
from dpor.primitives.rules import BaseRule
from dpor.python.dropins.locals import Here, local
from dpor.python.dropins.logs import HandlerLock
from dpor.python.effects import generators
from dpor.python.effects.calls import BoundMethod
from dpor.python.effects.kinds import ContainerType, static
from dpor.python.kernel.classes import HEAP_TYPE
from dpor.python.kernel.host_modules import DropInModule
from dpor.python.kernel.model_thread import ModelThread
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.kernel.type_caches import type_cache
from dpor.python.sharing import children, shared_object, type_traits
from dpor.python.states.c_frames import Reading
from dpor.python.states.canonical_names import CanonicalNames
from dpor.python.states.classes import Classes
from dpor.python.states.contents import EXACT, SUBCLASSED, Content, exception
from dpor.python.states.frames import HOLE, ThreadPart, add_frame
from dpor.python.states.heap import AttributeNames, Heap, Plan
from dpor.python.states.naming import text_of
from dpor.python.states.stacks import StateUnknown

_MANAGED_DICT: Final = 1 << 4
_MANAGED_WEAKREF: Final = 1 << 3
_WORD: Final = 8


class TypePlans:
    """The plans of one search; those of classes that a run has made are dropped after that run."""

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self._known: dict[type, Plan] = {}
        self._of_run: list[type] = []
        self._naming = classes.naming
        self._constants: dict[int, tuple[int, Any]] = {}
        self.known_fields: dict[tuple[int, ...], AttributeNames] = {}
        self.likely_fields: dict[type | None, AttributeNames] = {}
        self.get: Callable[[type], Plan | None] = self._known.get

    def begin_run(self) -> None:
        for kind in self._of_run:
            self._known.pop(kind, None)
            self.likely_fields.pop(kind, None)
        self._of_run.clear()
        self.classes.begin_run()

    def make(self, kind: type) -> Plan:
        plan = self._known[kind] = self._made(kind)
        if kind not in EXACT and not self.classes.is_in_all_runs(kind):
            self._of_run.append(kind)
        return plan

    def fields(self, names: Iterable[Any]) -> AttributeNames:
        """Make the entry for these names of attributes."""
        if len(self.known_fields) > 5000:  # do not keep names that every run makes anew
            self.known_fields.clear()
            self.likely_fields.clear()
        found = AttributeNames(tuple(names), self._naming)
        self.known_fields[tuple(map(id, found.names))] = found
        return found

    def _made(self, kind: type) -> Plan:
        content = EXACT.get(kind)
        if content is not None:
            return _numbered(-1 - list(EXACT).index(kind), content)
        for base, special in self._special().items():
            if issubclass(kind, base):
                return special
        return self._of_python(kind)

    def _special(self) -> dict[type, Plan]:
        """Plans of our own types, and of types that are not encoded by their contents alone."""
        return {
            type: self._class,
            types.GeneratorType: _generator,
            local: self._local,
            io.TextIOWrapper: self._stream,
            ModelThread: lambda heap, obj: heap.out.append(("thread", obj.id)),
            shared_object.SharedObject: lambda heap, obj: heap.out.append(("shared", heap.names.location(obj.number))),
            Operation: self._operation,
            BaseRule: lambda heap, obj: heap.out.append(("rule", self._naming.number(obj, text_of))),
            ContainerType: self._constant,
            BoundMethod: self._bound,
            DropInModule: lambda heap, obj: heap.out.append(("module", obj.__name__)),
            logging.Logger: self._logger,
            logging.Manager: lambda heap, obj: heap.out.append(("loggers",)),
        }

    def _stream(self, heap: Heap, obj: io.TextIOWrapper) -> None:
        """Leave out a standard stream, as output is not part of the state; a file of the program's own raises
        `StateUnknown`."""
        for name in ("stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__"):
            if obj is getattr(sys, name):
                heap.out.append(("stream", name))
                return
        raise StateUnknown("a file is open")

    # ------------------------------------------------------------------ classes

    def class_of(self, heap: Heap, kind: type) -> None:
        """Append the class."""
        number = self.classes.known(kind)
        if number is None:
            number = self.classes.number(kind)
            if number is None:
                heap.out.append(HOLE)
                heap.ref(kind)
                return
        heap.out.append(number)

    def _class(self, heap: Heap, obj: type) -> None:
        number = self.classes.number(obj)
        if number is not None:
            heap.out.append(("class", number))
            return
        heap.out.append(("class", obj.__module__, obj.__qualname__, len(obj.__bases__)))
        self.class_of(heap, type(obj))
        heap.refs(obj.__bases__)
        for name, value in self.classes.attributes(obj):
            heap.out.append(name)
            heap.ref(value)

    # ------------------------------------------------------------------ objects of classes written in Python

    def _of_python(self, kind: type) -> Plan:
        content, slots = layout(kind)
        has_fields, read = _has_fields(kind), type_traits.reader_of_dict(kind)
        class_of = self.class_of
        finalised = static(kind, "__del__") is not None
        adopts = has_fields and children.adopts(kind)

        def fields(obj: Any) -> Any:
            try:
                return read(obj)  # type: ignore[misc]
            except TypeError:  # the class has been given other bases
                return type_traits.fields(obj, kind)

        def plan(heap: Heap, obj: Any) -> None:
            class_of(heap, kind)
            if finalised:
                heap.finalised = True
            if content is not None:
                content(heap, obj)
            for slot in slots:
                heap.slot(slot, obj)
            if adopts:  # other objects may have the same dict
                heap.ref(fields(obj))
            elif has_fields:
                heap.dict_of(obj, fields(obj))

        def plan_of_sync(heap: Heap, obj: Any) -> None:
            class_of(heap, kind)
            if finalised:
                heap.finalised = True
            heap.sync(fields(obj), kind)

        return plan_of_sync if issubclass(kind, SyncObject) else plan

    # ------------------------------------------------------------------ others

    def _local(self, heap: Heap, obj: Any) -> None:
        """Encode a `threading.local`: what each thread has in it."""
        self.class_of(heap, type(obj))
        heap.refs(object.__getattribute__(obj, "_local__arguments"))
        dictionaries = object.__getattribute__(obj, "_local__dictionaries")
        for thread in run.threads:
            here = thread.data.get(Here) if thread.bit else None
            own = None if here is None else dictionaries.get(here)
            if own is not None:
                heap.out.append(("thread", thread.id))
                heap.items(own)
        heap.out.append(None)

    def _operation(self, heap: Heap, obj: Operation) -> None:
        """Encode an operation by its number; equal operations are the same object."""
        heap.out.append(("operation", *self._number(heap.names.operation(obj))))

    def _constant(self, heap: Heap, obj: Any) -> None:
        heap.out.append(("constant", *self._number(obj)))

    def _bound(self, heap: Heap, obj: BoundMethod) -> None:
        """Encode a bound method: a built-in method has a number, without what it refers to."""
        of, shared, name, plain = obj.dpor_parts
        where = None if shared is None else heap.names.location(shared.number)
        heap.ref(of)
        if type(plain) is types.MethodDescriptorType and not plain.__objclass__.__flags__ & HEAP_TYPE:
            heap.out.append(("bound", name, where, *self._number(plain)))
        else:
            heap.out.append(("bound", name, where))
            heap.ref(plain)

    def _number(self, obj: Any) -> tuple[int]:
        """Return a number for an object that is kept for ever."""
        known = self._constants.get(id(obj))
        if known is None:
            number = self._naming.number(("constant", id(obj)), lambda _: _text_of_constant(obj))
            known = self._constants[id(obj)] = number, obj
        return (known[0],)

    def operation(self, names: CanonicalNames, operation: Operation) -> int:
        """Return the number of the operation under canonical names."""
        return self._number(names.operation(operation))[0]

    def _logger(self, heap: Heap, obj: Any) -> None:
        heap.out.append(("logger", obj.name, obj.level, obj.propagate, obj.disabled))
        heap.refs((obj.parent, obj.filters))
        for handler in obj.handlers:
            if type(handler.lock) is HandlerLock:
                heap.out.append(HOLE)
                heap.ref(handler)
            else:  # the host's, which the program uses but has not made
                self._constant(heap, handler)
        heap.out.append(None)


def _text_of_constant(obj: Any) -> str | None:
    if type(obj) is ContainerType:
        return f"container {obj.base.__module__}.{obj.base.__qualname__}"
    if type(obj) is types.MethodDescriptorType:
        return f"method {obj.__objclass__.__module__}.{obj.__objclass__.__qualname__}.{obj.__name__}"
    return text_of(obj)


def _numbered(number: int, content: Content) -> Plan:
    def plan(heap: Heap, obj: Any) -> None:
        heap.out.append(number)
        content(heap, obj)

    return plan


def layout(kind: type) -> tuple[Content | None, list[Callable[[Any], Any]]]:
    """Return the encoder of the class's built-in base, and its slots. Raises `StateUnknown` if objects have other
    state."""
    slots: list[Callable[[Any], Any]] = []
    here: type = kind
    while here is not object:
        if here in SUBCLASSED:
            return SUBCLASSED[here], slots
        if here.__module__ == "builtins" and issubclass(here, BaseException):
            return exception, slots
        base = here.__base__
        assert base is not None
        own = [found for found in here.__dict__.values() if _is_slot(found, here)]
        if not here.__flags__ & HEAP_TYPE or here.__basicsize__ != base.__basicsize__ + _added(here, base, len(own)):
            raise StateUnknown(f"objects of type {here.__module__}.{here.__qualname__} have a state that is hidden")
        slots += [found.__get__ for found in own]
        here = base
    return None, slots


def _is_slot(found: Any, kind: type) -> bool:
    return type(found) is types.MemberDescriptorType and found.__objclass__ is kind


def _added(kind: type, base: type, slots: int) -> int:
    """Return by how many bytes an object is larger than its base if its class only adds slots, a `__dict__` and weak
    references."""
    words = slots
    if kind.__dictoffset__ and not base.__dictoffset__ and not kind.__flags__ & _MANAGED_DICT:
        words += 1
    if kind.__weakrefoffset__ and not base.__weakrefoffset__ and not kind.__flags__ & _MANAGED_WEAKREF:
        words += 1
    return words * _WORD


def _has_fields(kind: type) -> bool:
    """True if its objects have a `__dict__`. Raises `StateUnknown` if that is hidden."""
    if type_traits.reader_of_dict(kind) is None and kind.__dictoffset__:
        raise StateUnknown(f"the attributes of {kind.__module__}.{kind.__qualname__} objects are hidden")
    return kind.__dictoffset__ != 0


def _generator(heap: Heap, obj: types.GeneratorType[Any, Any, Any]) -> None:
    """Encode a generator's frame: by its place in a thread if it is running, else like the frames of threads."""
    frame = obj.gi_frame
    inside = generators.thread_inside(obj)
    heap.out.append(("generator", None if inside is None or not inside.running else inside.id))
    if frame is None:
        heap.out.append(None)
        return
    if obj.gi_running:
        where = heap.running.get(id(frame))
        if where is None:
            raise StateUnknown(f"the generator {obj.__qualname__} is being run by code that cannot be seen")
        heap.out.append(("running", *where))
        _handled(heap, obj)
        return
    layout = heap.layouts.of(frame.f_code)
    part, dead = ThreadPart(), list[Any]()
    place = layout.place(layout.suspended(frame.f_lasti))
    add_frame(Reading(frame, layout, place), part, dead)
    heap.part(part)
    heap.dead.extend(dead)
    if place.handles:
        _handled(heap, obj)
    if layout.closing_runs_code(frame.f_lasti):
        heap.finalised = True


def _handled(heap: Heap, obj: types.GeneratorType[Any, Any, Any]) -> None:
    """Encode the exception that the generator handles, which the garbage collector visits last."""
    last = gc.get_referents(obj)[-1]
    heap.ref(last if isinstance(last, BaseException) else None)


def finalised_among(values: list[Any], heap: Heap) -> bool:
    """True if the program could notice the end of these objects of dead variables, or of what only they refer to."""
    seen: set[int] = set()
    stack = values.copy()
    while stack:
        value = stack.pop()
        while type(value) is types.CellType:
            try:
                value = value.cell_contents
            except ValueError:
                value = None
        if type(value) in _ENDS_SILENTLY:
            continue
        number = id(value)
        if number in seen or heap.has(value):
            continue
        seen.add(number)
        kind = type(value)
        ending = _endings.get(kind)
        if ending is None:
            ending = _ending_of(kind)
        if ending is _Ending.NOTICED:
            return True
        if ending is _Ending.SILENT:
            continue
        if kind is types.GeneratorType:
            frame = value.gi_frame
            if frame is not None and heap.layouts.of(frame.f_code).closing_runs_code(frame.f_lasti):
                return True
        if kind is types.FunctionType:
            stack += (value.__closure__, value.__defaults__, value.__kwdefaults__, value.__dict__)
        else:
            stack += gc.get_referents(value)
    return False


class _Ending(enum.Enum):
    """What may happen when an object of a type dies: something noticeable; nothing; the death of what it refers to."""

    NOTICED = enum.auto()
    SILENT = enum.auto()
    REFERENTS = enum.auto()


_endings: Final[dict[type, _Ending]] = type_cache({})
"""A cache for the whole process."""


def _ending_of(kind: type) -> _Ending:
    if len(_endings) > 5000:  # do not keep classes that every run makes anew
        _endings.clear()
    if kind in _ENDS_SILENTLY or issubclass(kind, (type, types.ModuleType, *_OURS)):
        ending = _Ending.SILENT
    elif _is_harmless(kind):
        ending = _Ending.REFERENTS
    else:
        ending = _Ending.NOTICED
    _endings[kind] = ending
    return ending


_OURS: Final = (ModelThread, shared_object.SharedObject, Operation, BaseRule, ContainerType)
"""Types whose objects live as long as the run, or the search."""


def _is_harmless(kind: type) -> bool:
    """True if the program cannot notice the end of an object of this type."""
    return (
        static(kind, "__del__") is None
        and kind is not types.FrameType
        and kind is not weakref.ReferenceType
        and (kind in EXACT or kind is types.GeneratorType or is_ours(kind.__module__) or _is_plain(kind))
    )


_ENDS_SILENTLY: Final = frozenset({int, float, str, bytes, bool, complex, type(None), types.CodeType})


def _is_plain(kind: type) -> bool:
    try:
        layout(kind)
    except StateUnknown:
        return False
    return True
