"""One run as a reader sees it: its events with thread, place, source text, operation and value. Values only.

Both systems make these and the reports print them. So this file is in `core` and imports nothing of the reports.
"""

from __future__ import annotations

import attrs

from dpor.core.outcome import Finding


@attrs.frozen
class Step:
    """One event of a run that is reported.

    thread      the thread's name
    file, line  the place in the program's source; None where there is no source
    source      the text of that line, stripped
    operation   what was done to what: "read Counter.hits"
    value       what was read, written or returned, or what a container held; "" if there is nothing to show
    racing      True for the two events whose order makes the failure
    locks       locks, events, semaphores and the like whose state the event has changed: name, state in words
    variables   the variables of the function at that place, just before the event: name, value
    after       what the container holds afterwards, if that differs; else ""
    call        the call of the library that the event is part of: "put jobs"; "" if it is part of none
    call_number   distinguishes that call from others
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
    """Return the value, and what has become of it if that differs."""
    return f"{value} -> {after}" if after else value


@attrs.frozen
class Explained:
    """A run that was repeated for a report: one step for each event of its trace, what the program printed, and its
    findings, with all details that such a run can give."""

    steps: tuple[Step, ...] = ()
    output: str = ""
    findings: tuple[Finding, ...] = ()
