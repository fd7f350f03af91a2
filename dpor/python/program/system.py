"""A Python program as a system: loads the target, runs it under control, and determines how a run ended.

In a run, the drop-ins are reset; the program's modules are executed again if an earlier run may have changed them; the
target is called in the main model thread; then follows what `threading` does at the end of a program. Finally the
outcome is determined: what the target returned, by structure, or which threads failed and how.
"""

from __future__ import annotations

import atexit
import gc
import io
import sys
import warnings
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stderr, redirect_stdout
from itertools import count
from typing import Any, Final
from weakref import WeakSet

import attrs

from dpor.core.errors import (
    AssumptionBroken,
    BadSchedule,
    BadTarget,
    DporError,
    GivenUp,
    InternalError,
    NotDeterministic,
    Unfinished,
    UserError,
)
from dpor.core.guarding import Guarding
from dpor.core.operations import Location, Operation, ThreadId
from dpor.core.oracle import At, Oracle, ProgramSource
from dpor.core.outcome import Finding, Kind
from dpor.core.steps import Explained
from dpor.core.system import STOP, Asking, Chooser, Ending, Pending, Run, SyncChoices, Trace
from dpor.primitives.threads import End
from dpor.python.dropins.threads import OUTERMOST
from dpor.python.effects import left_files, process_state
from dpor.python.effects.reach import ANYTHING, yield_before_reading
from dpor.python.hooks import attributes, failures
from dpor.python.hooks.calls.contexts import report_shared_contexts
from dpor.python.hooks.calls.files import FILES
from dpor.python.hooks.table import all_hooks
from dpor.python.kernel import driving, interest, timing, unwinding
from dpor.python.kernel.assumptions import INSTRUMENTED, STARTS, about
from dpor.python.kernel.driving import SearchState
from dpor.python.kernel.library import BENEATH, MODELLED
from dpor.python.kernel.listeners import Recorder
from dpor.python.kernel.model_thread import ModelThread, UnwindThread
from dpor.python.kernel.options import RuntimeOptions
from dpor.python.kernel.performing import perform
from dpor.python.kernel.program_frames import place_of
from dpor.python.kernel.run import run
from dpor.python.kernel.type_caches import forget_programs
from dpor.python.program import unseen_calls
from dpor.python.program.blocked_findings import deadlock_finding, livelock_finding
from dpor.python.program.every_access import EveryAccess
from dpor.python.program.initial_state import InitialState
from dpor.python.program.labels import labels_of
from dpor.python.program.layers import Layers
from dpor.python.program.loader import Loader
from dpor.python.program.silent_accesses import GuardedAccesses, SilentAccesses
from dpor.python.program.sink import Sink
from dpor.python.program.static_facts import StaticOracle, is_in_program, stack_of
from dpor.python.program.target import Opener, Target, load_target
from dpor.python.rewrite import cache
from dpor.python.sharing import orders, shared_object, shared_objects
from dpor.python.specs import specifying
from dpor.python.specs.frozen_values import freeze, frozen_in_words
from dpor.python.states import Capture, key_of, spinning
from dpor.python.states.frames import frames_of

FORGET_EVERY: Final = 16
"""Programs after which the classes of earlier ones are taken out of caches."""
_numbers: Final = count()
COLLECT_EVERY = 64
"""Runs between garbage collections (of the youngest generation; full ones are less frequent by another factor of
`COLLECT_EVERY`). During a run there is none: it would run finalisers at unpredictable moments."""
_END = End()
_UNWATCHED: Final = nullcontext()

_WRITTEN_FILES = (
    "(It writes files: what it leaves there, the next run finds. Let it write into a folder that tempfile makes, which"
    " is removed after each run.)"
)


