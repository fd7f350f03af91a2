"""Objects that die while several threads exist are told, if anybody could notice; those that do not are not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dpor.python.dropins.stdlib import module_for_program
from dpor.python.kernel.assumptions import DYING, about
from dpor.python.kernel.run import run
from dpor.python.program.layers import Layers
from dpor.python.sharing import census, deaths, identity
from dpor.python.sharing.sharing_state import sharing
from tests.source_outcomes import outcomes

HEAD = """
import contextlib, gc, weakref

class Noisy:
    def __init__(self, log=None):
        self.log = log
    def __del__(self):
        if self.log is not None:
            self.log.append("gone")

class Tells(Noisy):
    def __del__(self):
        self.log.append(threading.current_thread().name[:8])

class Keeps:
    def __init__(self, inner):
        self.inner = inner

class Slotted(Noisy):
    __slots__ = ()

class Plain:
    def m(self):
        pass

class Worker(threading.Thread):
    def __del__(self):
        pass

def cleaning(log):
    try:
        yield 1
    finally:
        log.append("gone")

def scenario():
    log, box = [], Plain()
"""

DIES = {
    "taken out of a list": "x = [Noisy(log)]\nrun(x.clear, lambda: len(x))",
    "replaced": "box.x = Noisy(log)\ndef f(): box.x = None\nrun(f, lambda: box.x)",
    "in a container that dies": "box.x = [({1: Noisy(log)},)]\ndef f(): box.x = None\nrun(f, lambda: box.x)",
    "in an object that dies": "box.x = Plain()\nbox.x.y = Noisy(log)\ndef f(): box.x = None\nrun(f, lambda: box.x)",
    "in the cell of a function that dies": """
def make():
    noisy = Noisy(log)
    return lambda: noisy
box.x = make()
def f(): box.x = None
run(f, lambda: box.x)""",
    "a variable of a thread that ends": "def f():\n    x = Noisy(log)\n    box.x = x\n    box.x = None\nrun(f, f)",
    "a variable of the target, which ends": """
x = Noisy(log)
threading.Thread(target=lambda: box).start()
box.x = x
box.x = 1""",
    "with a callback": "x = [Plain()]\nw = weakref.ref(x[0], log.append)\nrun(x.clear, lambda: len(x))",
    "in a weak set": "x = [Plain()]\ns = weakref.WeakSet(x)\nrun(x.clear, lambda: len(x))",
    "a key of a weak dict": "x = [Plain()]\ns = weakref.WeakKeyDictionary({x[0]: 1})\nrun(x.clear, lambda: len(x))",
    "a value of a weak dict": "x = [Plain()]\ns = weakref.WeakValueDictionary(a=x[0])\nrun(x.clear, lambda: len(x))",
    "a thread": "x = Worker(target=lambda: box)\nx.start()\ndel x\nbox.x = 1",
    "given to an object whose calls are recorded": """
import dpor
class Sink:
    def put(self, x):
        box.x = x
        box.x = None
sink = dpor.linearizable(Sink)(Sink())
x = [Noisy(log)]
run(lambda: sink.put(x.pop()), lambda: sink.put(1))""",
    "a lock in a weak dict": """
d = weakref.WeakValueDictionary()
def f():
    lock = d.setdefault("a", threading.Lock())
    with lock: box.x = 1
run(f, f)""",
    "a lock behind a weak reference that is asked": """
x = [threading.Lock()]
w = weakref.ref(x[0])
run(x.clear, lambda: w() and x)""",
    "a generator that cleans up": "x = [cleaning(log)]\nnext(x[0])\nrun(x.clear, lambda: len(x))",
    "a generator with a generator that cleans up": """
def outer(): yield from cleaning(log)
x = [outer()]
next(x[0])
run(x.clear, lambda: len(x))""",
    "its identity was asked": "x = [Noisy(log)]\nid(x[0])\nrun(x.clear, lambda: len(x))",
    "its fields were asked": "x = [Noisy(log)]\nvars(x[0])\nrun(x.clear, lambda: len(x))",
}
LIVES = {
    "held by the target": "x = Noisy(log)\nrun(lambda: x.log, lambda: setattr(x, 'y', 1))",
    "held by the target, with a weak reference": """
