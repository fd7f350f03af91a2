"""The one run of the process, as an object: who moves, what has happened, what was noted on the way.

There is one run at a time in a process: `run`. `begin` makes it new. Hooks look at it at every access, so it has slots.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from greenlet import greenlet

from dpor.core.operations import Location, Operation, OperationTable, Rule, ThreadId
from dpor.core.system import STOP, Chooser, Ending, Trace
from dpor.python.kernel.above import Above
from dpor.python.kernel.listeners import Observer, Recorder, Specifications, ThreadFailure
from dpor.python.kernel.model_thread import ModelThread, Waited
from dpor.python.kernel.options import RuntimeOptions
from dpor.python.kernel.stuck import Stuck
from dpor.python.kernel.virtual_time import VirtualTime
from dpor.python.kernel.workers import Workers

ABLE_UNKNOWN = -1
"""In place of `Run.able`, when a state has changed since it was found out."""


class Run:
    """The state of the run. What a search hands from run to run is given to `begin`; the rest begins anew there.

    Threads
    current       the thread that moves; None between runs
    threads       all model threads, by number
    by_front      those that are started, by the `id` of the program's Thread object
    multi         can more than one thread act on shared data? While False, accesses are no operations
    ready         mask of the threads that run, or are about to do an operation that can never block
    waiting       the threads that are about to do an operation that may be blocked
    able          mask of those of them that are not blocked; ABLE_UNKNOWN when a state has changed since
    yielding      mask of the threads that go round a loop without operations
    everybody     mask of all threads there have been
    hub           the greenlet that carries the run out
    os_thread     the thread of the host in which it does so
    workers       the greenlets of the search
    process       is the program running? `alive`: how many of its non-daemon threads are

    Events
    trace         what is repeated, and then grows; `event_threads`, `event_operations`: its lists
    choose        asked who moves when nothing is left to repeat
    position      how many events have happened; `replayed`: so many are repeated; `most_events`: so many may happen
    operations, known_operations, numbers     of the search: see `Search`
    made          all synchronisation objects, kept alive until the run ends, as all that threads share is
    made_early    those that were made before the run began
    counters      how often locations have been written, where that is counted

    What is looked at besides
    recorder, specifications      told of events, if there are any
    observer      while code of a specification runs: its operations are no events
    options       what the user has set
    above         what the kernel needs of the layers above it, `is_program_file` among it: see `serve`
    facts         what runs of this search have shown and later runs rely on
    stateful      does this search ask for the state? Then it learns what states alone depend on
    daemons       are there daemon threads? Then the end of the program is an operation
    spins         does a loop of the program wait by spinning? Then writes are counted
    dying         do objects die while several threads exist, and does somebody notice? Then each step is looked at
    deep          does the program recurse to the limit? Then what happens at an operation has room of its own
    atomic        how many steps that cannot be divided the current thread is in
    careful       is an access more than a scheduling point: while `unwinding`, in atomic code, with a recorder, daemon
                  threads, spinning loops, specifications or deep recursion?

    Time and loops
    virtual_time  the clocks of the threads; `clock_stands`: all looks at the clock see what it shows at the start
    timeouts      how often each timed wait has timed out; `timed_out`: has anything?
    back_edges    of loops, since the current thread's last operation
    still         the run, how many events it had when it last moved, the beats since, the seconds of computing then

    Recursion
    base_depth    the depth of calls at which threads begin
    recursion_limit   the interpreter's, while code of the program runs; `host_limit`: before the run

    How it ends
    number        which run of the process it is
    unwinding     is it over, and threads are unwound? Then operations do nothing
    patience      how many operations the program has tried to do meanwhile
    ending, error how it ended
    incomplete    why it stands for less than everything, in order; `incomplete_if_multithreaded`: if a thread starts
    exceptions    those that ended threads
    broken        why the search has to start again when the run has ended
    dirty         has a run changed what outlives it (a module's global, a class, a function)?
    stuck         who can never go on, in words; `taken_at`: where each lock that is held was taken
    """

    __slots__ = (
        "able", "above", "alive", "atomic", "back_edges", "base_depth", "broken", "by_front", "careful", "choose",
        "clock_stands", "counters", "current", "daemons", "deep", "dirty", "dying", "ending", "error",
        "event_operations", "event_threads", "everybody", "exceptions", "facts", "host_limit", "hub", "incomplete",
        "incomplete_if_multithreaded", "is_program_file", "known_operations", "made", "made_early", "most_events",
        "multi", "number", "numbers", "observer", "operations", "options", "os_thread", "patience", "position",
        "process", "ready", "recorder", "recursion_limit", "replayed", "specifications", "spins", "stateful", "still",
        "stuck", "taken_at", "threads", "timed_out", "timeouts", "trace", "unwinding", "virtual_time", "waiting",
        "workers", "yielding",
    )  # fmt: skip

    above: Above
    is_program_file: Callable[[str], bool]
    alive: Waited
    process: Waited
    workers: Workers

    def __init__(self) -> None:
        self.current: ModelThread = None  # type: ignore[assignment]
        self.threads: list[ModelThread] = []
        self.by_front: dict[int, ModelThread] = {}
        self.waiting: list[ModelThread] = []
        self.hub: greenlet = None
        self.os_thread = 0
        self.numbers: dict[tuple[ThreadId, int], ThreadId] = {}
        self.operations = OperationTable()
        self.known_operations: dict[tuple[int, ...], tuple[Rule, tuple[Operation, bool]]] = {}
        self.made: list[Waited] = []
        self.made_early: list[Waited] = []
        self.counters: dict[Location, Any] = {}
        self.specifications: Specifications | None = None
        self.observer: Observer | None = None
        self.facts: set[object] = set()
        self.stateful = False
        self.virtual_time = VirtualTime()
        self.clock_stands = False
        self.timeouts: dict[tuple[ThreadId, object, int], int] = {}
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
        """The next run is one of this program."""
        self.above, self.is_program_file = program, program.is_program_file

    def begin(self, options: RuntimeOptions, trace: Trace, choose: Chooser, recorder: Recorder | None) -> None:
        """A new run. Who moves is said by the trace, and then by `choose`."""
        self.forget()
        self.options, self.recorder = options, recorder
        self.trace, self.choose = trace, choose
        self.event_threads, self.event_operations = trace.threads, trace.operations
        self.position, self.replayed, self.most_events = 0, len(trace.threads), options.max_steps
        self.number += 1
        self.multi = self.unwinding = self.timed_out = False
        self.daemons = self.spins = self.deep = self.dying = self.careful = False
        self.ready = self.able = self.yielding = self.everybody = 0
        self.atomic = self.patience = self.back_edges = 0
        self.ending: Ending = Ending.COMPLETE
        self.error: Exception | None = None
        self.broken: str | None = None

    def forget(self) -> None:
        """What the run holds dies now, and not when the next one has begun."""
        self.threads.clear()
        self.incomplete.clear()
        self.exceptions.clear()
        self.stuck.clear()
        self.taken_at.clear()
        self.made.clear()
        self.virtual_time.clear()
        self.made_early.clear()
        self.incomplete_if_multithreaded.clear()
        self.waiting.clear()
        self.timeouts.clear()
        self.counters.clear()

    def make_current(self, thread: ModelThread) -> None:
        self.current = thread

    def update_careful(self) -> None:
        """To be called when something has changed that `careful` depends on."""
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
        )


run = Run()
