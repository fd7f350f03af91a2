"""Who is told of what happens in a run, and what is kept of an exception."""

from __future__ import annotations

from types import FrameType
from typing import Any, NamedTuple, Protocol

from dpor.core.operations import Operation, Rule
from dpor.python.kernel.model_thread import ModelThread, Waited
from dpor.python.kernel.stuck import name_of


class Specifications(Protocol):
    """What is to hold between the events of a run: see `dpor.python.specs.specifying`."""

    def settle(self) -> None:
        """The present thread has done all that belongs to the last event."""
        ...

    def happened(self, thread: ModelThread, operation: Operation) -> None: ...

    def begin_calls(self) -> None:
        """Before an event of the present thread that cannot be ordered with others."""
        ...

    def ordered(self, operation: Operation) -> Operation:
        """The access, as it is performed: ordered with the others that a specification looks at, if it is one."""
        ...

    def ordered_rule(self, rule: Rule, objects: tuple[Waited, ...]) -> Rule: ...


class Observer(Protocol):
    """Told of what code does that looks at the program and is no part of it."""

    def access(self, operation: Operation) -> None: ...

    def perform(self, rule: Rule, objects: tuple[Waited, ...]) -> Any: ...


class ThreadFailure(NamedTuple):
    """An exception that ended a thread, and its text at that time."""

    thread: ModelThread
    error: BaseException
    message: str


class Recorder:
    """Told of every event of a run that is being explained. A Protocol in spirit; the default does nothing."""

    def event(self, thread: ModelThread, operation: Operation, objects: tuple[Waited, ...] | None) -> None: ...

    def finish(self) -> None: ...

    def name_of(self, o: Waited, frame: FrameType | None) -> str:
        """What the program calls it, as seen from the frame."""
        return name_of(o)
