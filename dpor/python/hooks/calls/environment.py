"""Functions of the library that look at the environment of the process."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from typing import Any

from dpor.python.hooks.calls.registry import set_wrapper
from dpor.python.hooks.calls.unknown import yield_before_call
from dpor.python.kernel.run import run


def _asking(function: Any) -> Callable[..., Any]:
    def ask(*args: Any, **kwargs: Any) -> Any:
        if run.multi:
            yield_before_call(function, (vars(os.environ)["_data"],))
        return function(*args, **kwargs)

    return ask


for _function in (os.path.expandvars, os.path.expanduser, os.get_exec_path, shutil.which, shutil.get_terminal_size):
    set_wrapper(_function, _asking(_function))
