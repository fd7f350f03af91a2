"""Results as hashable values by structure: equal if no program could tell the results apart, and the same in every
run."""

from __future__ import annotations

import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Hashable
from typing import Any, Final

from dpor.python.kernel.classes import is_a, module_of_class

_ATOMS: Final = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis), range)
_DEEPEST: Final = 50


def freeze(value: Any) -> Hashable:
    """The value's structure: containers by content, other objects by class and fields, cycles by position.

    >>> freeze([1, {"a": [2]}]) == freeze([1, {"a": [2]}])
    True
    >>> freeze([1]) == freeze((1,))
    False
    """
    return _freeze(value, {}, 0)


def _freeze(value: Any, seen: dict[int, int], depth: int) -> Hashable:
    kind = type(value)
    if kind in _ATOMS:
        return (kind.__name__, repr(value)) if kind in (float, complex, range) else (kind.__name__, value)
    if is_a(value, (type, types.FunctionType, types.ModuleType, types.BuiltinFunctionType)):
        return ("named", getattr(value, "__module__", ""), getattr(value, "__qualname__", value.__name__))
    if id(value) in seen:
        return ("again", seen[id(value)])
    if depth > _DEEPEST:
        return ("deep", kind.__qualname__)
    seen[id(value)] = len(seen)
    parts: Hashable
    if is_a(value, (list, tuple, deque)):
        parts = tuple(_freeze(part, seen, depth + 1) for part in list(value))
    elif is_a(value, dict):
        parts = tuple((_freeze(k, seen, depth + 1), _freeze(v, seen, depth + 1)) for k, v in list(value.items()))
    elif is_a(value, (set, frozenset)):
        parts = tuple(sorted((_freeze(part, {}, depth + 1) for part in list(value)), key=repr))
    elif is_a(value, BaseException):
        parts = _freeze(value.args, seen, depth + 1)
    else:
        parts = _fields(value, seen, depth)
    return (module_of_class(kind), kind.__qualname__, parts)


def _fields(value: Any, seen: dict[int, int], depth: int) -> Hashable:
    fields = getattr(value, "__dict__", None)
    if not isinstance(fields, dict) or module_of_class(type(value)).startswith("dpor.python"):
        return None
    return tuple(
        (name, _freeze(held, seen, depth + 1)) for name, held in sorted(fields.items(), key=lambda f: str(f[0]))
    )


def state_of(obj: Any) -> Hashable | None:
    """Return all that the object's further behaviour can depend on; None if a part of it is not known by structure.

    >>> state_of([1, {"a"}]) is not None, state_of([object()]), state_of(iter([1]))
    (True, None, None)
    """
    return freeze(obj) if _is_whole(obj, set(), 0) else None


def _is_whole(value: Any, seen: set[int], depth: int) -> bool:
    """True if `freeze` loses nothing of it."""
    kind = type(value)
    if kind in _ATOMS or is_a(value, (type, types.BuiltinFunctionType)) or id(value) in seen:
        return True
    if kind is types.FunctionType:
        return value.__closure__ is None
    if depth > _DEEPEST:
        return False
    seen.add(id(value))
    if kind in _CONTAINERS:
        parts = [part for item in value.items() for part in item] if issubclass(kind, dict) else list(value)
    elif _has_fields_only(kind):
        parts = list(value.__dict__.values())
    else:
        return False
    return all(_is_whole(part, seen, depth + 1) for part in parts)


class _Plain:
    pass


_CONTAINERS: Final = (list, tuple, set, frozenset, dict, deque, OrderedDict, defaultdict, Counter)
_HEAP_TYPE: Final = 1 << 9
"""The flag of classes that are made by a class statement, and of some in C."""


def _has_fields_only(kind: type) -> bool:
    """True if all that distinguishes the objects of this class is in their `__dict__`."""
    *classes, last = kind.__mro__
    return (
        last is object
        and bool(classes)
        and all(one.__flags__ & _HEAP_TYPE and not vars(one).get("__slots__") for one in classes)
        and kind.__dictoffset__ != 0
        and kind.__basicsize__ <= _Plain.__basicsize__
        and not module_of_class(kind).startswith("dpor.python")
    )


def frozen_in_words(frozen: Any) -> str:
    """Show a frozen value much as Python would print it.

    >>> frozen_in_words(freeze([1, {"a": (2.5,)}, {3}, None]))
    "[1, {'a': (2.5,)}, {3}, None]"
    """
    kind, *rest = frozen
    if kind in ("again", "deep"):
        return "..."
    if len(rest) == 1:
        return str(rest[0]) if kind in ("float", "complex", "range") else repr(rest[0])
    if kind == "named":
        return str(rest[1])
    name, parts = rest
    inner = ", ".join(map(_part_in_words, parts or ()))
    opening, closing = _BRACKETS.get(name) or (f"{name}(", ")")
    return f"{opening}{inner}{',' if name == 'tuple' and len(parts) == 1 else ''}{closing}"


_BRACKETS: Final = {"list": ("[", "]"), "tuple": ("(", ")"), "dict": ("{", "}"), "set": ("{", "}")}


def _part_in_words(part: Any) -> str:
    """Show an element, an item of a dict, or a field."""
    if len(part) == 2 and isinstance(part[1], tuple):
        name, value = part
        return (
            f"{name}={frozen_in_words(value)}"
            if isinstance(name, str)
            else f"{frozen_in_words(name)}: {frozen_in_words(value)}"
        )
    return frozen_in_words(part)
