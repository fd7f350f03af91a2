"""What the threading drop-ins remember of one run; all of it is new in the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from dpor.python.kernel.host_modules import DropInModule

THREADING = DropInModule("threading", "Drop-in for `threading`.")
"""The module that programs import. Here because threads look up its `excepthook`, which a program may replace."""


Registered: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
"""What was given to `atexit.register`."""


class LibraryState:
    """main   the main thread's Thread object
    atexit   what runs when the main thread's function has returned (`threading._register_atexit`)
    shutting_down   has that begun?
    exit_calls   what runs when the threads have ended, too (`atexit.register`)
    exit_calls_of_imports   those that modules of the program have registered when they were executed, for the next runs
    trace, profile   what `settrace` and `setprofile` were given
    unjoined   the threads that were started and that the main thread itself has not joined
    starters   which model thread has started each thread, by `id` of its object
    stack_size   what `stack_size` was given, in bytes: no more is made of it
    launching   the thread that is being started, until it runs
    register, listed   see `listing`
    generator   the one that `random` has for all threads; None while nobody knows what it draws
    """

    main: Any

    def __init__(self, registered: list[Registered] | None = None) -> None:
        self.atexit: list[Callable[[], Any]] = []
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
        self.generator: Any = None


library = LibraryState()


def begin_run(registered: list[Registered] | None = None) -> None:
    library.__init__(registered)  # type: ignore[misc]
