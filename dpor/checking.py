"""Checks a program: opens the target, runs a search within its budgets, tells the failures, makes the report.

`check` and `replay` are the public functions; the command line uses `Session`, which keeps what is known when a check
ends in an error or by Ctrl-C. Not for: printing (`dpor.report`), parsing arguments (`dpor.cli`).
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, Unpack

import attrs

from dpor.embedding import Embedded
from dpor.errors import BadTarget, FactWithdrawn, InternalError, NotDeterministic, Unfinished, UserError
from dpor.explorers import BOUNDED, SAMPLERS, STATEFUL, STATIC, STRATEGIES, Explorer, Stats
from dpor.explorers.states import StatefulSearch
from dpor.findings.data_races import RaceDetector
from dpor.findings.explain import Checkable, Told, explain, in_order, matching, tell, unexplained
from dpor.findings.minimise import Minimised, switches
from dpor.memory import peak_memory, resident_memory
from dpor.operations import Action
from dpor.options import OptionArguments, Options
from dpor.outcome import Finding, digest
from dpor.pulse import beating
from dpor.report.class_map import MOST_CLASSES, MOST_EVENTS, ClassMap, ExploredClass
from dpor.report.model import NOT_FINISHED, Failure, Report, Verdict
from dpor.report.progress import Monitor, Progress
from dpor.report.steps import Explained, Step
from dpor.schedule import OF_PYTEST, SavedSchedule, follow, prefer, read_sources
from dpor.system import STOP, Ending, OracleSystem, Run, StatefulSystem, System, Trace
from dpor.version import VERSION

if TYPE_CHECKING:
    from dpor.runtime.target import Opener

Target: TypeAlias = "str | os.PathLike[str] | Callable[[], object] | Opener | Embedded"
"""`path/file.py::name`, `package.module:name`, a `.json` or `.jsonl` file of abstract programs, a callable, a program
that knows itself how it is loaded, or a system of one's own."""

MOST_RESTARTS = 1000
LIVES = frozenset({"start", "end", "join"})
"""The kinds of operation that every program with threads has: if it has no others, its threads share nothing."""
PROGRESS_EVERY = 0.1
LEAST_GROWTH = 0.005
"""Of the estimated share, over half of the time: less is no progress."""
MOST_TEXTS = 1000
LONGEST_TEXT = 200
"""Outcomes in words, for the report: how many, and how long."""
MINIMISING_SECONDS = 5.0
"""For one finding. A last resort, so that candidates that run very long end: see `dpor.findings.minimise.BUDGET`."""
ORDERING_SECONDS = 4.0
"""For one finding: to try its events in other orders. A last resort likewise."""
STANDSTILL = 5
"""Beats without an event, until a run that is made on behalf of a finding is given up: there may be others."""
EXPLAINING_SECONDS = 15.0
"""For one finding, all in all; then it is reported as it was seen."""


def check(target: Target, options: Options | None = None, **changes: Unpack[OptionArguments]) -> Report:
    """Explore every interleaving of the target, a callable without arguments that starts threads.

    The options are given as an `Options`, as keyword arguments, or both (the keywords win).

    Raises `UserError` (`BadTarget`, ...) where the target or an option is wrong. What the program does wrong is in
    `Report.findings`, never an exception.
    """
    return Session(target, attrs.evolve(options or Options(), **changes)).run()


def replay(schedule: str | os.PathLike[str] | SavedSchedule, target: Target | None = None) -> Failure:
    """Run a saved schedule once more. Returns the failure that it shows.

    `target` is needed where the schedule's own target is a callable that has no name in a file.

    Raises `BadSchedule` if the file is none of ours or the source has changed, `NotDeterministic` if the program did
    something else this time.
    """
    saved = schedule if isinstance(schedule, SavedSchedule) else SavedSchedule.load(schedule)
    return Replay(saved, target).run()


# ---------------------------------------------------------------------- opening a target


def open_target(target: Target, options: Options, facts: Any = None) -> Checkable:
    """The system for a target. Raises `UserError` (`BadTarget`, `BadProgram`)."""
    system = _open(target, options, facts)
    return RaceDetector(system) if options.races else system