x = Plain()
s = weakref.WeakSet([x])
run(*[lambda: setattr(x, "y", 1)] * 2)""",
    "moved": "x = [Noisy(log)]\ny = []\nrun(lambda: y.append(x.pop()), lambda: len(x))\nx = y",
    "dies before": "x = Noisy(log)\nx = None\nassert log == ['gone']\nrun(lambda: log.append(1), lambda: len(log))",
    "dies afterwards": """
x = [Noisy(log)]
run(lambda: x[0], lambda: log.append(1))
x.clear()
assert log == [1, "gone"], log""",
    "dies afterwards, with a callback": """
x = [Plain()]
w = weakref.ref(x[0], lambda _: log.append("gone"))
run(lambda: x[0], lambda: log.append(1))
assert w() is x[0]
x.clear()
assert w() is None and log == [1, "gone"], log""",
    "between two times of several threads": """
x = [Noisy(log)]
run(lambda: x[0], lambda: log.append(1))
x.clear()
assert log == [1, "gone"], log
run(lambda: log.append(2), lambda: log.append(2))
assert log == [1, "gone", 2, 2], log""",
    "a weak reference is asked": "x = Plain()\nw = weakref.ref(x)\nrun(*[lambda: setattr(w(), 'y', 1)] * 2)",
    "a weak dict is asked": """
x = Plain()
d = weakref.WeakValueDictionary(a=x)
run(*[lambda: log.append(d.get("a"))] * 2)
assert log == [x, x]
log.clear()""",
    "a lock in a weak dict": """
lock = threading.Lock()
d = weakref.WeakValueDictionary(a=lock)
def f():
    with d.setdefault("a", threading.Lock()): box.x = 1
run(f, f)""",
    "a weak method is asked": "w = weakref.WeakMethod(box.m)\nrun(lambda: w(), lambda: w()())",
    "there is a proxy": "x = Plain()\np = weakref.ref(x), weakref.WeakSet([x])\nrun(*[lambda: setattr(x, 'y', p)] * 2)",
    "nobody notices": "x = [Plain()]\nrun(x.clear, lambda: len(x))",
    "belongs to one thread": "def f():\n    x = Noisy([])\n    x.y = 1\n    x.y += 1\n    log.append(1)\nrun(f, f)",
    "a lock that only the main thread has had": """
s = weakref.WeakSet()
x = threading.Lock()
s.add(x)
x = None
assert not s
run(lambda: box.m, lambda: setattr(box, 'y', 1))""",
    "a lock of one thread": """
def f():
    x = threading.Condition()
    w = weakref.ref(x)
    weakref.finalize(x, log.append, 'gone')
    x = None
    assert w() is None
run(f, lambda: setattr(box, 'y', 1))
assert log == ['gone']""",
    "a lock, when the threads have ended": """
x = threading.Lock()
w = weakref.ref(x)
def f():
    with x: box.y = 1
run(f, f)
del f
x = None
assert w() is None""",
    "a thread": "x = Worker(target=lambda: box)\nx.start()\nx.join()",
    "a generator without anything to clean up": """
def numbers():
    yield 1
    yield 2
