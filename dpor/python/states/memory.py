"""Reads a frame's variables and operand stack where the interpreter keeps them.

Python does not show the operand stack, and shows variables only by copying them into the frame (or by a proxy). So this
reads the interpreter's own record of a frame: `PyFrameObject.f_frame` points to a `_PyInterpreterFrame`, whose
`localsplus` holds variables, cells, free variables and then the operands. Nothing is ever written.

Two things make that safe. A slot is read only where it certainly holds a reference or nothing: variables always do;
operands do below the top of the stack. From 3.14 on that is always exact; before, only while the frame waits for a
Python function that it has called itself or is a suspended generator, and it is -1 while it waits for C code (then
`dpor.python.states.stacks` works out what is there). And
`why_unreadable` tries the layout on frames whose contents are known, once, before anything else is read; where that
fails nothing is read at all. `slots_of`, the only way to a frame's memory, asks it each time.
"""

from __future__ import annotations

import array
import ctypes
import functools
import operator
import sys
from collections.abc import Callable, Generator
from functools import cache
from types import FrameType
from typing import Any, Final

from greenlet import getcurrent, greenlet

from dpor.core.interpreter import TESTED, is_free_threaded
from dpor.python.states.stacks import StateUnknown

_VERSION: Final = sys.version_info[:2]

_F_FRAME: Final = 24
"""Offset of `f_frame` in a frame object: after its head and `f_back`."""

_EVERYWHERE: Final = 1 << 57
WORDS: Final = (ctypes.c_size_t * _EVERYWHERE).from_address(0)
OBJECTS: Final = (ctypes.py_object * _EVERYWHERE).from_address(0)
"""All memory, by the number of the word: `WORDS` as numbers, `OBJECTS` as the objects at these addresses.

A word of 0, which is no object, raises ValueError. The caller guarantees that what it reads is not stale.
"""

TAGGED: Final = _VERSION >= (3, 14)
"""True if slots hold tagged references, and the top of the stack is always exact."""

_CODE, _STACKTOP, _SLOTS = (4, 8, 9) if _VERSION == (3, 11) else (0, 8, 10) if TAGGED else (0, 8, 9)
"""Offsets in a `_PyInterpreterFrame`, in words: the address of the code; how many slots are in use, or -1 (an int of 32
bits), or, from 3.14 on, the address of the first slot that is not; `localsplus`."""


class _Tagged:
    """Slots of tagged references, read like `OBJECTS`.

    The two lowest bits are the tag: 1 of a reference that is not counted, and of an empty slot; 3 of a number that has
    no object.
    """

    def __getitem__(self, word: int) -> Any:
        bits = WORDS[word]
        if bits & 2:
            return bits >> 2
        _untagged.value = bits & ~1
        return _object.value


_untagged: Final = ctypes.c_size_t()
_object: Final = ctypes.py_object.from_buffer(_untagged)
SLOTS: Final[Any] = _Tagged() if TAGGED else OBJECTS
"""The objects in the slots of frames, by the number of the word. An empty one, whose word is 0 or 1, raises
ValueError."""


def slots_of(frame: FrameType) -> int:
    """Return the number of the word with the frame's first slot. Raises `StateUnknown` if frames cannot be read."""
    ask()
    return _first_slot_of(frame)


def ask() -> None:
    """Raise `StateUnknown` if frames cannot be read."""
    reason = why_unreadable()
    if reason:
        raise StateUnknown(reason)


def _first_slot_of(frame: FrameType) -> int:
    """Like `slots_of`, without asking whether frames can be read. Raises RuntimeError if the record is not for the
    frame's code."""
    record = WORDS[(id(frame) + _F_FRAME) >> 3] >> 3
    if WORDS[record + _CODE] & ~1 != id(frame.f_code):
        raise RuntimeError("a frame's memory is not laid out as expected")
    return record + _SLOTS