def _open(target: Target, options: Options, facts: Any) -> Checkable:
    if isinstance(target, Embedded):
        _refuse_runtime_options(options, "a system of one's own")
        if options.races:
            raise UserError("--races needs locks and the like, which a system of one's own has not; take it away")
        return target
    given = os.fspath(target) if isinstance(target, os.PathLike) else target
    if _is_model(given):
        return _ModelTarget(given, options)

    if options.name is not None:
        raise UserError(f"--name {options.name}: only programs of .json and .jsonl files have such names; take it away")
    from dpor.runtime.options import RuntimeOptions, StaticOptions
    from dpor.runtime.program import PythonSystem

    statics = None
    if options.explorer in STATIC:
        unhooked = options.explorer == "dpor+static"
        statics = StaticOptions(options.field_access.value, options.pointers.value, options.immutable, unhooked)

    limits = RuntimeOptions(
        max_steps=options.max_steps,
        timeouts=options.timeouts.value,
        timeout_limit=options.timeout_limit,
        whole_states=options.whole_states,
        statics=statics,
    )
    return PythonSystem(given, limits, options.instrument, facts)


def _refuse_runtime_options(options: Options, what: str) -> None:
    for name in ("timeouts", "timeout_limit", "instrument"):
        if getattr(options, name) != getattr(Options(), name):
            raise UserError(f"--{name.replace('_', '-')} means nothing for {what}; take it away")


def _beat_of(target: Target) -> Callable[[FrameType | None, int | None], None]:
    """What ends a run of this target that takes too long: see `dpor.runtime.control.beat`. Those of abstract programs
    are short."""
    if not _is_python(target):
        return lambda frame, patience: None
    from dpor.runtime import control

    return control.beat


def _is_python(target: Target) -> bool:
    return not isinstance(target, Embedded) and not _is_model(target)


def _is_model(target: Target) -> TypeGuard[str]:
    if isinstance(target, (str, os.PathLike)):
        return Path(os.fspath(target)).suffix in (".json", ".jsonl")
    if not callable(target) and not hasattr(target, "open_in"):
        raise BadTarget(f"a target is a callable or a string such as 'path/file.py::name', not {target!r}")
    return False


def target_name(target: Target, options: Options) -> str:
    """The target as reports name it."""
    if isinstance(target, (str, os.PathLike)):
        name = os.fspath(target)
        return f"{name} {options.name}" if options.name else name
    if not callable(target):
        return target.name
    named = target if hasattr(target, "__qualname__") else type(target)
    return f"{getattr(named, '__module__', '?')}:{getattr(named, '__qualname__', '?')}"


class _ModelTarget:
    """An abstract program as a `Checkable`."""

    def __init__(self, path: str, options: Options) -> None:
        from dpor.model import AbstractSystem, load

        _refuse_runtime_options(options, "an abstract program")
        self._path = path
        self._system = system = AbstractSystem(load(path, options.name), options.max_steps)
        self.run, self.outcome_text, self.is_memory = system.run, system.outcome_text, system.is_memory
        self.state, self.pending, self.sync_states = system.state, system.pending, system.sync_states
        self.changes_data, self.livelock, self.lasting = system.changes_data, system.livelock, system.lasting
        self.is_choice, self.untold = system.is_choice, system.untold
        self.ruled_out, self.withdraw_facts = system.ruled_out, system.withdraw_facts

    def describe(self, trace: Trace) -> Explained:
        return Explained(
            tuple(
                Step(event.thread, None, None, f"{event.place}  {event.statement}", event.kind, event.value)
                for event in self._system.describe(trace)
            )
        )

    def aloud(self) -> AbstractContextManager[None]:
        return nullcontext()

    def sources(self) -> Mapping[str, str]:
        from hashlib import sha256

        return {self._path: sha256(Path(self._path).read_bytes()).hexdigest()}

    def versions(self) -> Mapping[str, str]:
        return {}

    def facts(self) -> Any:
        return None


