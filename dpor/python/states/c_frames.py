"""Values that C code between two Python frames holds: the lower frame called the C code, which called the upper frame.

Most C code holds nothing: once the method that it called returns, only that result is left (`__enter__`, `__next__`,
`__call__`, a property). Some holds an object that can be found elsewhere: code that makes an object of a class holds it
while `__init__` runs, and it is that function's first argument. Some remembers how far it has come (`sorted` with a
key, `list.remove`, `print` of a list): then the state is unknown.

So each way is listed with its proof: that the code of the upper frame is the very method which the instruction, or the
C function that it calls, looks up on an operand. In any way that is not listed here the state is unknown.
"""

from __future__ import annotations

import functools
import operator
import sys
import types
from types import CodeType, FrameType
from typing import Any, Final, NoReturn

from dpor.python.effects import generators
from dpor.python.states.memory import SLOTS, TAGGED, WORDS, in_use, slots_of
from dpor.python.states.stacks import KEEP, FramePosition, Layout, StateUnknown

HeldValues = tuple[Any, ...]
NOTHING: Final[HeldValues] = ()


class Reading:
    """A frame, with the part of its memory that may be read. `first`: the number of its first slot."""

    __slots__ = ("first", "frame", "layout", "place", "stacktop")

    def __init__(self, frame: FrameType, layout: Layout, place: FramePosition) -> None:
        self.frame = frame
        self.layout = layout
        self.place = place
        self.first = slots_of(frame)
        self.stacktop = in_use(self.first)
        if 0 <= self.stacktop < place.base:
            raise StateUnknown(f"the operand stack of {layout.code.co_qualname} is not as deep as expected")

    def slot(self, number: int) -> Any:
        return SLOTS[self.first + number]

    def slot_or_none(self, number: int) -> Any:
        return SLOTS[self.first + number] if WORDS[self.first + number] > 1 else None

    def operands(self) -> list[Any]:
        """The operands of the instruction, which calls C code and keeps them; None for a slot that holds no object."""
        return [self.slot_or_none(number) for number in range(self.place.base, self.place.top)]

    def calls_directly(self) -> bool:
        """True if the instruction has called a Python function itself, which has taken over its operands."""
        if TAGGED:
            return self.stacktop == self.place.base < self.place.top
        return self.stacktop >= 0


def values_held_by_c(lower: Reading, upper: Reading) -> HeldValues:
    """Return the values that the C code (or the interpreter itself) between the frames holds. Raises `StateUnknown`."""
    name = lower.place.name
    if lower.calls_directly() and name != "LOAD_ATTR":
        if name in _DIRECT:
            return (_first(upper),) if _may_make(upper) else NOTHING
        if name in _DIRECT_METHODS:
            return NOTHING
    way = _WAYS.get(name)
    if way is None:
        _cannot(lower, upper)
    return way(lower, upper)  # type: ignore[no-any-return]


_DIRECT: Final = frozenset({"CALL", "CALL_KW", "CALL_FUNCTION_EX"})
_DIRECT_METHODS: Final = frozenset({"BINARY_SUBSCR", "FOR_ITER", "SEND"})


def _may_make(upper: Reading) -> bool:
    """True if the upper frame may be an `__init__` that was called by making an object of its class.

    From Python 3.12 on the interpreter makes the call itself, and holds the object in a frame that is not shown.
    """
    layout = upper.layout
    code = layout.code
    if code.co_name == "__init__":
        return True
    if not code.co_argcount or not layout.keeps_first:
        return False
    kind = type(_first(upper))
    known = layout.inits.get(kind)
    if known is None:
        if len(layout.inits) > 5000:  # do not keep classes that every run makes anew
            layout.inits.clear()
        known = layout.inits[kind] = _code_of(_static(kind, "__init__")) is code
    return known


def _cannot(lower: Reading, upper: Reading) -> NoReturn:
    where, who = lower.layout.code, upper.layout.code
    raise StateUnknown(
        f"{who.co_qualname} was called by C code that {where.co_qualname} has called ({lower.place.name}, line "
        f"{lower.frame.f_lineno}), whose own state is hidden"
    )


# ---------------------------------------------------------------------- looking methods up


