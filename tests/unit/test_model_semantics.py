"""What each statement of an abstract program means, told event by event."""

from __future__ import annotations

from typing import Any

import pytest

from dpor.core.outcome import Kind
from dpor.explorers.none import NoReduction
from dpor.model import AbstractSystem
from tests.oracle.judge import explore
from tests.oracle.play import play


def program(*threads: list[Any], **declared: Any) -> dict[str, Any]:
    """Threads over the usual objects."""
    objects = {"vars": {"x": 0, "y": 0, "arr": [10, 20]}, "locks": ["m", "n"], "sems": {"s": 1}, "conds": ["c"]}
    return {**objects, **declared, "threads": list(threads)}


def messages(spec: dict[str, Any], schedule: str = "") -> list[str]:
    return [f.message for f in play(spec, schedule).run.findings]


# ---------------------------------------------------------------------- variables and registers


def test_data() -> None:
    played = play(program(["w x 3", "r x a", "rmw x b b+a", "cas x 6 7 c", "cas x 9 8 d", "r arr[d+1] e"]), "")
    assert played.told == [
        "T0 w x 3 (write): 3",
        "T0 r x a (read): 3",
        "T0 rmw x b b+a: 3 -> 6",
        "T0 cas x 6 7 c: 6 -> 7",
        "T0 cas x 9 8 d: 7, kept",
        "T0 r arr[d+1] e (read): 20",
    ]
    assert [played.register(0, name) for name in "abcde"] == [3, 3, 1, 0, 20]


def test_control_flow() -> None:
    """if, while, repeat and halt; local statements are no events."""
    body = ["let i 0", ["while", "i<2", ["w x i", "let i i+1"]], ["repeat", 2, ["rmw y a a+1"]]]
    played = play(program([*body, ["if", "a==1", ["halt 1"], ["w x 9"]], "w x 8"]), "")
    assert played.told == [
        "T0 w x i (write): 0",
        "T0 w x i (write): 1",
        "T0 rmw y a a+1: 0 -> 1",
        "T0 rmw y a a+1: 1 -> 2",
    ]


def test_registers_begin_as_given() -> None:
    played = play(program(["w x tid"], ["w y t+u"], regs={"t": [5, 6], "u": [0, 1]}), "")
    assert (played.state("x"), played.state("y")) == (0, 7)


def test_await_waits_for_a_value() -> None:
    played = play(program(["await x _>t", "w y _"], ["w x 1", "w x 2"], regs={"t": [1, 0]}), "1 1 0")
    assert played.told == ["T1 w x 1 (write): 1", "T1 w x 2 (write): 2", "T0 await x _>t: 2", "T0 w y _ (write): 2"]
    assert messages(program(["await x _==1"])) == ["T0 awaits _==1 of x, which is 0"]


def test_a_failed_assert_is_a_finding_and_the_thread_carries_on() -> None:
    played = play(program(["r x a", "assert a==1", "w y 1", "assert a==1", "assert a<1"]), "")
    (finding,) = played.run.findings
    assert (finding.kind, finding.message, finding.thread) == (Kind.ASSERTION, "AssertionError: T0: a==1", "T0")
    assert finding.details == ("a is 0",)
    assert played.state("y") == 1


# ---------------------------------------------------------------------- locks and semaphores


def test_a_plain_lock_excludes_also_its_owner() -> None:
    assert messages(program(["lock m", "lock m"])) == ["T0 waits to lock m, held by itself"]
    assert messages(program(["lock m", "lock n"], ["lock n", "lock m"]), "0 1") == [
        "T0 waits to lock n, held by T1\nT1 waits to lock m, held by T0"
    ]


def test_unlock_by_another_thread_frees_a_plain_lock() -> None:
    played = play(program(["lock m"], ["unlock m", "lock m"]), "0 1 1")
    assert [(f.kind, f.message) for f in played.run.findings] == [
        (Kind.EXCEPTION, "RuntimeError: T1: unlock m, which it does not hold")
    ]
    assert played.state("m") == 1


