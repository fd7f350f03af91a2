"""The judge of the runtime: a program, as it is written, on real threads of the operating system.

Nothing of `dpor.python` takes part (but `freeze`, which compares results). The source is compiled as it stands and
runs on real threads, of which one moves at a time: the one with the baton. `sys.settrace` with `f_trace_opcodes` stops
it before each bytecode of the program's file, and there a schedule may hand the baton on. So it does in the modules of
libraries that are judged with the program, which are executed anew in each run. `threading`, `queue` and
`concurrent.futures` are CPython's own source on a lock of ours that is built on the baton, so a thread that blocks is
known to block. The code of these modules is not stopped at bytecodes, only at each lock.

What CPython's C code does in one bytecode is one step here, whatever dpor takes it for. So a result that is seen here
and that no search of dpor finds is an access that no hook sees.
"""

from __future__ import annotations

import _thread
import builtins
import dis
import functools
import gc
import importlib.util
import io
import itertools
import random
import re
import sys
import types
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from dpor.python.specs.frozen_values import freeze
from tests.judge.baton import PATIENCE, Abort, Baton, Thread, now
from tests.judge.schedules import AtRandom, Decision, Following, Schedule


class Outcome(NamedTuple):
    """How a run ended, in the words that `dpor_outcome` (in `against.py`) also uses."""

    returned: Hashable
    failures: tuple[str, ...]
    stuck: tuple[str, ...]


def outcome(returned: Hashable, failures: Iterable[str], stuck: Iterable[str]) -> Outcome:
    """Without addresses, and in order."""
    return Outcome(_plain(returned), tuple(sorted(map(_plain, failures))), tuple(sorted(stuck)))


_ADDRESS: Final = re.compile("0x[0-9a-f]+")


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return _ADDRESS.sub("0x", value) if isinstance(value, str) and "0x" in value else value


# ---------------------------------------------------------------------- the modules that threads come from


class Lock:
    """`_thread.lock` on the baton."""

    def __init__(self) -> None:
        self.held = False

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if not blocking and timeout != -1:
            raise ValueError("can't specify a timeout for a non-blocking call")
        if timeout < 0 and timeout != -1:
            raise ValueError("timeout value must be a non-negative number")
        baton = now.baton
        if baton.aborting:
            raise Abort
        if not baton.current.quiet:
            baton.point()
        if self.held:
            if not blocking or timeout == 0:
                return False
            if not baton.wait_for(self, timeout > 0):
                baton.current.clock += timeout
                return False
        self.held = True
        return True

    def release(self) -> None:
        baton = now.baton
        if baton.aborting:
            self.held = False
            return
        if not baton.current.quiet:
            baton.point()
        if not self.held:
            raise RuntimeError("release unlocked lock")
        self.held = False

    def locked(self) -> bool:
        if not now.baton.aborting and not now.baton.current.quiet:
            now.baton.point()
        return self.held

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _at_fork_reinit(self) -> None:
        self.held = False

    acquire_lock, release_lock, locked_lock = acquire, release, locked


class Loading(Lock):
    """The lock of a module, while a thread executes it."""

    def __init__(self, loader: Thread) -> None:
        self.loader = loader
        self.held = True


class _Handle:
    """`_thread._ThreadHandle` of 3.13."""

    def __init__(self) -> None:
        self.ident: int | None = None
        self.done = Lock()
        self.done.held = True

    def join(self, timeout: float | None = None) -> None:
        if self.done.held and (timeout is None or timeout > 0):
            now.baton.wait_for(self.done, timeout is not None)

    def is_done(self) -> bool:
        return not self.done.held

    def _set_done(self) -> None:
        self.done.held = False


def _start(function: Callable[..., object], args: tuple[Any, ...] = (), kwargs: Any = None) -> int:
    daemon = getattr(getattr(function, "__self__", None), "daemon", True)
    return _start_real(function, args, kwargs or {}, daemon, None)


def _start_joinable(function: Callable[..., object], handle: _Handle | None = None, daemon: bool = True) -> _Handle:
    handle = handle or _Handle()
    handle.ident = _start_real(function, (), {}, daemon, handle.done)
    return handle


def _start_real(
    function: Callable[..., object], args: tuple[Any, ...], kwargs: Any, daemon: bool, done: Lock | None
) -> int:
    baton = now.baton
    thread = baton.new_thread(daemon)
    thread.sentinel = done

    def body() -> None:
        thread.gate.acquire()
        try:
            if not baton.aborting:
                sys.settrace(_trace)
                function(*args, **kwargs)
        except (Abort, SystemExit):
            pass
        except BaseException as error:
            baton.failures.append(f"Thread {thread.number}: {message(error)}")
        finally:
            sys.settrace(None)
            if thread.sentinel is not None:
                thread.sentinel.held = False
            baton.leave()

    _thread.start_new_thread(body, ())
    return thread.number