def _first(upper: Reading) -> Any:
    """Return the first argument that the upper frame was called with. Raises `StateUnknown` if it may be rebound."""
    code = upper.layout.code
    if not upper.layout.keeps_first:
        raise StateUnknown(f"{code.co_qualname} binds its first parameter to something else")
    value = upper.slot(0)
    if type(value) is types.CellType and code.co_varnames[0] in code.co_cellvars:
        value = value.cell_contents
    if not code.co_argcount:
        if code.co_kwonlyargcount or type(value) is not tuple or not value:
            raise StateUnknown(f"{code.co_qualname} has no first parameter")
        value = value[0]
    return value


def _code_of(found: Any) -> CodeType | None:
    """Return the code that a call of this object runs, None if that is not Python code."""
    for _ in range(20):
        kind = type(found)
        if kind is types.FunctionType:
            return found.__code__  # type: ignore[no-any-return]
        if kind is types.MethodType or kind is staticmethod or kind is classmethod:
            found = found.__func__
        elif kind is functools.partial:
            found = found.func
        elif kind is types.BuiltinFunctionType or isinstance(found, type):
            return None
        else:
            found = _static(kind, "__call__")
    return None


def _static(kind: type, name: str) -> Any:
    for base in kind.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def _is_method(upper: Reading, owner: Any, *names: str) -> bool:
    """True if the upper frame runs one of these methods of the owner, called on the owner."""
    code = upper.layout.code
    return any(_code_of(_static(type(owner), name)) is code for name in names) and _first(upper) is owner


def _is_method_of_first(upper: Reading, *names: str) -> bool:
    return _is_method(upper, _first(upper), *names)


# ---------------------------------------------------------------------- instructions


def _enter(lower: Reading, upper: Reading) -> HeldValues:
    """Holds the context manager, whose `__exit__` is called later."""
    return (_first(upper),) if _is_method_of_first(upper, "__enter__") else _cannot(lower, upper)


def _except(lower: Reading, upper: Reading) -> HeldValues:
    """Holds nothing: the exit method is on the stack, below the exception that it is given."""
    exit_ = lower.slot(lower.place.top - _EXIT)
    return NOTHING if _code_of(exit_) is upper.layout.code else _cannot(lower, upper)


_EXIT: Final = 5 if sys.version_info >= (3, 14) else 4
"""How far below the top of the stack; from 3.14 on, what it is bound to is above it."""


def _next(lower: Reading, upper: Reading) -> HeldValues:
    """Holds nothing: the iterator stays on the stack."""
    return NOTHING if _advances(lower.slot(lower.place.top - _ITERATOR), upper) else _cannot(lower, upper)


_ITERATOR: Final = 2 if sys.version_info >= (3, 15) else 1
"""How far below the top of the stack; from 3.15 on, there is a place in the iterator above it."""


def _advances(iterator: Any, upper: Reading) -> bool:
    """True if the upper frame is what the iterator calls for its next item, while the iterator holds nothing else."""
    kind = type(iterator)
    if kind is types.GeneratorType:
        return iterator.gi_frame is upper.frame
    if kind is enumerate or kind is zip:  # the first of what a `zip` zips: none of the others was asked yet
        return _advances(iterator.__reduce__()[1][0], upper)
    if kind is map:
        function, *sources = iterator.__reduce__()[1]
        return len(sources) == 1 and (_advances(sources[0], upper) or _code_of(function) is upper.layout.code)
    if kind is _CALLED_AGAIN:
        return _code_of(iterator.__reduce__()[1][0]) is upper.layout.code
    return _code_of(_static(kind, "__next__")) is upper.layout.code and _first(upper) is iterator


_CALLED_AGAIN: Final = type(iter(int, 1))


def _delegate(lower: Reading, upper: Reading) -> HeldValues:
    """`yield from`: the object delegated to is on the stack, below the value that is sent."""
    place = lower.place
    receiver = lower.slot(place.base - _ITERATOR)
    code = upper.layout.code
    if _advances(receiver, upper) or _code_of(_static(type(receiver), "send")) is code:
        return NOTHING
    return _cannot(lower, upper)


