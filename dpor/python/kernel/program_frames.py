"""Finds the frames of the program's own source."""

from __future__ import annotations

import sys
from types import FrameType

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
