"""Repeats a run and tells its events: where in the source, what was done to what, with which value."""

from __future__ import annotations

import linecache
import sys
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from types import FrameType
from typing import Any, TypeAlias

from dpor.operations import READ, WRITE, Location, Mode, Operation, ThreadId
from dpor.primitives.daemons import DaemonAccess
from dpor.report.steps import Step
from dpor.runtime import control, sharing
from dpor.runtime.called import BUILT_IN, Names, variables
from dpor.runtime.control import Recorder, SyncObject
from dpor.runtime.guest_thread import GuestThread, Waited
from dpor.runtime.loader import Loader
from dpor.runtime.sharing import ELEMENTS, STRUCTURE, Record
from dpor.runtime.stuck import has_own_name, name_of

Pairs: TypeAlias = tuple[tuple[str, str], ...]
"""Name and value of each, in words."""

_LONGEST = 60
_MOST_VARIABLES = 24
_UNKNOWN = object()


Called: TypeAlias = Callable[[Any], str]
"""What the program calls a shared object."""


class _Event:
    """One event while the run goes on; `after` is how the value of a write is found once it has happened."""

    __slots__ = ("after", "file", "line", "locks", "operation", "thread", "value", "variables")

    def __init__(
        self,
        thread: str,
        file: str | None,
        line: int | None,
        operation: str,
        value: str,
        after: Any,
        locks: Pairs,
        variables: Pairs,
    ) -> None:
        self.thread = thread
        self.file = file
        self.line = line
        self.operation = operation
        self.value = value
        self.after = after
        self.locks = locks
        self.variables = variables


class Recording(Recorder):
    """Collects the events of one run."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._events: list[_Event] = []
        self._last: dict[int, _Event] = {}
        self._states: dict[Location, str] = {}
        self._threads: dict[int, str] = {}
        self._names = Names(control.guest_frame)

    def event(self, thread: GuestThread, operation: Operation, objects: tuple[SyncObject, ...] | None) -> None:
        self.settle(thread)
        self._threads[thread.id] = thread.name
        frame = control.guest_frame(sys._getframe(1))
        file, line = (None, None) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
        if objects is None or isinstance(operation.rule, DaemonAccess):
            text, value, after = _plain(operation, partial(self._called, frame=frame))
        else:
            text, value, after = self._synchronising(operation, objects, frame)
            self._note_lock(operation, objects, file, line)
        locks = self._changes(objects or (), frame)
        event = _Event(thread.name, file, line, text, value, after, locks, variables_of(frame))
        self._events.append(event)
        self._last[thread.id] = event

    def settle(self, thread: GuestThread) -> None:
        """The thread's last operation has been performed: see what it wrote."""
        event = self._last.get(thread.id)
        if event is not None and event.after is not None:
            value = _peek(*event.after)
            event.value = "" if value is _UNKNOWN else _short(value)
            event.after = None

    def finish(self) -> None:
        for event in self._events:
            if event.after is not None:
                value = _peek(*event.after)
                event.value = "" if value is _UNKNOWN else _short(value)
                event.after = None

    def steps(self) -> tuple[Step, ...]:
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
            )
            for e in self._events
        )

    def _called(self, obj: Any, frame: FrameType | None) -> str:
        kind = type(obj)
        if kind.__module__ in BUILT_IN:
            return self._names.of(obj, frame, kind.__name__)
        return self._names.of_instance(obj)

    def name_of(self, o: Waited, frame: FrameType | None) -> str:
        return name_of(o) if has_own_name(o) else self._names.of(o, frame, name_of(o))

    def _synchronising(
        self, operation: Operation, objects: tuple[SyncObject, ...], frame: FrameType | None
    ) -> tuple[str, str, Any]:
        inner = {id(part) for o in objects if type(o).__name__ == "Event" for part in vars(o).values()}
        shown = [o for o in objects if not type(o).__name__.startswith("_") and id(o) not in inner]
        names = dict.fromkeys(self.name_of(o, frame) for o in shown)
        failed = operation.kind == "try" and all(mode is READ for _, mode in operation.accesses)
        return f"{operation.kind} {' with '.join(names)}".strip(), "failed" if failed else "", None

    def _changes(self, objects: tuple[SyncObject, ...], frame: FrameType | None) -> Pairs:
        """What has another state now, in words."""
        found = []
        for o in objects:
            text = state_in_words(type(o).__name__, o.state, self._threads)
            if text is not None and self._states.get(o.location, "") != text:
                self._states[o.location] = text
                found.append((self.name_of(o, frame), text))
        return tuple(found)

    def _note_lock(
        self, operation: Operation, objects: tuple[SyncObject, ...], file: str | None, line: int | None
    ) -> None:
        if file is None or line is None:
            return
        for o in objects:
            if operation.kind in ("lock", "try", "rewait") and "Lock" in type(o).__name__:
                control.taken_at[id(o)] = (file, line)


