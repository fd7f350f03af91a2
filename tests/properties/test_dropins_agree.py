"""Our primitives and CPython's own classes on the modelled lock show the same outcomes: small programs, made at random.

What a thread sees (answers, errors) and who is stuck for ever are the outcome. Timed waits may time out anywhere.
`DPOR_DROPIN_PROGRAMS`: how many of each kind; `DPOR_DROPIN_FIRST`: the first seed.
"""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Callable
from typing import Any

import pytest

from dpor.python.hooks import calls
from dpor.python.program.layers import Layers
from tests.properties import cpython_threading
from tests.under_control import explore, stdlib

PROGRAMS = int(os.environ.get("DPOR_DROPIN_PROGRAMS", "25"))
FIRST = int(os.environ.get("DPOR_DROPIN_FIRST", "0"))

OURS: Any = stdlib.module_for_program("threading")
OS: Any = stdlib.module_for_program("os")
SELECT: Any = stdlib.module_for_program("select")
THEIRS: Any = cpython_threading.classes()

Body = list[tuple[str, ...]]

WORDS: dict[str, list[tuple[str, ...]]] = {
    "condition": [
        ("notify", "1"),
        ("notify", "2"),
        ("notify_all",),
        ("wait",),
        ("wait", "1"),
        ("wait", "0"),
        ("wait_deep",),
        ("notify_bare",),
    ],
    "semaphore": [
        ("acquire",),
        ("try",),
        ("acquire_for", "1"),
        ("acquire_for", "0"),
        ("release", "1"),
        ("release", "2"),
    ],
    "predicate": [("tell", "1"), ("tell", "0"), ("tell_all", "1"), ("wait_for",), ("wait_for", "1"), ("wait_for", "0")],
    "timer": [("start",), ("cancel",), ("join",), ("join", "1"), ("is_alive",), ("fired",)],
    "local": [("set", "1"), ("set", "2"), ("get",), ("delete",), ("names",)],
    "event": [("set",), ("clear",), ("is_set",), ("wait",), ("wait", "1"), ("wait", "0")],
    "rlock": [("enter",), ("leave",), ("try",), ("acquire_for", "1"), ("owned",)],
    "pipe": [
        ("read",),
        ("read",),
        ("read_now",),
        ("write",),
        ("ready",),
        ("ready_for", "1"),
        ("close_r",),
        ("close_w",),
    ],
    "barrier": [("wait",), ("wait", "1"), ("abort",), ("reset",), ("broken",), ("n_waiting",)],
}


class Told:
    """What a predicate looks at, under the condition's lock."""

    def __init__(self, condition: Any) -> None:
        self.condition = condition
        self.value = 0

    def tell(self, value: int) -> None:
        self.value = value
        self.condition.notify()

    def tell_all(self, value: int) -> None:
        self.value = value
        self.condition.notify_all()

    def wait_for(self, timeout: int | None = None) -> Any:
        return self.condition.wait_for(lambda: self.value, timeout)


class Fires:
    """A timer, and the event that it sets when it fires."""

    def __init__(self, module: Any) -> None:
        self.event = OURS.Event()
        self.timer = module.Timer(1, self.event.set)

    def fired(self) -> Any:
        return self.event.is_set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.timer, name)


class Pipe:
    """A pipe of ours, of which one byte is read at a time."""

    def __init__(self) -> None:
        self.r, self.w = OS.pipe()

    def read(self) -> Any:
        return OS.read(self.r, 1)

    def read_now(self) -> Any:
        return self.read() if self.ready_for(0) else None

    def write(self) -> Any:
        return OS.write(self.w, b"x")

    def ready(self) -> Any:
        return self.ready_for(None)

    def ready_for(self, seconds: int | None) -> Any:
        return SELECT.select([self.r], [], [], seconds)[0] != []

    def close_r(self) -> None:
        OS.close(self.r)

    def close_w(self) -> None:
        OS.close(self.w)