class PythonSystem:
    """A target that can be run again and again. Implements `dpor.core.system.System`."""

    def __init__(
        self,
        target: str | Callable[[], object] | Opener,
        options: RuntimeOptions | None = None,
        instrument: tuple[str, ...] = (),
        facts: Any = None,
    ) -> None:
        from dpor.python.dropins import stdlib

        self.options = options or RuntimeOptions()
        self._search = SearchState()
        if self.options.every_access:
            self._search.facts = EveryAccess()
        self._withdrawn: set[str] = set()
        if facts:
            self._learn(facts)
            self._search.operations.reserve(facts.get("locations", ()))
        for package in instrument:
            if package.partition(".")[0] in MODELLED:
                raise UserError(f"--instrument {package}: programs get a model of this module; leave it out")
            if package.partition(".")[0] in BENEATH:
                raise UserError(f"--instrument {package}: what runs the program cannot be a part of it; leave it out")
        cache.use(self.options.cache)
        if next(_numbers) % FORGET_EVERY == 0:
            forget_programs()
        self._stdlib = stdlib
        stdlib.begin_search()
        process_state.begin_search()
        left_files.begin_check()
        self._loader = Loader(self._hooks, stdlib.module_for_program, instrument)
        self.initial_state = InitialState(self._loader, stdlib)
        loader = self._loader
        self._layers = Layers(
            loader.is_program_file, loader.can_instrument, loader.lacks_hooks, loader.imports_in_steps
        )
        self._target: Target | None = None
        self._given = target
        self._unhooked: frozenset[str] = frozenset()
        self._oracle: Oracle | None = None
        self._know_facts()
        self._silent = SilentAccesses(self._search.operations)
        self._guardings: dict[tuple[bool, bool], Guarding] = {}
        self._runs = self._begun = 0  # runs, and those before the present search
        self._returned: Hashable = None
        self._whole_states: dict[bytes, bytes] = {}
        self._sink = Sink()
        self._registered: list[Any] = []
        _systems.add(self)
        self._load()
        self._analyse()
        for package in instrument:
            if not self._loader.exists(package):
                raise UserError(f"--instrument {package}: there is no such package")

    def see_every_access(self, on: bool) -> None:
        """Let runs have an event for every access of shared data, or else only for those whose order can matter.

        If `on` is False, a search begins with the next run, for the first time or again.
        """
        self._silent.begin()
        self._search.discipline = None if on or self.options.every_access else self._silent

    def accesses(self) -> Any:
        """Return what the present search has shown of its accesses; None if each is an event."""
        return None if self._search.discipline is None else self._silent.to_json()

    def recall_accesses(self, shown: Any) -> None:
        """Take note of what another part of the search has shown. Raises `AssumptionBroken` if that contradicts what
        is known."""
        self._silent.recall(shown)

    def leave(self) -> None:
        """Release all that the program has left; it will not be run again."""
        self._stdlib.forget()
        self._loader.clear()
        self._search.workers.end()

    def begin_other(self) -> None:
        """From now on the target does something else with the same modules: forget what is known of the runs so far,
        apart from facts about the program."""
        self._loader.tables.restore()
        self._begun = self._runs
        self._capture = Capture(self._search, self._loader, [PythonSystem._main.__code__, OUTERMOST])
        _forget_operations()

    # ------------------------------------------------------------------ loading

    def _hooks(self, module: str) -> dict[str, Any]:
        return all_hooks(self._search.facts, module)

    def _load(self) -> None:
        """Import the program, again and again until this shows no new facts (modules may start threads)."""
        while True:
            try:
                return self._load_once()
            except AssumptionBroken:
                self._know_facts()

    def _load_once(self) -> None:
        """Import the program under control, so that what its modules make has the same names as in every later run."""
        self._loader.start_over()
        self._begin_search()
        shared_objects.begin_run(self._roots)

        def load() -> None:
            try:
                self._target = load_target(self._given, self._loader)
            except UserError as error:
                failed.append(error)
            except (UnwindThread, InternalError, KeyboardInterrupt):
                raise
            except BaseException as error:
                where = failures.place_in_words(error, self._loader.is_program_file)
                failed.append(BadTarget(f"{_name(self._given)} cannot be imported: {failures.message(error)}{where}"))

        failed: list[UserError] = []
        self._drive(load, Trace(), _first_enabled, None)
        if failed:
            raise failed[0]
        self._loader.settle()
        if self._target is None and run.incomplete:
            raise Unfinished(f"{_name(self._given)} was still being imported; {next(iter(run.incomplete))}")
        if run.exceptions and self._target is None:
            raise BadTarget(f"{_name(self._given)} cannot be imported")

    def _begin_search(self) -> None:
        self._begun = self._runs
        self.initial_state.forget(self._search.facts)
        self._capture = Capture(self._search, self._loader, [PythonSystem._main.__code__, OUTERMOST])
        _forget_operations()

    # ------------------------------------------------------------------ running

    def run(self, trace: Trace, choose: Chooser) -> Run:
        """See `dpor.core.system.System.run`."""
        return self._run(trace, choose, None)

    def _run(self, trace: Trace, choose: Chooser, recorder: Recorder | None) -> Run:
        stderr, sys.stderr = sys.stderr, self._sink.nowhere  # finalisers of the program may run, and fail
        try:
            run.forget()
            specifying.forget()
            self._stdlib.forget()
            if run.operations is not self._search.operations:  # another program has run meanwhile
                _forget_operations()
            if not trace.threads:
                self._renew_facts()
            shared_objects.begin_run(self._roots)
            if self._runs > self._begun:
                self._loader.tables.look(self._runs - self._begun - 1, self._search.facts)
            self.initial_state.restore(self._search.facts)
            self._loader.tables.choose(self._search.facts)
        finally:
            sys.stderr = stderr
        self._runs += 1
        was_enabled = gc.isenabled()
        gc.disable()
        self._returned = None
        try:
            # What a recorded run repeats was watched. (The interpreter fills a dict of variables that the recorder has
            # asked a frame for whenever it tells of a call in the frame: that would keep them alive.)
            watches = recorder is None and unseen_calls.is_to_be_watched(self._runs - self._begun - 1)
            with unseen_calls.watched() if watches else _UNWATCHED:
                return self._ended(*self._drive(self._main, trace, choose, recorder))
        finally:
            if self._runs % COLLECT_EVERY == 0:
                with warnings.catch_warnings():  # what was unwound has closed no files and databases
                    warnings.simplefilter("ignore", ResourceWarning)
                    gc.collect(2 if self._runs % COLLECT_EVERY**2 == 0 else 0)
            if was_enabled:
                gc.enable()
            else:
                gc.disable()  # code that is not instrumented may have switched it on

    def _drive(
        self, body: Callable[[], None], trace: Trace, choose: Chooser, recorder: Recorder | None
    ) -> tuple[Ending, list[Pending]]:
        """Carry out `body` as the main model thread: set up all that the program needs, and restore everything
        afterwards."""
        driving.refuse_nesting()
        run.serve(self._layers)
        with self._loader.importing(), self._sink, unwinding.Quietly():
            self._capture.begin_run()
            spinning.begin_run(self._capture)
            specifying.begin_run(self._search.facts, self._search.operations)
            driving.begin_run(self._search, self.options, trace, self._capture.watching(choose), recorder)
            try:
                self._stdlib.reset(self._registered)
                return driving.drive(body)
            except NotDeterministic as error:
                if not process_state.has_changed(FILES):
                    raise
                raise NotDeterministic(f"{error} {_WRITTEN_FILES}") from error
            finally:
                driving.end_run()
                specifying.end_run()
                self._loader.restore_host()

    def _roots(self) -> Iterable[tuple[Hashable, Any]]:
        """Return what every thread can reach. Left out are globals that are not changing and that nobody has changed:
        they hold nothing that can be written."""
        process_state.share_objects()
        return self._loader.roots(run.dirty)

    def _renew_facts(self) -> None:
        """If the last run showed new facts, which change what is hooked, begin again with them."""
        if self._search.facts != self._facts_used:
            self._begin_again()

    def _begin_again(self) -> None:
        """Begin again with other hooks; throw away all that runs have made of the program."""
        self._loader.tables.restore()
        if self._know_facts():
            self._load()
            self._analyse()
        else:
            self._loader.renew()
            run.dirty = True
        self._begin_search()

    def _know_facts(self) -> bool:
        """Set what is hooked, from the facts. Return True if there are new packages to instrument."""
        self._facts_used = frozenset(self._search.facts)
        visible: dict[str, set[str]] = {}
        for module, name in about(self._facts_used, "global"):
            visible.setdefault(module, set()).add(name)
        self._loader.visible_globals = {module: frozenset(names) for module, names in visible.items()}
        self._loader.visible_builtins = frozenset(visible.get("builtins", ()))
        self._loader.starting = frozenset(module for (module,) in about(self._facts_used, STARTS))
        self._loader.unhooked = self._never_written()
        if isinstance(self._search.facts, EveryAccess):
            self._search.facts.unhooked = self._loader.unhooked
        self._loader.numbers = not self._facts_used.isdisjoint((attributes.RULES, shared_objects.ARITHMETIC))
        return self._loader.border.instrument_acting(module for (module,) in about(self._facts_used, INSTRUMENTED))

    def _never_written(self) -> frozenset[str]:
        """Return the attributes whose loads have no hooks. Those that runs have written are excluded. There are none if
        what a look-up finds may change in other ways."""
        names = set(self._unhooked)
        for fact in self._facts_used:
            if not isinstance(fact, tuple) or fact[0] in ("class attribute", "global", "dict adopted"):
                return frozenset()
            names.discard(fact[-1])
        return frozenset(names)

    def _main(self) -> None:
        """The body of the main model thread."""
        target = self._target
        assert target is not None
        try:
            self.initial_state.set_up()
        except Exception as error:
            where = failures.place_in_words(error, self._loader.is_program_file)
            if isinstance(error, DporError) or not where:  # none of the program's modules raised it
                raise
            raise BadTarget(
                f"{_name(self._given)} cannot be imported again, as it is before each run: {failures.message(error)}"
                f"{where}; its import must not depend on what an earlier one has left"
            ) from error
        orders.choose_order()
        try:
            try:
                self._returned = _seen(target.function()())
            except BaseException as error:
                failures.report_end(error)
            finally:
                try:
                    target.finish()
                except BaseException as error:
                    failures.report_end(error)
            self._stdlib.run_atexit()
        finally:
            perform(_END, self._stdlib.main_thread())

    # ------------------------------------------------------------------ the state of the present run

    def will_store_states(self) -> None:
        """See `dpor.core.system.KnowsStates`."""
        self._capture.will_store_states()

    def state(self) -> bytes | None:
        """See `dpor.core.system.StatefulSystem`: 128 bits of a hash of `whole_state`."""
        whole = self.whole_state()
        if whole is None:
            return None
        key = key_of(whole)
        if self.options.whole_states and self._whole_states.setdefault(key, whole) != whole:
            raise InternalError(f"two different states have the same key, {key.hex()}")
        return key

    def whole_state(self) -> bytes | None:
        """Return the complete state in bytes. It tells different states apart whose keys are equal by chance."""
        if self._target is not None:
            self._capture.kept = self._target.kept
        return self._capture.whole(self._returned)

    def unstored(self) -> Mapping[str, int]:
        """Return why states could not be stored, and how often."""
        return self._capture.reasons

    def pending(self) -> Sequence[Pending]:
        return self._capture.pending()

    def place(self, thread: ThreadId) -> Hashable:
        """Return the function and the instruction of the program. See `dpor.core.system.PlacedSystem`."""
        return place_of(run.threads[thread])

    def sync_states(self) -> Mapping[Location, Any]:
        return self._capture.sync_states()

    def is_choice(self, thread: ThreadId, sync_choices: SyncChoices) -> bool:
        return self._capture.is_choice(thread, sync_choices)

    def canonical(self, operation: Operation) -> Operation:
        return self._capture.canonical(operation)

    def guarding(self, by_use: bool, by_locks: bool) -> Guarding:
        """See `dpor.core.system.LockingSystem`."""
        guarding = self._guardings.get((by_use, by_locks))
        if guarding is None:
            guarding = self._guardings[by_use, by_locks] = GuardedAccesses(self._search.operations)
            guarding.by_use, guarding.by_locks = by_use, by_locks
        return guarding

    def held(self, thread: ThreadId) -> Collection[Location]:
        """See `dpor.core.system.LockingSystem`."""
        return run.threads[thread].held if thread < len(run.threads) else ()

    # ------------------------------------------------------------------ what is known beforehand

    def ruled_out(self, thread: ThreadId) -> Collection[str]:
        """See `dpor.core.system.OracleSystem`."""
        pending = run.threads[thread].pending
        if self._oracle is None or pending is None or pending.rule is not None:
            return ()
        own, is_program_file = frames_of(run.threads[thread]), self._loader.is_program_file
        stacks = self._stacks()
        del stacks[thread]
        if not all(stacks.values()) or not is_in_program(own, is_program_file):
            return ()
        facts = self._oracle.ruled_out(stack_of(own, is_program_file), stacks.values())
        return facts if self._withdrawn.isdisjoint(facts) else ()

    def _stacks(self) -> dict[ThreadId, tuple[At, ...]]:
        """Return the stacks of all live threads. An empty stack is that of a pool's thread, which may be given anything
        to do, or of a thread that runs nothing of the program itself."""
        live = (t for t in run.threads if t.bit and t.running and not _has_ended(t))
        return {t.id: stack_of(frames_of(t), self._loader.is_program_file) for t in live}

    def withdraw_facts(self, facts: Collection[str]) -> None:
        """See `dpor.core.system.OracleSystem`."""
        self._withdrawn.update(facts)
        who = "analysis" if self.options.oracle is None else "oracle"
        raise AssumptionBroken("; ".join(f"the {who} was wrong: {fact}" for fact in sorted(facts)))

    def _analyse(self) -> None:
        """Analyse the source; called once, when the program's modules are known."""
        statics = self.options.statics
        if self.options.oracle is not None:
            self._oracle = self.options.oracle(self.source())
        elif statics is not None:
            self._oracle = analysis = StaticOracle(self.source(), statics)
            if statics.unhooked:
                self._unhooked = self.unwritten(analysis)
                self._begin_again()

    def unwritten(self, analysis: StaticOracle) -> frozenset[str]:
        """Return the attributes whose reads get no hooks until one is written."""
        return analysis.never_written()

    def remembers_way(self) -> bool:
        return self._capture.remembers_way()

    def changes_data(self, operation: Operation) -> bool:
        return self._capture.changes_data(operation)

    def has_changed_silently(self) -> bool:
        return any(thread.changed_at == run.position for thread in run.threads)

    def livelock(self, moving: int) -> Finding | None:
        """See `dpor.core.system.StatefulSystem`."""
        if interest.has_stopped_a_thread():
            return None
        threads = [thread for thread in run.threads if moving >> thread.id & 1 and thread.running]
        places = [self._capture.place_of(thread) for thread in threads]
        message = "\n".join(
            f"{thread.name} goes round for ever{'' if place is None else f', here at {place[0]}:{place[1]}'}"
            for thread, place in zip(threads, places, strict=True)
        )
        file, line = next((place for place in places if place is not None), (None, None))
        return Finding(Kind.LIVELOCK, message, threads[0].name, file, line, needs_timeout=run.timed_out)

    # ------------------------------------------------------------------ how it ended

    def _ended(self, ending: Ending, blocked: list[Pending]) -> Run:
        """Return the result of a run that has ended in this way, with these threads blocked."""
        report_shared_contexts()
        specified = specifying.current()
        findings = [] if specified is None else specified.findings
        findings += [self._failure(*failure) for failure in run.exceptions]
        deadlock: Hashable = None
        outcome: Hashable = None
        labels = frozenset(interest.labels.met)
        if ending is Ending.COMPLETE:
            stuck = [s for s in run.stuck if not s.daemon]
            ending = Ending.DROPPED if interest.has_stopped_a_thread() else ending
            if ending is Ending.COMPLETE and any(s.spins is not None for s in stuck):
                findings.append(livelock_finding(stuck))
                return Run(Ending.SPINNING, blocked, None, None, findings, (*run.incomplete,), True, run.silent, labels)
            if stuck:
                deadlock = (tuple((s.thread, s.waits_for, s.place) for s in stuck), tuple(f.group for f in findings))
                if ending is Ending.COMPLETE:
                    findings.append(deadlock_finding(stuck))
            failed = tuple(sorted(f"{f.thread}: {f.message}" for f in findings))
            outcome = (self._returned, failed)
        shares = shared_objects.are_there_any()
        return Run(ending, blocked, outcome, deadlock, findings, (*run.incomplete,), shares, run.silent, labels)

    def outcome_text(self, outcome: Any) -> str:
        """Say in words what the target returned, or what ended its threads."""
        returned, failed = outcome
        return "; ".join(failed) or (
            "nothing returned" if returned is None else f"returned {frozen_in_words(returned)}"
        )

    def returned(self, outcome: Any) -> Hashable:
        """See `dpor.findings.explain.Checkable`: what the target returned, frozen."""
        returned: Hashable = outcome[0]
        return returned

    def _failure(self, thread: ModelThread, error: BaseException, message: str) -> Finding:
        place = failures.place(error, self._loader.is_program_file)
        return Finding(
            Kind.ASSERTION if isinstance(error, AssertionError) else Kind.EXCEPTION,
            message,
            thread.name,
            *place,
            needs_timeout=run.timed_out,
            details=failures.traceback_lines(error, message, self._loader.is_program_file)
            if run.recorder is not None
            else (),
        )

    # ------------------------------------------------------------------ for reports

    def describe(self, trace: Trace) -> Explained:
        """Repeat the trace and describe its events. Raises `GivenUp` if that takes too long."""
        from dpor.python.narrate.recording import Recording

        recording = Recording()
        self._sink.keep()
        told = self._run(trace, lambda enabled: STOP, recording)
        printed = self._sink.kept()
        steps = recording.steps()
        if told.ending is Ending.ENDED and len(steps) < len(trace):
            raise GivenUp("; ".join(told.incomplete))
        return Explained(steps, printed, tuple(self._timed(trace, told.findings)))

    def _timed(self, trace: Trace, findings: Sequence[Finding]) -> Sequence[Finding]:
        """Return the findings of the run. Those that do not occur while the clock stands still are marked: they need a
        deadline to pass."""
        if not findings or not run.virtual_time.seen:
            return findings
        with timing.standing_clock():
            try:
                still = {finding.group for finding in self._run(trace.copy(), lambda enabled: STOP, None).findings}
            except UserError:
                still = set()
        return [
            attrs.evolve(finding, needs_timeout=finding.needs_timeout or finding.group not in still)
            for finding in findings
        ]

    def aloud(self) -> AbstractContextManager[None]:
        """Context in which the program's output is not suppressed."""
        return self._sink.aloud()

    def is_memory(self, location: Location) -> bool:
        """True for a field, an element, a global or a variable; False for a lock or an object that guards itself (a
        cache)."""
        name = self._search.operations.name_of(location)
        if isinstance(name, tuple) and isinstance(name[0], int):  # a part of an object
            name = self._search.operations.name_of(name[0])
        return isinstance(name, tuple) and name[0] in shared_object.NAMES

    def sources(self) -> Mapping[str, str]:
        """Return the program's files, with their SHA-256."""
        return dict(self._loader.sources)

    def source(self) -> ProgramSource:
        """Return the source to analyse. Raises `UserError` if no module contains the target."""
        entry = None if self._target is None else self._target.entry
        if entry is None:
            raise UserError(
                f"{_name(self._given)} cannot be analysed, since no module contains it: name a function at the"
                " top level of a file, or a strategy that needs no analysis"
            )
        modules = self._loader.modules
        return ProgramSource(
            {module.path: module.source for module in modules.values()},
            {module.path: name for name, module in modules.items()},
            entry,
        )

    def labels(self) -> Mapping[str, str]:
        """See `dpor.findings.explain.Checkable`."""
        sources = {module.path: module.source for module in self._loader.modules.values()}
        entry = None if self._target is None else self._target.entry
        return labels_of(sources, entry, getattr(self._given, "__code__", None))

    def foreign(self) -> Sequence[str]:
        """Return the packages outside of the standard library that the program uses and that are not instrumented."""
        return self._loader.foreign()

    def imported(self) -> Mapping[str, str]:
        """See `dpor.findings.explain.Checkable`."""
        return self._loader.imported()

    def versions(self) -> Mapping[str, str]:
        import greenlet

        return {"greenlet": greenlet.__version__}

    def facts(self) -> Any:
        """Return what the search has learnt about the program, and which threads its numbers mean, as JSON."""
        facts = sorted(([*fact] if isinstance(fact, tuple) else fact for fact in self._search.facts), key=str)
        told = {"facts": facts, "threads": [[*child, number] for child, number in self._search.numbers.items()]}
        return {**told, "withdrawn": sorted(self._withdrawn)} if self._withdrawn else told

    def states_are_common(self) -> bool:
        """See `dpor.findings.explain.Checkable`."""
        return self._capture.naming.is_common

    def locations(self) -> list[str] | None:
        """Return the names of all locations, by number; None if one has no text."""
        return self._search.operations.names_as_text()

    def number_by(self, ask: Asking) -> None:
        """See `dpor.findings.explain.Checkable`."""
        operations, numbers = self._search.operations, self._search.numbers
        operations.number_by(lambda known, name: ask("location", (known, name)))
        numbers.number_by(lambda child: {(parent, nth): number for parent, nth, number in ask("thread", child)})

    def agree(self, locations: Sequence[str], facts: Any) -> None:
        """See `dpor.findings.explain.Checkable`."""
        operations = self._search.operations
        operations.reserve(locations[operations.size :])
        self._learn(facts)

    def _learn(self, facts: Any) -> None:
        try:
            self._search.facts.update(_thawed(fact) for fact in facts["facts"])
            self._search.numbers.update({(parent, nth): number for parent, nth, number in facts["threads"]})
            self._withdrawn.update(facts.get("withdrawn", ()))
        except (TypeError, KeyError, ValueError) as error:
            raise BadSchedule(f"the facts of the schedule are damaged: {error}") from error


