"""What a program may ask for and nothing here can do: said in one line, and the check ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

from dpor.core.errors import Unsupported
from dpor.python.kernel import unwinding
from dpor.python.kernel.run import run

ONE_PROCESS: Final = "the process that is checked must stay one"
_IN_ITS_PLACE: Final = "it would stop all threads at once; use its namesake of threading or queue"
PROCESSES: Final[dict[str, str]] = {
    **dict.fromkeys(("Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "Event", "Barrier"), _IN_ITS_PLACE),
    **dict.fromkeys(("Queue", "JoinableQueue", "SimpleQueue"), _IN_ITS_PLACE),
    **dict.fromkeys(("Manager", "Pool", "Pipe"), ONE_PROCESS),
}
"""Names of `multiprocessing`, and what is said of each."""


def refuse(what: str, instead: str) -> NoReturn:
    """End the check: a program that catches exceptions must not go on as if the call had failed."""
    give_up(f"{what} is not modelled: {instead}")


def give_up(message: str) -> NoReturn:
    error = Unsupported(message)
    if run.current is None or run.unwinding:
        raise error
    unwinding.fail(error)


def refusing(what: str, instead: str) -> Callable[..., Any]:
    """A function that stands for the one that cannot be modelled."""

    def refused(*args: Any, **kwargs: Any) -> NoReturn:
        refuse(what, instead)

    return refused
