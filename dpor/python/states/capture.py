"""The exact state of the current run, captured while the chooser is asked which thread moves next.

Two states are equal only if nothing that the program does from here on could come out differently. A state consists of
the frames of all threads, the heap that can be reached from them and from the program's modules, what synchronisation
objects and the drop-ins of `time`, `random` and the like remember, and the failures so far. The run's past is not part
of it.

Which accesses are operations depends on which objects are known to be shared, so that is part of the state, too (an
object may belong to one thread, be shared, or not have been touched yet).
"""

from __future__ import annotations
import __future__

import contextvars
import dis
import random
import types
from collections.abc import Hashable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple, Protocol
from weakref import ref

from greenlet import getcurrent

from dpor.core.operations import READ, THREAD_MASK, Action, Location, Operation, ThreadId
from dpor.core.system import STOP, Chooser, Pending, SyncChoices
from dpor.python.dropins import copying, module_locks, state, stdlib
from dpor.python.dropins.idents import numbering
from dpor.python.dropins.locals import Here
from dpor.python.dropins.threads import DummyThread
from dpor.python.effects import letting_go, process_state
from dpor.python.kernel import host_modules, interest, timing
from dpor.python.kernel.assumptions import CLOCKS, IDENTITIES
from dpor.python.kernel.driving import SearchState
from dpor.python.kernel.model_thread import ModelThread
from dpor.python.kernel.program_frames import program_frame
from dpor.python.kernel.run import run
from dpor.python.kernel.scheduler import pending_of
from dpor.python.sharing import host_fields
from dpor.python.sharing.sharing_state import sharing
from dpor.python.specs import specifying
from dpor.python.states.canonical_names import CanonicalNames
from dpor.python.states.choices import is_choice
from dpor.python.states.classes import Classes
from dpor.python.states.clocks import clocks
from dpor.python.states.frames import ATOMS, Layouts, ThreadPart, frames_from, frames_of, read_frames, read_thread
from dpor.python.states.heap import Heap, PrivateHeap
from dpor.python.states.memory import WORDS, slots_of, why_unreadable
from dpor.python.states.plans import TypePlans, finalised_among
from dpor.python.states.stacks import StateUnknown


class _Read(NamedTuple):
    """What was read of a thread. `held`: the number of the part's objects that its frames hold."""

    part: ThreadPart
    dead: list[Any]
    held: int


class LoadedModules(Protocol):
    """The program's modules, as `dpor.python.program.loader.Loader` has them."""

    modules: dict[str, Any]
    host: Any

    @property
    def is_constant(self) -> bool: ...


