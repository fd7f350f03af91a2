"""Findings of runs in which no thread can go on: a deadlock, or a livelock if a thread spins."""

from __future__ import annotations

from dpor.core.outcome import NOBODY_WRITES, Finding, Kind
from dpor.python.kernel.run import run
from dpor.python.kernel.stuck import Stuck
from dpor.python.narrate.places import place_in_words


def livelock_finding(stuck: list[Stuck]) -> Finding:
    """Return the finding of a run in which at least one of these threads spins. The first of those is named first."""

    def sentence(s: Stuck) -> str:
        if s.spins is None:
            return s.sentence
        places = {place_in_words(location) for location in s.spins}
        what = ", ".join(sorted({*(places - {""}), *s.reads})) or "what it reads"
        return f"{s.sentence}{NOBODY_WRITES} {what}"

    first = next(s for s in stuck if s.spins is not None)
    file, line = first.place or (None, None)
    lines = [
        sentence(first._replace(sentence="spins")),
        *(f"{s.thread} {sentence(s)}" for s in stuck if s is not first),
    ]
    return Finding(Kind.LIVELOCK, "\n".join(lines), first.thread, file, line, needs_timeout=run.timed_out)


def deadlock_finding(stuck: list[Stuck]) -> Finding:
    """Return the finding of a run in which all of these threads wait, and none spins."""
    lines = [f"{s.thread} {s.sentence}" for s in stuck]
    # The place of a deadlock is that of a thread that waits for something more telling than the end of another thread.
    first = next((s for s in stuck if "for the end of" not in s.sentence), stuck[0])
    file, line = first.place or (None, None)
    return Finding(
        Kind.DEADLOCK,
        "\n".join(lines),
        first.thread,
        file,
        line,
        needs_timeout=run.timed_out,
    )
