"""Judges of explorers: they compare what a search saw of a program with what it should have seen.

No judge is enough alone. Outcomes do not show that everything is explored twice. Trace classes cannot show that two
operations are wrongly called independent, because they are defined by that relation. States say nothing about a search
that stores none. `disagreement` asks all judges that apply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias

import attrs

from dpor.app.strategies import explorer_of
from dpor.app.targets import is_python, open_target
from dpor.core.errors import AssumptionBroken, DporError, InternalError
from dpor.core.operations import READ, UPDATE, Action, Operation
from dpor.core.options import Options
from dpor.core.outcome import Kind
from dpor.core.system import STOP, Ending, Run, StatefulSystem, System, TellsData, Trace
from dpor.explorers import CAUSAL, STATEFUL, STATELESS, STATIC, STRATEGIES, Explorer
from dpor.model import AbstractSystem, Outcome, load
from dpor.testing.abstract import Spec

MakeExplorer: TypeAlias = Callable[[Any], Explorer]
"""Takes a system and returns an explorer of it: usually the explorer's class."""

Program: TypeAlias = Spec | str | Path
"""An abstract program, the file of one, or the target `path/file.py::name`."""

MOST_RUNS: Final = 5_000
MOST_PYTHON_RUNS: Final = 600
"""An abstract program, or a Python program, for which `none` needs more runs than this is too large to be judged."""
MOST_STATES: Final = 3_000
"""A program of which `full` stores more states than this is too large to be judged."""
ENDLESS: Final = 20 * MOST_RUNS
"""A search that is judged and makes this many runs is taken not to end."""

PROMISES: Final[Mapping[str, Collection[str]]] = {
    name: strategy.promises for name, strategy in STRATEGIES.items() if not strategy.samples
}
"""The promises that each strategy must keep: see `dpor.explorers.KNOWN_PROMISES`. Every search must see all
outcomes, or all that threads can tell apart."""


class TooLarge(DporError):
    """The program has too many interleavings or states to be judged."""


class Incomplete(TooLarge):
    """A run did something of which not every order is explored."""


@attrs.define
class Observed:
    """The results of a search.

    executions   the number of complete runs
    blocked      the number of runs that were given up
    states       the number of states stored
    outcomes     the different outcomes of complete runs
    deadlocks    the different deadlocks of complete runs
    failures     kind, thread and message of each failure in any run, apart from deadlocks and livelocks
    classes      the number of complete runs of each trace class (if asked for)
    terminates   True if no cycle of states was found
    livelock     True if a cycle was found that cannot be left and on which nothing changes
    """

    executions: int = 0
    blocked: int = 0
    states: int = 0
    outcomes: set[Hashable] = attrs.Factory(set)
    deadlocks: set[Hashable] = attrs.Factory(set)
    failures: set[tuple[Kind, str, str]] = attrs.Factory(set)
    classes: Counter[Hashable] = attrs.Factory(Counter)
    terminates: bool = True
    livelock: bool = False


def explore(
    make: MakeExplorer,
    system: System,
    *,
    classes: bool = False,
    every_access: bool = True,
    runs: int = MOST_RUNS,
    states: int = MOST_STATES,
) -> Observed:
    """Let an explorer explore all of a program. If an assumption about the program is broken, start again.

    make     takes the system and returns the explorer
    classes  True if the runs of each trace class are to be counted
    every_access   False if accesses whose order cannot matter are to be no events
    runs     the greatest number of runs
    states   the greatest number of states stored

    Raises `TooLarge` if there are more runs or states, or if a run was cut.
    """
    while True:
        if not every_access:
            system.see_every_access(False)  # type: ignore[attr-defined]
        try:
            return _explore(make(system), classes, runs, states)
        except AssumptionBroken:
            pass
        finally:
            if not every_access:
                system.see_every_access(True)  # type: ignore[attr-defined]


def _explore(explorer: Explorer, classes: bool, runs: int, states: int) -> Observed:
    seen = Observed()
    for run in explorer.explore():
        if run.incomplete:
            raise Incomplete(run.incomplete[0])
        for finding in run.findings:
            seen.livelock |= finding.kind is Kind.LIVELOCK
            if finding.kind not in (Kind.DEADLOCK, Kind.LIVELOCK):
                seen.failures.add((finding.kind, finding.thread, finding.message))
        if run.ending is Ending.COMPLETE:
            seen.outcomes.add(run.outcome)
            if run.deadlock is not None:
                seen.deadlocks.add(run.deadlock)
            if classes:
                seen.classes[trace_class(explorer.trace)] += 1
        stats = explorer.stats
        if stats.executions + stats.blocked > runs or stats.states > states:
            raise TooLarge(f"{stats.executions:,} executions, {stats.states:,} states")
    seen.executions, seen.blocked, seen.states = (
        explorer.stats.executions,
        explorer.stats.blocked,
        explorer.stats.states,
    )
    seen.terminates = getattr(explorer, "terminates", True)
    return seen