def test_reentrant_lock() -> None:
    """Its owner enters it again and again, and must leave it as often."""
    spec = program(["lock r", "lock r", "unlock r", "unlock r"], ["try r a", "unlock r"], rlocks=["r"])
    assert play(spec, "0 0 0 1 1").told == [
        "T0 lock r",
        "T0 lock r",
        "T0 unlock r",
        "T1 try r a: held by T0",
        "T1 unlock r",
        "T0 unlock r",
    ]
    assert messages(spec, "0 1 1") == ["RuntimeError: T1: unlock r, which it does not hold"]
    assert play(spec, "0 1 1").state("r") is None


def test_try() -> None:
    played = play(program(["try m a", "try m b"], ["try m a", "unlock m"]), "0 0 1")
    assert played.told[:3] == ["T0 try m a: taken", "T0 try m b: held by T0", "T1 try m a: held by T0"]
    assert [played.register(0, "a"), played.register(0, "b"), played.register(1, "a")] == [1, 0, 0]


def test_a_failed_try_only_reads() -> None:
    """Two tries on a held lock commute: of the runs in which both fail, there is one class."""
    played = play(program(["lock m"], ["try m a"], ["try m a"]), "0 1 2")
    assert [repr(o) for o in played.trace.operations] == ["<lock W4>", "<try R4>", "<try R4>"]


@pytest.mark.parametrize("word", ["tlock m", "tP s"])
def test_a_timed_lock_may_time_out_while_it_is_held(word: str) -> None:
    spec = program(["lock m", "P s", "V s", "unlock m"], [f"{word} a", "assert a"])
    assert play(spec, "1").register(1, "a") == 1
    failed = play(spec, "0 0 1")
    assert failed.register(1, "a") == 0
    assert [f.needs_timeout for f in failed.run.findings] == [True]


def test_semaphore() -> None:
    played = play(program(["P s", "P s"], ["V s"]), "0 1")
    assert played.told == ["T0 P s: 1 -> 0", "T1 V s: 0 -> 1", "T0 P s: 1 -> 0"]
    assert messages(program(["P s", "P s"])) == ["T0 waits for semaphore s, which is 0"]


# ---------------------------------------------------------------------- conditions


def test_wait_is_woken_first_come_first() -> None:
    waiter = ["lock m", "wait c m", "unlock m"]
    played = play(program(waiter, waiter, ["notify c", "notify c"]), "1 1 0 0 2 1 1 2")
    assert played.told == [
        "T1 lock m",
        "T1 wait c m",
        "T0 lock m",
        "T0 wait c m",
        "T2 notify c: wakes T1",
        "T1 wait c m (rewait): notified",
        "T1 unlock m",
        "T2 notify c: wakes T0",
        "T0 wait c m (rewait): notified",
        "T0 unlock m",
    ]


def test_notifyall() -> None:
    waiter = ["lock m", "wait c m", "unlock m"]
    assert "T2 notifyall c: wakes T0, T1" in play(program(waiter, waiter, ["notifyall c"]), "0 0 1 1 2").told


def test_a_notify_that_nobody_waits_for_is_lost() -> None:
    spec = program(["lock m", "wait c m"], ["notify c"])
    assert messages(spec, "1 0 0") == ["T0 waits for a notify on c"]
    assert messages(spec, "0 0 1 0") == []


def test_a_woken_thread_waits_for_the_lock() -> None:
    spec = program(["lock m", "wait c m"], ["lock m", "notify c"])
    assert messages(spec, "0 0 1 1") == ["T0 waits to lock m again, held by T1"]


def test_wait_gives_up_all_levels_of_a_reentrant_lock_and_restores_them() -> None:
    waiter = ["lock r", "lock r", "wait c r", "unlock r", "unlock r"]
    played = play(program(waiter, ["lock r", "notify c", "unlock r"], rlocks=["r"]), "0 0 0 1 1 1 0")
    assert played.run.findings == []
    assert played.state("r") is None
    stopped = play(program(waiter, ["notify c"], rlocks=["r"]), "0 0 0 1 0 0", stop=True)
    assert stopped.trace.befores[-1] == ((0, 2),)


