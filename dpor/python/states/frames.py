"""The frames of a waiting thread: the position of each, its live variables and its operands.

Frames of ours are encoded like the program's: a drop-in in the middle of its steps has a position and variables too.
Frames of the kernel are left out, since the pending operation determines all that they still have to do.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cached_property
from types import CodeType, FrameType
from typing import Any, Final

from dpor.python.effects import accesses, generators
from dpor.python.hooks import operators
from dpor.python.kernel import accessing, data_choices, interest, loops, performing, scheduler
from dpor.python.kernel.model_thread import ModelThread, Waited
from dpor.python.kernel.run import run
from dpor.python.kernel.threads import live
from dpor.python.states.c_frames import Reading, values_held_by_c
from dpor.python.states.memory import SLOTS, WORDS, ask, handled_by, why_unreadable
from dpor.python.states.naming import Naming, text_of
from dpor.python.states.stacks import Layout, StateUnknown

UNBOUND: Final = (1,)
"""Replaces a variable without a value, or an operand that is not an object."""

_LEFT_OUT: Final = frozenset(
    {
        id(function.__code__)
        for function in (
            *(
                *accessing.STATELESS,
                *data_choices.STATELESS,
                *interest.STATELESS,
                *loops.STATELESS,
                *performing.STATELESS,
            ),
            *(*scheduler.STATELESS, accesses.yield_before),
        )
    }
)
"""Code, by `id` (hashing it would cost more than all else here), whose remaining work follows from the pending
operation and its objects."""

_ADDRESSES: Final[dict[CodeType, frozenset[str]]] = {
    operators.list_steps.__code__: frozenset({"key"}),
    generators.resume_generator.__code__: frozenset({"key"}),
    generators.leave_generator.__code__: frozenset({"key"}),
}
"""Variables that hold the `id` of another variable's object."""


class Layouts:
    """The layouts of all code seen, by `id`; they keep it alive.

    Code that is equal to code seen before is kept for one run only, because it is compiled again in every run (by
    `exec`, as dataclasses and named tuples do).

    bottom   code that begins a thread; only its position counts, because its variables are our own, or follow from
             which thread it is
    """

    def __init__(self, bottom: Iterable[CodeType]) -> None:
        self.naming = Naming()
        self._known: dict[int, Layout] = {}
        self._numbers: dict[int, int] = {}
        self._again: list[CodeType] = []
        self.get = self._known.get
        self._bottom: Final = tuple(bottom)

    @cached_property
    def bottom(self) -> frozenset[Layout]:
        """The layouts of the code that begins a thread (computing them takes 4 ms, so only searches that store states
        do)."""
        return frozenset() if why_unreadable() else frozenset(map(self.of, self._bottom))

    def begin_run(self) -> None:
        for code in self._again:
            self._known.pop(id(code), None)
            self._numbers.pop(id(code), None)
        self._again.clear()

    def of(self, code: CodeType) -> Layout:
        """Return the layout of the code. Raises `StateUnknown` if frames cannot be read; then instructions may be
        unknown, too."""
        return self.get(id(code)) or self._new(code)

    def _new(self, code: CodeType) -> Layout:
        ask()
        found = self._known[id(code)] = Layout(code, self.number(code), _ADDRESSES.get(code, frozenset()))
        return found

    def number(self, code: CodeType) -> int:
        """Return a number for the code, the same for equal code."""
        number = self._numbers.get(id(code))
        if number is None:
            key = (code, code.co_filename, code.co_qualname)
            if self.naming.knows(key):
                self._again.append(code)
            number = self._numbers[id(code)] = self.naming.number(key, text_of)
        return number


def frames_of(thread: ModelThread) -> list[FrameType]:
    """List the frames of a thread that waits before an operation, innermost first, without the kernel's."""
    frame: FrameType | None
    if thread is run.current:
        frame = sys._getframe()
        while frame is not None and frame.f_code is not _DECIDE:
            frame = frame.f_back
    else:
        frame = thread.greenlet.gr_frame
    while frame is not None and id(frame.f_code) in _LEFT_OUT:
        frame = frame.f_back
    return frames_from(frame)


def frames_from(frame: FrameType | None) -> list[FrameType]:
    """List this frame of a thread and those further out."""
    found: list[FrameType] = []
    while frame is not None and frame.f_code is not _LIVE:
        found.append(frame)
        frame = frame.f_back
    return found


