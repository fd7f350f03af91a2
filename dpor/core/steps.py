"""One run as a reader sees it: its events with thread, place, source text, operation and value. Values only.

Both systems make these, the reports print them, so this file counts as core: it imports nothing of the reports.
"""

from __future__ import annotations

import attrs

from dpor.core.outcome import Finding


@attrs.frozen
class Step:
    """One event of an explained run.

    thread      the thread's name
    file, line  where in the program's source; None where there is no source
    source      the text of that line, stripped
    operation   what was done to what: "read Counter.hits"
    value       what was read, written or answered, or what a container held; "" where there is nothing to say
    racing      one of the two events whose order makes the failure
    locks       locks, events, semaphores and the like that the event has left in another state: name, state in words
    variables   the variables of the function at that place, just before the event: name, value
    after       what the container holds afterwards, if that is something else; else ""
    call        the call of the library that the event is part of: "put jobs"; "" where it is the program's own
    call_number   tells that call from others
    """

    thread: str
    file: str | None
    line: int | None
    source: str
    operation: str
    value: str
    racing: bool = False
    locks: tuple[tuple[str, str], ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    after: str = ""
    call: str = ""
    call_number: int = 0

    @property
    def values(self) -> str:
        """
        >>> Step("Ada", None, None, "", "append sold", "[]", after="['Ada']").values
        "[] -> ['Ada']"
        """
        return change(self.value, self.after)


def change(value: str, after: str) -> str:
    """The value, and what has become of it if that is something else."""
    return f"{value} -> {after}" if after else value


@attrs.frozen
class Explained:
    """A run that was repeated to be told: one step for each event of its trace, what the program printed, and its
    findings, with all details that such a run can give."""

    steps: tuple[Step, ...] = ()
    output: str = ""
    findings: tuple[Finding, ...] = ()
