"""What the library, the interpreter and code in C call on behalf of the program, without a hook around the call."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.source_outcomes import outcomes


@pytest.mark.parametrize("register", ["vars(Thing)['kind'].register", "Thing.kind.register", "Thing().kind.register"])
def test_implementations_of_a_method_are_registered_step_by_step(register: str, tmp_path: Path) -> None:
    source = f"""
    import functools

    def scenario():
        class Thing:
            @functools.singledispatchmethod
            def kind(self, value):
                return "any"

        thing, seen = Thing(), []
        run(lambda: {register}(int, lambda self, value: "int"), lambda: seen.append((thing.kind(1), thing.kind(2))))
        return seen
    """
    found = outcomes(tmp_path, source)
    assert (found, found.incomplete) == ({(("any", "any"),), (("any", "int"),), (("int", "int"),)}, set())


def test_a_class_is_registered_by_the_function_of_the_metaclass(tmp_path: Path) -> None:
    source = """
    import abc

    def scenario():
        class Base(abc.ABC):
            pass

        class Thing:
            pass

        seen = []
        run(lambda: abc.ABCMeta.register(Base, Thing), lambda: seen.append(isinstance(Thing(), Base)))
        return seen
    """
    found = outcomes(tmp_path, source)
    assert (found, found.incomplete) == ({(False,), (True,)}, set())


def test_a_finalizer_is_code_of_the_thread_in_which_the_object_dies(tmp_path: Path) -> None:
    source = """
    import weakref

    class Thing:
        pass

    def scenario():
        files, things, seen = {1: 1}, [Thing()], []
        weakref.finalize(things[0], files.clear)
        run(things.clear, lambda: seen.append(len(files)))
        return seen
    """
    assert outcomes(tmp_path, source) == {(0,), (1,)}


@pytest.mark.parametrize(
    ("accessor", "change", "look", "seen"),
    [
        ("property(len)", "thing.append(1)", "thing.x", {1, 2}),
        ("property(list.__len__)", "thing.append(1)", "thing.x", {1, 2}),
        ("property(operator.itemgetter(0))", "thing[0] = 1", "thing.x", {0, 1}),
        ("property(operator.attrgetter('y'))", "thing.y = 1", "thing.x", {0, 1}),
        ("property(operator.attrgetter('z.y'))", "thing.z.y = 1", "thing.x", {0, 1}),
        ("property(fget=operator.attrgetter('z.y'))", "thing.z.y = 1", "thing.x", {0, 1}),
        ("property(None, list.append)", "thing.x = 1", "len(thing), len(thing)", {(1, 1), (1, 2), (2, 2)}),
        ("property(None, None, list.clear)", "del thing.x", "len(thing), len(thing)", {(1, 1), (1, 0), (0, 0)}),
    ],
)
def test_functions_in_c_are_properties(
    accessor: str, change: str, look: str, seen: set[object], tmp_path: Path
) -> None:
    source = f"""
    import operator

    class Other:
        y = 0

    class Thing(list):
        y, z = 0, Other()
        x = {accessor}

    def scenario():
        thing, seen = Thing([0]), []

        def change():
            {change}

        run(change, lambda: seen.append(({look})))
        return seen
    """
    found = outcomes(tmp_path, source)
    assert (found, found.incomplete) == ({(one,) for one in seen}, set())


@pytest.mark.parametrize("owner", ["queue.append", "staticmethod(queue.append)", "list.append"])
def test_objects_are_called_by_a_method_in_c(owner: str, tmp_path: Path) -> None:
    source = f"""
    def scenario():
        queue, seen = [], []

        class Put(list):
            __call__ = {owner}

        put = Put()
        run(lambda: put(1), lambda: seen.append((len(queue), len(put), len(queue), len(put))))
        return seen
    """
    found = outcomes(tmp_path, source)
    one = (0, 1) if owner.startswith("list") else (1, 0)
    assert found == {((0, 0, 0, 0),), ((0, 0, *one),), ((*one, *one),)} | (
        {((0, 0, 0, 1),)} if one[1] else {((0, 0, *one),)}
    )
    assert found.incomplete == set()


@pytest.mark.parametrize(
    "special",
    [
        *("__len__ = held.__len__", "__contains__ = held.__contains__", "__enter__ = staticmethod(held.clear)"),
        *("__getattr__ = staticmethod(held.count)", "__iter__ = collections.OrderedDict.values"),
    ],
)
def test_special_methods_in_c_that_reach_other_objects_make_a_check_inconclusive(special: str, tmp_path: Path) -> None:
    source = f"""
    import collections, operator

    def scenario():
        held, seen = [], []

        class Thing(collections.OrderedDict):
            {special}

        thing = Thing()
        run(lambda: held.append(1), lambda: seen.append(thing is None))
    """
    (reason,) = outcomes(tmp_path, source).incomplete
    assert reason.endswith("is a function in C: what it reaches when it is called is not seen")


def test_a_finalizer_joins_a_thread_when_the_run_is_over(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "left.py"
    file.write_text("""
import threading

class Worker:
    def __init__(self):
        self.thread = threading.Thread(target=int)
        self.itself = self

    def __del__(self):
        self.thread.join()

def scenario():
    Worker().thread.start()
""")
    script = f"import dpor, gc; print(dpor.check({f'{file}::scenario'!r}).verdict.value); gc.collect()"
    subprocess.run([sys.executable, "-c", script], check=True)
    assert capfd.readouterr().err == ""
