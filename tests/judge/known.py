"""What dpor does not see yet, by row of the table: outcomes that are missed without a word in the verdict."""

from __future__ import annotations

from typing import Final

_DUNDERS: Final = "what operators, isinstance and method calls find in a class does not follow a change of the class"
_FUNCTIONS: Final = "a read of `__defaults__` by a call is no operation"
_EXCEPTIONS: Final = "fields of the built-in exceptions are no locations"
_NAMESPACE: Final = "a namespace that is looked at as a dict is not known to be one"
_DYING: Final = "the death of an object is no operation, and weak references do not see it"
_MATCH: Final = "what a pattern names is read in one step, in CPython each look is a bytecode"

KNOWN: dict[str, str] = {
    "Attribute: operator method replaced": _DUNDERS,
    "Attribute: class changed": _DUNDERS,
    "Attribute: class changed, method": _DUNDERS,
    "Attribute: class changed, isinstance": _DUNDERS,
    "Attribute: bases changed": _DUNDERS,
    "Attribute: function defaults replaced": _FUNCTIONS,
    "Raise: context of a shared exception": _EXCEPTIONS,
    "Attribute: __dict__ replaced": _NAMESPACE,
    "Attribute: __dict__ of a class": _NAMESPACE,
    "Name: global read by globals()": _NAMESPACE,
    "AnnAssign: annotated global": _NAMESPACE,
    "Call: vars kept": _NAMESPACE,
    "Call: dir": _NAMESPACE,
    "Subscript: mappingproxy": "MappingProxyType is not known as a view of its dict",
    "Name: cell by __closure__": "cell_contents is no operation on the variable",
    "Call: str.format of attributes": "`{0.v}` in a format reads no field",
    "Call: type()": "type(name, bases, d) does not read d",
    "Call: super with class attributes": "`super().n` does not read the class attribute",
    "Call: weakref": "`w().v`: the object that a weak reference gives is not seen as the shared one",
    "Call: weakref of one that goes": _DYING,
    "Call: weakref callback": _DYING,
    "Call: finalizer": _DYING,
    "Call: finalizer by del": _DYING,
    "Call: finalizer by rebinding": _DYING,
    "Call: issubclass with an ABC": "to register a class with an ABC is no operation",
    "Call: __subclasses__": "to make a class is no operation on its bases",
    "BinOp: % of a string": "CPython compiles '%s %s' % (x, y) as an f-string, one step for each part",
    "ImportFrom: of a changed module": "`from m import n` reads no attribute of a module that is not instrumented",
    "MatchSequence: nested": _MATCH,
    "MatchSequence: deque": _MATCH,
    "MatchMapping: rest": _MATCH,
    "MatchClass: attributes": _MATCH,
}
