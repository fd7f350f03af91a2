"""Finds the frames of the program's own source."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from types import FrameType

from dpor.python.kernel.model_thread import ModelThread
from dpor.python.kernel.run import run


def last_place(frame: FrameType | None = None) -> str:
    """Return where the program was last, as the end of a sentence; empty if no frame is the program's."""
    frame = program_frame(frame or sys._getframe(1))
    return "" if frame is None else f", last in {frame.f_code.co_name} at {frame.f_code.co_filename}:{frame.f_lineno}"


def program_frame(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame of the program's own source, from this frame outwards."""
    while frame is not None and not run.is_program_file(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def place_of(thread: ModelThread) -> Hashable:
    """Return where a thread waits: the function of the program, and its instruction; None if it runs none."""
    frame = program_frame(sys._getframe(1) if thread is run.current else thread.greenlet.gr_frame)
    return None if frame is None else (frame.f_code.co_filename, frame.f_code.co_qualname, frame.f_lasti)