class PipeOnCondition(Pipe):
    """The same on a condition, as Linux does it: an end that is closed stays open for calls that wait on it."""

    def __init__(self) -> None:
        self.condition = OURS.Condition()
        self.data = 0
        self.closed = {"r": False, "w": False}
        self.inside = 0

    def read(self) -> Any:
        with self.condition:
            self.wait(None)
            if not self.data:
                return b""
            self.data -= 1
            return b"x"

    def wait(self, seconds: int | None) -> bool:
        if self.closed["r"]:
            raise OSError(errno.EBADF, "Bad file descriptor")
        self.inside += 1
        found = self.condition.wait_for(lambda: self.data or self.closed["w"], seconds)
        self.inside -= 1
        return bool(found)

    def ready_for(self, seconds: int | None) -> Any:
        with self.condition:
            return self.wait(seconds)

    def write(self) -> Any:
        with self.condition:
            if self.closed["w"]:
                raise OSError(errno.EBADF, "Bad file descriptor")
            if self.closed["r"] and not self.inside:
                raise BrokenPipeError(errno.EPIPE, "Broken pipe")
            self.data += 1
            self.condition.notify_all()
            return 1

    def close(self, end: str) -> None:
        with self.condition:
            if self.closed[end]:
                raise OSError(errno.EBADF, "Bad file descriptor")
            self.closed[end] = True
            self.condition.notify_all()

    def close_r(self) -> None:
        self.close("r")

    def close_w(self) -> None:
        self.close("w")


def make(kind: str, module: Any, draw: random.Random) -> Any:
    if kind == "condition":
        return module.Condition(module.Lock() if draw.random() < 0.5 else None)
    if kind == "predicate":
        return Told(module.Condition())
    if kind == "timer":
        return Fires(module)
    if kind == "local":
        return type("Own", (module.local,), {"__init__": lambda own: setattr(own, "value", 0)})()
    if kind == "semaphore":
        return module.BoundedSemaphore(1) if draw.random() < 0.3 else module.Semaphore(draw.randrange(2))
    if kind == "barrier":
        return module.Barrier(2)
    if kind == "pipe":
        return Pipe() if module is OURS else PipeOnCondition()
    return {"event": module.Event, "rlock": module.RLock}[kind]()


def plain(condition: Any) -> bool:
    """Is its lock one that anybody may release? Then CPython lets a notify pass if somebody else holds the lock; its
    steps and those of the holder fall over each other (IndexError), where ours are one step."""
    return type(condition._lock) is OURS.Lock


def step(kind: str, thing: Any, word: str, *arguments: str) -> Any:
    """Do one thing. Answers what a program can see of it."""
    numbers = [int(argument) for argument in arguments]
    if kind == "condition":
        if word == "notify_bare" and not plain(thing):
            return thing.notify()
        with thing:
            if word == "notify_bare":
                return thing.notify()
            if word == "wait_deep":
                if plain(thing):
                    return thing.wait(0)
                with thing:
                    return thing.wait(1)
            return getattr(thing, word)(*numbers)
    if kind in ("semaphore", "rlock"):
        if word in ("acquire", "enter"):
            return thing.acquire()
        if word == "try":
            return thing.acquire(blocking=False)
        if word == "acquire_for":
            return bool(thing.acquire(timeout=numbers[0]))
        if word == "owned":
            return thing._is_owned()
        return thing.release(*numbers)
    if kind == "predicate":
        with thing.condition:
            return getattr(thing, word)(*numbers)
    if kind == "local":
        return step_of_own(thing, word, *numbers)
    if word in ("broken", "n_waiting"):
        return getattr(thing, word)
    return getattr(thing, word)(*numbers)


def step_of_own(thing: Any, word: str, *numbers: int) -> Any:
    if word == "set":
        thing.value = numbers[0]
    elif word == "delete":
        del thing.value
    return sorted(vars(thing)) if word == "names" else thing.value


SHAPES = [(1, 1, 1), (2, 1), (2, 2), (3, 1)]
"""How many steps each thread makes."""

SMALL_SHAPES = [(1, 1)]
"""Of `local`: CPython's has many more operations than ours, which is private to its thread."""


