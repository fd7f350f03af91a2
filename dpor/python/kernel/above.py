"""What the lower layers of a run need of the higher ones; the kernel is given it when a run is set up (`run.serve`).

There is no default: a layer that asks before a run was set up gets an AttributeError, not a wrong answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import CodeType, FrameType, FunctionType
from typing import Any, Protocol


class Above(Protocol):
    """Implemented by `dpor.python.program.layers`."""

    def is_program_file(self, filename: str, /) -> bool:
        """True if the file is source of the program and has been rewritten."""
        ...

    def can_instrument(self, package: str, /) -> bool:
        """True if the package is not instrumented but could be, because its source is available."""
        ...

    def lacks_hooks(self, module: str, /) -> bool:
        """True if the module is in Python and is not instrumented, whether it could be or not."""
        ...

    def publish_roots(self, thread_object: Any, /) -> None:
        """Called just before the thread of `thread_object` starts: share what it is given and what every thread can
        reach."""
        ...

    def alone(self) -> None:
        """Called when the only thread left knows that all others have ended, if it is not to be watched."""
        ...

    def is_to_be_watched(self) -> bool:
        """Called when the only thread left knows that all others have ended. True if these may have left the keys of a
        dict in one of several orders, and it is to be seen whether it looks."""
        ...

    def may_have_looked(self) -> None:
        """Called when the run is over, if a thread that was watched has called code of which nothing is known."""
        ...

    def step_begins(self, thread: Any, access: Any = None, /) -> None:
        """Called when the thread continues from its scheduling point (before this access of data). Only in searches in
        which objects die."""
        ...

    def step_ends(self) -> None:
        """Called when the current thread has reached its next operation. Only in searches in which objects die."""
        ...

    def run_over(self) -> None:
        """Called when the run is over while several threads exist, before any of them is unwound."""
        ...

    def unjoined_threads(self) -> Iterable[Any]:
        """Return the Thread objects that are kept until they are joined: references of ours, not the program's."""
        ...

    def recorded_calls(self) -> Iterable[Any]:
        """Return the program's objects that histories of calls keep, as often as they do."""
        ...

    def back_edge_taken(self, frame: FrameType, /) -> None:
        """Called when a loop in this frame has gone round and there were operations since the last time."""
        ...

    def loops_without_operations(self, frame: FrameType, /) -> None:
        """Called when a loop in this frame has gone round many times without an operation."""
        ...

    def loops_unseen(self) -> str:
        """Text to add to the reason why a run was cut, if loops that wait by spinning cannot be recognised; else
        empty."""
        ...

    def call(self, callee: Any, /) -> Any:
        """The hook around every callee: returns what is to be called in its place."""
        ...

    def mixin(self, function: FunctionType, /) -> FunctionType:
        """Return the instrumented copy of a method of `collections.abc`."""
        ...

    def lookup_target(self, obj: Any, shared: Any, name: str, /) -> Any:
        """Return the object on which the program looks up method `name` of a shared container. The method is in C; its
        call will be an operation."""
        ...

    def read_operation(self, shared: Any, obj: Any, name: str, /) -> Any:
        """Return the operation of a load of the field, or None, or a function that returns the object to load it
        from."""
        ...

    def cleans_up(self, code: CodeType, /) -> bool:
        """True if a generator of this code may be suspended where closing it would run code of the program."""
        ...

    def load_special(self, obj: Any, name: str, /) -> Any:
        """Called before the load of an attribute such as `__dict__` or `__class__`."""
        ...

    def imports_in_steps(self, name: str, /) -> bool:
        """True if threads execute the module step by step when they import it, and it was not loaded when the run
        began."""
        ...

    def replacement_for(self, value: Any, /) -> Any:
        """Return what the program gets in place of a module of the library, or of `sys.modules`."""
        ...

    def weak_proxy(self, obj: Any, callback: Any = None, /) -> Any:
        """Return what the program gets for a `weakref.proxy`."""
        ...

    def store_special(self, value: Any, obj: Any, name: str, /) -> None:
        """Store an attribute such as `__dict__` or `__class__`."""
        ...

    def note_field_store(self, kind: type, name: str, /) -> None:
        """Called when an attribute of instances of the class is stored while several threads exist."""
        ...