def variables_of(frame: FrameType | None) -> Pairs:
    """The variables of a function, in words. Runs no code of the program and keeps no object alive."""
    if frame is None:
        return ()
    return tuple((name, _short(value)) for name, value in islice(variables(frame).items(), _MOST_VARIABLES))


def state_in_words(kind: str, state: Any, threads: Mapping[ThreadId, str]) -> str | None:
    """The state of a synchronisation object of the class `kind`; None where there is nothing that a reader would know.

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


def _plain(operation: Operation, called: Called) -> tuple[str, str, Any]:
    if operation.alternatives > 1:
        return f"choose one of {operation.alternatives}", str(operation.value), None
    if not operation.accesses:
        return operation.kind, "", None
    location, mode = operation.accesses[0 if operation.rule is None else 1]  # first of a daemon's comes the process
    return _on(operation.kind, location, mode, called)


def place_in_words(location: Location) -> str:
    """What the program calls it, as far as that is known."""
    return _on("", location, WRITE, lambda obj: type(obj).__name__)[0].strip() or "what it reads"


def _on(kind: str, location: Location, mode: Mode, called: Called) -> tuple[str, str, Any]:
    name = control.operations.name_of(location)
    if isinstance(name, tuple) and name and name[0] == "global":
        module = sys.modules.get(name[1])
        return _told(kind, mode, name[2], vars(module) if module else None, name[2])
    if isinstance(name, tuple) and name and name[0] == "class attribute":
        return f"{kind} class attribute {name[1]}", "", None
    if isinstance(name, tuple) and len(name) == 2 and isinstance(name[0], int):
        record = record_numbered(name[0])
        obj = record.obj if record is not None else None
        part = name[1]
        if type(obj).__name__ == "cell":
            return _told(kind, mode, str(part), obj, "cell_contents")
        owner = "object" if obj is None else called(obj)
        if part in (STRUCTURE, ELEMENTS):
            return f"{kind} {owner}", "" if obj is None else _short(obj), None
        if isinstance(obj, (list, dict)):
            return _told(kind, mode, f"{owner}[{_short(part)}]", obj, part)
        return _told(kind, mode, f"{owner}.{part}", obj, part)
    return kind, "", None


def _told(kind: str, mode: Any, name: str, obj: Any, part: Any) -> tuple[str, str, Any]:
    text = f"{kind} {name}"
    if mode is READ:
        value = _peek(obj, part)
        return text, "" if value is _UNKNOWN else _short(value), None
    return text, "", (obj, part)


def record_numbered(number: int) -> Record | None:
    """The record of a shared object of the present run."""
    name = control.operations.name_of(number)
    return sharing.record_named(name)


def _peek(obj: Any, part: Any) -> Any:
    """The value there, without running any code of the program."""
    try:
        if isinstance(obj, dict):
            return dict.get(obj, part, _UNKNOWN)
        if isinstance(obj, list):
            return list.__getitem__(obj, part)
        if type(obj).__name__ == "cell":
            return obj.cell_contents
        fields = object.__getattribute__(obj, "__dict__")
        if part in fields:
            return fields[part]
        return _UNKNOWN
    except Exception:
        return _UNKNOWN


def _short(value: Any) -> str:
    if type(value) in (int, float, bool, str, bytes, type(None), complex):
        text = repr(value)
    elif type(value) in (list, tuple, dict, set, frozenset, deque) and len(value) <= 8:
        if all(type(part) in (int, float, bool, str, type(None)) for part in value):
            text = repr(value) if type(value) is not dict else "{...}" if not _plain_values(value) else repr(value)
        else:
            text = f"<{type(value).__name__} of {len(value)}>"
    else:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _plain_values(value: dict[Any, Any]) -> bool:
    return all(type(part) in (int, float, bool, str, type(None)) for part in value.values())