x = [numbers()]
next(x[0])
run(x.clear, lambda: len(x))""",
    "a generator that has ended": "x = [cleaning(log)]\nlog += x[0]\nrun(x.clear, lambda: len(x))",
    "a generator that the target holds": "x = cleaning(log)\nnext(x)\nrun(lambda: x, lambda: log.append(x))",
}


def program(body: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in body.strip().splitlines())


def reasons(directory: Path, body: str, strategy: str = "optimal") -> set[str]:
    found = outcomes(directory, program(body), strategy)
    assert found == {None}, found
    return found.incomplete


def dies(directory: Path, body: str, strategy: str = "optimal") -> bool:
    """True if the search has seen that an object dies."""
    told = reasons(directory, body, strategy)
    return any(about(run.facts, DYING)) or any("died while several threads existed" in reason for reason in told)


UNORDERED = {
    "a variable of a thread that ends": "several objects died in one step",
    "a thread": "died while several threads existed",
    "given to an object whose calls are recorded": "died while several threads existed",
    "its identity was asked": "died while several threads existed",
}
"""What is told where not every order of dropping an object is tried."""


@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
@pytest.mark.parametrize("name", DIES)
def test_what_may_die_while_several_threads_exist_is_noticed(tmp_path: Path, name: str, strategy: str) -> None:
    assert dies(tmp_path, DIES[name], strategy)


@pytest.mark.parametrize("name", DIES)
def test_that_not_every_order_is_tried_is_told(tmp_path: Path, name: str) -> None:
    told = reasons(tmp_path, DIES[name])
    if name in UNORDERED:
        assert any(UNORDERED[name] in reason for reason in told)
    else:
        assert told == set()


@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
@pytest.mark.parametrize("name", LIVES)
def test_of_what_cannot_die_meanwhile_nothing_is_said(tmp_path: Path, name: str, strategy: str) -> None:
    assert reasons(tmp_path, LIVES[name], strategy) == set()


def test_an_object_that_belongs_to_one_thread_dies_where_that_drops_it(tmp_path: Path) -> None:
    body = """
def f():
    mine = []
    x = Noisy(mine)
    x.y = 1
    x = None
    assert mine == ["gone"]
    log.append(1)
run(f, f)"""
    assert reasons(tmp_path, body) == set()


@pytest.mark.parametrize("wrong", [-1, 1])
def test_references_counted_wrongly_by_one_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: int
) -> None:
    def told() -> int:
        dying = sum(not dies(tmp_path, DIES[name]) for name in ("taken out of a list", "a thread"))
        return dying + sum(bool(reasons(tmp_path, LIVES[name])) for name in ("held by the target", "moved"))

    assert told() == 0
    monkeypatch.setattr(census, "BY_COUNTING", census.BY_COUNTING + wrong)
    assert told() > 0


@pytest.mark.parametrize(
    ("owner", "forgotten"),
    [(census, "thread_objects"), (identity, "numbered"), (Layers, "unjoined_threads"), (Layers, "recorded_calls")],
)
def test_a_reference_of_ours_that_is_forgotten_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: Any, forgotten: str
) -> None:
    monkeypatch.setattr(owner, forgotten, staticmethod(list) if owner is Layers else list)
    assert not all(
        dies(tmp_path, DIES[name], strategy)
        for name in ("a thread", "its identity was asked", "given to an object whose calls are recorded")
        for strategy in ("optimal", "dpor")
    )


def test_without_mortal_objects_nothing_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def counted() -> Any:
        raise AssertionError

    monkeypatch.setattr(deaths, "fallen", counted)
    assert reasons(tmp_path, LIVES["nobody notices"]) == set()
    assert run.incomplete == {}


COLLECTED = {
    "a cycle with a finaliser": """
x = [Noisy(log)]
x[0].me = x[0]
def f():
    x.clear()
    gc.collect()
run(f, f)""",
    "what a cycle holds": """
x = [Plain()]
x[0].me = x[0]
x[0].noisy = Noisy(log)
def f():
    x.clear()
    gc.collect()
run(f, lambda: len(log))""",
    "a cycle with a weak reference to it": """
x = [Plain()]
x[0].me = x[0]
w = weakref.ref(x[0])
def f():
    x.clear()
    gc.collect()
run(f, lambda: len(x))""",
}


@pytest.mark.parametrize("name", COLLECTED)
def test_a_collection_that_may_find_something_is_told(tmp_path: Path, name: str) -> None:
    told = reasons(tmp_path, COLLECTED[name])
    assert any(limit.startswith("gc.collect() may find a ") for limit in told)


def test_a_collection_that_finds_nothing_is_not_told(tmp_path: Path) -> None:
    body = "x = [Noisy(log), Plain()]\nx[1].me = x[1]\nrun(gc.collect, gc.collect)\ngc.collect()"
    assert reasons(tmp_path, body) == set()


SEEN = {
    "a weak reference to what another thread drops": (
        "x = [Plain()]\nw = weakref.ref(x[0])\nrun(x.clear, lambda: log.append(w() is None))\nreturn log",
        {(True,), (False,)},
    ),
    "one that keeps what another thread drops": (
        """
