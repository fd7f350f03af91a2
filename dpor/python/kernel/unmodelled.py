"""What a program may ask for but dpor does not support: the check ends with a message of one line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final, NoReturn

from dpor.core.errors import Unsupported
from dpor.python.kernel import unwinding
from dpor.python.kernel.program_frames import program_frame
from dpor.python.kernel.run import run
from dpor.python.kernel.stuck import short_place

ONE_PROCESS: Final = "the process that is checked must stay one"
REPLACE: Final = "give the program os.pipe, socket.socketpair or a substitute"


def refuse(what: str, instead: str) -> NoReturn:
    """End the check with an `Unsupported` error, also if the program catches exceptions: it must not go on as if the
    call had failed."""
    give_up(f"{what} is not modelled: {instead}")


def refuse_to_wait(what: str) -> NoReturn:
    """End the check because a thread is about to wait for something outside of the program."""
    frame = program_frame(sys._getframe(1))
    where = "" if frame is None else f" at {short_place((frame.f_code.co_filename, frame.f_lineno))}"
    give_up(f"{what}{where} would stop all threads until something outside of the program happens: {REPLACE}")


def refuse_to_block(what: str, instead: str) -> NoReturn:
    """End the check because a thread is about to wait in C for what another thread of the program holds."""
    frame = program_frame(sys._getframe(1))
    where = "" if frame is None else f" at {short_place((frame.f_code.co_filename, frame.f_lineno))}"
    give_up(f"{what}{where} would wait in C for another thread, and stop that, too: {instead}")


def give_up(message: str) -> NoReturn:
    """End the run with `Unsupported`, because it met something that has no model."""
    error = Unsupported(message)
    if run.current is None or run.unwinding:
        raise error
    unwinding.fail(error)


def refusing(what: str, instead: str) -> Callable[..., Any]:
    """Return a function that refuses every call; it replaces one that cannot be modelled."""

    def refused(*args: Any, **kwargs: Any) -> NoReturn:
        refuse(what, instead)

    return refused
