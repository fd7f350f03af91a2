"""Exceptions that end threads: their text, and where they were raised."""

from __future__ import annotations

import traceback
import types
from collections.abc import Callable
from pathlib import Path

from dpor.python.hooks.calls import call
from dpor.python.kernel import assumptions
from dpor.python.kernel.depth import DEEP
from dpor.python.kernel.listeners import ThreadFailure
from dpor.python.kernel.model_thread import UnwindThread
from dpor.python.kernel.run import run

_LONGEST = 2000
_NO_TEXT = "<exception str() failed>"
"""What `traceback` writes in place of the text."""


def report(error: BaseException) -> None:
    """Note an exception that has ended the current thread: a finding. Its text is made now, by the thread, as Python
    prints it when the thread ends: later, others may have changed what it says."""
    if not isinstance(error, UnwindThread) and not run.unwinding:
        if isinstance(error, RecursionError) and DEEP not in run.facts:
            assumptions.broken(DEEP, "the program recurses to the limit")
        run.exceptions.append(ThreadFailure(run.current, error, message(error)))


def report_end(error: BaseException) -> None:
    """As `report`, for an exception that has left the target, unless it is a regular end of the program. Goes on with
    unwinding."""
    if isinstance(error, SystemExit) and error.code in (None, 0):
        return
    report(error)
    if isinstance(error, UnwindThread):
        raise error


def message(error: BaseException) -> str:
    """Format as `Type: text`, whatever the program's `__str__` does."""
    try:
        text = str(call(str)(error))
    except UnwindThread:
        raise
    except BaseException:
        text = "<its text cannot be had: __str__ failed>"
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + "..."
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def place(error: BaseException, is_program_file: Callable[[str], bool]) -> tuple[str | None, int | None]:
    """Return file and line of the innermost frame in the program's source through which it was raised."""
    found: tuple[str | None, int | None] = (None, None)
    tb: types.TracebackType | None = error.__traceback__
    while tb is not None:
        filename = tb.tb_frame.f_code.co_filename
        if is_program_file(filename):
            found = (filename, tb.tb_lineno)
        tb = tb.tb_next
    return found


def place_in_words(error: BaseException, is_program_file: Callable[[str], bool]) -> str:
    """Return that place as a text to be added to a message; "" if there is none."""
    file, line = place(error, is_program_file)
    return "" if file is None else f" ({Path(file).name}:{line})"


def traceback_lines(error: BaseException, message: str, is_program_file: Callable[[str], bool]) -> tuple[str, ...]:
    """Format as Python does, without frames of ours. `message`: the text made while the program ran, when its `__str__`
    could be called."""
    told = traceback.TracebackException.from_exception(error)
    part: traceback.TracebackException | None = told
    while part is not None:
        part.stack[:] = [frame for frame in part.stack if is_program_file(frame.filename)]
        part = part.__cause__ or part.__context__
    lines = "".join(told.format()).splitlines()
    kind, _, text = lines[-1].partition(": ")
    if text == _NO_TEXT:
        lines[-1:] = f"{kind}: {message.partition(': ')[2]}".splitlines()
    return tuple(lines)