def _thawed(fact: Any) -> object:
    return tuple(_thawed(part) for part in fact) if isinstance(fact, list) else fact


def _forget_operations() -> None:
    """Forget the operations that are cached with shared objects and types: they are of one search."""
    shared_objects.forget()
    attributes.forget_types()


def _first_enabled(enabled: int) -> int:
    return (enabled & -enabled).bit_length() - 1


def _seen(returned: object) -> Hashable:
    """Return what the target returned, frozen. Threads that it has not waited for may still change that, so reading it
    may be an operation."""
    if run.multi:
        yield_before_reading("return", (returned,), ANYTHING)
    return freeze(returned)


def _name(target: str | Callable[[], object] | Opener) -> str:
    if callable(target):
        return getattr(target, "__qualname__", repr(target))
    return target if isinstance(target, str) else target.name


def _has_ended(thread: ModelThread) -> bool:
    return thread.pending is not None and isinstance(thread.pending.rule, End)


_systems: WeakSet[PythonSystem] = WeakSet()


@atexit.register
def _leave_all() -> None:
    """At the end of the process: let finalisers of programs run while the hooks that they call still exist."""
    with redirect_stderr(io.StringIO()), redirect_stdout(io.StringIO()):
        run.forget()
        shared_objects.forget()
        for system in list(_systems):
            system.leave()
        gc.collect()