def explorer_of(options: Options) -> Callable[[Checkable], Explorer]:
    """The search that the options ask for. Raises `UserError` if there is none, and so does the search where it needs
    states that the target cannot tell."""
    name, preemptions = options.explorer, options.preemptions
    known = [*STRATEGIES, *STATEFUL, *SAMPLERS]
    if name not in known:
        raise UserError(f"no strategy {name!r}; there are {', '.join(known)}")
    for option in ("field_access", "pointers", "immutable") if name not in STATIC else ():
        if getattr(options, option) != getattr(Options(), option):
            flag = f"--{option.replace('_', '-')}"
            raise UserError(f"{flag} goes with --strategy {' or '.join(STATIC)}, not with {name}")
    if preemptions is not None:
        if name not in BOUNDED:
            raise UserError(f"--preemptions goes with --strategy {' or '.join(BOUNDED)}, not with {name}")
        return lambda system: BOUNDED[name](system, preemptions)
    if name in SAMPLERS:
        if options.max_executions is None and options.max_seconds is None:
            raise UserError(f"--strategy {name} never ends: give --max-executions or --max-seconds")
        return lambda system: SAMPLERS[name](system, options.seed, options.depth)
    if name in STATEFUL and options.races:
        raise UserError(f"--races needs a search that visits every trace, and {name} does not; take another strategy")
    if name in STATEFUL:
        return lambda system: _stateful(options, system)
    return STRATEGIES[name]


def _stateful(options: Options, system: Checkable) -> Explorer:
    name = options.explorer
    if not isinstance(system, OracleSystem if name == "sa" else StatefulSystem):
        raise UserError(
            f"--strategy {name} stores states, which this target cannot tell; take one of {', '.join(STRATEGIES)}"
        )
    return STATEFUL[name](system, options.store, options.sync_choices)


def _shortfall(options: Options, counts: Stats) -> Iterator[str]:
    """Why a search of this kind did not cover everything, though it may have come to its end."""
    if counts.left_out:
        yield f"--preemptions {options.preemptions} left out {counts.left_out:,} schedules or more"
    if options.explorer in SAMPLERS:
        yield (
            f"{options.explorer} schedules: {counts.executions:,} executions, {counts.classes:,} distinct classes seen"
        )


# ---------------------------------------------------------------------- checking


@attrs.define
class _Seen:
    """A group of findings: the first, its schedule, and how often it was seen."""

    finding: Finding
    schedule: tuple[Action, ...]
    execution: int
    occurrences: int = 1


@attrs.frozen
class _Repeatable:
    """A run that came to its end: what must come again when it is repeated."""

    trace: Trace
    result: tuple[Hashable, Hashable]

    def repeat(self, system: System) -> Ending:
        """Raises `NotDeterministic` if the program does something else now."""
        trace = self.trace.copy()
        run = system.run(trace, lambda enabled: STOP)
        if run.ending is Ending.STOPPED:
            raise NotDeterministic(f"{SECOND_TIME} does not end after its {len(trace)} events, as it did before")
        if run.ending is Ending.COMPLETE and (run.outcome, run.deadlock) != self.result:
            raise NotDeterministic(f"{SECOND_TIME} ends with another result, though each event was the same")
        return run.ending


SECOND_TIME = "the first execution, repeated after all others,"


@attrs.define
class _Results:
    """What one search has shown so far. Thrown away when the search must begin again."""

    counts: Stats = attrs.field(factory=Stats)
    reasons: dict[str, None] = attrs.field(factory=dict)
    results: set[tuple[Hashable, Hashable]] = attrs.field(factory=set)
    digests: dict[str, str] = attrs.field(factory=dict)
    seen: dict[object, _Seen] = attrs.field(factory=dict)
    failures: list[Failure] = attrs.field(factory=list)
    told: list[Told | None] = attrs.field(factory=list)
    finished: bool = False
    visible: bool = False
    untold: Mapping[str, int] = attrs.field(factory=dict)
    terminates: bool | None = None
    cycle: tuple[Step, ...] = ()
    first: _Repeatable | None = None
    explored: list[tuple[Trace, str]] = attrs.field(factory=list)


