"""The outcome and the failures of one run, as values."""

from __future__ import annotations

import re
from collections.abc import Hashable
from enum import Enum
from hashlib import blake2b

import attrs


class Kind(Enum):
    """Kinds of finding, by the names in reports and JSON."""

    DEADLOCK = "deadlock"
    ASSERTION = "assertion"
    EXCEPTION = "exception"
    LIVELOCK = "livelock"
    RACE = "race"
    INVARIANT = "invariant"
    LINEARIZABILITY = "linearizability"


NOBODY_WRITES = ": nothing that is left to run writes"
"""In the message of a livelock in which a run ends, because its loops are known to spin. Other livelocks are cycles of
states, and a schedule only leads into them."""


@attrs.frozen
class Finding:
    """One failure of one run.

    message   for exceptions "Type: text", for deadlocks one line per waiting thread
    thread    the name of the thread that failed (for a deadlock, of the first thread that waits)
    file, line   the place in the program's source; None where there is no source
    needs_timeout   True if the failure occurs only if a timed wait times out, or time passes that the program reads
    details   further lines for the text report: traceback, who holds what
    other     for a data race: the second place, as "file:line"
    events    for a data race: the indices of the two events in its run
    """

    kind: Kind
    message: str
    thread: str
    file: str | None = None
    line: int | None = None
    needs_timeout: bool = False
    details: tuple[str, ...] = ()
    other: str | None = None
    events: tuple[int, int] | None = attrs.field(default=None, eq=False)

    @property
    def is_cycle(self) -> bool:
        return self.kind is Kind.LIVELOCK and NOBODY_WRITES not in self.message

    @property
    def group(self) -> tuple[object, ...]:
        """Findings with the same identity are reported once: they are of one kind and at one place. If they have none,
        their messages differ at most in addresses.

        >>> len({Finding(Kind.EXCEPTION, f"Error: <C at {address}>", "Ada").group for address in ("0x7f0", "0x7e1")})
        1
        """
        message = re.sub("0x[0-9a-f]+", "0x", self.message) if self.line is None else None
        return (self.kind, self.file, self.line, self.other, message)


def digest(value: Hashable) -> str:
    """Return sixteen hex digits for an outcome, the same in every process and for every order in which sets were
    filled.

    >>> digest((frozenset("ab"), 1)) == digest((frozenset("ba"), 1)) != digest((frozenset("ab"), True))
    True
    """
    return blake2b(_text(value).encode(errors="backslashreplace"), digest_size=8).hexdigest()


def _text(value: Hashable) -> str:
    if isinstance(value, tuple):
        return f"({','.join(map(_text, value))})"
    if isinstance(value, frozenset):
        return f"{{{','.join(sorted(map(_text, value)))}}}"
    return repr(value)
