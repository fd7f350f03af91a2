"""What a check of a class has found and covered: as values, in words, and as JSON (`lincheck.schema.json`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import attrs

from dpor.core.plural import plural
from dpor.core.results import Failure, Report, Verdict
from dpor.python.specs.known_answers import answer_in_words
from dpor.python.specs.linearizing import RecordedCall


@attrs.frozen(kw_only=True)
class Covered:
    """What was explored of the scenarios of one size.

    size       in words
    scenarios  how many were explored
    all        True if these are all that there are, alike ones once
    stuck      in how many an order of the calls waits for ever in one thread: that threads do is no failure there
    unsure     of how many of those explored not everything was covered
    """

    size: str
    scenarios: int
    all: bool
    stuck: int = 0
    unsure: int = 0

    def __str__(self) -> str:
        which = f"all scenarios of {self.size}: {self.scenarios:,}"
        if not self.all:
            which = f"{plural(self.scenarios, 'scenario')} of {self.size}"
        notes = []
        if self.stuck:
            notes.append(f"{self.stuck:,} of them may wait for ever in one thread, too")
        if self.unsure:
            notes.append(f"{self.unsure:,} not covered")
        return f"{which} ({'; '.join(notes)})" if notes else which


@attrs.frozen(kw_only=True)
class Answered:
    """A call of a failing run. `answer` is None if it did not end."""

    thread: str
    call: str
    answer: str | None

    @classmethod
    def of(cls, call: RecordedCall) -> Answered:
        text = f"{call.method}({', '.join(map(repr, call.args))})"
        return cls(thread=call.thread, call=text, answer=None if call.answer is None else answer_in_words(call.answer))


@attrs.frozen(kw_only=True)
class BrokenScenario:
    """The smallest scenario that was found to fail.

    calls     of a run that fails, in the order in which they began
    source    a test; None if it cannot be written
    file      where the source was saved; None: nowhere
    failure   what goes wrong, explained; its schedule is that of `source` if there is one
    """

    scenario: str
    calls: tuple[Answered, ...]
    failure: Failure
    source: str | None = attrs.field(default=None, repr=False)
    file: str | None = None
    report: Report = attrs.field(repr=False)

    def table(self) -> list[str]:
        """Return the calls of each thread, side by side with their answers."""
        names = list(dict.fromkeys(call.thread for call in self.calls))
        if "MainThread" in names:
            names.remove("MainThread")
        main = [call.thread == "MainThread" for call in self.calls]
        first = main.index(False) if False in main else len(main)
        rows = [("before", call) for call in self.calls[:first]]
        rows += [(name, call) for name in names for call in self.calls if call.thread == name]
        rows += [("after", call) for call in self.calls[first:] if call.thread == "MainThread"]
        widths = [max(len(who) for who, _ in rows), max(len(call.call) for _, call in rows)] if rows else [0, 0]
        lines = []
        before = ""
        for who, call in rows:
            shown, before = ("" if who == before else who), who
            answer = "does not end" if call.answer is None else f"-> {call.answer}"
            lines.append(f"{shown:{widths[0]}}  {call.call:{widths[1]}}  {answer}".rstrip())
        return lines


@attrs.frozen(kw_only=True)
class ConcurrentReport:
    """The result of `dpor.concurrent`.

    target       what was checked, and `consistency`: how the answers were judged
    operations   the calls that scenarios consist of
    covered      what was explored, by size
    reasons      why not everything was covered
    failure      None: no scenario fails
    """

    schema: ClassVar[int] = 1

    target: str
    consistency: str
    operations: tuple[str, ...]
    verdict: Verdict
    covered: tuple[Covered, ...] = ()
    reasons: tuple[str, ...] = ()
    failure: BrokenScenario | None = None
    executions: int = 0
    seconds: float = 0.0

    @property
    def scenarios(self) -> int:
        """How many scenarios were explored."""
        return sum(size.scenarios for size in self.covered)

    def lines(self) -> list[str]:
        """Return the result in words, without the explanation of the failure."""
        lines = [
            f"{self.verdict.upper() if self.verdict is Verdict.INCONCLUSIVE else _WORDS[self.verdict]}  {self._line()}"
        ]
        if self.failure is not None:
            lines += ["", *[f"  {line}" for line in self.failure.table()], ""]
        lines += [f"  {size}" for size in self.covered]
        lines += [f"  because {reason}" for reason in self.reasons]
        done = f"{plural(self.scenarios, 'scenario')}, {plural(self.executions, 'execution')}, {self.seconds:.2f} s"
        return [*lines, f"{done} ({self.consistency})"]

    def _line(self) -> str:
        if self.failure is not None:
            return f"{self.target}: {self.failure.failure.message.splitlines()[0]}"
        if self.verdict is Verdict.PASS:
            return f"{self.target}: no scenario fails."
        return f"{self.target}: no failure, but not all was covered."

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON; `dpor/scenarios/lincheck.schema.json` describes it."""
        broken = self.failure
        return {
            "schema": self.schema,
            "target": self.target,
            "consistency": self.consistency,
            "operations": list(self.operations),
            "verdict": self.verdict.value,
            "covered": [attrs.asdict(size) for size in self.covered],
            "reasons": list(self.reasons),
            "failure": broken
            and {
                "scenario": broken.scenario,
                "kind": broken.failure.kind.value,
                "message": broken.failure.message,
                "calls": [attrs.asdict(call) for call in broken.calls],
                "source": broken.source,
                "file": broken.file,
            },
            "scenarios": self.scenarios,
            "executions": self.executions,
            "seconds": round(self.seconds, 3),
        }


_WORDS = {Verdict.PASS: "PASSED", Verdict.FAIL: "FAILED", Verdict.INCONCLUSIVE: "INCONCLUSIVE"}


def answered(calls: Sequence[RecordedCall]) -> tuple[Answered, ...]:
    """Return the calls of a run, in the order in which they began."""
    return tuple(map(Answered.of, calls))
