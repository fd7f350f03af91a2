"""`pickle.dump`: what is written is made first, then the file's `write` is called with it, as the C code does."""

from __future__ import annotations

import pickle
from typing import Any, Final

from dpor.python.hooks import attributes
from dpor.python.hooks.calls.registry import wrap
from dpor.python.hooks.calls.unknown import reading_c
from dpor.python.kernel.incomplete import incomplete_if_multithreaded
from dpor.python.kernel.run import run

_dumps: Final = reading_c(pickle.dumps)

_FRAME: Final = 64 * 1024
"""In bytes: more than that is written in several pieces."""


@wrap(pickle.dump)
def _dump(obj: Any, file: Any, protocol: Any = None, *, fix_imports: bool = True, buffer_callback: Any = None) -> None:
    write = getattr(attributes.loaded(file, "write"), "write", None)
    if write is None:
        raise TypeError("file must have a 'write' attribute")
    data = _dumps(obj, protocol, fix_imports=fix_imports, buffer_callback=buffer_callback)
    if len(data) >= _FRAME:
        incomplete_if_multithreaded("pickle.dump writes more than 64 KiB, in several pieces: it is seen as one step")
    run.above.call(write)(data)
