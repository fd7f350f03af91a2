"""The run under control: which model thread runs now, and how it stands before an operation until it is chosen.

There is one run at a time in a process. (Interface first: the body follows.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpor.operations import Access, Location, Rule, ThreadId


class SyncObject:
    """Base of the stand-ins of synchronisation primitives.

    state      the immutable state that the rules of `dpor.primitives` read and replace
    location   its number; given by `__init__`
    """

    state: Any
    location: Location


class GuestThread:
    """One model thread of the present run: `id`, `name`, `daemon`, and `front`, the program's Thread object."""

    id: ThreadId
    front: Any
    data: dict[Any, Any]


def current() -> GuestThread:
    """The model thread that runs now."""
    raise NotImplementedError


def perform(rule: Rule, *objects: SyncObject) -> Any:
    """Stand before this operation until it is chosen; then apply the rule to the objects. Returns the rule's result."""
    raise NotImplementedError


def perform_timed(blocking: Rule, timed: Rule, timeout: float, *objects: SyncObject) -> Any:
    """As `perform`, for an operation that may time out.

    `timed` is the variant whose result is False where it times out; `blocking` the one that never does. Which is used
    when is decided here (`--timeouts`, `--timeout-limit`).
    """
    raise NotImplementedError


def spawn(front: Any, body: Callable[[], None]) -> None:
    """Begin a model thread that runs `body` (called by `Thread.start`, just after its `Start` rule was performed)."""
    raise NotImplementedError


def touch(kind: str, accesses: tuple[Access, ...]) -> None:
    """Stand before an access to shared data until it is chosen; the caller then performs it at once."""
    raise NotImplementedError