class Capture:
    """Captures the states of one search.

    naming    numbers what states name
    reasons   why states could not be stored, and how often
    kept      objects on which the end of the run depends and that no thread holds
    """

    def __init__(self, search: SearchState, loader: LoadedModules, bottom: Iterable[types.CodeType]) -> None:
        self.reasons: dict[str, int] = {}
        self.kept: Sequence[object] = ()
        self._search = search
        self._loader = loader
        self._layouts = Layouts(bottom)
        self.naming = self._layouts.naming
        self._names = CanonicalNames(search.operations)
        self._plans = TypePlans(Classes(self._layouts, self._program_modules, lambda: loader.is_constant))
        self._stateful = False
        self._watched = False
        self._read: dict[ThreadId, _Read] = {}  # of the threads that have not moved since
        self._canonical: list[ref[Any]] = []  # of the first `_looked_at`, those with canonical names
        self._looked_at = 0

    def will_store_states(self) -> None:
        """See `dpor.core.system.KnowsStates`."""
        self._stateful = True

    def begin_run(self) -> None:
        """Called before each run."""
        run.stateful = self._stateful
        self._forget()
        self._watched = False
        self._layouts.begin_run()
        self._plans.begin_run()

    def _forget(self) -> None:
        self._read.clear()
        self._canonical.clear()
        self._looked_at = 0

    def _look_at_names(self) -> None:
        if not self._names.settled and self._names.look_at(run.trace):
            self._forget()

    def _program_modules(self) -> dict[str, types.ModuleType]:
        return {name: loaded.module for name, loaded in self._loader.modules.items()}

    def watching(self, choose: Chooser) -> Chooser:
        """Wrap the chooser so that what was read of a thread is dropped when it moves, and keeps nothing alive."""
        if not self._stateful:
            return choose
        read = self._read

        def watched(enabled: int) -> Action:
            action = choose(enabled)
            if action == STOP:
                read.clear()
            else:
                read.pop(action & THREAD_MASK, None)
            return action

        self._watched = True
        return watched

    # ------------------------------------------------------------------ what a search asks

    def whole(self, returned: Hashable) -> bytes | None:
        """Return the state as bytes that are equal only for equal states; None if it is unknown.

        `returned`: what the target has returned, if it has.
        """
        reason = why_unreadable()
        if not reason:
            try:
                return self._whole(returned)
            except StateUnknown as error:
                reason = str(error)
        self.reasons[reason] = self.reasons.get(reason, 0) + 1
        return None

    def pending(self) -> list[Pending]:
        """See `dpor.core.system.StatefulSystem.pending`."""
        found: list[Pending] = []
        for thread in run.threads:
            operation = pending_of(thread) if thread.running else None
            if operation is not None:
                states = tuple([o.dpor_state for o in thread.objects]) if thread.objects else ()
                missing = len(operation.accesses) - len(states)
                found.append(Pending(thread.id, operation, states + (None,) * missing if missing else states))
        return found

    def sync_states(self) -> Mapping[Location, Any]:
        """See `dpor.core.system.StatefulSystem.sync_states`: of those whose names are canonical."""
        self._look_at_names()
        made, is_canonical = run.made, self._names.is_canonical
        if len(made) > self._looked_at:
            new = [(one, one()) for one in made[self._looked_at :]]
            self._canonical += [one for one, o in new if o is not None and is_canonical(o.dpor_location)]
            self._looked_at = len(made)
        living = [o for one in self._canonical if (o := one()) is not None]
        states = {o.dpor_location: o.dpor_state for o in living if hasattr(o, "dpor_state")}
        for one in (run.process, run.alive):
            states[one.dpor_location] = one.dpor_state
        return states

    def is_choice(self, thread: ThreadId, sync_choices: SyncChoices) -> bool:
        """See `dpor.core.system.StatefulSystem.is_choice`."""
        return is_choice(thread, sync_choices, self._layouts, self._held_by)

    def _held_by(self, thread: ModelThread) -> Sequence[Any]:
        """The objects that the frames of a waiting thread hold. Raises `StateUnknown`."""
        known = self._read.get(thread.id)
        return read_thread(thread, self._layouts)[0].objects if known is None else known.part.objects[: known.held]

    def canonical(self, operation: Operation) -> Operation:
        """See `dpor.core.system.StatefulSystem.canonical`."""
        self._look_at_names()
        return self._names.operation(operation)

    def remembers_way(self) -> bool:
        """See `dpor.core.system.StatefulSystem`. Else names that are not canonical are hidden
        (`CanonicalNames.shown`)."""
        return IDENTITIES in run.facts or _has_clocks()

    def changes_data(self, operation: Operation) -> bool:
        """See `dpor.core.system.StatefulSystem.changes_data`."""
        return any(mode is not READ and self._names.is_data(location) for location, mode in operation.accesses)

    def place_of(self, thread: ModelThread) -> tuple[str, int] | None:
        """File and line of the program at which the thread waits."""
        frames = frames_of(thread)
        frame = program_frame(frames[0] if frames else None)
        return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)

    def private(self, thread: ModelThread, frame: types.FrameType) -> bytes | None:
        """Encode what only the current thread can change, and reaches from its innermost frame, `frame`.

        Equal at two moments of one run only if all of that is the same; None if the state is unknown.
        """
        try:
            frames = frames_from(frame)
            part, _ = read_frames(thread, self._layouts, frames, ())
            part.shape[1] = frame.f_lineno  # a `while` test is compiled twice, with different offsets
            part.shape.append(thread.data.get("uuid1", 0))
            self._own(thread, part)
            running = {number: (thread.id, depth) for number, depth in part.generators.items()}
            heap = PrivateHeap(self._plans, self._layouts, self._names, running)
            heap.part(part)
            heap.finish()
        except StateUnknown as error:
            self.reasons[str(error)] = self.reasons.get(str(error), 0) + 1
            return None
        return heap.encoding()

    def forget_frames(self) -> None:
        """See `dpor.python.kernel.listeners.FrameStates`."""
        self._read.clear()

    def variables(self, frame: types.FrameType) -> tuple[int, ...]:
        """Return the addresses of the objects in the frame's live variables."""
        layout = self._layouts.of(frame.f_code)
        first = slots_of(frame)
        return tuple([WORDS[first + slot] & ~3 for slot in layout.place(frame.f_lasti).live])

    # ------------------------------------------------------------------ the state

    def _whole(self, returned: Hashable) -> bytes:
        run.stateful = self._stateful = True
        if letting_go.is_waiting():
            raise StateUnknown("a thread is letting go of an object, which may die")
        self._look_at_names()
        parts: list[ThreadPart] = []
        dead: list[Any] = []
        running: dict[int, tuple[int, int]] = {}
        read = self._read
        for thread in run.threads:
            if not thread.bit or not thread.running:
                continue
            found = read.get(thread.id)
            if found is None:
                part, unused = read_thread(thread, self._layouts)
                found = _Read(part, unused, len(part.objects))
                self._about(thread, part)
                if self._watched:
                    read[thread.id] = found
            part = found.part
            parts.append(part)
            dead += found.dead
            for frame, depth in part.generators.items():
                running[frame] = (thread.id, depth)
        heap = self._heap(parts, running, returned, ())
        dead += heap.dead
        if dead and (heap.finalised or finalised_among(dead, heap)):
            heap = self._heap(parts, running, returned, dead)
        return heap.encoding()

    def _heap(
        self, parts: list[ThreadPart], running: dict[int, tuple[int, int]], returned: Hashable, dead: Sequence[Any]
    ) -> Heap:
        heap = Heap(self._plans, self._layouts, self._names, running)
        heap.out.append((run.multi, run.timed_out, sharing.order, returned, len(parts)))
        for part in parts:
            heap.part(part)
        for thread in run.threads:
            if thread.bit and not thread.running:
                heap.out.append((thread.id, thread.daemon, thread.ended))
        self._module_globals(heap)
        self._of_run(heap)
        if _has_clocks():
            heap.out.append(clocks())
        if IDENTITIES in run.facts:  # then how later objects are numbered matters
            heap.out.append([(t.id, t.events + t.silent, t.count) for t in run.threads if t.bit])
        self._failures(heap)
        heap.out.append(("dead", len(dead)))
        heap.refs(dead)
        heap.finish()
        return heap

    def _about(self, thread: ModelThread, part: ThreadPart) -> None:
        """Add the state of the thread apart from its frames."""
        operation = thread.pending if thread.reread is None else None  # else it follows from the rest of the state
        part.shape.append(
            (
                thread.id,
                thread.name,
                thread.daemon,
                thread.ended,
                run.yielding & thread.bit,
                None if operation is None else self._plans.operation(self._names, operation),
                thread.data.get("started", 0),
                thread.data.get("numbered", 0),
                thread.data.get("uuid1", 0),
            )
        )
        part.add(thread.thread_object)
        if thread.timed is not None:
            part.add(thread.timed)
            part.shape.append(("deadline", thread.deadline if _has_clocks() else None))
        self._own(thread, part)

    def _own(self, thread: ModelThread, part: ThreadPart) -> None:
        """Add what drop-ins store for the thread, and its context."""
        part.shape.append(thread.data.get("temporary", 0))
        for key, value in thread.data.items():
            if key in _COUNTED:
                continue
            if type(key) is tuple and key[0] == "handler lock":
                part.shape.append((key[0], self._names.location(key[1])))
            elif type(key) is not str and key not in _KEYS:
                raise StateUnknown(f"a thread has data of an unknown kind ({key!r})")
            else:
                part.shape.append(("own", _KEYS.get(key, key)))
            part.add(value)
        context = thread.greenlet.gr_context if thread.greenlet is not getcurrent() else contextvars.copy_context()
        if context:
            variables = sorted(context.items(), key=lambda item: item[0].name)
            if len({variable.name for variable, _ in variables}) < len(variables):
                raise StateUnknown("two context variables of one name")
            for variable, value in variables:
                part.shape.append(("context", variable.name))
                part.add(value)

    # ------------------------------------------------------------------ what all threads can reach

    def _module_globals(self, heap: Heap) -> None:
        for name, loaded in self._loader.modules.items():
            if loaded.changing or loaded.changing is None or run.dirty:
                heap.out.append(("module", name))
                for key, value in loaded.globals(run.dirty):
                    heap.out.append(key)
                    heap.ref(value)
        for module in host_modules.changed_modules.values():
            heap.out.append(("changed", module.__name__))
            first = vars(module).get(".first", {})
            for key, value in vars(module).items():
                if not key.startswith(".") and first.get(key, _ABSENT) is not value:
                    heap.out.append(key)
                    heap.ref(value)
        for holder, name, value in host_fields.changed():
            heap.out.append((holder, name))
            heap.ref(value)
        if self._loader.host is not None:
            changes = self._loader.host.changed()
            heap.out.append(len(changes))
            heap.refs(changes)
        for hidden in sorted(process_state.hidden()):
            raise StateUnknown(f"{hidden} has changed, and cannot be read")
        for part, value in process_state.values():
            heap.out.append(part)
            if type(value) is not process_state.Contents:
                heap.ref(value)
            elif not value.names:  # else stores of globals, which are noted above
                heap.ref(value.found)
        for copy in copying.copies:
            if copy.__name__.partition(".")[0] not in stdlib.used_packages:
                continue
            heap.out.append(copy.__name__)
            heap.refs([vars(copy)[key] for key in _changing(copy)])

    def _of_run(self, heap: Heap) -> None:
        """Add what the drop-ins and the kernel store for the run."""
        library = state.library
        heap.out.append(
            (
                run.alive.dpor_state,
                library.shutting_down,
                bool(library.unjoined),
                sorted(numbering.asked.items()),
                sorted(
                    (thread, self._layouts.number(code) if isinstance(code, types.CodeType) else -1, line, used)
                    for (thread, code, line), used in run.timeouts.items()
                    if timing.is_counted((thread, code, line))
                ),
            )
        )
        heap.out.append(module_locks.states())
        heap.out.append(sorted(library.descriptors))
        heap.refs([library.descriptors[number] for number in sorted(library.descriptors)])
        heap.out.append(len(library.atexit))
        heap.refs(library.atexit)
        heap.out.append(len(library.exit_calls))
        heap.refs(library.exit_calls)
        kept = [*self.kept]
        specified = specifying.current()
        if specified is not None:
            kept += [*specified.kept, *(history.events for history in specified.histories)]
        heap.out.append(len(kept))
        heap.refs(kept)
        heap.refs(
            (
                library.main,
                library.trace,
                library.profile,
                library.launching,
                getattr(library, "register", None),
                library.generator,
            )
        )
        if library.listed:
            heap.out.append(len(library.listed))
            heap.refs(library.listed.values())

    def _failures(self, heap: Heap) -> None:
        """Add what has failed: exceptions that have ended threads, and what did not hold. The run's outcome has it."""
        specified = specifying.current()
        for finding in () if specified is None else specified.findings:
            heap.out.append(("unmet", finding.kind.value, finding.message, finding.thread))
        if interest.labels.met:
            heap.out.append(("reached", tuple(sorted(interest.labels.met))))
        for failure in run.exceptions:
            heap.out.append(("failed", failure.thread.id, failure.message))
            heap.ref(failure.error)