def trace_class(trace: Trace) -> Hashable:
    """Return a value that is the same for equivalent runs and different for others: the events of each thread, and the
    order of those events that depend on each other. It is found from the modes alone, without
    `dpor.core.happens_before`."""
    seen: dict[int, int] = {}
    events = []
    for thread, operation in zip(trace.threads, trace.operations, strict=True):
        seen[thread] = seen.get(thread, 0) + 1
        events.append((thread, seen[thread], operation))
    order = [(a[:2], b[:2]) for i, b in enumerate(events) for a in events[:i] if a[0] != b[0] and _conflict(a[2], b[2])]
    return frozenset(events), frozenset(order)


def _conflict(a: Operation, b: Operation) -> bool:
    modes = dict(b.accesses)
    return any(
        location in modes and not (mode == modes[location] and mode in (READ, UPDATE)) for location, mode in a.accesses
    )


# ---------------------------------------------------------------------- judging


@attrs.frozen
class Reference:
    """What a search must see of a program.

    none   found by listing all interleavings; None for programs that go on for ever
    full   found by listing all states; None if the system cannot tell its states
    """

    none: Observed | None
    full: Observed | None


def reference(system: System) -> Reference:
    """Explore the program with the two searches that leave nothing out. Raises `TooLarge` if it is too large for
    them."""
    runs = MOST_RUNS if isinstance(system, AbstractSystem) else MOST_PYTHON_RUNS
    full = explore(explorer_of(Options(strategy="full")), system) if isinstance(system, StatefulSystem) else None
    if full is not None and not full.terminates:
        return Reference(None, full)
    if full is None:
        # Afterwards it is known which objects are shared, so all other searches see the same operations.
        explore(STRATEGIES["optimal"], system, runs=runs)
    return Reference(explore(STRATEGIES["none"], system, classes=True, runs=runs), full)


def _against(seen: Observed, reference: Observed, by_observations: bool = False) -> str:
    """Compare the results of two searches. `by_observations`: outcomes count by what threads have observed."""
    for what in ("outcomes", "deadlocks", "failures"):
        there, found = getattr(reference, what), getattr(seen, what)
        if by_observations:
            there, found = set(map(_without_memory, there)), set(map(_without_memory, found))
        if missing := there - found:
            return f"misses {len(missing)} of {len(there)} {what}"
        if more := found - there:
            return f"{len(more)} {what} that there are not"
    return ""


def _without_memory(outcome: Hashable) -> Hashable:
    return outcome._replace(memory=()) if isinstance(outcome, Outcome) else outcome


def wrong_with(
    make: MakeExplorer,
    promises: Collection[str],
    system: System,
    known: Reference,
    every_access: bool = True,
    lied_to: bool = False,
) -> str:
    """Return in a few words what an explorer does wrong on a program; "" if it does nothing wrong.

    promises   the promises that it must keep
    known      what it must see
    every_access   False if accesses whose order cannot matter are to be no events: then there are as many trace classes
    lied_to   True if it gets facts that are wrong: its runs may be incomplete where those of the judges are not
    """
    try:
        classes = known.none is not None
        seen = explore(make, system, classes=classes, every_access=every_access, runs=ENDLESS, states=ENDLESS)
    except TooLarge as error:
        return "" if lied_to and isinstance(error, Incomplete) else f"does not end: {error}"
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"
    judge = known.none or known.full
    assert judge is not None
    if wrong := _against(seen, judge, "observations" in promises):
        return wrong
    if known.none is not None:
        missing = len(known.none.classes.keys() - seen.classes.keys())
        if not every_access:  # their events are others
            missing = abs(len(known.none.classes) - len(seen.classes))
        if "classes" in promises and missing:
            return f"misses {missing} of {len(known.none.classes)} trace classes"
        if "once" in promises and any(count > 1 for count in seen.classes.values()):
            return "a trace class twice"
    if "no blocked run" in promises and seen.blocked:
        return f"{seen.blocked} blocked runs"
    if "endless" in promises and known.full is not None:
        if (seen.terminates, seen.livelock) != (known.full.terminates, known.full.livelock):
            return "wrong about whether the program ends"
    if "few states" in promises and known.full is not None and seen.states > known.full.states:
        return f"stores {seen.states} states where full stores {known.full.states}"
    return ""


