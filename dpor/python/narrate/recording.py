"""Records a run for a report: for each event its place in the source, its operation, and the value."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator, Mapping
from itertools import islice
from types import FrameType
from typing import Any, Final, TypeAlias

from dpor.core.operations import READ, Location, Operation, ThreadId
from dpor.core.steps import Step
from dpor.primitives.daemons import DaemonAccess
from dpor.python.kernel.listeners import Recorder
from dpor.python.kernel.model_thread import ModelThread, Waited
from dpor.python.kernel.program_frames import program_frame
from dpor.python.kernel.run import run
from dpor.python.kernel.stuck import has_own_name, name_of
from dpor.python.kernel.sync_objects import SyncObject, whole_of
from dpor.python.narrate.library_calls import LibraryCalls
from dpor.python.narrate.names import ObjectNames, variables
from dpor.python.narrate.places import Description, operation_in_words
from dpor.python.narrate.values import Called, value_in_words

Pairs: TypeAlias = tuple[tuple[str, str], ...]
"""Pairs of a name and a value, in words."""

_MOST_VARIABLES = 24
_IN_PYTHON: Final = {"P": "acquire", "V": "release", "rewait": "woken"}
"""The names in Python of operations that have another name in the literature."""
_OF_QUEUES: Final = {"P": "get", "V": "put"}
"""The names of these operations on a `SimpleQueue`."""
_IN_WORDS: Final = {"__enter__": "enter", "__exit__": "leave", "_worker": "look for work", "run_task": "run the task"}
"""Words for calls of the library that no program makes by name."""


class _Event:
    """One event, which is completed when the next one happens. `changes`: a place that may have another value after
    it."""

    __slots__ = ("after", "call", "changes", "file", "line", "locks", "operation", "thread", "value", "variables")

    def __init__(
        self,
        thread: str,
        frame: FrameType | None,
        description: Description,
        locks: Pairs,
        variables: Pairs,
        call: tuple[str, int] = ("", 0),
    ) -> None:
        self.thread = thread
        self.file = None if frame is None else frame.f_code.co_filename
        self.line = None if frame is None else frame.f_lineno
        self.operation, self.value, self.changes = description
        self.after = ""
        self.locks = locks
        self.variables = variables
        self.call = call


class Recording(Recorder):
    """Records the events of one run.

    A mistake of ours must not become an exception in the program that is running. So `steps` raises it, afterwards.
    """

    def __init__(self) -> None:
        self._events: list[_Event] = []
        self._error: Exception | None = None
        self._states: dict[Location, str] = {}
        self._threads: dict[int, str] = {}
        self._labels: dict[tuple[int, str], str] = {}
        self._names = ObjectNames(program_frame, _innermost_frames)
        self._calls = LibraryCalls()

    def event(self, thread: ModelThread, operation: Operation, objects: tuple[Waited, ...] | None) -> None:
        try:
            self.finish()
            self._add(thread, operation, objects)
        except RecursionError:  # the program left no room
            self._events.append(_Event(thread.name, None, Description(operation.kind), (), ()))
        except Exception as error:
            self._error = error

    def _add(self, thread: ModelThread, operation: Operation, objects: tuple[Waited, ...] | None) -> None:
        name = self._threads[thread.id] = self._label(thread.thread_object, thread.name)
        frame = program_frame(sys._getframe(1))
        if objects is None or isinstance(operation.rule, DaemonAccess):
            done = operation_in_words(operation, self._names, frame)
        else:
            done = self._synchronising(operation, objects, frame)
            self._note_lock(operation, objects, frame)
        locks = self._changes(objects or (), frame)
        call = self._call(thread, sys._getframe(1), frame)
        self._events.append(_Event(name, frame, done, locks, self._variables(frame), call))

    def _label(self, thread_object: object, name: str) -> str:
        """Return the name of the thread, with a number if another thread was called the same before."""
        key = id(thread_object), name
        if key not in self._labels:
            same = sum(known == name for _, known in self._labels)
            self._labels[key] = f"{name} #{same + 1}" if same else name
        return self._labels[key]

    def _call(self, thread: ModelThread, here: FrameType, frame: FrameType | None) -> tuple[str, int]:
        """Return the call of the library that the event is part of ("put of jobs"), and its number."""
        found = self._calls.of(thread.id, here)
        if found is None:
            return "", 0
        called, number = found
        obj, function = variables(called).get("self"), called.f_code.co_name
        name = "" if obj is None else f" {self._names.of_shared(obj, frame)}"
        return _IN_WORDS.get(function, function) + name, number

    def finish(self) -> None:
        """Called when the last event is over, whichever thread moves next: read the values that it has left."""
        event = self._events[-1] if self._events else None
        if event is None or event.changes is None:
            return
        left = event.changes.in_words(self._names.of_value)
        event.changes = None
        if not event.value:
            event.value = left
        elif left != event.value:
            event.after = left

    def steps(self) -> tuple[Step, ...]:
        if self._error is not None:
            raise self._error
        return tuple(
            Step(
                e.thread,
                e.file,
                e.line,
                linecache.getline(e.file, e.line).strip() if e.file and e.line else "",
                e.operation,
                e.value,
                locks=e.locks,
                variables=e.variables,
                after=e.after,
                call=e.call[0],
                call_number=e.call[1],
            )
            for e in self._events
        )

    def name_of(self, o: Waited, frame: FrameType | None) -> str:
        return self._label(o, name_of(o)) if has_own_name(o) else self._names.of(o, frame, name_of(o))

    def _synchronising(self, operation: Operation, objects: tuple[Waited, ...], frame: FrameType | None) -> Description:
        shown = [o for o in map(whole_of, objects) if not (type(o).__name__.startswith("_") or _is_part(o))]
        names = dict.fromkeys(self.name_of(o, frame) for o in shown)
        failed = operation.kind == "try" and all(mode is READ for _, mode in operation.accesses)
        in_python = _OF_QUEUES if any(type(o).__name__ == "SimpleQueue" for o in objects) else _IN_PYTHON
        kind = in_python.get(operation.kind, operation.kind)
        named = f"{kind} {' with '.join(names)}".strip()
        kept = next((_Contents(o) for o in objects if hasattr(o, "dpor_items")), None)
        if kept is not None:
            return Description(named, kept.in_words(self._names.of_value), kept)
        return Description(named, "failed" if failed else "")

    def _variables(self, frame: FrameType | None) -> Pairs:
        """Return the variables of a function with their values in words."""
        found = {} if frame is None else variables(frame)
        return tuple(
            (name, value_in_words(value, self._names.of_value))
            for name, value in islice(found.items(), _MOST_VARIABLES)
        )

    def _changes(self, objects: tuple[Waited, ...], frame: FrameType | None) -> Pairs:
        """Return the names of the synchronisation objects whose state has changed, with the new states in words."""
        found = []
        for o in objects:
            text = state_in_words(type(o).__name__, o.dpor_state, self._threads)
            if text is not None and self._states.get(o.dpor_location, "") != text:
                self._states[o.dpor_location] = text
                found.append((self.name_of(o, frame), text))
        return tuple(found)

    def _note_lock(self, operation: Operation, objects: tuple[Waited, ...], frame: FrameType | None) -> None:
        if frame is None or operation.kind not in ("lock", "try", "rewait"):
            return
        for o in objects:
            if "Lock" in type(o).__name__:
                run.taken_at[o.dpor_location] = (frame.f_code.co_filename, frame.f_lineno)


def _innermost_frames() -> Iterator[FrameType]:
    """Yield the innermost function of the program in each waiting thread."""
    for thread in run.threads:
        frame = program_frame(thread.greenlet.gr_frame) if thread.greenlet else None
        if frame is not None:
            yield frame


class _Contents:
    """What a queue holds, as a place whose value is shown."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue

    def in_words(self, called: Called) -> str:
        return value_in_words([*self._queue.dpor_items], called)


def _is_part(o: Waited) -> bool:
    return isinstance(o, SyncObject) and o.dpor_is_part


def state_in_words(kind: str, state: Any, threads: Mapping[ThreadId, str]) -> str | None:
    """Describe the state of a synchronisation object of the class `kind`; None if it would say nothing to a reader.

    >>> state_in_words("Lock", None, {}), state_in_words("RLock", (1, 2), {1: "Ada"})
    ('free', 'held by Ada, 2 times')
    """
    if kind in ("Lock", "RLock"):
        if state is None:
            return "free"
        owner, count = state if isinstance(state, tuple) else (state, 1)
        return f"held by {threads.get(owner, f'thread {owner}')}" + (f", {count} times" if count > 1 else "")
    if kind == "Event":
        return "set" if state else "not set"
    if "Semaphore" in kind and isinstance(state, int):
        return f"{state} free"
    return None
