"""Describes the object or part of an object that an operation accesses, with its value, without running code of the
program."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from types import CellType, FrameType, MemberDescriptorType
from typing import Any, Final, NamedTuple, Protocol

from dpor.core.operations import READ, WRITE, Location, Mode, Operation
from dpor.python.effects.keys import part_of
from dpor.python.effects.kinds import static
from dpor.python.kernel.classes import is_a
from dpor.python.kernel.run import run
from dpor.python.narrate.names import ObjectNames
from dpor.python.narrate.values import Called, value_in_words
from dpor.python.sharing import shared_objects
from dpor.python.sharing.shared_object import ELEMENTS, STRUCTURE

UNKNOWN: Final = object()
"""In place of a value that is not known."""


class ObjectPart(NamedTuple):
    """A place that holds a value: an object, and the field, key or index in it, or all of it."""

    owner: Any
    part: Any

    def value(self) -> Any:
        """Return the value there now, or `UNKNOWN`."""
        owner, part = self
        if part in (STRUCTURE, ELEMENTS):
            return UNKNOWN if owner is None else owner
        if is_a(owner, dict):
            if type(part) in (tuple, frozenset):  # it stands for a key that looks otherwise
                return next((value for key, value in dict.items(owner) if part_of(key) == part), UNKNOWN)
            return dict.get(owner, part, UNKNOWN)
        if is_a(owner, list):
            known = type(part) is int and part < list.__len__(owner)
            return list.__getitem__(owner, part) if known else UNKNOWN
        if type(owner) is CellType:
            return _got(owner, CellType.__dict__["cell_contents"])
        if is_a(owner, type):
            return type.__dict__["__dict__"].__get__(owner).get(part, UNKNOWN)
        slot = static(type(owner), part)
        if type(slot) is MemberDescriptorType:
            return _got(owner, slot)
        try:
            return dict.get(object.__getattribute__(owner, "__dict__"), part, UNKNOWN)
        except AttributeError:
            return UNKNOWN

    def in_words(self, called: Called) -> str:
        value = self.value()
        return "" if value is UNKNOWN else value_in_words(value, called)


def _got(owner: Any, descriptor: Any) -> Any:
    try:
        return descriptor.__get__(owner)
    except (AttributeError, ValueError):  # nothing has been stored there yet
        return UNKNOWN


class ShowablePlace(Protocol):
    """A place whose value can be shown."""

    def in_words(self, called: Called) -> str: ...


class Description(NamedTuple):
    """An operation in words.

    text     what is done to which object
    value    the value that it reads or finds
    changes  the place that may have another value afterwards
    """

    text: str
    value: str = ""
    changes: ShowablePlace | None = None


def operation_in_words(operation: Operation, names: ObjectNames, frame: FrameType | None) -> Description:
    """Describe an operation without a rule, in the words of the function whose frame this is."""
    if operation.alternatives > 1:
        return Description(f"choose one of {operation.alternatives}", str(operation.value))
    if not operation.accesses:
        return Description(operation.kind)
    location, mode = operation.accesses[0 if operation.rule is None else 1]  # first of a daemon's comes the process
    return _on(operation.kind, location, mode, names, frame)


def place_in_words(location: Location) -> str:
    """Name the location as the program does, as far as its name is known outside a run; "" if it is not."""
    return _on("", location, WRITE, ObjectNames(), None).text.strip()


def _on(kind: str, location: Location, mode: Mode, names: ObjectNames, frame: FrameType | None) -> Description:
    match run.operations.name_of(location):
        case ("global", module, str(name)):
            known = sys.modules.get(str(module))
            place = ObjectPart(None if known is None else vars(known), name)
        case ("process", str(part), *piece):
            return Description(f"{kind} {part}{' of ' + ', '.join(map(str, piece)) if piece else ''}".strip())
        case ("class attribute", str(attribute)):
            owner = names.class_with(attribute, frame)
            name = f"class attribute {attribute}" if owner is None else f"{owner.__name__}.{attribute}"
            place = ObjectPart(owner, attribute)
        case ("alive", of):
            shared = shared_objects.shared_object_named(of)
            obj = None if shared is None else shared.obj
            return Description(f"{kind} {'an object' if obj is None else names.of_shared(obj, frame)}")
        case (int(number), part):
            obj = object_numbered(number)
            name = "object" if obj is None else names.of_shared(obj, frame)
            if part in (STRUCTURE, ELEMENTS):
                place = ObjectPart(obj, part)
                return Description(f"{kind} {name}", place.in_words(names.of_value), None if mode is READ else place)
            if is_a(obj, (set, frozenset)):
                return Description(f"{kind} {name}{{{part_in_words(part, names.of_value)}}}")
            if type(obj) is CellType:
                name = str(part)
            elif type(part) is not str or is_a(obj, dict):
                name += f"[{part_in_words(part, names.of_value)}]"
            else:
                name += f".{part}"
            place = ObjectPart(obj, part)
        case _:
            return Description(kind)
    if mode is READ:
        return Description(f"{kind} {name}", place.in_words(names.of_value))
    return Description(f"{kind} {name}", changes=place)


def part_in_words(part: Hashable, called: Called) -> str:
    """Show the part of a container (`part_of`) as its key would be written."""
    match part:
        case ("enum", _, str(name), str(member)):
            return f"{name.rpartition('.')[2]}.{member}"
        case ("object", int(number)):
            found = object_numbered(number)
            return "<object>" if found is None else f"<{called(found)}>"
        case ("module" | "named", *_, str(name)):
            return name
        case tuple() | frozenset():
            each = [part_in_words(inner, called) for inner in part]
            return f"({', '.join(each)}{',' if len(each) == 1 else ''})"
    return value_in_words(part, called)


def object_numbered(number: int) -> Any:
    """Return the shared object with this number in the present run; None if there is none, or it is not known."""
    shared = shared_objects.shared_object_named(run.operations.name_of(number))
    if shared is None:
        return next((o for made in run.made if (o := made()) is not None and o.dpor_location == number), None)
    return shared.obj
