"""Where Java Pathfinder makes a choice: that depends on the thread's next operation, and on which threads can reach its
object.

It makes one before every start, end, blocking join, wait, effective notify, acquisition of a lock that the thread does
not hold, release that frees a thread, and access of an object that can be reached from another live thread: from its
live variables and operands, and from what all threads can reach (globals, classes). There are two differences: accesses
of elements count like those of fields, and every operation that the list does not name is a choice.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from dpor.core.system import SyncChoices
from dpor.primitives.conditions import Notify
from dpor.primitives.locks import AcquireAgain, Locked, Release, ReleaseAgain, Try, TryAgain
from dpor.primitives.threads import End, Join, Start
from dpor.python.kernel import assumptions
from dpor.python.kernel.classes import HEAP_TYPE
from dpor.python.kernel.model_thread import ModelThread
from dpor.python.kernel.run import run
from dpor.python.kernel.scheduler import pending_of
from dpor.python.sharing import children, shared_objects, type_traits
from dpor.python.states.c_frames import Reading
from dpor.python.states.classes import find
from dpor.python.states.frames import Layouts, ThreadPart, add_frame, frames_of
from dpor.python.states.stacks import StateUnknown

TRIES: Final = "tried locks"
"""The fact that some thread tests whether a lock is held, or releases one that it does not hold, so that a release
matters even if it frees no thread."""


Holding: TypeAlias = Callable[[ModelThread], Sequence[Any]]
"""Returns the objects that the frames of a thread hold: its live variables and operands. Raises `StateUnknown`."""


def is_choice(number: int, sync_choices: SyncChoices, layouts: Layouts, held_by: Holding) -> bool:
    """See `dpor.core.system.StatefulSystem.is_choice`."""
    thread = run.threads[number]
    others = [t for t in run.threads if t.bit and t.running and t is not thread]
    if TRIES not in run.facts and any(map(_can_tell, run.threads)):
        assumptions.used_by_several(TRIES, "whether a lock is held")
    operation = pending_of(thread)
    if operation is None or not others:
        return False
    rule = operation.rule
    if rule is None:
        wanted = _objects(operation.accesses)
        return wanted is None or _reached(wanted, others, held_by)
    objects = thread.objects or ()
    if isinstance(rule, Join):
        return False  # of a thread that has ended, since it is enabled
    if isinstance(rule, (Release, ReleaseAgain)):
        return TRIES in run.facts or any(objects[0] is o for t in others for o in t.objects or ())
    if isinstance(rule, Notify):
        return bool(objects[0].dpor_state)
    if isinstance(rule, AcquireAgain):
        owner = objects[0].dpor_state
        return not (isinstance(owner, tuple) and owner[0] == number)
    if sync_choices is SyncChoices.SHARED and isinstance(rule, (Start, End)):
        try:
            return _shares(objects[0], thread, others, layouts, held_by)
        except StateUnknown:
            return True
    return True


def _can_tell(thread: ModelThread) -> bool:
    """True if the thread's next operation does not wait for a lock, and depends on whether another thread holds it."""
    rule = None if thread.pending is None else thread.pending.rule
    if isinstance(rule, Release):
        return thread.objects is not None and thread.objects[0].dpor_state != thread.id
    return isinstance(rule, (Try, TryAgain, Locked))


def _shares(
    thread_object: Any, thread: ModelThread, others: list[ModelThread], layouts: Layouts, held_by: Holding
) -> bool:
    """True if something that this Thread object's thread can reach can also be reached from another thread.

    It is the thread that waits before its end, or one that `thread` is about to start. Raises `StateUnknown`.
    """
    wanted = set(_reach([thread_object]))
    if thread.thread_object is thread_object:
        wanted.update(_reach([*held_by(thread)]))
        return _reached(wanted, others, held_by)
    return _reached(wanted, others, held_by) or not wanted.isdisjoint(_reach(_variables(thread, layouts)))


def _variables(thread: ModelThread, layouts: Layouts) -> list[Any]:
    """The objects in the live variables of the program's frames, without the operands that it is passing on."""
    part, dead = ThreadPart(), []  # type: tuple[ThreadPart, list[Any]]
    for frame in frames_of(thread):
        if run.is_program_file(frame.f_code.co_filename):
            layout = layouts.of(frame.f_code)
            add_frame(Reading(frame, layout, layout.place(frame.f_lasti)), part, dead)
    return part.objects


def _objects(accesses: Iterable[tuple[int, Any]]) -> set[int] | None:
    """Return the `id`s of the objects whose parts are accessed; None if they are unknown, or every thread reaches
    them."""
    found = set()
    for location, _ in accesses:
        name: Any = run.operations.name_of(location)
        if type(name) is not tuple or type(name[0]) is not int:
            return None
        owner: Any = run.operations.name_of(name[0])
        shared = shared_objects.shared_object_named(owner)
        if shared is None or shared.obj is None or owner[0] not in ("object", "root", "dict of"):
            return None
        found.add(id(shared.obj))
    return found


def _reached(wanted: set[int], threads: Iterable[ModelThread], held_by: Holding) -> bool:
    """True if one of these objects (by `id`) can be reached from one of the threads, or by every thread."""
    roots: list[Any] = [value for _, value in shared_objects.roots()]
    for thread in threads:
        try:
            roots += held_by(thread)
        except StateUnknown:
            return True
        roots.append(thread.thread_object)
    return not wanted.isdisjoint(_reach(roots))


def _reach(roots: list[Any]) -> Iterator[int]:
    """Yield the `id` of every object that can be reached and can change, each once."""
    seen: set[int] = set()
    met: dict[type, bool] = {}  # True if objects of the type are classes
    while roots:
        obj = roots.pop()
        key, kind = id(obj), type(obj)
        if key in seen:
            continue
        seen.add(key)
        is_class = met.get(kind)
        if is_class is None:
            is_class = met[kind] = issubclass(kind, type)
            if kind.__flags__ & HEAP_TYPE:
                roots.append(kind)
        if is_class:
            if _is_local(obj):
                roots += [*obj.__dict__.values(), *obj.__bases__]
        elif kind in type_traits.CONTAINED:
            roots.extend(children.children(obj, kind))
        elif kind not in type_traits.ATOMIC:
            yield key
            roots.extend(children.children(obj, kind))


def _is_local(kind: type) -> bool:
    """True if no module has the class under its name. (What other classes hold is among the roots, or is the
    host's.)"""
    if not kind.__flags__ & HEAP_TYPE:
        return False
    module = sys.modules.get(kind.__module__)
    return module is None or find(module, kind.__qualname__) is not kind