def _set_sentinel() -> Lock:
    lock = now.baton.current.sentinel = Lock()
    return lock


def _get_ident() -> int:
    return now.baton.current.number


def _module(name: str, /, **names: Any) -> types.ModuleType:
    module = types.ModuleType(name)
    vars(module).update(names)
    return module


_THREAD: Final = _module(
    "_thread",
    allocate_lock=Lock,
    lock=Lock,
    LockType=Lock,
    start_new_thread=_start,
    start_joinable_thread=_start_joinable,
    daemon_threads_allowed=lambda: True,
    _ThreadHandle=_Handle,
    _make_thread_handle=lambda ident: _Handle(),
    _get_main_thread_ident=lambda: 1,
    _shutdown=lambda: None,
    _set_sentinel=_set_sentinel,
    get_ident=_get_ident,
    error=RuntimeError,
    TIMEOUT_MAX=_thread.TIMEOUT_MAX,
    stack_size=_thread.stack_size,
    _local=_thread._local,
    _is_main_interpreter=lambda: True,
    _ExceptHookArgs=_thread._ExceptHookArgs,  # type: ignore[attr-defined]
    _excepthook=lambda args: None,
)


class _PlainWeakSet:
    """Nothing reads `threading._dangling` but a fork."""

    def add(self, item: object) -> None: ...
    def discard(self, item: object) -> None: ...


def _sleep(seconds: float) -> None:
    if now.baton.aborting:
        raise Abort
    now.baton.point()
    now.baton.current.clock += seconds


def _now() -> float:
    return now.baton.current.clock


def _no_fork() -> types.ModuleType:
    import os

    names = {key: value for key, value in vars(os).items() if key != "register_at_fork"}
    return _module("os", **names)