x = [Plain()]
w = weakref.ref(x[0])
def keep(): box.x = w()
run(keep, x.clear)
return box.x is None""",
        {True, False},
    ),
    "how many are in a weak set": (
        "x = [Plain()]\ns = weakref.WeakSet(x)\nrun(x.clear, lambda: log.append(len(s)))\nreturn log",
        {(0,), (1,)},
    ),
    "a finaliser": (
        "x = [Noisy(log)]\nrun(x.clear, lambda: log.append(1))\nreturn log",
        {("gone", 1), (1, "gone")},
    ),
    "a generator that cleans up": (
        "x = [cleaning(log)]\nnext(x[0])\nrun(x.clear, lambda: log.append(1))\nreturn log",
        {("gone", 1), (1, "gone")},
    ),
    "a coroutine that cleans up": (
        """
class Waits:
    def __await__(self): yield
async def work():
    try: await Waits()
    finally: log.append("gone")
box.x = work()
box.x.send(None)
def drop(): box.x = None
run(drop, lambda: log.append(1))
return log""",
        {("gone", 1), (1, "gone")},
    ),
    "which of two threads closes a generator": (
        """
def telling():
    with contextlib.suppress(KeyError): yield
    try: yield
    finally: log.append(threading.current_thread().name[:8])
box.x = telling()
next(box.x)
next(box.x)
def take():
    x = box.x
    log.append(1)
def drop(): box.x = None
run(take, drop)
return log""",
        {(1, "Thread-1"), (1, "Thread-2"), ("Thread-2", 1)},
    ),
    "how many are in a weak dict": (
        "x = [Plain()]\nd = weakref.WeakValueDictionary(a=x[0])\nrun(x.clear, lambda: log.append(len(d)))\nreturn log",
        {(0,), (1,)},
    ),
    "which of two threads is the last": (
        """
box.x = Tells(log)
def take():
    x = box.x
    log.append(1)
def drop(): box.x = None
run(take, drop)
return log""",
        {(1, "Thread-1"), (1, "Thread-2"), ("Thread-2", 1)},
    ),
    "it is reached without an operation, from what another thread drops": (
        """
box.x = Keeps(Tells(log))
def take():
    keeps = box.x
    inner = getattr(keeps, "inner", None)
    keeps = None
    inner = None
def drop(): box.x = None
run(take, drop)
return log""",
        {("Thread-1",), ("Thread-2",)},
    ),
    "the order in which a container drops what it holds": (
        "x = [Noisy(log), Tells(log)]\nrun(x.clear, lambda: len(x))\nreturn log",
        {("Thread-1", "gone")},
    ),
    "what another thread still has of a container that dies": (
        """
box.x = [Tells(log)]
def take():
    x = box.x
    y = x[0] if x else None
    x = None
    log.append(1)
    y = None
def drop(): box.x = None
run(take, drop)
return log""",
        {(1, "Thread-1"), (1, "Thread-2"), ("Thread-2", 1)},
    ),
    "a callback": (
        "x = [Plain()]\nw = weakref.ref(x[0], lambda _: log.append(2))\n"
        "run(x.clear, lambda: log.append(1))\nreturn log",
        {(2, 1), (1, 2)},
    ),
}


@pytest.mark.parametrize("name", SEEN)
def test_objects_die_where_the_last_thread_drops_them(tmp_path: Path, name: str) -> None:
    body, expected = SEEN[name]
    found = outcomes(tmp_path, program(body))
    assert found == expected
    assert found.incomplete == set()


UNDER_A_LOCK = """
class Bar:
    def __init__(self, board):
        self.board = board
    def __del__(self):
        with self.board.lock:
            self.board.closed += 1

class Board:
    def __init__(self, lock):
        self.lock, self.closed, self.slots = lock, 0, {"bar": Bar(self)}
    def drop(self):
        self.slots.pop("bar")
    def look(self):
        with self.lock:
            bar = self.slots.get("bar")
            bar = None