def program(kind: str, seed: int, module: Any) -> Callable[[], Any]:
    draw = random.Random(seed)
    shapes = SMALL_SHAPES if kind == "local" else SHAPES
    shape = shapes[seed % len(shapes)]
    bodies: list[Body] = [[draw.choice(WORDS[kind]) for _ in range(steps)] for steps in shape]
    state = draw.getstate()

    def run() -> Any:
        draw.setstate(state)
        thing = make(kind, module, draw)
        seen: list[list[Any]] = [[] for _ in bodies]

        def body(number: int) -> None:
            for word in bodies[number]:
                try:
                    seen[number].append(step(kind, thing, *word))
                except (RuntimeError, ValueError, AttributeError, OSError) as error:
                    seen[number].append(f"{type(error).__name__}: {error}")

        workers = [module.Thread(target=body, args=(n,), name=f"t{n}") for n in range(len(bodies))]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return seen

    run.__doc__ = f"{kind}: {bodies}"
    return run


def shown(kind: str, seed: int, module: Any) -> set[Any]:
    """The outcomes; of those who are stuck, only that they are.

    From 3.13 on, the error of a second start shows the thread, and with CPython's classes more than one step shows what
    a timer consists of.
    """
    explored = explore(program(kind, seed, module), "source", timeout_limit=20)
    incomplete = {reason for reason in explored.incomplete if not reason.startswith("threading.Event.__repr__ ")}
    assert not incomplete, incomplete
    return {
        tuple(part.partition(" at ")[0] if isinstance(part, str) and " at " in part else part for part in outcome)
        for outcome in explored.outcomes
    }


@pytest.mark.parametrize("kind", sorted(WORDS))
@pytest.mark.parametrize("seed", range(FIRST, FIRST + PROGRAMS))
def test_outcomes_agree(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "local":  # CPython's stores its `__dict__` under a lock of its own at each access: 20,000 runs a program
        monkeypatch.setattr(Layers, "call", staticmethod(lambda callee: callee))
        monkeypatch.setattr(calls, "call", lambda callee: callee)
    ours, theirs = shown(kind, seed, OURS), shown(kind, seed, THEIRS)
    assert ours == theirs, (
        f"{program(kind, seed, OURS).__doc__}: only ours {ours - theirs}, only theirs {theirs - ours}"
    )


def child_ends(threading: Any) -> Any:
    worker = threading.Thread(target=lambda: None)
    worker.start()
    alive = worker.is_alive()
    worker.join()
    return alive, worker.is_alive()


def timed_join(threading: Any) -> Any:
    worker = threading.Thread(target=lambda: None)
    worker.start()
    worker.join(1)
    alive = worker.is_alive()
    worker.join()
    return alive


def exception(threading: Any) -> Any:
    heard: list[Any] = []
    threading.excepthook = lambda args: heard.append((args.exc_type.__name__, args.thread.name))
    worker = threading.Thread(target=[].pop, name="worker")
    worker.start()
    worker.join()
    return heard


def misuse(threading: Any) -> Any:
    worker = threading.Thread(target=lambda: None)
    said = []
    for action in (worker.join, worker.start, worker.join, worker.start):
        try:
            said.append(action())
        except RuntimeError as error:
            said.append(str(error))
    return said


def counted(threading: Any) -> Any:
    worker = threading.Thread(target=lambda: None)
    worker.start()
    count = threading.active_count(), len(threading.enumerate())
    worker.join()
    return count, threading.active_count()


def named(threading: Any) -> Any:
    names = []

    def work() -> None:
        names.append((threading.current_thread().name, threading.current_thread().daemon))

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join()
    return names, threading.Thread().name, threading.current_thread().name


def timer(threading: Any) -> Any:
    fired: list[int] = []
    later = threading.Timer(1, lambda: fired.append(1))
    later.start()
    later.cancel()
    later.join()
    return fired


@pytest.mark.parametrize("program", [child_ends, timed_join, exception, misuse, counted, named, timer])
def test_threads_agree_with_the_whole_of_cpythons_file(program: Callable[[Any], Any]) -> None:
    """The file keeps state, so it is executed anew as the first thing in each run."""
    made: list[Any] = []

    def on_theirs() -> Any:
        made[:] = [cpython_threading.whole()]
        return program(made[0])

    ours = explore(lambda: program(OURS))
    theirs = explore(on_theirs, roots=lambda: cpython_threading.roots(made[0]))
    assert returned(ours) == returned(theirs)


def returned(explored: Any) -> set[Any]:
    """What the runs returned; an exception in a thread is told by ours only where no hook has heard of it."""
    return {outcome[0] for outcome in explored.outcomes}
