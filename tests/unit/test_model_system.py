"""Abstract programs at the seam: what explorers may rely on."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dpor.core.errors import BadProgram, InternalError, NotDeterministic
from dpor.core.operations import THREAD_MASK, VALUE_SHIFT, Action, Operation
from dpor.core.outcome import Kind
from dpor.core.system import STOP, Ending, System, Trace
from dpor.explorers.none import NoReduction
from dpor.model import AbstractSystem, Outcome
from dpor.primitives.rules import BaseRule
from dpor.testing import random_program
from tests.oracle.judge import Judged, explore, outcome_in_words
from tests.oracle.play import play
from tests.words_of_python import BY_ZERO

PROGRAMS = [
    json.loads(line) for line in (Path(__file__).parent.parent / "data/programs.jsonl").read_text().splitlines()
]
SMALL = [p for p in PROGRAMS if p["counts"]["interleavings"] <= 1_000]

RACE: dict[str, Any] = {"vars": {"x": 0}, "threads": [["r x a", "w x a+1"], ["r x a", "w x a+1"]]}


def at_random(random: Random, stop_after: int = 1_000) -> Any:
    """A chooser that takes any enabled thread, and one of two values."""
    asked = 0

    def choose(enabled: int) -> Action:
        nonlocal asked
        asked += 1
        assert enabled, "a chooser is never asked when nothing can run"
        if asked > stop_after:
            return STOP
        threads = [t for t in range(enabled.bit_length()) if enabled >> t & 1]
        return random.choice(threads)

    return choose


def test_it_is_a_system() -> None:
    system: System = AbstractSystem(RACE)
    assert system.run(Trace(), lambda enabled: STOP).ending is Ending.STOPPED


@pytest.mark.parametrize("program", SMALL, ids=lambda p: p["name"])
def test_all_runs_are_those_of_the_judge(program: dict[str, Any]) -> None:
    """As many interleavings, and the same terminal states, deadlocks and failures, value by value."""
    system, judged = AbstractSystem(program["spec"]), Judged(program["spec"])
    seen = explore(NoReduction, system)
    assert seen.executions == program["counts"]["interleavings"] == judged.interleavings
    assert {outcome_in_words(system, outcome) for outcome in seen.outcomes} == judged.outcomes
    assert {outcome_in_words(system, outcome) for outcome in seen.deadlocks} == judged.deadlocks
    assert seen.errors == judged.errors


def test_each_event_with_the_states_before_it() -> None:
    """An operation was enabled in the states recorded with it, and with them has the modes that it had."""
    for seed in range(300):
        random = Random(seed)
        system, trace = AbstractSystem(random_program(random)), Trace()
        run = system.run(trace, at_random(random))
        assert len(trace.actions) == len(trace.threads) == len(trace.operations) == len(trace.befores)
        for action, thread, operation, before in zip(
            trace.actions, trace.threads, trace.operations, trace.befores, strict=True
        ):
            assert thread == action & THREAD_MASK
            if operation.rule is None:
                continue
            assert before is not None
            assert len(before) == len(operation.accesses)
            assert operation.enabled(before)
            assert modes(operation.in_states(before)) == modes(operation)
        for thread, operation, states in run.blocked:
            assert operation.thread == thread
            assert not operation.enabled(states)


def modes(operation: Operation) -> list[Any]:
    return [mode for _, mode in operation.accesses]


def test_states_of_variables_are_recorded_only_where_somebody_looks_at_the_value() -> None:
    """x is awaited, y is not, elements of arr are compared and swapped."""
    spec = {
        "vars": {"x": 5, "y": 6, "arr": [7, 8]},
        "threads": [["r x a", "w y 1", "rmw arr[1] a 9"], ["await x 1", "cas arr[tid] 1 2 a"]],
    }
    played = play(spec, "0 0 0 1 1")
    assert played.trace.befores == [(5,), None, (8,), (5,), (9,)]


def test_a_repeated_trace_gives_the_same_run() -> None:
    for seed in range(200):
        random = Random(seed)
        system, trace = AbstractSystem(random_program(random)), Trace()
        first = system.run(trace, at_random(random))
        operations, befores = trace.operations.copy(), trace.befores.copy()
        again = system.run(trace, at_random(random, stop_after=0))
        assert (trace.operations, trace.befores) == (operations, befores)
        for name in ("ending", "blocked", "outcome", "deadlock", "findings", "incomplete"):
            assert getattr(again, name) == getattr(first, name)
        trace.cut(len(trace) // 2)
        system.run(trace, lambda enabled: STOP)
        assert trace.operations == operations[: len(trace)]


def test_an_operation_is_the_same_object_in_all_runs() -> None:
    system = AbstractSystem(RACE)
    one, other = play(system, "0 1 0 1"), play(system, "1 0 1 0")
    assert set(one.trace.operations) == set(other.trace.operations)
    assert len(set(one.trace.operations)) == 2


def test_a_trace_of_another_program_is_noticed() -> None:
    other = play(RACE, "0 1")
    with pytest.raises(NotDeterministic, match=r"T0 did <read R0> where <read R0> is recorded"):
        AbstractSystem(RACE).run(other.trace, at_random(Random(0)))
    trace = Trace()
    system = AbstractSystem({"vars": {"x": 0}, "threads": [["w x 1"]]})
    system.run(trace, lambda enabled: 0)
    for part in (trace.actions, trace.threads, trace.operations, trace.befores):
        part *= 2  # type: ignore[operator]
    with pytest.raises(NotDeterministic, match="a thread is to go on that has ended"):
        system.run(trace, at_random(Random(0)))


def test_a_thread_that_cannot_run_must_not_be_chosen() -> None:
    with pytest.raises(InternalError, match="T1 was chosen, which cannot run"):
        AbstractSystem({"vars": {"x": 0}, "threads": [["w x 1"], ["await x _==1"]]}).run(Trace(), lambda enabled: 1)


def test_a_value_that_does_not_exist_must_not_be_chosen() -> None:
    with pytest.raises(InternalError, match="value 2 was chosen, of 2"):
        AbstractSystem({"threads": [["choose a 2"]]}).run(Trace(), lambda enabled: 2 << VALUE_SHIFT)


# ---------------------------------------------------------------------- how runs end


def test_complete() -> None:
    run = play(RACE, "0 1 0 1").run
    assert (run.ending, run.blocked, run.deadlock, run.incomplete) == (Ending.COMPLETE, [], None, ())
    assert run.outcome == Outcome((2, 2), ((0, 0), (1, 0)), (1,), frozenset())


def test_deadlock() -> None:
    """Its identity is the terminal state. Each blocked thread is told with its operation and its objects' states."""
    spec = {"locks": ["m", "n"], "threads": [["lock m", "lock n"], ["lock n", "lock m"], []]}
    played = play(spec, "0 1")
    run = played.run
    assert run.deadlock == run.outcome != None  # noqa: E711
    assert [(p.thread, repr(p.operation), p.states) for p in run.blocked] == [
        (0, "<lock W1>", (1,)),
        (1, "<lock W0>", (0,)),
    ]
    (finding,) = run.findings
    assert (finding.kind, finding.thread) == (Kind.DEADLOCK, "T0")
    assert finding.message == "T0 waits to lock n, held by T1\nT1 waits to lock m, held by T0"