def _iterate(lower: Reading, upper: Reading) -> HeldValues:
    return NOTHING if _is_method_of_first(upper, "__iter__") else _cannot(lower, upper)


def _binary(lower: Reading, upper: Reading) -> HeldValues:
    """Holds both operands: if one method returns NotImplemented, that of the other operand is called next."""
    a, b = lower.operands()
    if a is b or not any(_is_dunder(upper, owner) for owner in (a, b)):
        _cannot(lower, upper)
    return a, b


def _is_dunder(upper: Reading, owner: Any) -> bool:
    """True if the upper frame runs a special method of the owner, whatever its name."""
    code = upper.layout.code
    return (
        any(
            name.startswith("__") and _code_of(found) is code
            for base in type(owner).__mro__
            for name, found in base.__dict__.items()
        )
        and _first(upper) is owner
    )


def _contains(lower: Reading, upper: Reading) -> HeldValues:
    owner = lower.operands()[1]
    return NOTHING if _is_method(upper, owner, "__contains__") else _cannot(lower, upper)


def _get_item(lower: Reading, upper: Reading) -> HeldValues:
    return NOTHING if _is_method_of_first(upper, "__getitem__", "__missing__") else _cannot(lower, upper)


def _on_operand(index: int, *names: str) -> Any:
    """Make the way of an instruction that only calls one of these methods of the operand."""

    def way(lower: Reading, upper: Reading) -> HeldValues:
        return NOTHING if _is_method(upper, lower.operands()[index], *names) else _cannot(lower, upper)

    return way


def _test(lower: Reading, upper: Reading) -> HeldValues:
    return NOTHING if _is_method_of_first(upper, "__bool__", "__len__") else _cannot(lower, upper)


def _attribute(lower: Reading, upper: Reading) -> HeldValues:
    """Holds the owner: if a property raises AttributeError, `__getattr__` is called next."""
    code = lower.layout.code
    shift = 1 if lower.place.name == "LOAD_ATTR" and sys.version_info >= (3, 12) else 0
    return _loads(upper, code.co_names[lower.place.arg >> shift]) or _cannot(lower, upper)


def _loads(upper: Reading, name: str) -> HeldValues:
    """Return what is held while the upper frame loads an attribute of this name; nothing if it does something else."""
    owner, code = _first(upper), upper.layout.code
    kind = type(owner)
    getter, all_, missing = (_static(kind, n) for n in (name, "__getattribute__", "__getattr__"))
    if missing is not None and missing is all_:
        return NOTHING
    if (type(getter) is property and _code_of(getter.fget) is code) or code in (_code_of(all_), _code_of(missing)):
        return (owner,)
    return NOTHING


# ---------------------------------------------------------------------- calls


def _call(lower: Reading, upper: Reading) -> HeldValues:
    a, b, *args = lower.operands()
    if _CALLABLE_FIRST or a is not None:
        function, given = a, ([b, *args] if b is not None else args)
    else:
        function, given = b, args
    code = upper.layout.code
    if isinstance(function, type) and _static(type(function), "__call__") is _MAKE:
        if _code_of(_static(function, "__init__")) is code:
            return (_first(upper),)
        if _code_of(_static(function, "__new__")) is code:
            return tuple(given)
    if function in _SINGLE and given:
        return _through(function, given, lower, upper)
    if _resumes(function, upper):
        return (function.__name__, function.__self__)
    # While a bound method is called, the object that it is bound to is in its place on the stack.
    return NOTHING if _code_of(function) is code or _is_dunder(upper, function) else _cannot(lower, upper)


def _resumes(function: Any, upper: Reading) -> bool:
    """True if it is a method of the generator whose frame is the upper one."""
    if type(function) is not types.BuiltinFunctionType:
        return False
    owner = function.__self__
    return type(owner) is types.GeneratorType and owner.gi_frame is upper.frame


_MAKE: Final = type.__dict__["__call__"]
_CALLABLE_FIRST: Final = sys.version_info >= (3, 13)


class _ByIdentity(frozenset[int]):
    def __contains__(self, function: object) -> bool:
        return frozenset.__contains__(self, id(function))


