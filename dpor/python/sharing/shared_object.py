"""What a shared object is to a search: its name, the locations of its parts, and the facts about its fields."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final

from dpor.core.operations import READ, WRITE, Access, Accesses, Location, Mode, Operation
from dpor.python.kernel import assumptions
from dpor.python.kernel.assumptions import about
from dpor.python.kernel.classes import module_of_class
from dpor.python.kernel.run import run

STRUCTURE: Final = "<structure>"
"""The part of a container that changes when its length, its keys or the positions of its elements do."""

ELEMENTS: Final = "<elements>"
"""The part that stands for all elements together: operations on all of them READ it, a store of one UPDATEs it."""

NAMES: Final = frozenset({"object", "root", "type", "dict of", "global", "class attribute", "process"})
"""The first words of the names of locations that hold data. Names of locks, the process and caches begin otherwise."""


class SharedObject:
    """A shared object. It is the same in all runs of a search, while the Python object is another one in each run.

    name, number   the object's name, and the number of the location of this name; the same in every run
    reads, writes  cached operations on its fields; None where an access of the field is not an operation
    obj            the Python object of the present run
    """

    __slots__ = ("_locations", "name", "number", "obj", "reads", "writes")

    def __init__(self, name: Hashable) -> None:
        self.name = name
        self.number = run.operations.location(name)
        self.reads: dict[str, Operation | Callable[..., Any] | None] = {}
        self.writes: dict[str, Operation | None] = {}
        self.obj: Any = None
        self._locations: dict[Hashable, Location] = {}

    def location(self, part: Hashable) -> Location:
        """Return the location of a part: a field's name, an element's key, STRUCTURE or ELEMENTS."""
        location = self._locations.get(part)
        if location is None:
            location = self._locations[part] = run.operations.location((self.number, part))
        return location

    def access(self, kind: str, part: Hashable, mode: Mode) -> Operation:
        accesses: Accesses = ((self.location(part), mode),)
        return run.operations.intern(kind, accesses)


class Namespace(SharedObject):
    """The `SharedObject` of a dict whose keys have locations of their own: fields, globals, class attributes.

    prefix    the beginning of the name of a key's location
    fact      the beginning of the fact that something writes a key of the dict
    exposed   the fact that something reads the dict as a whole; once it is known, writing a key also writes STRUCTURE
    """

    __slots__ = ("exposed", "fact", "prefix")

    def __init__(self, name: Hashable, prefix: tuple[object, ...], fact: tuple[object, ...], exposed: object) -> None:
        super().__init__(name)
        self.prefix = prefix
        self.fact = fact
        self.exposed = exposed

    def location(self, part: Hashable) -> Location:
        if part != STRUCTURE and part != ELEMENTS:
            return run.operations.location((*self.prefix, part))
        assumptions.used_by_several(self.exposed, f"the dict behind {self.fact[-1]}")
        return super().location(STRUCTURE)

    def is_written(self, key: Any) -> None:
        """Record that the key is about to be stored or deleted. Call it before the store."""
        fact = (*self.fact, key)
        if fact not in run.facts:
            assumptions.broken(fact, f"{key} is written while several threads exist")

    def written(self) -> set[str]:
        """Return the keys that are present and those that any run of this search has written, as far as they are
        names."""
        keys = {key for key in (self.obj or ()) if isinstance(key, str) and not key.startswith(".")}
        return keys.union(key for key, *more in about(run.facts, *self.fact) if not more)


def structure_of(name: Hashable, exposed: object) -> Accesses:
    """Return the accesses of a store of a key in the namespace of this name, besides the access of the key itself."""
    return (_structure_of(name, WRITE),) if exposed in run.facts else ()


def reads_names(shared: SharedObject, kind: type) -> Accesses:
    """Return the accesses of an operation that reads all fields that an object of this type has."""
    if names_change(kind) in run.facts:
        assumptions.used_by_several(names_looked_at(kind), f"which fields a {kind.__qualname__} has")
    elif exposed(kind) not in run.facts:
        return ()
    return (_structure_of(("dict of", shared.name), READ),)


def writes_names(shared: SharedObject) -> Accesses:
    """Return the accesses of adding a field to the object or of removing one."""
    return (_structure_of(("dict of", shared.name), WRITE),)


def _structure_of(name: Hashable, mode: Mode) -> Access:
    return run.operations.location((run.operations.location(name), STRUCTURE)), mode


# ---------------------------------------------------------------------- facts


def type_key(kind: type) -> tuple[str, str, str]:
    """Return the name under which all objects of the type are one shared object. It is a fact, too."""
    return ("type", module_of_class(kind), kind.__qualname__)


def exposed(kind: type) -> tuple[str, ...]:
    """The fact that something reads the `__dict__` of objects of the class as a whole."""
    return ("dict exposed", *type_key(kind))


def names_change(kind: type, *name: str) -> tuple[str, ...]:
    """The fact that shared objects of the class get or lose fields (of this name)."""
    return ("names change", *type_key(kind), *name)


def names_looked_at(kind: type) -> tuple[str, ...]:
    """The fact that something reads which fields shared objects of the class have."""
    return ("names looked at", *type_key(kind))


def adopted(kind: type) -> tuple[str, ...]:
    """The fact that objects of the class are given a `__dict__`, as by `self.__dict__ = shared`. Several can have
    one."""
    return ("dict adopted", *type_key(kind))
