"""What the threading drop-ins remember during one run; it is reset for the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from dpor.python.kernel.host_modules import DropInModule

THREADING = DropInModule("threading", "Drop-in for `threading`.")
"""The module that programs import. It is here because threads look up its `excepthook`, which a program may replace."""


Registered: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
"""The arguments of `atexit.register`."""


class LibraryState:
    """The state of the drop-ins in one run.

    main   the main thread's Thread object
    atexit   what runs when the main thread's function has returned (`threading._register_atexit`)
    shutting_down   True once that has begun
    exit_calls   what runs after the threads have ended, too (`atexit.register`)
    exit_calls_of_imports   those that modules of the program have registered when they were executed; kept for later
                            runs
    trace, profile   the arguments of `settrace` and `setprofile`
    unjoined   the threads that were started and that the main thread itself has not joined, by `id`
    starters   the model thread that has started each thread, by `id` of the thread's object
    stack_size   the argument of `stack_size`, in bytes; it has no effect
    launching   the thread that is being started, until it runs
    register, listed   see `listing`
    descriptors   what the file descriptors of modelled pipes and sockets stand for, by number
    timers   the timers of event loops, each with the call in the program that has made it, by `id`
    completions   what counts the completions of futures (see `future`)
    ending   whether the interpreter is shutting down, once there is a pool (see `pools`)
    ends_of_pools   what is called then, once pools take no more tasks (see `thread_pools`)
    generator   the random generator of all threads; None while each has its own
    """

    main: Any

    def __init__(self, registered: list[Registered] | None = None) -> None:
        self.atexit: list[Registered] = []
        self.shutting_down = False
        self.exit_calls_of_imports: list[Registered] = [] if registered is None else registered
        self.exit_calls = self.exit_calls_of_imports.copy()
        self.trace: Any = None
        self.profile: Any = None
        self.stack_size = 0
        self.launching: Any = None
        self.unjoined: dict[int, Any] = {}
        self.starters: dict[int, Any] = {}
        self.register: Any = None
        self.listed: dict[int, Any] = {}
        self.descriptors: dict[int, Any] = {}
        self.timers: dict[int, tuple[Any, Any]] = {}
        self.completions: Any = None
        self.ending: Any = None
        self.ends_of_pools: list[Callable[[], object]] = []
        self.generator: Any = None


library = LibraryState()


def begin_run(registered: list[Registered] | None = None) -> None:
    library.__init__(registered)  # type: ignore[misc]
