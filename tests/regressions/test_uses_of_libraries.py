"""What stood in the way of checking uses of packages of other people: the smallest program for each."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import Any

import pytest

import dpor
from dpor.python.dropins.locks import Lock
from dpor.python.effects import set_order
from dpor.python.sharing.children import described
from tests.source_outcomes import outcomes

PASSES = {
    "XML, whose parser in C keeps a list with empty places": (
        """
        import xml.etree.ElementTree as ET
        def scenario():
            lock = threading.Lock()
            def parse():
                with lock:
                    assert ET.fromstring("<a><b/></a>").tag == "a"
            run(parse, parse)
        """,
        2,
    ),
    "a lock that died before there were threads": (
        """
        locks = weakref.WeakSet()
        def scenario():
            locks.add(threading.Lock())
            run(lambda: None, lambda: None)
        """,
        1,
    ),
    "pickle.dump to a file": (
        """
        import os, pickle, tempfile
        def scenario():
            lock = threading.Lock()
            with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "x"), "wb") as file:
                def dump():
                    with lock:
                        pickle.dump([1], file)
                run(dump, dump)
        """,
        2,
    ),
    "a function that is given a __dict__": (
        """
        def f(): pass
        def scenario():
            f.__dict__ = {"x": 1}
            run(lambda: f.x, lambda: f.x)
        """,
        1,
    ),
    "the name of the process": (
        """
        import multiprocessing
        def scenario():
            def ask():
                mine = {multiprocessing.current_process().name: multiprocessing.current_process().ident}
                mine["x"] = [*mine]
            run(ask, ask)
        """,
        1,
    ),
    "a class of the program derived from str": (
        """
        class Message(str):
            __slots__ = ("record",)
        def scenario():
            run(lambda: Message("a"), lambda: Message("b"))
        """,
        1,
    ),
    "what an exit stack calls": (
        """
        import contextlib
        def scenario():
            def use():
                with contextlib.ExitStack() as stack:
                    stack.callback(int, 1)
                    stack.enter_context(contextlib.suppress(ValueError))
                    raise ValueError
            run(use, use)
        """,
        4,
    ),
    "operators of flags": (
        """
        import enum
        class Mode(enum.Flag):
            READ = 1
            WRITE = 2
        def scenario():
            def use():
                both = Mode.READ | Mode.WRITE
                assert Mode.READ in both and both & ~Mode.WRITE is Mode.READ
                assert [mode.name for mode in both] == ["READ", "WRITE"]
            run(use, use)
        """,
        1,
    ),
    "a stream in memory that is looked at": (
        """
        import io
        def scenario():
            file = io.StringIO()
            def look():
                mine = {}
                mine["x"] = file.isatty(), file.getvalue(), file.writable(), file.flush()
                return list(mine)
            run(look, look)
        """,
        1,
    ),
    "a stream in memory that is changed by something unknown": (
        """
        import io
        def scenario():
            file = io.StringIO()
            def look():
                file.seek(0)
                mine = {}
                mine["x"] = 1
                return list(mine)
            run(look, look)
        """,
        2,
    ),
    "objects of classes derived from tuples and numbers": (
        """
        import collections
        P = collections.namedtuple("P", "x y")
        class Q(tuple):
            def __new__(cls, *items):
                return super().__new__(cls, items)
            @property
            def first(self):
                return self[0]
        class N(int): pass
        def scenario():
            p, q, n = P(1, [2]), Q(1, [2]), N(3)
            def use():
                x, y = p
                return (
                    p[0], p.x, len(p), [i for i in p], p._replace(x=2), P(3, 4), P._make(i for i in (1, 2)), p == q,
                    q[0], q.first, len(q), list(q), q + (1,), Q(4, 5), q == (1, 2), 2 in q, q.index(1), q[0:1], bool(q),
                    n + 1, n == 3, hash(n), n * 2, int(n), str(n), f"{n}", [*p], dict([p, q]), repr(q),
                )
            run(use, use)
        """,
        1,
    ),
    "who lets go first of what does not die": (
        """
        class Thing: pass
        def scenario():
            things = {"a": Thing()}
            ref = weakref.ref(things["a"])
            seen = [0, 0, 0]
            def use(number):
                mine = things["a"]
                seen[number] = 1
                del mine
                seen[number] = 2
            run(lambda: use(0), lambda: use(1), lambda: ref() is None)
        """,
        4,
    ),
}


@pytest.mark.parametrize("name", PASSES)
def test_it_passes(name: str, tmp_path: Path) -> None:
    source, executions = PASSES[name]
    found = outcomes(tmp_path, "import weakref\n" + dedented(source))
    assert not found.incomplete
    assert executions is None or found.executions <= executions


def dedented(source: str) -> str:
    lines = source.strip("\n").splitlines()
    return "\n".join(line[8:] for line in lines) + "\n"


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "half_seen.py").write_text(
        "class Known:\n    def __init__(self):\n        self.known = {'a': [1]}\n    def get(self):\n"
        "        return [{'a': self.known['a'][0]}]\n\nknown = Known()\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "elsewhere"))
    (tmp_path / "project").mkdir()


@pytest.mark.usefixtures("library")
def test_what_code_without_hooks_shares_is_forgotten_once_it_has_hooks(tmp_path: Path) -> None:
    source = """
        import half_seen
        def scenario():
            def get():
                mine = half_seen.known.get()
                mine.append(len(mine))
                mine[0]["b"] = 2
            run(get, get)
        """
    report = check(tmp_path, source)
    assert (report.verdict, report.executions) == ("pass", 1)


LENDING = """
import contextlib, functools
lent = 0
@contextlib.contextmanager
def lend():
    global lent
    lent += 1
    yield