class Session:
    """One check. `run` may raise; `report` then still tells what is known.

    suspects  schedules that may fail, to be tried before the search: followed where the program can
    mapped    is `class_map` to be asked for?
    over_at   until when, by `time.monotonic`, the present phase may last
    """

    def __init__(
        self,
        target: Target,
        options: Options,
        monitor: Monitor | None = None,
        suspects: Sequence[Sequence[Action]] = (),
        mapped: bool = False,
    ) -> None:
        self.target = target
        self.mapped = mapped
        self.options = options
        self.monitor = monitor or Monitor()
        self.suspects = suspects
        self._system: Checkable | None = None
        self._results = _Results()
        self._restarts: list[str] = []
        self._begun = time.monotonic()
        self._beat_of_run = _beat_of(target)
        self._patience: int | None = None
        seconds = options.max_seconds
        self._deadline = self.over_at = self._begun + seconds if seconds is not None else float("inf")
        self._stops = 0

    def run(self) -> Report:
        """Search, then tell the failures."""
        explorer = explorer_of(self.options)
        with beating(self._beat):
            return self._run(explorer)

    def _beat(self, frame: FrameType | None) -> None:
        self.monitor.beat()
        self._beat_of_run(frame, 0 if self._is_over() else self._patience)

    def _is_over(self) -> bool:
        """Is the time for what is being done over, by the clock or by Ctrl-C?"""
        return self.monitor.stops > self._stops or time.monotonic() >= self.over_at

    def _run(self, explorer: Callable[[Checkable], Explorer]) -> Report:
        try:
            self._system = system = open_target(self.target, self.options)
        except Unfinished as error:
            over = INTERRUPTED if self.monitor.stops else f"--max-seconds {self.options.max_seconds} reached"
            return self.report(str(error), *([over] if self._is_over() else []))
        while len(self._restarts) < MOST_RESTARTS:
            self._results = results = _Results()
            self.over_at, self._patience = self._deadline, None
            try:
                search = explorer(system)
                if self.options.all or not self._fails_as_before(system, results):
                    self._search(system, search, results)
                self._explain(system, results)
                if isinstance(search, StatefulSearch):
                    _tell_states(system, search, results)
                self._order(system, results)
            except FactWithdrawn as fact:
                self._restarts.append(fact.reason)
            else:
                return self.report()
        raise InternalError(f"the search began again {MOST_RESTARTS} times, last because {self._restarts[-1]}")

    @property
    def news(self) -> object:
        """Differs when `report` has something new to say: not more than once a second without a new finding."""
        return len(self._results.seen), len(self._results.failures), int(time.monotonic())

    def report(self, *reasons: str) -> Report:
        """What is known now."""
        results, options = self._results, self.options
        counts = results.counts
        why = list(dict.fromkeys([*_shortfall(options, counts), *results.reasons, *reasons]))
        if not results.finished and not why:
            why = [NOT_FINISHED]
        exhaustive = not why
        if results.seen:
            verdict = Verdict.FAIL
        else:
            verdict = Verdict.PASS if exhaustive else Verdict.INCONCLUSIVE
        told = results.failures + [self._as_seen(seen) for seen in list(results.seen.values())[len(results.failures) :]]
        return Report(
            target=target_name(self.target, options),
            strategy=options.explorer,
            preemptions=options.preemptions,
            seed=options.seed if options.explorer in SAMPLERS else None,
            verdict=verdict,
            exhaustive=exhaustive,
            reasons=tuple(why),
            executions=counts.executions,
            blocked=counts.blocked,
            events=counts.events,
            replayed=counts.replayed,
            choices=counts.choices,
            states=counts.states if options.explorer in STATEFUL else None,
            matched=counts.matched if options.explorer in STATEFUL else None,
            untold=dict(results.untold),
            terminates=results.terminates,
            cycle=results.cycle,
            outcomes=len({outcome for outcome, _ in results.results}),
            outcome_digests=dict(sorted(results.digests.items())),
            visible=results.visible,
            deadlocks=len({deadlock for _, deadlock in results.results} - {None}),
            seconds=round(time.monotonic() - self._begun, 6),
            peak_memory_bytes=peak_memory(),
            findings=tuple(told),
            restarts=tuple(self._restarts),
            versions={
                "dpor": VERSION,
                "python": sys.version.split()[0],
                **(self._system.versions() if self._system else {}),
            },
        )

    # ------------------------------------------------------------------ the search

    def _fails_as_before(self, system: Checkable, results: _Results) -> bool:
        """Try the suspects, until one fails."""
        for number, schedule in enumerate(self.suspects, 1):
            trace = Trace()
            with suppress(UserError):  # the search will meet it, and say so
                run = system.run(trace, prefer(schedule))
                if run.findings:
                    results.counts.executions = number
                    self._take(run, trace, results)
                    results.reasons["stopped at a failure of an earlier check, which is still there"] = None
                    return True
        return False

    def _search(self, system: Checkable, explorer: Explorer, results: _Results) -> None:
        monitor = self.monitor
        try:
            stopped = self._stopped(explorer, results) or self._not_repeated(system, results)
            if stopped is None:
                results.finished = True
            else:
                results.reasons[stopped] = None
        except KeyboardInterrupt:
            if not monitor.interruptible:
                raise
            results.reasons[INTERRUPTED] = None
        except Exception as error:
            if monitor.stops:
                # It came in the middle of a run: that run is worth nothing.
                results.reasons[INTERRUPTED] = None
            elif isinstance(error, UserError):
                results.reasons[f"{type(error).__name__}: {error}"] = None
            else:
                raise
        finally:
            monitor.done()

    def _stopped(self, explorer: Explorer, results: _Results) -> str | None:
        """Search. Returns why it was stopped, or None if it came to its end."""
        options, monitor, stats, deadline = self.options, self.monitor, explorer.stats, self.over_at
        most, seconds = options.max_executions, options.max_seconds
        most_states = options.max_states or sys.maxsize
        tick = min(self._begun + PROGRESS_EVERY, deadline)
        history: list[Progress] = []
        results.counts = stats
        for run in explorer.explore():
            if most is not None:
                # Whether N executions were all of them shows only when the search ends or comes with one more.
                if stats.executions > most:
                    return f"--max-executions {most} reached"
                results.counts = attrs.evolve(stats)
            self._take(run, explorer.trace, results)
            if monitor.stops:
                return INTERRUPTED
            if run.findings and not options.all:
                return f"stopped at the first failure, execution {stats.executions:,}"
            if stats.states > most_states:
                return f"--max-states {most_states} reached"
            now = time.monotonic()
            if now >= tick:
                tick = min(now + PROGRESS_EVERY, deadline)
                progress = _progress(stats.executions, now - self._begun, explorer.progress(), history)
                monitor.progress(progress)
                if now >= deadline:
                    return _reached(f"--max-seconds {seconds:g}", progress)
                if options.max_memory is not None and resident_memory() > options.max_memory * 1e6:
                    return _reached(f"--max-memory {options.max_memory:g}", progress)
        results.counts = stats
        return None

    def _not_repeated(self, system: Checkable, results: _Results) -> str | None:
        """Repeat the first execution. What runs leave behind (a file, a cache) may show only after the events that a
        search repeats, where it cannot notice that the program has become another."""
        if results.first is None or results.seen or results.reasons:
            return None
        if results.first.repeat(system) is not Ending.ENDED:
            return None
        return INTERRUPTED if self.monitor.stops else f"--max-seconds {self.options.max_seconds} reached"

    def _take(self, run: Run, trace: Trace, results: _Results) -> None:
        if not results.visible:
            results.visible = any(operation.kind not in LIVES for operation in trace.operations)
        if run.ending is Ending.COMPLETE:
            if self.mapped:
                self._keep(run, trace, results.explored)
            result = run.outcome, run.deadlock
            if result not in results.results:
                if not results.results:
                    results.first = _Repeatable(trace.copy(), result)
                results.results.add(result)
                results.digests[digest(result)] = self._in_words(run) if len(results.digests) < MOST_TEXTS else ""
        for limit in run.limits:
            results.reasons[limit] = None
        for finding in run.findings if self.options.all else run.findings[:1]:
            seen = results.seen.get(finding.group)
            if seen is None:
                execution = results.counts.executions
                results.seen[finding.group] = _Seen(finding, tuple(trace.actions), execution)
                self.monitor.beat()
            else:
                seen.occurrences += 1

    def _keep(self, run: Run, trace: Trace, explored: list[tuple[Trace, str]]) -> None:
        """For the map of what was explored."""
        if len(explored) < MOST_CLASSES and sum(len(one) for one, _ in explored) < MOST_EVENTS:
            explored.append((trace.copy(), self._in_words(run)))

    def class_map(self) -> ClassMap:
        """What the search explored. Repeats runs, until there was time enough."""
        assert self._system is not None
        classes: list[ExploredClass] = []
        self.over_at = time.monotonic() + EXPLAINING_SECONDS
        with beating(self._beat):
            for trace, outcome in self._results.explored:
                if self._is_over():
                    break
                steps = self._system.describe(trace).steps
                if len(steps) < len(trace):  # it was ended
                    break
                classes.append(ExploredClass(steps, outcome))
        return ClassMap(tuple(classes), self._results.counts.executions - len(classes))

    def _in_words(self, run: Run) -> str:
        assert self._system is not None
        text = self._system.outcome_text(run.outcome)
        if run.deadlock is not None:
            text = f"deadlock: {run.findings[-1].message}; {text}".replace("\n", "; ")
        return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 3] + "..."

    # ------------------------------------------------------------------ what was found

    def _explain(self, system: Checkable, results: _Results) -> None:
        self._stops, self._patience = self.monitor.stops, STANDSTILL
        for seen in results.seen.values():
            now = time.monotonic()
            self.over_at = now + EXPLAINING_SECONDS
            told = None
            try:
                told = explain(system, seen.finding, seen.schedule, _passing(now + MINIMISING_SECONDS))
                failure = told.failure
            except KeyboardInterrupt:
                if not self.monitor.interruptible:
                    raise
                failure = unexplained(seen.finding, seen.schedule)
            except Exception as error:
                failure = unexplained(seen.finding, seen.schedule)
                if isinstance(error, UserError):
                    results.reasons[f"{type(error).__name__}: {error}"] = None
                elif not self._is_over():
                    raise
            failure = _counted(failure, seen)
            results.failures.append(attrs.evolve(failure, saved=self._saved(system, failure)))
            results.told.append(told)

    def _order(self, system: Checkable, results: _Results) -> None:
        """Last of all: other orders may show facts that the search has not met."""
        for number, told in enumerate(results.told):
            if told is not None:
                self.over_at = time.monotonic() + ORDERING_SECONDS
                known = results.failures[number]
                try:
                    ordered = in_order(system, attrs.evolve(told, failure=known), self._is_over)
                except KeyboardInterrupt:
                    if not self.monitor.interruptible:
                        raise
                    return
                except Exception:
                    if not self._is_over():
                        raise
                    return
                results.failures[number] = attrs.evolve(ordered, saved=known.saved)

    def _as_seen(self, seen: _Seen) -> Failure:
        failure = _counted(unexplained(seen.finding, seen.schedule), seen)
        return failure if self._system is None else attrs.evolve(failure, saved=self._saved(self._system, failure))

    def _saved(self, system: Checkable, failure: Failure) -> SavedSchedule:
        options = self.options
        return SavedSchedule(
            target=target_name(self.target, attrs.evolve(options, name=None)),
            name=options.name,
            settings={
                "strategy": options.explorer,
                "max_steps": options.max_steps,
                "timeouts": options.timeouts.value,
                "timeout_limit": options.timeout_limit,
                "races": options.races,
                "instrument": list(options.instrument),
            },
            facts=system.facts(),
            hash_seed=hash_seed(),
            python=sys.version.split()[0],
            sources=read_sources(system.sources()),
            schedule=failure.schedule,
            first_schedule=failure.first_schedule,
            threads=failure.threads,
            finding=Finding(
                failure.kind,
                failure.message,
                failure.thread,
                failure.file,
                failure.line,
                failure.needs_timeout,
                other=failure.other,
            ),
        )