def in_use(first: int) -> int:
    """Return how many of the slots that begin there are in use, or -1."""
    top: int = WORDS[first + _STACKTOP - _SLOTS]
    if TAGGED:
        return (top >> 3) - first
    top &= 0xFFFF_FFFF
    return top if top < 1 << 31 else top - (1 << 32)


@cache
def why_unreadable() -> str:
    """Return why frames cannot be read here; empty if they can."""
    version = ".".join(map(str, _VERSION))
    if sys.implementation.name != "cpython" or _VERSION not in TESTED:
        return f"the frames of {sys.implementation.name} {version} are laid out in a way that is not known"
    if hasattr(sys, "gettotalrefcount") or is_free_threaded():
        return "the frames of a debug or free-threaded build are laid out in another way"
    if not _is_as_expected():
        return f"the frames of this build of Python {version} are not laid out as expected"
    return ""


def _is_as_expected() -> bool:
    """True if variables, operands and stack tops are found where they are expected."""
    marks = [object() for _ in range(4)]
    seen: list[bool] = []

    def look(frame: FrameType, variables: list[object], operands: list[object], through_c: bool) -> None:
        expected = [*variables, *operands]
        try:
            top = in_use(_first_slot_of(frame))
            if through_c and not TAGGED:
                seen.append(top == -1 and all(map(_is, _slots(frame, len(variables)), variables)))
            else:
                seen.append(top == len(expected) and all(map(_is, _slots(frame, top), expected)))
        except RuntimeError:
            seen.append(False)

    def called(first: object, second: object) -> object:
        third = marks[2]
        return [marks[3], inner(first, second, third)][0]

    def inner(first: object, second: object, third: object) -> object:
        look(sys._getframe(1), [first, second, third, *_cells(called)], [marks[3]], False)
        return None

    class Sized:
        def __len__(self) -> int:
            look(sys._getframe(1), [marks[0], self, *_cells(by_way_of_c)], [marks[3], len, None, self], True)
            return 0

    def by_way_of_c(first: object, sized: Any) -> object:
        return [marks[3], len(sized)]

    def suspended(first: object) -> Generator[object, None, None]:
        second = marks[1]
        yield [marks[3], (yield None), first, second]

    called(marks[0], marks[1])
    by_way_of_c(marks[0], Sized())
    generator: Any = suspended(marks[0])
    next(generator)
    look(generator.gi_frame, [marks[0], marks[1], *_cells(suspended)], [marks[3]], False)
    return len(seen) == 3 and all(seen)


def _slots(frame: FrameType, count: int) -> list[Any]:
    first = _first_slot_of(frame)
    return [SLOTS[first + i] if WORDS[first + i] > 1 else None for i in range(count)]


def handled_by(suspended: greenlet) -> Any:
    """Return the exception that the suspended greenlet handles, None if none. Raises RuntimeError if it cannot be read.

    `PyGreenlet` has a pointer to its `Greenlet` after its head and two more words; that has a virtual table, a pointer
    back, and an `ExceptionState`: a word, and then the exception.
    """
    if not _greenlets_are_as_expected():
        raise RuntimeError("this version of greenlet keeps the exception that is handled where it cannot be read")
    return _handled_by(suspended)


def _handled_by(suspended: greenlet) -> Any:
    own = WORDS[(id(suspended) + 32) >> 3] >> 3
    if WORDS[own + 1] != id(suspended):
        raise RuntimeError("a greenlet's memory is not laid out as expected")
    try:
        return OBJECTS[own + 3]
    except ValueError:
        return None


_GREENLET: Final = 40
"""The size of a `PyGreenlet` in bytes."""


@cache
def _greenlets_are_as_expected() -> bool:
    """True if the exception that one greenlet handles is found, and none in one that handles none."""
    if why_unreadable() or greenlet.__basicsize__ != _GREENLET:
        return False
    error = ValueError()

    def handles() -> None:
        try:
            raise error
        except ValueError:
            main.switch()

    main = getcurrent()
    one, other = greenlet(handles), greenlet(main.switch)
    one.switch()
    other.switch()
    try:
        return _handled_by(one) is error and _handled_by(other) is None
    except RuntimeError:
        return False
    finally:
        one.switch()
        other.switch()