class _Modules:
    """What a program imports, in copies that begin anew with each run."""

    def __init__(self) -> None:
        time = importlib.import_module("time")
        self._fixed = {
            "_thread": _THREAD,
            "_weakrefset": _module("_weakrefset", WeakSet=_PlainWeakSet),
            "_queue": _module("_queue", Empty=importlib.import_module("_queue").Empty),
            "time": _module(
                "time", **{**vars(time), "sleep": _sleep, "time": _now, "monotonic": _now, "perf_counter": _now}
            ),
        }
        self._os = _no_fork()
        self._executed: dict[str, types.ModuleType] = {}
        self.judged: frozenset[str] = frozenset()  # libraries that are stopped at bytecodes, too
        self._loading: dict[str, Loading] = {}
        self._threading = self._execute("threading")
        self._kept = dict(vars(self._threading))
        self._main = dict(vars(self._threading._main_thread))
        self._in_library = False
        _quieten(self._threading.Thread)
        self.program_builtins = dict(vars(builtins), __import__=functools.partial(self._import, False))

    def begin(self) -> None:
        """Before each run."""
        threading = self._threading
        names = vars(threading)
        names.update(self._kept)
        main = names["_main_thread"]
        vars(main).update(self._main)
        if "_tstate_lock" in self._main:
            main._tstate_lock = Lock()
            main._tstate_lock.held = True
        names["_active_limbo_lock"] = names["RLock"]()
        main._started = names["Event"]()
        main._started._flag = True
        names["_active"] = {1: main}
        names["_limbo"] = {}
        names["_threading_atexits"] = []
        names["_counter"] = itertools.count(1).__next__
        if "_shutdown_locks" in names:
            names["_shutdown_locks"] = set()
            names["_shutdown_locks_lock"] = Lock()
        names["excepthook"] = _thread_failed
        self._executed = {"threading": threading}
        self._loading = {}

    def at_exit(self) -> None:
        self._threading._SHUTTING_DOWN = True
        for call in reversed(self._threading._threading_atexits):
            call()

    def _execute(self, name: str) -> types.ModuleType:
        module = _module(name, __builtins__=dict(vars(builtins), __import__=functools.partial(self._import, True)))
        vars(module)["__package__"] = name.rpartition(".")[0]
        self._executed[name] = module
        if name == "functools":  # which takes its lock from `_thread` if there is one
            _THREAD.RLock = self._threading.RLock  # type: ignore[attr-defined]
        exec(_library_code(name), vars(module))
        vars(_THREAD).pop("RLock", None)
        return module

    def _import(
        self, library: bool, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> Any:
        if name == "os" and library:
            return self._os
        if name == "concurrent.futures" or (name == "concurrent" and not library):
            return self._futures(bool(fromlist))
        if name in self._fixed:
            return self._fixed[name]
        if name in self.judged:
            return self._judged(name)
        if name in ("threading", "queue") or (name == "functools" and not library):
            return self._executed.get(name) or self._execute(name)
        return builtins.__import__(name, globals, locals, fromlist, level)

    def _judged(self, name: str) -> types.ModuleType:
        """Return the module of this run. As in CPython, who imports it first executes it, and others wait for that."""
        me, lock = now.baton.current, self._loading.get(name)
        if lock is not None:
            if lock.held and lock.loader is not me:
                now.baton.wait_for(lock, False)
            return self._executed[name]
        lock = self._loading[name] = Loading(me)
        module = self._executed[name] = _module(name, __builtins__=self.program_builtins)
        known = sys.modules.get(name)
        sys.modules[name] = module  # where an enum looks for the module of its class
        try:
            exec(_library_code(name), vars(module))
        finally:
            lock.held = False
            if known is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = known
        return module

    def _futures(self, inner: bool) -> types.ModuleType:
        package = self._executed.get("concurrent.futures")
        if package is None:
            package = self._executed["concurrent.futures"] = _module("concurrent.futures")
            base = self._execute("concurrent.futures._base")
            public = {key: value for key, value in vars(base).items() if not key.startswith("__")}
            vars(package).update(public, _base=base)
            thread = self._execute("concurrent.futures.thread")
            vars(package).update(thread=thread, ThreadPoolExecutor=thread.ThreadPoolExecutor)
        return package if inner else _module("concurrent", futures=package)


@functools.cache
def _library_code(name: str) -> types.CodeType:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return compile(Path(spec.origin).read_text(), spec.origin, "exec")


def _quieten(thread_class: Any) -> None:
    """The locks with which threads are started and joined are no points: every program has them, and they decide
    nothing."""
    for name in ("start", "join"):

        def quiet(plain: Any) -> Any:
            @functools.wraps(plain)
            def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
                me = now.baton.current
                me.quiet += 1
                try:
                    return plain(self, *args, **kwargs)
                finally:
                    me.quiet = max(me.quiet - 1, 0)

            return wrapper

        setattr(thread_class, name, quiet(getattr(thread_class, name)))


def _thread_failed(args: Any) -> None:
    if not issubclass(args.exc_type, (Abort, SystemExit)) and not now.baton.aborting:
        now.baton.failures.append(f"{args.thread.name}: {message(args.exc_value)}")


def message(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException:
        text = "<its text cannot be had: __str__ failed>"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


# ---------------------------------------------------------------------- stopping before bytecodes

_LOCAL_NAMES: Final = frozenset(
    {
        "CACHE", "COPY", "COPY_FREE_VARS", "EXTENDED_ARG", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT",
        "JUMP_FORWARD", "KW_NAMES", "LOAD_ASSERTION_ERROR", "LOAD_CONST", "LOAD_SMALL_INT", "LOAD_COMMON_CONSTANT",
        "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_AND_CLEAR", "LOAD_FAST_CHECK", "LOAD_FAST_LOAD_FAST",
        "LOAD_FAST_BORROW_LOAD_FAST_BORROW", "LOAD_CLOSURE", "MAKE_CELL", "MAKE_FUNCTION", "NOP", "NOT_TAKEN",
        "PRECALL", "PUSH_NULL",
        "RESUME", "RETURN_GENERATOR", "SWAP", "BUILD_TUPLE", "BUILD_LIST", "POP_EXCEPT", "PUSH_EXC_INFO", "RERAISE",
        "POP_JUMP_IF_NONE", "POP_JUMP_FORWARD_IF_NONE", "POP_JUMP_FORWARD_IF_NOT_NONE", "POP_JUMP_IF_NOT_NONE",
    }
)  # fmt: skip
"""Bytecodes that read and write only their own frame: to switch before one is to switch before the next other one."""

_LOCAL: Final = frozenset(dis.opmap[name] for name in _LOCAL_NAMES if name in dis.opmap)
_tracers: dict[int, tuple[types.CodeType, Any, Any]] = {}


def _trace(frame: Any, event: str, arg: object) -> Any:
    code = frame.f_code
    if code.co_filename not in now.files:
        return None
    known = _tracers.get(id(code))
    if known is None:
        known = _tracers[id(code)] = (code, *_tracers_of(code))
    frame.f_trace = tracer = known[1] if now.baton.schedule.local else known[2]
    frame.f_trace_opcodes = True  # from 3.14 on, without effect as long as the frame is not traced
    frame.f_trace_lines = False
    return tracer


def _tracers_of(code: types.CodeType) -> tuple[Any, Any]:
    stops = bytearray(byte not in _LOCAL for byte in code.co_code)
    for start, end, line in code.co_lines():
        if line in now.skipped:
            stops[start:end] = bytes(end - start)

    def every(frame: Any, event: str, arg: object) -> Any:
        if event == "opcode":
            baton = now.baton
            if baton.aborting:
                raise Abort
            baton.point()
        return every

    def some(frame: Any, event: str, arg: object) -> Any:
        if event == "opcode":
            baton = now.baton
            if baton.aborting:
                raise Abort
            if stops[frame.f_lasti] or baton.current.fresh:
                baton.point()
        return some

    return every, some


# ---------------------------------------------------------------------- the judge


class Judge:
    """A program to be judged: a file, and the name of a function in it that takes no arguments.

    skip     lines at which the runs with few preemptions have none
    judged   modules of libraries, in Python, that are judged with it
    """

    def __init__(
        self,
        file: Path,
        function: str = "scenario",
        timeout_limit: int = 1,
        skip: frozenset[int] = frozenset(),
        judged: Iterable[str] = (),
    ) -> None:
        self._skip = skip
        self._file = str(file)
        self._judged = frozenset(judged)
        self._name = file.stem
        self._function = function
        self._code = compile(file.read_text(), self._file, "exec")
        self._timeout_limit = timeout_limit
        self._modules = _modules()
        self.length = 50
        self.cuts = 0
        self.runs = 0

    def run(self, schedule: Schedule) -> Outcome | None:
        """One run; None if it was given up."""
        baton = now.baton = Baton(schedule, self._timeout_limit)
        self._modules.judged = self._judged
        self._modules.begin()
        result: list[Hashable] = [None]

        def main() -> None:
            thread = baton.threads[0]
            thread.gate.acquire()
            try:
                namespace = {"__name__": self._name, "__builtins__": self._modules.program_builtins}
                module = types.ModuleType(self._name)
                module.__dict__.update(namespace)
                sys.modules[self._name] = module
                exec(self._code, module.__dict__)
                sys.settrace(_trace)
                try:
                    try:
                        value = module.__dict__[self._function]()
                    finally:
                        sys.settrace(None)
                    result[0] = freeze(value)
                except Abort:
                    pass
                except BaseException as error:
                    if not isinstance(error, SystemExit) or error.code not in (None, 0):
                        baton.failures.append(f"MainThread: {message(error)}")
                    del error
                if not baton.aborting:
                    self._modules.at_exit()
            except Abort:
                pass
            finally:
                baton.leave()

        _thread.start_new_thread(main, ())
        baton.threads[0].gate.release()
        if not baton.finished.acquire(timeout=PATIENCE):
            raise RuntimeError(f"a judged program hangs: {self._file}")
        names = {number: thread.name for number, thread in self._modules._threading._active.items()}
        stuck = [str(names.get(thread.number, thread.number)) for thread in baton.stuck]
        ended = outcome(result[0], baton.failures, stuck)
        baton.unwind()
        sys.modules.pop(self._name, None)
        self.length = max(10, (self.length + baton.points) // 2)
        if baton.cut:
            self.cuts += 1
            return None
        return ended

    def _files(self) -> set[str]:
        return {self._file, *[_library_code(name).co_filename for name in self._judged]}

    def at_random(self, runs: int, seed: int) -> set[Outcome]:
        """What so many random runs show."""
        rng = random.Random(seed)
        with quiet(), _traced(self._files(), self._skip):
            seen = {self.run(AtRandom(rng, self.length)) for _ in range(runs)}
        return {outcome for outcome in seen if outcome is not None}

    def systematically(self, preemptions: int, most: int = 1_000_000, idle_main: bool = False) -> set[Outcome]:
        """What all runs with so many preemptions show (the first `most` of them). Fewer preemptions come first."""
        seen: set[Outcome | None] = set()
        level: list[tuple[Decision, ...]] = [()]
        self.runs = 0
        with quiet(), _traced(self._files(), self._skip):
            for left in range(preemptions, -1, -1):
                following: list[tuple[Decision, ...]] = []
                while level:
                    decisions = level.pop()
                    if self.runs >= most:
                        break
                    self.runs += 1
                    schedule = Following(decisions, idle_main)
                    seen.add(self.run(schedule))
                    for decision, costs in schedule.alternatives:
                        if not costs:
                            level.append((*decisions, decision))
                        elif left:
                            following.append((*decisions, decision))
                level = following
        return {outcome for outcome in seen if outcome is not None}


@functools.cache
def _modules() -> _Modules:
    return _Modules()


@contextmanager
def _traced(files: set[str], skip: frozenset[int]) -> Iterator[None]:
    now.skipped = skip
    now.files |= files
    try:
        yield
    finally:
        now.files -= files
        _tracers.clear()


@contextmanager
def quiet() -> Iterator[None]:
    """No printing, and no garbage collection at moments of its own."""
    old = sys.stdout, sys.stderr
    collects = gc.isenabled()
    gc.disable()
    sys.stdout = sys.stderr = io.StringIO()
    try:
        yield
    finally:
        sys.stdout, sys.stderr = old
        if collects:
            gc.enable()
            gc.collect()
