"""What is behind the standard streams of a run: nothing of the program's."""

from __future__ import annotations

import io


class BehindStream(io.RawIOBase):
    """Where the program's output ends up. It differs between runs: only some keep it."""
