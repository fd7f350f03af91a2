"""What drop-ins whose methods are one operation each have in place of CPython's internals: parts, which programs do not
see, and private attributes, whose use shows that the program needs CPython's own source.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from dpor.python.kernel import assumptions
from dpor.python.kernel.run import run
from dpor.python.kernel.sync_objects import SyncObject


class Count(SyncObject):
    """A part that counts something, from 0."""

    dpor_is_part = True

    def __init__(self) -> None:
        super().__init__()
        self.dpor_state = 0


def open_up(fact: str, reason: str) -> None:
    """Learn the fact that the program needs CPython's own source, and end the run here."""
    assumptions.broken(fact, reason, at_once=run.current is not None)


def private_to(what: str, fact: str) -> Callable[[str], property]:
    """Return a function that makes a private attribute of `what`, by name: to use it breaks the assumption."""

    def private(name: str) -> property:
        def opened(*_: Any) -> NoReturn:
            open_up(fact, f"the program uses the attribute {name} of {what}")
            raise AttributeError(name)

        return property(opened, opened, opened)

    return private
