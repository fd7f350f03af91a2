"""Abstract programs: small multithreaded programs as data, for litmus tests, fuzzing, and comparing reductions.

A program is a mapping that JSON can hold:

    {"name": "...",
     "vars":   {"x": 0, "arr": [0, 0]},    shared variables; the elements of arrays are arr[0], arr[1], ...
     "locks":  ["m", "l[4]"],              "l[4]" declares l[0] to l[3]
     "rlocks": ["r"],                      re-entrant locks
     "sems":   {"s": 2},                   semaphores, with their first values
     "conds":  ["c"],                      conditions; the thread that waited first is woken first
     "threads": [[STATEMENT, ...], ...],
     "regs":   {"t": [0, 1]}}              first values of registers, one for each thread; otherwise 0

Only "threads" is needed. A file holds one program, a list of them, or one a line, each bare or with a name around it:
{"name": ..., "spec": {...}}.

**Statements** are strings of words with blanks between them. `a` is a register of the thread, `x` a variable or an
element (`arr[i+1]`), EXPR an expression without blanks. Each of these is one event, if nothing else is said:

    r x a             a := x
    w x EXPR          x := EXPR
    rmw x a EXPR      a := x, then x := EXPR, in one step
    cas x OLD NEW a   a := 1 and x := NEW if x is OLD, else a := 0; one that fails only reads
    await x EXPR      blocks until EXPR holds, where _ is the value of x; register _ keeps that value
    lock m  unlock m  of a plain lock, or a re-entrant one
    try m a           a := 1 if the lock can be taken at once, else 0; one that fails only reads
    tlock m a         as try, with a timeout: while the lock is held, the wait for it may end at any point
    P s  V s          of a semaphore
    tP s a            as tlock
    wait c m          two events: give m up and wait on c; once woken, take m again
    twait c m a       as wait; a := 1 if woken. It may time out as long as nothing has woken it, then takes m again, and
                      a := 0. Until it has m it stays in the queue, and a notify may be spent on it (as in CPython)
    notify c          wakes the oldest; notifyall c: all
    spawn T           starts thread number T, which does not run before
    join T            blocks until thread T has ended; the end of a thread that is joined is an event, too
    choose a N        a := one of 0 to N-1; every choice is explored

These are local; they are not events:

    let a EXPR        a := EXPR
    assert EXPR       reports a failure if EXPR does not hold; the thread goes on
    halt EXPR         ends the thread if EXPR holds

Compound statements are lists: ["if", EXPR, [...]] or ["if", EXPR, [...], [...]], ["while", EXPR, [...]], ["repeat",
NUMBER, [...]].

**Expressions** are Python's: numbers, registers (`tid` begins as the thread's number), arithmetic, bits, comparisons,
`and or not`, `x if c else y` (in brackets), `min max abs int`.

**Details.** `unlock` by a thread that does not hold the lock is a failure, after which the thread goes on: a plain lock
is then free, and a re-entrant one is left as it was. `wait` gives the lock up whoever holds it; of a re-entrant lock it
gives up all levels, and restores them. To spawn a thread a second time is a failure. That a thread is never spawned
matters only to those that join it. Statements are named by their indices in the JSON form: T0:3 is `threads[0][3]`.

**Dependence.** Events of different threads depend on each other if they touch an object in common and one of them
writes it. Operations on locks, semaphores and conditions write theirs; a failing cas or try, and a timeout, only read.

>>> from dpor.model import AbstractSystem, parse
>>> from dpor.explorers.optimal import Optimal
>>> program = parse({
...     "vars": {"hits": 0},
...     "threads": [["r hits a", "w hits a+1"], ["r hits a", "w hits a+1"]],
... })
>>> explorer = Optimal(AbstractSystem(program))
>>> outcomes = {run.outcome.memory for run in explorer.explore()}
>>> sorted(outcomes), explorer.stats.executions
([(1,), (2,)], 4)
"""

from dpor.model.describe import EventText
from dpor.model.syntax import load, load_all, parse
from dpor.model.system import AbstractSystem, Outcome
from dpor.model.tree import Program

__all__ = ["AbstractSystem", "EventText", "Outcome", "Program", "load", "load_all", "parse"]
