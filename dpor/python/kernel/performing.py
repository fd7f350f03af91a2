"""Turns operations on synchronisation objects into events: those that have a rule, and may block."""

from __future__ import annotations

from typing import Any, Final

from dpor.core.operations import (
    Effect,
    Operation,
    Rule,
    States,
)
from dpor.primitives import threads as thread_rules
from dpor.primitives.daemons import DaemonAccess, DaemonRule, InProcess, StartInProcess
from dpor.primitives.rules import BaseRule
from dpor.python.kernel import unwinding
from dpor.python.kernel.depth import with_room
from dpor.python.kernel.events import differs, happened, operation_text
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.model_thread import EXPIRES, ModelThread, Waited
from dpor.python.kernel.run import run
from dpor.python.kernel.scheduler import yield_before_blocking, yield_before_pending
from dpor.python.kernel.sync_objects import count_writes, guards, note_holders, set_states
from dpor.python.kernel.threads import knows_ended, next_child


def perform(rule: Rule, *objects: Waited) -> Any:
    """Yield before this operation until it is chosen; then apply the rule to the objects. Returns the rule's result."""
    if run.careful or len(run.threads) == 1:
        if run.unwinding:
            return without_control(rule, objects)
        if run.observer is not None:
            return run.observer.perform(rule, objects)
        if len(run.threads) == 1 and not isinstance(rule, thread_rules.Start):
            applied = _apply(rule, objects)
            if applied is not None:
                return applied.result
        if run.atomic:
            return without_control(rule, objects)
        if run.dying and run.multi:
            run.above.step_ends()
        if run.daemons:
            rule, objects = _in_process(rule, objects, run.current)
        if run.specifications is not None:
            run.specifications.settle()
            rule = run.specifications.ordered_rule(rule, objects)
        if run.deep or run.dying:
            return _perform_carefully(rule, objects)
    return _perform(rule, objects)


def _perform_carefully(rule: Rule, objects: tuple[Waited, ...]) -> Any:
    result = with_room(_perform)(rule, objects) if run.deep else _perform(rule, objects)
    if run.dying:
        run.above.step_begins(run.current)
    return result


def _perform(rule: Rule, objects: tuple[Waited, ...]) -> Any:
    me = run.current
    operation, blocks, guarding = _operation(rule, me, objects)
    position = run.position
    if position >= run.replayed or run.event_threads[position] != me.id or me.starter is not None:
        me.pending, me.objects = operation, objects
        if blocks:
            yield_before_blocking(me)
        else:
            yield_before_pending(me)
        me.objects = None
    states = (objects[0].dpor_state,) if len(objects) == 1 else tuple([o.dpor_state for o in objects])
    applied = operation.applied(states)
    if applied is None:
        if me.timed is not None:
            return _time_out(me, operation, objects, states)
        unwinding.fail(differs(f"{me.name} cannot run: it waits for {operation_text(operation)}"))
    if guarding:
        note_holders(objects, applied.states)
    set_states(objects, applied.states)
    done = applied.operation
    if run.careful and run.discipline is not None and done.rule is not None:
        run.discipline.take_note(me.id, done.rule.plain, me.held)
    missing = len(done.accesses) - len(states)
    if missing:
        states += count_writes(done.accesses[len(states) :]) if run.spins else (None,) * missing
    happened(me, done, states)
    if rule.name == "join":
        knows_ended(me, objects[0])
    if run.recorder is not None:
        run.recorder.event(me, done, objects)
    return applied.result


def _operation(rule: Rule, me: ModelThread, objects: tuple[Waited, ...]) -> tuple[Operation, bool, bool]:
    """Return the interned operation, whether it can ever block, and whether a lock is among its objects.

    It is looked up by the identity of the rule first, because hashing rules and accesses costs more.
    """
    key: tuple[int, ...]
    if len(objects) == 1:
        key = (id(rule), me.id, objects[0].dpor_location)
    else:
        key = (id(rule), me.id, *[o.dpor_location for o in objects])
    starts = -1
    if rule.name == "start":
        starts = next_child(me)
        key += (starts,)
    known = run.known_operations.get(key)
    if known is not None and known[0] is rule:
        return known[1]
    accesses = tuple([(o.dpor_location, mode) for o, mode in zip(objects, rule.modes, strict=False)]) + rule.plain
    operation = run.operations.intern(rule.name, accesses, rule, me.id, starts=starts)
    found = operation, type(rule).enabled is not BaseRule.enabled, guards(objects)
    run.known_operations[key] = (rule, found)
    return found


def _apply(rule: Rule, objects: tuple[Waited, ...]) -> Effect | None:
    """Apply the rule without an event. Return None if it is blocked."""
    states = tuple([o.dpor_state for o in objects])
    me = 0 if run.current is None else run.current.id
    if not rule.enabled(states, me):
        return None
    effect = rule.apply(states, me)
    note_holders(objects, effect.states)
    set_states(objects, effect.states)
    return effect


def without_control(rule: Rule, objects: tuple[Waited, ...]) -> Any:
    """Apply the rule if it is enabled, else pretend: while a run is unwound, or inside an indivisible step."""
    if run.unwinding:
        unwinding.lose_patience()
    effect = _apply(rule, objects)
    if effect is None:
        if not run.unwinding:
            incomplete("an operation inside an indivisible step would have blocked")
        return True
    if run.unwinding and rule.gives:
        return True  # the acquisition may have been pretended as well
    return effect.result


def _time_out(me: ModelThread, operation: Operation, objects: tuple[Waited, ...], states: States) -> Any:
    """Perform the time-out of a thread that was chosen because nothing else can move; it is ordered after all earlier
    events."""
    assert me.timed is not None
    assert me.deadline is not None
    run.timed_out |= EXPIRES not in me.data
    own = len(me.timed.modes)  # a daemon thread's operation has one more object, the process
    effect = me.timed.apply(states[:own], me.id)
    note_holders(objects[:own], effect.states)
    set_states(objects[:own], effect.states)
    modes = [*effect.modes, *[mode for _, mode in operation.accesses[len(effect.modes) :]]]
    accesses = tuple((location, mode) for (location, _), mode in zip(operation.accesses, modes, strict=True))
    done = run.operations.intern("time out", accesses, barrier=True)
    happened(me, done, None)
    run.virtual_time.set(me, me.deadline)
    if run.recorder is not None:
        run.recorder.event(me, done, objects)
    return effect.result


# A program ends when its last non-daemon thread does, whatever its daemon threads are about to do. So every operation
# of a daemon thread reads the number of live non-daemon threads, which the start and end of those threads write.
# Programs without daemon threads (nearly all) are spared that: the first start of a daemon thread is a new fact, with
# which the search starts again.


def _in_process(rule: Rule, objects: tuple[Waited, ...], me: ModelThread) -> tuple[Rule, tuple[Waited, ...]]:
    if isinstance(rule, DaemonAccess):
        return rule, objects
    if me.daemon and not isinstance(rule, thread_rules.Start):
        return DaemonRule(rule), (*objects, run.process)
    if isinstance(rule, thread_rules.Start) and not getattr(objects[0], "daemon", False):
        return StartInProcess(rule, 1), (*objects, run.alive, run.process)
    if isinstance(rule, thread_rules.End):
        return InProcess(rule, -1), (*objects, run.alive, run.process)
    return rule, objects


STATELESS: Final = (perform, _perform, _perform_carefully)
"""Functions whose frames are left out of states: what remains of them follows from the pending operation."""
