"""The state of the current run, as an object: who moves, what has happened, what was noted on the way.

There is one run at a time in a process: `run`. `begin` resets it. It has slots because hooks look at it at every
access.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import ref

from greenlet import greenlet

from dpor.core.discipline import Discipline
from dpor.core.operations import Location, Operation, OperationTable, Rule, ThreadId
from dpor.core.system import STOP, Chooser, Ending, Trace
from dpor.python.kernel.above import Above
from dpor.python.kernel.listeners import FrameStates, Observer, Recorder, Specifications, ThreadFailure
from dpor.python.kernel.model_thread import ModelThread, Waited
from dpor.python.kernel.numbers import Numbers
from dpor.python.kernel.options import RuntimeOptions
from dpor.python.kernel.stuck import Stuck
from dpor.python.kernel.virtual_time import VirtualTime
from dpor.python.kernel.workers import Workers

T = TypeVar("T")
ABLE_UNKNOWN = -1
"""The value of `CurrentRun.able` from when a state has changed until it is computed again."""


class CurrentRun:
    """The state of the current run. `begin` is given what a search hands from run to run, and resets the rest.

    Threads
    current       the thread that moves; None between runs
    threads       all model threads, by number
    by_thread_object   those that were started, by the `id` of the program's Thread object
    multi         True while more than one thread can act on shared data; accesses are operations only then
    watched       True if `multi` is, although the other threads have ended: only to see whether the current one looks
                  at the order of keys (`effects.key_order`); `unseen`: True if that cannot be told
    ready         mask of the threads that run, or whose pending operation can never block
    waiting       the threads whose pending operation may be blocked
    able          mask of those in `waiting` that are not blocked; ABLE_UNKNOWN when a state has changed since
    yielding      mask of the threads that go round a loop without operations
    everybody     mask of all threads there have been
    hub           the greenlet that carries out the run
    os_thread     the host's thread in which it does so
    workers       the greenlets of the search
    process       its state is True while the program runs; that of `alive`: how many non-daemon threads live

    Events
    trace         is repeated first, then grows; `event_threads`, `event_operations`: its lists
    choose        is asked who moves when nothing is left to repeat
    position      how many events have happened; `replayed`: how many are repeated; `most_events`: how many may happen
    operations, known_operations, numbers     belong to the search: `driving.SearchState`
    made          weak references to all synchronisation objects
    made_early    how many of them were made before the run began
    counters      how often locations have been written, where that is counted

    Settings and observers
    recorder, specifications      are told of events, if present
    specified     the specifications still when the run has ended
    frame_states  reads frames of loops that may spin; None if the interpreter's frames cannot be read
    iterating     how many iterations, each performed as one operation, the current thread is in
    observer      is set while code of a specification runs: its operations are not events
    options       the user's settings
    above         what the kernel needs of the layers above it, including `is_program_file`: see `serve`
    facts         what runs of this search have shown and later runs rely on
    stateful      True if this search compares states; it then learns facts that only states depend on
    daemons       True if there are daemon threads; then the end of the program is an operation
    spins         True if a loop of the program waits by spinning; then writes are counted
    dying         True if objects die while several threads exist and somebody notices; then each step is examined
    deep          True if the program recurses to the limit; then hooks have room of their own on the stack
    discipline    tells which accesses are silent; None: none are. `silent`: see `dpor.core.system.Run`
    atomic        how many indivisible steps the current thread is in
    careful       True if an access is more than a scheduling point: while `unwinding`, in atomic code, with a recorder,
                  daemon threads, spinning loops, dying objects, specifications, an observer or deep recursion, or if
                  the thread is watched

    Time and loops
    virtual_time  the clocks of the threads; `clock_stands`: every look at the clock sees the time at the start
    timeouts      how often each timed wait has timed out; `timed_out`: True if any has
    back_edges    loop iterations since the current thread's last operation
    still         of `loops.beat`: number and position of the run at the last beat, beats since it moved, and the CPU
                  time then

    Recursion
    base_depth    the depth of calls at which threads begin
    recursion_limit   the interpreter's limit while code of the program runs; `host_limit`: before the run

    How it ends
    number        counts the runs of the process
    unwinding     True while threads are unwound after the end of the run; then operations do nothing
    patience      how many operations the program has tried to perform meanwhile
    ending, error how it ended
    incomplete    why it stands for less than everything, in order; `incomplete_if_multithreaded`: counts if a thread
                  starts
    exceptions    the exceptions that ended threads
    left_behind   the greenlets in which threads could not be unwound, of all runs: one that is released would run on
    broken        why the search has to start again when the run has ended; else None
    half_seen     True if that is because of code that will be instrumented; what escapes unseen, and how containers
                  change, is found out again then
    dirty         True if a run has changed what outlives it (a module's global, a class, a function)
    imports_once  True while modules are executed whose contents later runs will find
    stuck         the threads that can never go on, in words; `taken_at`: where each held lock was taken

    Layers above
    attached      what modules above the kernel remember during a run: see `attach`
    """

    __slots__ = (
        "able", "above", "alive", "atomic", "attached", "back_edges", "base_depth", "broken", "by_thread_object",
        "careful", "choose", "clock_stands", "counters", "current", "daemons", "deep", "dirty", "discipline", "dying",
        "ending", "error", "event_operations", "event_threads", "everybody", "exceptions", "facts", "frame_states",
        "half_seen", "host_limit", "hub", "imports_once", "incomplete", "incomplete_if_multithreaded",
        "is_program_file", "iterating", "known_operations", "left_behind", "made", "made_early", "most_events", "multi",
        "number", "numbers", "observer", "operations", "options", "os_thread", "patience", "position", "process",
        "ready", "recorder", "recursion_limit", "replayed", "silent", "specifications", "specified", "spins",
        "stateful", "still", "stuck", "taken_at", "threads", "timed_out", "timeouts", "timeouts_on", "trace",
        "unseen", "unwinding", "virtual_time", "waiting", "watched", "workers", "yielding",
    )  # fmt: skip

    above: Above
    is_program_file: Callable[[str], bool]
    alive: Waited
    process: Waited
    workers: Workers

    def __init__(self) -> None:
        self.current: ModelThread = None  # type: ignore[assignment]
        self.attached: list[Any] = []
        self.left_behind: list[greenlet] = []
        self.threads: list[ModelThread] = []
        self.by_thread_object: dict[int, ModelThread] = {}
        self.waiting: list[ModelThread] = []
        self.hub: greenlet = None
        self.os_thread = 0
        self.numbers = Numbers()
        self.operations = OperationTable()
        self.known_operations: dict[tuple[int, ...], tuple[Rule, tuple[Operation, bool, bool]]] = {}
        self.made: list[ref[Any]] = []
        self.made_early = 0
        self.imports_once = False
        self.counters: dict[Location, Any] = {}
        self.specifications: Specifications | None = None
        self.specified: Specifications | None = None
        self.frame_states: FrameStates | None = None
        self.observer: Observer | None = None
        self.facts: set[object] = set()
        self.discipline: Discipline | None = None
        self.stateful = False
        self.virtual_time = VirtualTime()
        self.clock_stands = False
        self.timeouts: dict[tuple[ThreadId, object, int], int] = {}
        self.timeouts_on: dict[object, int] = {}
        self.still = (0, 0, 0, 0.0)
        self.base_depth = self.recursion_limit = self.host_limit = 0
        self.number = 0
        self.incomplete: dict[str, None] = {}
        self.incomplete_if_multithreaded: dict[str, None] = {}
        self.exceptions: list[ThreadFailure] = []
        self.dirty = False
        self.stuck: list[Stuck] = []
        self.taken_at: dict[int, tuple[str, int]] = {}
        self.begin(RuntimeOptions(), Trace(), lambda enabled: STOP, None)

    def serve(self, program: Above) -> None:
        """Set the program of the next run."""
        self.above, self.is_program_file = program, program.is_program_file

    def attach(self, kind: type[T]) -> T:
        """Return the state of a module for the current run: an object of this class, initialised again for each run."""
        state = kind()
        self.attached.append(state)
        return state

    def begin(self, options: RuntimeOptions, trace: Trace, choose: Chooser, recorder: Recorder | None) -> None:
        """Start a new run. The trace says who moves, then `choose` does."""
        self.forget()
        self.options, self.recorder = options, recorder
        self.trace, self.choose = trace, choose
        self.event_threads, self.event_operations = trace.threads, trace.operations
        self.position, self.replayed, self.most_events = 0, len(trace.threads), options.max_steps
        self.number += 1
        self.multi = self.unwinding = self.timed_out = self.half_seen = False
        self.watched = self.unseen = False
        self.daemons = self.spins = self.deep = self.dying = self.careful = False
        self.ready = self.able = self.yielding = self.everybody = 0
        self.atomic = self.iterating = self.patience = self.back_edges = 0
        self.ending: Ending = Ending.COMPLETE
        self.error: Exception | None = None
        self.broken: str | None = None
        self.silent: list[tuple[int, ThreadId]] = []

    def forget(self) -> None:
        """Release what the run holds now, not only when the next one begins."""
        self.threads.clear()
        self.incomplete.clear()
        self.exceptions.clear()
        self.stuck.clear()
        self.taken_at.clear()
        self.made.clear()
        self.virtual_time.clear()
        self.made_early = 0
        self.incomplete_if_multithreaded.clear()
        self.waiting.clear()
        self.timeouts.clear()
        self.timeouts_on.clear()
        self.counters.clear()
        for state in self.attached:
            state.__init__()

    def make_current(self, thread: ModelThread) -> None:
        self.current = thread

    def update_careful(self) -> None:
        """Set `careful` again. Call this when something that it depends on has changed."""
        self.careful = bool(
            self.unwinding
            or self.atomic
            or self.recorder is not None
            or self.daemons
            or self.spins
            or self.deep
            or self.dying
            or self.specifications is not None
            or self.observer is not None
            or self.watched
        )


run = CurrentRun()
