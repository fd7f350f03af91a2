"""Abstract objects, which variables may point to, and their fields.

An object stands for all that one allocation site makes (in one context, see `points_to`). Functions, classes, modules,
bound methods and native things are objects as well. UNKNOWN is any object that native code may have.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final, NamedTuple

from dpor.statics.ir import ClassDefinition, Function, Variable


class ObjectKind(StrEnum):
    """The kind of an abstract object; below each, what `Object.of` then holds."""

    UNKNOWN = "unknown"
    VALUE = "value"
    """Built-in values that cannot change: numbers, strings, None."""
    INSTANCE = "instance"
    """The object of its class."""
    CLASS = "class"
    """Its ClassDefinition."""
    FUNCTION = "function"
    """Its Function."""
    BOUND = "bound method"
    """(object of the callable, object of the receiver)."""
    MODULE = "module"
    """The Function of its body."""
    CONTAINER = "container"
    """list, tuple, set, dict, or a native class."""
    GENERATOR = "generator"
    """The number of the function instance that is its body."""
    NATIVE = "native"
    """Dotted name of a function, class or module outside the program."""
    NATIVE_INSTANCE = "native instance"
    """Dotted name of its class."""
    SUPER = "super"
    """(object of the class, object of the receiver)."""
    WRAPPER = "wrapper"
    """property, staticmethod or classmethod: its name; a partial: "partial". What it wraps is in its fields."""


class AbstractObject(NamedTuple):
    """An abstract object.

    site      where it is made, "path:line", "" if nowhere
    context   number of the receiver's object in whose method it is made, -1 if contexts are not distinguished
    """

    kind: ObjectKind
    of: Any = None
    site: str = ""
    context: int = -1

    def __str__(self) -> str:
        what = self.of
        if self.kind is ObjectKind.INSTANCE:
            what = what.of.name
        elif isinstance(what, (ClassDefinition, Function)):
            what = what.name
        within = f" in {self.context}" if self.context >= 0 else ""
        return f"{what or self.kind}" + (f"@{self.site}{within}" if self.site else "")


UNKNOWN: Final = AbstractObject(ObjectKind.UNKNOWN)
VALUE: Final = AbstractObject(ObjectKind.VALUE)
ANY: Final = "*"
"""As the name of a field: any field of its owner; as the owner: any object with such a field."""


class Field(NamedTuple):
    """A field: the class that declares it, and its name.

    Owners of other kinds have labels: "type C" (attributes of the class itself), list, dict, ... (their elements
    are named []), a module's path, a function's key.
    """

    owner: str
    name: str

    def __str__(self) -> str:
        return f"{self.owner}.{self.name}"

    def may_be(self, other: Field) -> bool:
        """True if both may be the same field, if one or both are not known exactly."""
        owners = self.owner == other.owner or ANY in (self.owner, other.owner)
        return owners and (self.name == other.name or ANY in (self.name, other.name))


def variable_field(variable: Variable) -> Field:
    """The field of a global or cell: these are fields of their scopes."""
    return Field(variable.scope, variable.name)