def _tell_states(system: Checkable, search: StatefulSearch, results: _Results) -> None:
    """What states could not be told; whether the program comes to an end, and if not, the steps of a cycle."""
    results.untold, results.terminates = search.system.untold(), search.terminates
    if search.cycle is not None:
        way, once_round = search.cycle
        trace = Trace()
        system.run(trace, follow((*way, *once_round)))
        results.cycle = system.describe(trace).steps[len(way) :]


INTERRUPTED = "interrupted"


def _passing(deadline: float) -> Callable[[], bool]:
    return lambda: time.monotonic() >= deadline


def _reached(limit: str, progress: Progress) -> str:
    return f"{limit} reached, {progress.left}" if progress.left else f"{limit} reached"


def _progress(executions: int, seconds: float, share: float | None, history: list[Progress]) -> Progress:
    """How far the search is, seen with how far it was when half of the time had passed."""
    half = next((earlier for earlier in reversed(history) if earlier.seconds <= seconds / 2), None)
    before = half.share if half is not None else None
    stalled = share is not None and before is not None and share < before + LEAST_GROWTH
    history.append(Progress(executions, seconds, share, stalled))
    return history[-1]


def _counted(failure: Failure, seen: _Seen) -> Failure:
    return attrs.evolve(failure, execution=seen.execution, occurrences=seen.occurrences)


