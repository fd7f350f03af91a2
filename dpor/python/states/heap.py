"""The heap as the program can see it: objects numbered in the order of one fixed traversal, each encoded by its
contents.

Two heaps have equal encodings only if they are isomorphic: the same shape of references, the same values at the leaves,
the same order in dicts and sets. The traversal calls no code of the program. It raises `StateUnknown` at an object that
it cannot read (one made in C whose state is hidden).

The encoding is what `marshal` makes of two flat lists: the structure (types, lengths, and all that is not a reference),
and in the same order the references, each a leaf or, as a tuple of its number, an object. No leaf is a tuple. How many
of the second list belong to an object follows from its structure, so the two can be read in one way only. Objects come
in layers, by their distance from the roots, so that references are numbered in one loop for a whole layer.
"""

from __future__ import annotations

import marshal
import random
import types
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import is_, itemgetter
from typing import Any, Final, Protocol, TypeAlias

from dpor.python.kernel.classes import module_of_class
from dpor.python.kernel.model_thread import ModelThread
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject
from dpor.python.sharing import shared_object, shared_objects
from dpor.python.states.canonical_names import CanonicalNames
from dpor.python.states.frames import ATOMS, HOLE, UNBOUND, Layouts, ThreadPart
from dpor.python.states.naming import Naming, text_of
from dpor.python.states.stacks import StateUnknown

Plan: TypeAlias = Callable[["Heap", Any], None]
"""Encodes objects of one type: appends to `Heap.out`."""


OF_SYNC: Final = frozenset({"dpor_location", "dpor_state", "dpor_made_at"})
"""Attributes of synchronisation objects that are encoded separately."""


class AttributeNames:
    """The names of an object's attributes, in order.

    number   the same for the same names; None if not all are plain strings
    names    kept alive, because they are looked up by their `id`
    others   selects, from the values of all attributes, those that are not in `OF_SYNC`; None if there are none
    """

    __slots__ = ("names", "number", "others")

    def __init__(self, names: tuple[Any, ...], naming: Naming) -> None:
        self.names = names
        is_plain = all(type(name) is str for name in names)
        self.number = naming.number(names, text_of) if is_plain else None
        kept = [i for i, name in enumerate(names) if not (type(name) is str and name in OF_SYNC)]
        self.others: Callable[[tuple[Any, ...]], Iterable[Any]] | None = None
        if kept:
            self.others = itemgetter(*kept) if len(kept) > 1 else itemgetter(slice(kept[0], kept[0] + 1))


class Plans(Protocol):
    """The plans by type, and the names of attributes by their `id`s.

    `get` and `known_fields` return those made before, `make` and `fields` make them.
    """

    @property
    def get(self) -> Callable[[type], Plan | None]: ...

    @property
    def known_fields(self) -> dict[tuple[int, ...], AttributeNames]: ...

    @property
    def likely_fields(self) -> dict[type | None, AttributeNames]: ...

    def make(self, kind: type, /) -> Plan: ...

    def fields(self, names: Iterable[Any], /) -> AttributeNames: ...


_REFERENCES: Final = [(n,) for n in range(4096)]
_NO_MARK: Final = -1
_OWNED: Final = -3