def disagreement(
    program: Program,
    explorers: Mapping[str, MakeExplorer] | Collection[str] | None = None,
    promises: Mapping[str, Collection[str]] = PROMISES,
    lies: int | None = None,
    every_access: bool = True,
) -> str:
    """Return in a few words which of the explorers does something wrong on a program, and what; "" if none does.

    explorers  explorers by name, or the names of strategies; None for all strategies. Those that store no states are
               left out if the program goes on for ever, and those that need more than the target tells (states, or
               what its events see)
    promises   by the name of an explorer, the promises that it must keep
    lies       the facts that strategies with a static analysis get about the program are wrong at random, by this seed;
               None if they are to be right
    every_access   False if accesses whose order cannot matter are to be no events in their runs

    Raises `TooLarge` if the program has too many interleavings or states.
    """
    chosen = explorers_of(explorers)
    system = _system_of(program)
    try:
        known = reference(system)
    except TooLarge:
        raise
    except Exception as error:
        return f"full or none: raises {type(error).__name__}: {error}"
    if known.none is not None and known.full is not None and (wrong := _against(known.full, known.none)):
        return f"full: {wrong}"
    for name, make in chosen.items():
        if name in STATEFUL if known.full is None else name in STATELESS and known.none is None:
            continue
        if name in CAUSAL and (known.none is None or not isinstance(system, TellsData)):
            continue
        own = _system_of(program, name, lies) if name in STATIC else system
        lied_to = own is not system and lies is not None
        if wrong := wrong_with(make, promises.get(name, ()), own, known, every_access, lied_to):
            return f"{name}: {wrong}"
    return ""


def explorers_of(explorers: Mapping[str, MakeExplorer] | Collection[str] | None) -> Mapping[str, MakeExplorer]:
    """Return the explorers by name; of strategies, without the judges `none` and `full`."""
    if isinstance(explorers, Mapping):
        return explorers
    names = [*STATELESS, *STATEFUL, *CAUSAL] if explorers is None else explorers
    return {name: explorer_of(Options(strategy=name)) for name in names if name not in ("none", "full")}


def _system_of(program: Program, strategy: str | None = None, lies: int | None = None) -> System:
    """Return the system that a strategy gets: for those that use facts about the source, one that has it analysed."""
    options = Options(strategy=strategy, max_steps=MOST_STATES)
    if lies is not None:
        from dpor.testing.lying import LyingModel, lying_python

        if not isinstance(program, Mapping) and is_python(program):
            return lying_python(str(program), options, lies)
        spec = program if isinstance(program, Mapping) else load(str(program))
        return LyingModel(spec, lies, max_steps=MOST_STATES)
    if isinstance(program, Mapping):
        return AbstractSystem(program, max_steps=MOST_STATES)
    return open_target(program, options)


# ---------------------------------------------------------------------- the relation itself


def swap_and_replay(system: AbstractSystem, random: Random) -> tuple[int, str]:
    """Test the dependence relation: make a random run, and then for each two neighbouring events that are called
    independent a run in which these are swapped.

    Returns how many pairs were swapped, and what was different in the first run that differed; "" if none did.
    """
    trace = Trace()
    run = system.run(trace, lambda enabled: random.choice([t for t in range(enabled.bit_length()) if enabled >> t & 1]))
    swapped = 0
    for i in range(len(trace) - 1):
        one, other = trace.operations[i : i + 2]
        if trace.threads[i] == trace.threads[i + 1] or one.starts == trace.threads[i + 1] or _conflict(one, other):
            continue
        actions = trace.actions.copy()
        actions[i], actions[i + 1] = actions[i + 1], actions[i]
        where = f"events {i} and {i + 1} of {actions} swapped"
        try:
            again, ended = _along(system, actions)
        except InternalError as error:
            return swapped, f"{where}: {error}"
        if ended.outcome != run.outcome:
            return swapped, f"{where}: another outcome"
        if trace_class(again) != trace_class(trace):
            return swapped, f"{where}: another trace class"
        swapped += 1
    return swapped, ""


def _along(system: AbstractSystem, actions: list[Action]) -> tuple[Trace, Run]:
    trace = Trace()

    def choose(enabled: int) -> Action:
        return actions[len(trace)] if len(trace) < len(actions) else STOP

    return trace, system.run(trace, choose)