def hash_seed() -> str | None:
    """The seed of this process's string hashes; None if it is random."""
    if not sys.flags.hash_randomization:
        return "0"
    seed = os.environ.get("PYTHONHASHSEED", "random")
    return None if seed == "random" or sys.flags.ignore_environment else seed


# ---------------------------------------------------------------------- replaying


class Replay:
    """One saved schedule, run again."""

    def __init__(self, saved: SavedSchedule, target: Target | None = None) -> None:
        self.saved = saved
        if target is None and saved.target.startswith(OF_PYTEST):
            node = saved.target.removeprefix(OF_PYTEST)
            raise UserError(
                f"the schedule is that of a test: run pytest {shlex.quote(node)} --dpor-replay with the file"
            )
        self.target = saved.target if target is None else target
        try:
            self.options = Options(name=saved.name, **saved.settings)
        except TypeError as error:
            raise UserError(f"the schedule was saved with settings that this dpor does not know: {error}") from error

    def run(self, debug: Callable[[Callable[[], Run], Collection[str]], Run] | None = None) -> Failure:
        """The failure that the schedule shows. Raises `BadSchedule`, `NotDeterministic`.

        `debug` is given the run to carry out, and the program's files.
        """
        saved = self.saved
        saved.check_sources()
        if _is_python(self.target):
            saved.check_python()
        system = open_target(self.target, self.options, saved.facts)
        trace = Trace()
        if debug is not None:
            with system.aloud():
                run = debug(lambda: self._follow(system, trace), system.sources())
            return self._shown(system, trace, run)
        beat = _beat_of(self.target)
        run = self._follow(system, trace)
        with beating(lambda frame: beat(frame, STANDSTILL)):
            return self._shown(system, trace, run)

    def _shown(self, system: Checkable, trace: Trace, run: Run) -> Failure:
        saved = self.saved
        if len(trace) < len(saved.schedule):
            raise NotDeterministic(
                f"the schedule has {len(saved.schedule)} events, but the program ended after {len(trace)}:"
                f" {_told(run.findings)}"
            )
        found = matching(run.findings, saved.finding)
        if found is None:
            goes_on = f" ({len(trace)} events; the program goes on)" if run.ending is Ending.STOPPED else ""
            raise NotDeterministic(
                f"the schedule was followed to its end{goes_on}, and this time {_told(run.findings)}; it was saved for"
                f" {_first_line(saved.finding)}"
            )
        small = Minimised(saved.schedule, switches(saved.schedule), least=False, first=saved.first_schedule)
        told = tell(system, trace, run, found, small)
        return attrs.evolve(in_order(system, told, _passing(time.monotonic() + ORDERING_SECONDS)), saved=saved)

    def _follow(self, system: Checkable, trace: Trace) -> Run:
        """Run it; again for each fact about the program that is met for the first time."""
        for _ in range(MOST_RESTARTS):
            try:
                return system.run(trace, follow(self.saved.schedule))
            except FactWithdrawn:
                trace.cut(0)
        raise InternalError(f"the replay began again {MOST_RESTARTS} times")


def _told(findings: Iterable[Finding]) -> str:
    return "; ".join(map(_first_line, findings)) or "nothing failed"


def _first_line(finding: Finding) -> str:
    return finding.message.split("\n", 1)[0]