def _is(a: object, b: object) -> bool:
    return a is b


def _cells(function: Any) -> tuple[object, ...]:
    return function.__closure__ or ()


# ---------------------------------------------------------------------- lists and dicts


def addresses(objects: list[Any]) -> bytes:
    """The addresses of the objects: equal of two lists if they hold the same objects."""
    if _lists_are_known():
        return ctypes.string_at(WORDS[(id(objects) + _ITEMS) >> 3], len(objects) * _WORD) if objects else b""
    return array.array("Q", map(id, objects)).tobytes()


def words(places: list[int]) -> Callable[[], tuple[int, ...]]:
    """Return a function that reads these words, then the first two again. Raises `StateUnknown` if no memory can be
    read."""
    ask()
    return functools.partial(operator.itemgetter(*places, *places[:2], *places[:1]), WORDS)


def referent(weak: Any) -> Any:
    """What the weak reference or proxy refers to; None if it has died. Raises `StateUnknown` if no memory can be
    read."""
    ask()
    return OBJECTS[(id(weak) >> 3) + 2]


def versions_of(dicts: list[dict[Any, Any]]) -> Callable[[], object] | None:
    """What tells the versions of the dicts: each has another after any change. None if the interpreter keeps none."""
    if not _versions_are_known():
        return None
    return functools.partial(operator.itemgetter(*[(id(one) + _DICT_VERSION) >> 3 for one in dicts]), WORDS)


_WORD: Final = ctypes.sizeof(ctypes.c_size_t)
_ITEMS: Final = 3 * _WORD
"""Offset of the address of its items in a list: after its head and its length."""
_DICT_VERSION: Final = 3 * _WORD
"""Offset of the version of a dict: after its head and how many items are in use."""


@cache
def _lists_are_known() -> bool:
    """Are the items of a list where they are expected? Tried once."""
    if _VERSION not in TESTED or is_free_threaded() or list.__basicsize__ < _ITEMS + _WORD:
        return False
    tried = [object(), None, "x"]
    place = WORDS[(id(tried) + _ITEMS) >> 3]
    return place != 0 and ctypes.string_at(place, 3 * _WORD) == array.array("Q", map(id, tried)).tobytes()


@cache
def _versions_are_known() -> bool:
    """Has a dict a version where it is expected, and another one after each way to change it? Tried once."""
    if _VERSION not in ((3, 11), (3, 12)) or why_unreadable():
        return False

    class Plain:
        pass

    one = Plain()
    fields: dict[Any, Any] = vars(one)
    tried: dict[Any, Any] = {"a": 1, "b": [2]}

    def store() -> None:
        one.x = object()  # type: ignore[attr-defined]

    steps: list[tuple[dict[Any, Any], Callable[[], object]]] = [
        (tried, lambda: tried.update(a=2)),
        (tried, lambda: tried.__setitem__("c", 3)),
        (tried, lambda: tried.__delitem__("c")),
        (tried, lambda: tried.setdefault("d", 4)),
        (tried, lambda: tried.pop("d")),
        (tried, lambda: tried.popitem()),
        (tried, lambda: tried.clear()),
        *[(fields, store)] * 100,
        (fields, lambda: delattr(one, "x")),
    ]
    seen = []
    for changed, step in steps:
        before = WORDS[(id(changed) + _DICT_VERSION) >> 3]
        step()
        seen.append(before != WORDS[(id(changed) + _DICT_VERSION) >> 3])
    before = WORDS[(id(tried) + _DICT_VERSION) >> 3]
    return all(seen) and before == WORDS[(id(tried) + _DICT_VERSION) >> 3]