def _has_clocks() -> bool:
    """True if the time is part of the state."""
    return CLOCKS in run.facts or run.options.timeouts == "idle"


_ABSENT: Final = object()
_COUNTED: Final = frozenset({"started", "numbered", "uuid1", "ids", "ids taken", Here})
"""Data of a thread that is encoded elsewhere."""
_KEYS: Final[dict[Any, str]] = {random.Random: "random", DummyThread: "dummy"}


def key_of(whole: bytes) -> bytes:
    """Hash a state to 128 bits."""
    return blake2b(whole, digest_size=16).digest()


_changing_names: dict[int, tuple[types.ModuleType, list[str]]] = {}
"""A cache for the whole process, by the `id` of the module: see `_changing`."""


def _changing(module: types.ModuleType) -> list[str]:
    """Return the globals of a copy of library source that its functions rebind, or whose objects can change."""
    known = _changing_names.get(id(module))
    if known is None or known[0] is not module:
        functions = [
            value
            for owner in (module, *[value for value in vars(module).values() if isinstance(value, type)])
            for value in vars(owner).values()
            if isinstance(value, types.FunctionType)
        ]
        rebound = {name for function in functions for name in _rebound_in(function.__code__)}
        names = [
            name
            for name, value in vars(module).items()
            if not name.startswith((".", "__")) and (name in rebound or not _is_constant(value))
        ]
        known = _changing_names[id(module)] = (module, names)
    return known[1]


def _rebound_in(code: types.CodeType) -> set[str]:
    """Return the globals that the code, or code inside it, stores to or deletes."""
    found: set[str] = set()
    if not _STORES.isdisjoint(code.co_code[::2]):
        found.update(str(i.argval) for i in dis.get_instructions(code) if i.opcode in _STORES)
    return found.union(*[_rebound_in(inner) for inner in code.co_consts if isinstance(inner, types.CodeType)])


_STORES: Final = frozenset({dis.opmap["STORE_GLOBAL"], dis.opmap["DELETE_GLOBAL"]})


def _is_constant(value: Any) -> bool:
    kind = type(value)
    if kind in (tuple, frozenset):
        return all(map(_is_constant, value))
    return kind in ATOMS or isinstance(value, _CONSTANT)


_CONSTANT: Final = (
    __future__._Feature,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    types.MappingProxyType,
    type,
    staticmethod,
    types.GenericAlias,
)
