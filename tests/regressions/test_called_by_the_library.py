"""What the library, the interpreter and code in C call on behalf of the program, without a hook around the call."""

from __future__ import annotations

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