def test_timed_wait() -> None:
    """It is notified, or times out at any point before that."""
    spec = program(["lock m", "twait c m a", "unlock m"], ["lock m", "notify c", "unlock m"])
    notified = play(spec, "0 0 1 1 1 0")
    assert notified.told[5] == "T0 twait c m a (rewait): notified"
    assert notified.register(0, "a") == 1
    timed_out = play(spec, "0 0 0 1 1 1 0")
    assert timed_out.told[2:7] == [
        "T0 twait c m a (rewait): timed out",
        "T1 lock m",
        "T1 notify c: wakes T0",
        "T1 unlock m",
        "T0 twait c m a (rewait): after its timeout",
    ]
    assert timed_out.register(0, "a") == 0


def test_a_timeout_needs_no_lock_but_the_thread_goes_on_only_with_it() -> None:
    spec = program(["lock m", "twait c m a", "w x 1"], ["lock m"])
    played = play(spec, "0 0 1 0")
    assert [f.message for f in played.run.findings] == ["T0 waits to lock m again, held by T1"]
    assert played.run.findings[0].needs_timeout


def test_a_notify_can_be_spent_on_a_waiter_that_has_timed_out() -> None:
    """As in CPython: T0 has timed out but is still in the queue, so T1, which waits behind it, is not woken."""
    spec = program(["lock m", "twait c m a", "unlock m"], ["lock m", "wait c m", "unlock m"], ["notify c"])
    played = play(spec, "0 0 1 1 0 2 0 0")
    assert played.told[4:6] == ["T0 twait c m a (rewait): timed out", "T2 notify c: wakes T0"]
    assert played.register(0, "a") == 0
    assert [f.message for f in played.run.findings] == ["T1 waits for a notify on c"]
    assert played.run.findings[0].needs_timeout


def test_a_waiter_that_has_timed_out_and_has_the_lock_again_is_out_of_the_queue() -> None:
    spec = program(["lock m", "twait c m a", "unlock m"], ["lock m", "wait c m", "unlock m"], ["notify c"])
    played = play(spec, "0 0 1 1 0 0 0 2")
    assert played.told[5] == "T0 twait c m a (rewait): after its timeout"
    assert played.told[7] == "T2 notify c: wakes T1"
    assert played.run.findings == []


# ---------------------------------------------------------------------- threads and choices


def test_spawn_and_join() -> None:
    played = play(program(["spawn 1", "join 1", "r x a"], ["w x 1"]), "0 1")
    assert played.told == ["T0 spawn 1 (start)", "T1 w x 1 (write): 1", "T1 end", "T0 join 1", "T0 r x a (read): 1"]


def test_a_thread_that_is_not_spawned_does_not_run_and_is_not_waited_for() -> None:
    spec = program([["if", "a", ["spawn 1"]]], ["lock m", "lock m"])
    played = play(spec, "")
    assert played.told == []
    assert (played.run.blocked, played.run.deadlock, played.run.findings) == ([], None, [])
    assert messages(program([["if", "a", ["spawn 1"]], "join 1"], [])) == ["T0 waits for T1 to end"]


def test_spawning_twice_is_a_failure_and_starts_nothing() -> None:
    played = play(program(["spawn 2"], ["spawn 2"], ["w x 1"]), "0 1")
    assert [f.message for f in played.run.findings] == ["RuntimeError: T1: spawn 2, which was spawned before"]
    first, second = played.trace.operations[:2]
    assert (first.starts, second.starts) == (2, -1)


def test_local_statements_of_a_spawned_thread_come_after_the_spawn() -> None:
    played = play(program(["w x 1", "spawn 1"], ["assert 0"]), "0", stop=True)
    assert played.run.findings == []


def test_only_threads_that_are_joined_have_an_end_event() -> None:
    played = play(program(["w x 1"], ["w x 1"], ["join 0"]), "")
    assert [event.kind for event in played.system.describe(played.trace)] == ["write", "end", "write", "join"]


def test_halt_of_a_joined_thread_ends_it() -> None:
    assert play(program(["halt 1", "w x 1"], ["join 0"]), "").told == ["T0 end", "T1 join 0"]


def test_choose() -> None:
    spec = program(["choose a 3", "w x a"])
    assert play(spec, "0=2").state("x") == 2
    operation = play(spec, "0=2").trace.operations[0]
    assert (operation.value, operation.alternatives) == (2, 3)
    assert {outcome.memory[0] for outcome in explore(NoReduction, AbstractSystem(spec)).outcomes} == {0, 1, 2}