_SINGLE: Final = _ByIdentity(
    map(
        id,
        (
            *(iter, next, len, getattr, setattr, delattr, hasattr, repr, str, hash, format, bool, abs),
            *(
                function
                for name, function in vars(operator).items()
                if isinstance(function, types.BuiltinFunctionType) and name not in ("countOf", "indexOf")
            ),
        ),
    )
)
"""C functions that only call special methods of their arguments, one after the other, and hold nothing else."""


def _through(function: Any, given: list[Any], lower: Reading, upper: Reading) -> HeldValues:
    """Return all arguments of the C function: they determine what it calls next, and what it returns."""
    if function is next:
        if _advances(given[0], upper):
            return tuple(given)
    elif function in (getattr, hasattr, setattr, delattr):
        if _is_dunder(upper, given[0]) or _is_accessor(upper, given[0]):
            return tuple(given)
    elif any(_is_dunder(upper, owner) for owner in given) and not (len(given) > 1 and given[0] is given[1]):
        return tuple(given)
    return _cannot(lower, upper)


def _is_accessor(upper: Reading, owner: Any) -> bool:
    code = upper.layout.code
    return _first(upper) is owner and any(
        type(found) is property and code in (_code_of(found.fget), _code_of(found.fset), _code_of(found.fdel))
        for base in type(owner).__mro__
        for found in base.__dict__.values()
    )


def _call_spread(lower: Reading, upper: Reading) -> HeldValues:
    """`f(*args)`: only the function can be read, as the arguments may have been replaced by a tuple meanwhile."""
    place = lower.place
    function = lower.slot_or_none(place.base + (0 if _CALLABLE_FIRST else 1))
    code = upper.layout.code
    if isinstance(function, type):
        if _static(type(function), "__call__") is _MAKE and _code_of(_static(function, "__init__")) is code:
            return (_first(upper),)
        _cannot(lower, upper)
    if _resumes(function, upper):
        return (function.__name__, function.__self__)
    if function is next and lower.layout.code is generators.resume_generator.__code__:
        arguments = lower.slot(lower.layout.names.index("args"))
        return arguments if _advances(arguments[0], upper) else _cannot(lower, upper)  # type: ignore[no-any-return]
    return NOTHING if _code_of(function) is code else _cannot(lower, upper)


_TESTS: Final = (
    "TO_BOOL", "UNARY_NOT", "POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE", "POP_JUMP_FORWARD_IF_TRUE",
    "POP_JUMP_FORWARD_IF_FALSE", "POP_JUMP_BACKWARD_IF_TRUE", "POP_JUMP_BACKWARD_IF_FALSE", "JUMP_IF_TRUE_OR_POP",
    "JUMP_IF_FALSE_OR_POP",
)  # fmt: skip

_WAYS: Final[dict[str, Any]] = {
    "BEFORE_WITH": _enter,
    "WITH_EXCEPT_START": _except,
    "FOR_ITER": _next,
    "SEND": _delegate,
    "GET_ITER": _iterate,
    "GET_YIELD_FROM_ITER": _iterate,
    "BINARY_OP": _binary,
    "COMPARE_OP": _binary,
    "CONTAINS_OP": _contains,
    "BINARY_SUBSCR": _get_item,
    "STORE_SUBSCR": _on_operand(1, "__setitem__"),
    "DELETE_SUBSCR": _on_operand(0, "__delitem__"),
    "UNARY_NEGATIVE": _on_operand(0, "__neg__"),
    "UNARY_INVERT": _on_operand(0, "__invert__"),
    "FORMAT_SIMPLE": _on_operand(0, "__format__", "__str__", "__repr__"),
    "LOAD_ATTR": _attribute,
    "LOAD_METHOD": _attribute,
    "CALL": _call,
    "CALL_KW": _call,
    "CALL_FUNCTION_EX": _call_spread,
    **dict.fromkeys(_TESTS, _test),
}
_READ: Final = {"CALL", "CALL_KW", "FOR_ITER", "WITH_EXCEPT_START", "BINARY_OP", "COMPARE_OP", "CONTAINS_OP"}
assert _READ | {"STORE_SUBSCR", "DELETE_SUBSCR", "UNARY_NEGATIVE", "UNARY_INVERT", "FORMAT_SIMPLE"} <= KEEP