def passing(f):
    @functools.wraps(f)
    def inner(*args):
        try:
            return f(*args)
        except ZeroDivisionError:
            raise ValueError from None
    return inner
"""


@pytest.mark.usefixtures("library")
def test_what_a_decorator_of_the_standard_library_calls_is_instrumented(tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "lending.py").write_text(LENDING)
    source = """
        import lending
        def scenario():
            def use():
                with lending.lend(): pass
            run(use, use)
            assert lending.lent == 2
        """
    assert check(tmp_path, source).verdict == "fail"


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    "use", ["thing.value", "getattr(thing, 'value')", "operator.attrgetter('value')(thing)", "Thing.value"]
)
def test_descriptors_of_a_package_are_instrumented(use: str, tmp_path: Path) -> None:
    """A load of an attribute calls `__get__` without a hook."""
    (tmp_path / "elsewhere" / "kept.py").write_text(
        "class Kept:\n    def __init__(self, function):\n        self.function = function\n"
        "    def __get__(self, obj, cls):\n        if obj is None:\n"
        "            cls.kept = vars(cls).get('kept') or self.function(cls)\n            return cls.kept\n"
        "        value = obj.__dict__['value'] = self.function(obj)\n        return value\n"
    )
    source = f"""
        def scenario():
            import kept, operator
            class Thing:
                @kept.Kept
                def value(self):
                    return object()
            thing, seen = Thing(), []
            run(lambda: seen.append({use}), lambda: seen.append({use}))
            assert seen[0] is seen[1]
        """
    assert check(tmp_path, source).verdict == "fail"


@pytest.mark.usefixtures("library")
def test_a_thread_that_is_started_inside_one_step_is_started_by_a_step_of_its_own(tmp_path: Path) -> None:
    """The new thread ran inside the step, and others went on while it was no step."""
    (tmp_path / "elsewhere" / "lending.py").write_text(LENDING)
    source = """
        import lending
        class Starter:
            @lending.passing
            def go(self):
                threading.Thread(target=print).start()
        def scenario():
            starter = Starter()
            run(starter.go, starter.go)
        """
    assert check(tmp_path, source).verdict == "pass"
    report = check(tmp_path, source, trust=["lending"])
    assert [reason.partition(" inside")[0] for reason in report.reasons] == ["a thread was started"]


def check(folder: Path, source: str, **options: Any) -> dpor.Report:
    """Check the scenario, in a project beside the packages of the fixture."""
    file = folder / "project" / "program.py"
    file.write_text(
        "import threading\ndef run(*bodies):\n    threads = [threading.Thread(target=b) for b in bodies]\n"
        "    for t in threads: t.start()\n    for t in threads: t.join()\n" + dedented(source)
    )
    return dpor.check(f"{file}::scenario", **options)


def test_what_a_run_half_seen_performed_is_learnt_from_when_it_is_seen(tmp_path: Path) -> None:
    """`d['a'] = 2` was performed before `Counter` had hooks, and was taken for known afterwards."""
    source = """
        import collections
        def scenario():
            d, seen = {"a": 1}, []
            def looks():
                seen.extend((collections.Counter(d)["a"], collections.Counter(d)["a"]))
            def changes():
                d["a"] = 2
            run(looks, changes)
            return tuple(seen)
        """
    assert outcomes(tmp_path, source) == {(1, 1), (1, 2), (2, 2)}


def test_a_dict_of_a_function_is_its_attributes(tmp_path: Path) -> None:
    source = """
        def f(): pass
        def scenario():
            names, seen = {"x": 0}, []
            f.__dict__ = names
            def store():
                names["x"] = 1
            run(store, lambda: seen.append(f.x))
            return seen[0]
        """
    found = outcomes(tmp_path, source)
    assert found == {0, 1}
    assert not found.incomplete


def test_weak_references_in_a_set_are_ordered_by_their_objects() -> None:
    locks = [Lock() for _ in range(5)]
    refs = [weakref.ref(lock) for lock in locks]
    assert len(set(map(described, refs))) == len(locks)
    assert not set_order.has_fixed_hash(weakref.ref(locks[0]))
    assert set_order.has_fixed_hash("a")


def test_a_manager_of_the_library_that_threads_share_is_entered_by_one_of_them(tmp_path: Path) -> None:
    source = """
        import contextlib
        @contextlib.contextmanager
        def manager():
            yield
        def scenario():
            second = []
            shared = manager()
            def use(name):
                try:
                    with shared:
                        pass
                except AttributeError:
                    second.append(name)
            run(lambda: use("a"), lambda: use("b"))
            return "".join(second)
        """
    assert {"a", "b"} <= outcomes(tmp_path, dedented(source))
