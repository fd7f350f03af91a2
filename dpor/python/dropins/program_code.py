"""Helpers that are instrumented like the program's own code, because they work on what the program gives them.

The file is not imported but loaded by `from_threading`, as a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import Context
from typing import Any


def call(target: Callable[..., Any], args: Iterable[Any], kwargs: Mapping[str, Any]) -> None:
    """Call the target of a `Thread` whose arguments are in a list or a dict, which other threads may change."""
    target(*args, **kwargs)


def run_in(context: Context, body: Callable[[], None]) -> None:
    """Run the body of a `Thread` that was given a context, in which other threads may run as well."""
    context.run(body)
