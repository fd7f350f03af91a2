"""The interfaces of those that are told what happens in a run, and what is kept of an exception."""

from __future__ import annotations

from types import FrameType
from typing import Any, NamedTuple, Protocol

from dpor.core.operations import Operation, Rule
from dpor.python.kernel.model_thread import ModelThread, Waited
from dpor.python.kernel.stuck import name_of


class Specifications(Protocol):
    """What is checked between the events of a run: see `dpor.python.specs.specifying`."""

    def settle(self) -> None:
        """Called when the current thread has done everything that belongs to its last event."""
        ...

    def happened(self, thread: ModelThread, operation: Operation) -> None: ...

    def begin_calls(self) -> None:
        """Called before an event of the current thread that cannot be ordered with others."""
        ...

    def ordered(self, operation: Operation) -> Operation:
        """Return the access as it is to be performed: ordered with others if a specification looks at what it
        touches."""
        ...

    def ordered_rule(self, rule: Rule, objects: tuple[Waited, ...]) -> Rule: ...


class FrameStates(Protocol):
    """Reads the state of a frame of the program: see `dpor.python.states.capture`."""

    def variables(self, frame: FrameType, /) -> tuple[int, ...]:
        """Return the addresses of the objects in the frame's live variables."""
        ...

    def forget_frames(self) -> None:
        """Called before references are counted: release what was read of frames."""
        ...

    def private(self, thread: ModelThread, frame: FrameType, /) -> bytes | None:
        """Encode what only the current thread can change and reaches from `frame`; None if the state is unknown."""
        ...


class Observer(Protocol):
    """Told of the operations of code that looks at the program but is not part of it."""

    def access(self, operation: Operation) -> None: ...

    def perform(self, rule: Rule, objects: tuple[Waited, ...]) -> Any: ...


class ThreadFailure(NamedTuple):
    """An exception that ended a thread, with its text at that moment."""

    thread: ModelThread
    error: BaseException
    message: str


class Recorder:
    """Told of every event of a run that is being described. Used like a Protocol; this default does nothing."""

    def event(self, thread: ModelThread, operation: Operation, objects: tuple[Waited, ...] | None) -> None: ...

    def finish(self) -> None: ...

    def name_of(self, o: Waited, frame: FrameType | None) -> str:
        """Return the name that the program has for the object, as seen from the frame."""
        return name_of(o)
