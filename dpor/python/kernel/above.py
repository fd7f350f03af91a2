"""What the lower layers of a run need of the higher ones: given to the kernel when a run is set up (`run.serve`).

There is no default. A layer that asks before a run was set up gets an AttributeError, not a silent pass.
"""

from __future__ import annotations

from types import FrameType
from typing import Any, Protocol


class Above(Protocol):
    """Implemented by `dpor.python.program.layers`."""

    def is_program_file(self, filename: str, /) -> bool:
        """True if the file is source of the program, rewritten."""
        ...

    def can_instrument(self, package: str, /) -> bool:
        """True if the package is not instrumented, but its source is there."""
        ...

    def publish_roots(self, thread_object: Any, /) -> None:
        """A thread is about to start, `thread_object` its object: share what it is given and what every thread can
        reach."""
        ...

    def alone(self) -> None:
        """The only thread left knows that all others have ended."""
        ...

    def step_begins(self, thread: Any, access: Any = None, /) -> None:
        """The thread goes on from where it stood (before this access of data); of searches in which objects die."""
        ...

    def step_ends(self) -> None:
        """The present thread has come to its next operation; of searches in which objects die."""
        ...

    def run_over(self) -> None:
        """The run is over while several threads exist, none of which has been unwound."""
        ...

    def back_edge_taken(self, frame: FrameType, /) -> None:
        """A loop in this frame went round, with operations since the last time."""
        ...

    def loops_without_operations(self, frame: FrameType, /) -> None:
        """A loop in this frame goes round again and again without an operation."""
        ...

    def loops_unseen(self) -> str:
        """Said where a run is cut, if loops that wait by spinning cannot be told from others; else empty."""
        ...

    def call(self, callee: Any, /) -> Any:
        """The hook around every callee: what is to be called in its place."""
        ...

    def lookup_target(self, obj: Any, shared: Any, name: str, /) -> Any:
        """What stands in for a shared container whose method `name`, in C, is looked up: a call is an operation."""
        ...

    def read_operation(self, shared: Any, obj: Any, name: str, /) -> Any:
        """What a load of the field is: an operation, None, or a function that makes what to look it up on."""
        ...

    def load_special(self, obj: Any, name: str, /) -> Any:
        """Before the load of an attribute such as `__dict__` or `__class__`."""
        ...

    def imports_in_steps(self, name: str, /) -> bool:
        """Is it a module that the thread which imports it executes, and that was not there when the run began?"""
        ...

    def stand_in(self, value: Any, /) -> Any:
        """What the program gets in place of a module of the library, or of `sys.modules`."""
        ...

    def store_special(self, value: Any, obj: Any, name: str, /) -> None:
        """The store of such an attribute."""
        ...

    def tell_store(self, kind: type, name: str, /) -> None:
        """An attribute of objects of the class is stored while several threads exist."""
        ...