class Heap:
    """One traversal.

    out         the structure so far
    ref, refs   append one or several values, each a leaf or an object, which is encoded later
    dead        the objects of dead variables of generators
    running     by `id` of the frame of each running generator: the thread that runs it, and the depth of the frame
    finalised   True once an object was found whose end the program can notice (`__del__`, weak references)
    """

    def __init__(
        self, plans: Plans, layouts: Layouts, names: CanonicalNames, running: dict[int, tuple[int, int]]
    ) -> None:
        self.out: list[Any] = []
        self.finalised = False
        self.dead: list[Any] = []
        self.layouts = layouts
        self.plans = plans
        self._fields_of = plans.known_fields.get
        self._likely = plans.likely_fields
        self.running = running
        self.names = names
        self._shown_of = names.known.get
        self._dicts: list[Any] = []  # kept alive, so that no `id` is used again
        self._objects: list[Any] = []
        self._numbers: dict[int, tuple[int]] = {}
        self._ids: dict[int, tuple[int, Any]] = run.threads[0].data.get("ids") or {}
        self._values: list[Any] = []
        self._settled: list[Any] = []  # the values numbered so far, as leaves and numbers of objects
        self.ref: Callable[[Any], None] = self._values.append
        self.refs: Callable[[Iterable[Any]], None] = self._values.extend

    def encoding(self) -> bytes:
        try:
            return marshal.dumps((self.out, self._settled), 2)
        except ValueError:
            raise StateUnknown("a name that is not a plain string") from None

    def settle(self) -> None:
        """Number the objects that have been referred to."""
        numbers, objects, atoms, settled = self._numbers, self._objects, ATOMS, self._settled
        number_of, settle = numbers.get, settled.append
        for value in islice(self._values, len(settled), None):
            if type(value) in atoms:
                settle(value)
            else:
                number = number_of(id(value))
                if number is None:
                    n = len(objects)
                    number = numbers[id(value)] = _REFERENCES[n] if n < 4096 else (n,)
                    objects.append(value)
                settle(number)

    def part(self, part: ThreadPart) -> None:
        self.out.append(part.shape)
        self.refs(part.objects)

    def slot(self, get: Callable[[Any], Any], obj: Any) -> None:
        """Append what the object has in this slot, or that it has nothing."""
        try:
            value = get(obj)
        except AttributeError:
            self.out.append(UNBOUND)
        else:
            self.out.append(HOLE)
            self.ref(value)

    def number_of(self, obj: Any) -> int | None:
        """Return the number of an object that the traversal has reached, else None."""
        found = self._numbers.get(id(obj))
        return None if found is None else found[0]

    def has(self, obj: Any) -> bool:
        return id(obj) in self._numbers

    def dict_of(self, obj: Any, fields: dict[str, Any]) -> None:
        """Append an object's own `__dict__`, which the program may also see as an object of its own."""
        numbers = self._numbers
        number = numbers.get(id(fields))
        if number is not None:
            self.out.append(number)
            return
        numbers[id(fields)] = (~numbers[id(obj)][0],)
        self._dicts.append(fields)
        self.items(fields, type(obj))

    def items(self, mapping: dict[Any, Any], kind: type | None = None) -> None:
        """Append a `__dict__`. There are few combinations of names, so each has a number. `kind`: see `_names_of`."""
        self._names_of(mapping, kind)
        self.refs(mapping.values())

    def sync(self, mapping: dict[Any, Any], kind: type) -> None:
        """Like `items`, for a synchronisation object: append its state, and the part of its name that belongs to the
        state.

        (An object that only provides a location has no state.)
        """
        others = self._names_of(mapping, kind).others
        location, state = mapping.get("dpor_location"), mapping.get("dpor_state")
        if location is not None:
            shown = self._shown_of(location)
            location = self.names.shown(location) if shown is None else shown
        if type(state) is frozenset:
            state = ("set", *sorted(state))
        self.out.append((location, state))
        if others is not None:
            self.refs(others(tuple(mapping.values())))

    def _names_of(self, mapping: dict[Any, Any], kind: type | None) -> AttributeNames:
        """Return the names of the mapping. `kind`: of its object; the names are often those of the last one of its
        kind."""
        if type(mapping) is not dict:
            raise StateUnknown("the attributes of an object are in a mapping that is not a plain dict")
        fields = self._likely.get(kind)
        if fields is None or len(mapping) != len(fields.names) or not all(map(is_, mapping, fields.names)):
            fields = self._fields_of(tuple(map(id, mapping)))
            if fields is None:
                fields = self.plans.fields(mapping)
            self._likely[kind] = fields
        if fields.number is None:
            self.out.append((len(mapping), "names"))
            self.refs(mapping)
        else:
            self.out.append(fields.number)
        return fields

    def finish(self) -> None:
        """Encode all objects that have been referred to, and those that these refer to."""
        append, plans, ids = self.out.append, self.plans, self._ids
        mark_of, plan_of, shown_of = shared_objects.table.get, plans.get, self._shown_of
        for layer in self._layers():
            for obj, mark in zip(layer, map(mark_of, map(id, layer)), strict=True):
                if mark is None:
                    append(_NO_MARK)
                elif type(mark) is ModelThread:
                    append(_OWNED - mark.id)
                else:
                    number = mark.number  # type: ignore[union-attr]
                    shown = shown_of(number)
                    append(self.names.shown(number) if shown is None else shown)
                if ids and id(obj) in ids:
                    append((ids[id(obj)][0], "id"))
                kind = type(obj)
                (plan_of(kind) or plans.make(kind))(self, obj)

    def _layers(self) -> Iterator[list[Any]]:
        """Yield the objects that the roots refer to, those that these refer to, and so on."""
        done = 0
        while True:
            self.settle()
            layer = self._objects[done:]
            if not layer:
                return
            done += len(layer)
            yield layer


class PrivateHeap(Heap):
    """A traversal that ends at what other threads may change: shared objects and drop-ins are encoded by their
    addresses.

    So encodings can be compared within one run only.
    """

    def finish(self) -> None:
        out, plans, table = self.out, self.plans, shared_objects.table
        for layer in self._layers():
            for obj in layer:
                kind = type(obj)
                if isinstance(obj, random.Random):
                    out.append(_state_of_generator(obj))
                elif isinstance(table.get(id(obj)), shared_object.SharedObject) or issubclass(kind, _OUTSIDE):
                    out.append((id(obj), "shared"))
                elif module_of_class(kind).startswith("dpor.python.dropins") and module_of_class(kind) != _VALUES:
                    raise StateUnknown(f"a {kind.__qualname__} may be shared")
                else:
                    (plans.get(kind) or plans.make(kind))(self, obj)


_OUTSIDE: Final = (type, types.ModuleType, SyncObject)
_VALUES: Final = "dpor.python.dropins.datetime"
_state_of_generator: Final = random.Random.__base__.__dict__["getstate"]