def scenario():
    board = Board(threading.LOCK())
    run(board.look, board.drop)
    return board.closed
"""


def test_who_drops_what_it_has_just_taken_may_be_the_last(tmp_path: Path) -> None:
    """The finaliser then runs where the lock is held."""
    found = outcomes(tmp_path, UNDER_A_LOCK.replace("LOCK", "Lock"))
    assert 1 in found
    assert len(found) > 1, "the deadlock"
    found = outcomes(tmp_path, UNDER_A_LOCK.replace("LOCK", "RLock"))
    assert found == {1}
    assert found.incomplete == set()


def test_what_is_in_a_weak_set_has_the_same_names_in_every_run(tmp_path: Path) -> None:
    """A set of weak references has no order: what they refer to is named by other ways to it."""
    body = """
a, b = Plain(), Plain()
box.x, box.y = a, [b]
del a, b
refs = weakref.WeakSet([box.x, *box.y])
run(lambda: len(refs) + len(box.y), lambda: setattr(box, "x", None), lambda: box.y.clear())
return len(refs)"""
    assert outcomes(tmp_path, program(body)) == {0}


def test_what_a_dead_thread_object_holds_is_let_go_of_once(tmp_path: Path) -> None:
    """We cannot let go of the object of a thread: its parts were dropped again and again, without end."""
    source = """
        class Part:
            def __del__(self): pass
        class Worker(threading.Thread):
            def __init__(self):
                super().__init__()
                self.part = Part()
            def __del__(self): pass
        def scenario():
            seen = []
            def work():
                worker = Worker()
                worker.start()
                worker.join()
                del worker
                seen.append(1)
                seen.append(2)
            run(work, lambda: seen.append(3))
        """
    assert outcomes(tmp_path, source).executions == 3


@pytest.mark.parametrize("how", ["one()\n    run(lambda: None)", "run(one, one)"])
def test_objects_whose_dict_was_asked_for_die_where_the_program_drops_them(tmp_path: Path, how: str) -> None:
    """They were kept alive until the run ended, for the sake of their `__dict__`."""
    source = f"""{HEAD.replace("scenario", "one")}
    noisy = Noisy(log)
    noisy.__dict__["x"] = 1
    ref, fields = weakref.ref(noisy), vars(noisy)
    del noisy
    assert log == ["gone"] and fields["x"] == 1 and ref() is None

def scenario():
    {how}
"""
    found = outcomes(tmp_path, source)
    assert (found, found.incomplete) == ({None}, set())


def test_an_argument_of_a_task_dies_before_the_pool_is_shut_down(tmp_path: Path) -> None:
    body = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(1) as pool:
    pool.submit(len, [Noisy(log)]).result()
assert log == ["gone"]"""
    assert reasons(tmp_path, body) == set()


def test_functions_of_drop_ins_never_die(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "facts", {(DYING, "builtins", "function"), (DYING, "builtins", "cell")})
    box: list[object] = []
    assert deaths.dies(lambda: box)
    assert not deaths.dies(module_for_program("os").write)  # type: ignore[union-attr]


def test_a_class_dies_by_no_drop_of_a_reference(tmp_path: Path) -> None:
    """It refers to itself. How many objects it has, which all refer to it, may differ between runs that are alike."""
    body = """
ref, number, objects = weakref.ref(Plain), id(Plain), [Plain()]
def f():
    objects.clear()
    len(objects)
run(f, lambda: ref())
"""
    assert outcomes(tmp_path, program(body)).executions == 1


@pytest.mark.parametrize("known", [True, False])
def test_what_is_published_in_each_run_as_the_same_object_is_counted(
    monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    """It has fallen if nobody else refers to it; and would seem alive if these references were not known."""

    class Thing:
        pass

    monkeypatch.setattr(sharing, "always", SimpleNamespace(shared_by_id={}, exposed={}, mortal=[Thing()]))
    monkeypatch.setattr(sharing, "kept", [*sharing.always.mortal])  # type: ignore[union-attr]
    monkeypatch.setattr(census, "held_elsewhere", census.mortal_always_shared if known else list)
    assert any(type(obj) is Thing for obj in deaths.fallen()) is known