_DECIDE: Final = scheduler.decide.__code__
_LIVE: Final = live.__code__
"""The code of a thread's outermost frame: below it is the greenlet, which ran other threads before."""


class ThreadPart:
    """The contents of one frame or several: numbers, strings and the like in `shape`, with a hole for each object.

    shape     values that `marshal` knows; HOLE where an object is
    objects   in the order of the holes
    generators   by `id` of the frames of running generators: the depth of the frame in the thread
    """

    __slots__ = ("generators", "objects", "shape")

    def __init__(self) -> None:
        self.shape: list[Any] = []
        self.objects: list[Any] = []
        self.generators: dict[int, int] = {}

    def add(self, value: Any) -> None:
        if type(value) in ATOMS:
            self.shape.append(value)
        else:
            self.shape.append(HOLE)
            self.objects.append(value)


HOLE: Final = (0,)
ATOMS: Final = frozenset({int, str, bool, type(None), float, bytes, complex, type(Ellipsis)})
"""Types whose objects are distinguished by value alone: the language does not say when two of them are the same
object."""


def read_thread(thread: ModelThread, layouts: Layouts) -> tuple[ThreadPart, list[Any]]:
    """Read all frames of the thread; returns their part, and the objects of its dead variables. Raises
    `StateUnknown`."""
    return read_frames(thread, layouts, frames_of(thread), thread.objects or ())


def read_frames(
    thread: ModelThread, layouts: Layouts, frames: list[FrameType], objects: tuple[Waited, ...]
) -> tuple[ThreadPart, list[Any]]:
    """Like `read_thread`, for these frames of it, innermost first."""
    part = ThreadPart()
    dead: list[Any] = []
    upper: Reading | None = None
    handling: set[bool] = set()  # for each frame that handles an exception: whether it is a generator's
    part.shape.append((len(objects),))
    part.objects.extend(objects)
    above = len(frames)  # the bottom
    while above and layouts.of(frames[above - 1].f_code) in layouts.bottom:
        above -= 1
    for depth, frame in enumerate(frames[:above]):
        layout = layouts.of(frame.f_code)
        place = layout.place(frame.f_lasti)
        reading = Reading(frame, layout, place)
        add_frame(reading, part, dead)
        if upper is not None:
            held = values_held_by_c(reading, upper)
            part.shape.append((len(held),))
            for value in held:
                part.add(value)
        if place.handles:
            handling.add(layout.is_generator)
        if layout.is_generator:
            part.generators[id(frame)] = depth
        upper = reading
    for frame in frames[above:]:
        part.shape.append(layouts.of(frame.f_code).place(frame.f_lasti).shape)
    if handling:
        part.add(_handled(thread, handling))
    return part, dead


def _handled(thread: ModelThread, handling: set[bool]) -> BaseException | None:
    """Return the exception that the thread's frames handle, apart from generators, which have their own.

    (Exceptions that outer frames handle are on the operand stacks of inner ones.)
    """
    if False not in handling:
        return None
    if thread is not run.current:
        try:
            return handled_by(thread.greenlet)  # type: ignore[no-any-return]
        except RuntimeError as error:
            raise StateUnknown(str(error)) from None
    if len(handling) == 1:
        return sys.exception()
    raise StateUnknown("a generator handles an exception while its caller handles another")


def add_frame(reading: Reading, part: ThreadPart, dead: list[Any]) -> None:
    """Add the frame's position, live variables and operands to the part, and objects of its other variables to
    `dead`."""
    layout, place, first = reading.layout, reading.place, reading.first
    shape, objects = part.shape, part.objects
    shape.append(place.shape)
    if place.dead and not layout.is_ours:  # ours are about to return
        for slot in place.dead:
            if WORDS[first + slot] > 1:
                value = SLOTS[first + slot]
                if type(value) not in ATOMS:
                    dead.append(value)
    for slot in place.encoded:
        try:
            value = SLOTS[first + slot]
        except ValueError:
            shape.append(UNBOUND)
            continue
        if type(value) in ATOMS:
            shape.append(value)
        else:
            shape.append(HOLE)
            objects.append(value)
    if not layout.is_optimized:  # the body of a module or class: its variables are in a mapping
        names = reading.frame.f_locals
        if names is not reading.frame.f_globals:
            part.add(names)
