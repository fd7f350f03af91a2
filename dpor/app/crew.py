"""The processes that search for another one (`dpor.app.sharing`), however messages get to them: by pipes
(`dpor.app.processes`), or by Dask (`dpor.app.cluster`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import attrs

from dpor.app.working import Setup


class GivenBack(Exception):
    """The search cannot be shared; one process has to go on. `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@attrs.frozen
class Ended:
    """What `Crew.listen` says of a member that is no more. `how`: a signal, an exit code, or that its machine left."""

    how: str


class Member(Protocol):
    """One process (`dpor.app.working`).

    part        the number of the part that it has
    keys_sent   how many keys it knows
    """

    part: int | None
    keys_sent: int

    def send(self, message: Any) -> None:
        """Send a message. If the member has ended, `Crew.listen` will say so."""
        ...


class Crew(Protocol):
    """The processes.

    most         how many there can be
    most_deaths  how often a part may end the member that has it
    """

    most: int
    most_deaths: int

    @property
    def members(self) -> Sequence[Member]: ...

    def grow(self, setup: Setup, wanted: int) -> None:
        """Let there be so many members, as far as that is possible. Raises `GivenBack` if there will be none."""
        ...

    def listen(self, seconds: float) -> Iterable[tuple[Member, Any]]:
        """Return what members say, as soon as one does, after so many seconds at the latest; for one that is no more,
        `Ended`, once. It is no longer a member then."""
        ...

    def close(self) -> None:
        """End all of them."""
        ...