def test_stopped() -> None:
    """What has failed before is told all the same."""
    run = play({"vars": {"x": 0}, "threads": [["r x a", "assert a", "w x 1"]]}, "0", stop=True).run
    assert (run.ending, run.outcome, run.deadlock) == (Ending.STOPPED, None, None)
    assert [f.kind for f in run.findings] == [Kind.ASSERTION]


def test_a_long_run_is_cut() -> None:
    system = AbstractSystem({"vars": {"x": 0}, "threads": [[["while", "1", ["w x 1"]]]]}, max_steps=10)
    played = play(system, "")
    assert played.run.ending is Ending.CUT
    assert played.run.incomplete == ["a run was cut after 10 events (--max-steps)"]
    assert len(played.trace) == 10


def test_a_run_that_is_just_short_enough_is_complete() -> None:
    assert play(AbstractSystem(RACE, max_steps=4), "").run.ending is Ending.COMPLETE


@pytest.mark.parametrize("before", [[], ["w x 1"]])
def test_a_loop_without_an_operation_is_cut(before: list[str]) -> None:
    """At the start of a thread, or after an event, which then belongs to the trace; and so again when repeated."""
    spec = {"vars": {"x": 0}, "threads": [[*before, ["while", "a==0", ["let b 1"]]], ["w x 1"]]}
    played = play(spec, "")
    assert played.run.ending is Ending.CUT
    assert played.run.incomplete == [
        f"T0:{len(before)}.2.0 'let b 1' is in a loop without operations that does not end"
    ]
    assert len(played.trace) == len(before)
    assert played.system.run(played.trace, at_random(Random(0))).ending is Ending.CUT


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (["r x a", "w x 1//a"], f"T0:1 'w x 1//a': {BY_ZERO}"),
        (["let a 1//a"], f"T0:0 'let a 1//a': {BY_ZERO}"),
        (["r x a", "let a 1<<(a-1)"], "T0:1 'let a 1<<(a-1)': negative shift count"),
        (["r arr[a+2] b"], "T0:0 'r arr[a+2] b': there is no element 2"),
        (["r x a", "w arr[a-1] b"], "T0:1 'w arr[a-1] b': there is no element -1"),
        (["await x 1//_"], f"T0 awaits '1//_' of 0: {BY_ZERO}"),
    ],
)
def test_what_goes_wrong_in_an_expression_is_the_programs_fault(body: list[str], message: str) -> None:
    with pytest.raises(BadProgram) as caught:
        play({"vars": {"x": 0, "arr": [1, 2]}, "threads": [body]}, "")
    assert str(caught.value) == message


# ---------------------------------------------------------------------- in words


def test_describe() -> None:
    spec = {"vars": {"x": 0}, "threads": [[["if", "1", ["w x 1"]]], ["r x a"]]}
    played = play(spec, "0 1")
    assert [tuple(event) for event in played.system.describe(played.trace)] == [
        ("T0", "T0:0.2.0", "w x 1", "write", "1"),
        ("T1", "T1:0", "r x a", "read", "1"),
    ]


def test_every_rule_that_can_block_has_a_line_for_deadlocks() -> None:
    """No deadlock of a random program is told in the words meant for another operation."""
    for seed in range(500):
        random = Random(seed)
        run = AbstractSystem(random_program(random)).run(Trace(), at_random(random))
        for finding in run.findings:
            if finding.kind is Kind.DEADLOCK:
                lines = finding.message.splitlines()
                assert len(lines) == len(run.blocked)
                for line, pending in zip(lines, run.blocked, strict=True):
                    assert type(pending.operation.rule).enabled is not BaseRule.enabled
                    assert ("to end" in line) == (pending.operation.kind == "join")
                    assert "None" not in line
