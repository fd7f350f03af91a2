"""`functools`: what caches remember is shared, and computing it is no single step."""

from __future__ import annotations

import functools as real
import random
import sys
from pathlib import Path
from typing import Any

import pytest

import dpor
from dpor.python.dropins import stdlib
from tests.source_outcomes import outcomes
from tests.under_control import explore

dropin: Any = stdlib.module_for_program("functools")


@pytest.mark.parametrize("decorator", ["lru_cache", "cache", "lru_cache()", "lru_cache(maxsize=None, typed=True)"])
def test_two_threads_may_both_miss(tmp_path: Path, decorator: str) -> None:
    source = f"""
        import functools
        calls = []
        @functools.{decorator}
        def f(x):
            calls.append(x)
            return x
        def scenario():
            run(lambda: f(1), lambda: f(1))
            return calls
    """
    assert outcomes(tmp_path, source) == {(1,), (1, 1)}


def test_methods_are_cached_by_their_object(tmp_path: Path) -> None:
    source = """
        from functools import lru_cache
        class C:
            calls = []
            @lru_cache(maxsize=4)
            def m(self, x, *, y=0):
                self.calls.append(x)
        def scenario():
            c, d = C(), C()
            run(lambda: c.m(1, y=2), lambda: (c.m(1, y=2), d.m(1, y=2)))
            return len(C.calls)
    """
    assert outcomes(tmp_path, source) == {2, 3}


def test_calls_with_other_arguments_are_independent(tmp_path: Path) -> None:
    source = """
        import functools
        @functools.cache
        def f(x):
            return x
        def scenario():
            run(lambda: f(1), lambda: f(2))
            return f(1) + f(2)
    """
    found = outcomes(tmp_path, source)
    assert found == {3}
    assert found.executions == 1


def test_what_was_computed_before_the_threads_is_no_operation(tmp_path: Path) -> None:
    source = """
        import functools
        @functools.cache
        def f(x):
            return []
        def scenario():
            f(1)
            run(lambda: f(1), lambda: f(1))
    """
    assert outcomes(tmp_path, source).executions == 1


def test_a_cached_list_is_shared(tmp_path: Path) -> None:
    source = """
        import functools
        @functools.cache
        def items():
            return []
        def scenario():
            items()
            def add():
                if not items():
                    items().append(1)
            run(add, add)
            return items()
    """
    assert outcomes(tmp_path, source) == {(1,), (1, 1)}


def test_which_entry_is_the_oldest_depends_on_who_looked_last(tmp_path: Path) -> None:
    source = """
        import functools
        @functools.lru_cache(maxsize=2)
        def f(x):
            return x
        def scenario():
            f(1), f(2)
            run(lambda: f(1), lambda: f(2))
            f(3)
            before = f.cache_info().hits
            f(1)
            return f.cache_info().hits - before
    """
    assert outcomes(tmp_path, source) == {0, 1}


def test_counts_are_read_between_the_steps_of_a_call(tmp_path: Path) -> None:
    source = """
        import functools
        @functools.cache
        def f(x):
            return x
        def scenario():
            seen = []
            run(lambda: f(1), lambda: seen.append(f.cache_info()))
            return [(i.misses, i.currsize) for i in seen]
    """
    assert outcomes(tmp_path, source) == {((0, 0),), ((1, 0),), ((1, 1),)}


def test_clearing_comes_at_any_point(tmp_path: Path) -> None:
    source = """
        import functools
        @functools.cache
        def f(x):
            return x
        def scenario():
            run(lambda: f(1), f.cache_clear)
            return f.cache_info().currsize
    """
    assert outcomes(tmp_path, source) == {0, 1}


def test_a_cached_function_of_the_host_begins_empty_in_each_run() -> None:
    import threading

    calls: list[int] = []

    @real.lru_cache
    def f(x: int) -> int:
        calls.append(x)
        return x

    def scenario() -> None:
        threads = [threading.Thread(target=f, args=(1,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        misses = f.cache_info().misses
        assert misses == 1

    report = dpor.check(scenario)
    assert [finding.message for finding in report.findings] == ["AssertionError"]


# ---------------------------------------------------------------------- as in C


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("maxsize", [None, 0, 1, 2, 3, -1])
def test_one_thread_sees_what_it_sees_of_the_real_one(seed: int, maxsize: int | None) -> None:
    def play(functools: Any) -> list[Any]:
        dice = random.Random(seed)
        log: list[Any] = []

        @functools.lru_cache(maxsize, typed=dice.random() < 0.5)
        def f(*args: Any, **kwargs: Any) -> Any:
            log.append((args, sorted(kwargs)))
            if args == ("fail",):
                raise ValueError
            return len(log)

        for _ in range(40):
            args = [dice.choice([1, True, 1.0, "a", "fail", (1,), None]) for _ in range(dice.randrange(3))]
            kwargs = {name: dice.randrange(2) for name in ("x", "y") if dice.random() < 0.2}
            try:
                log.append(f(*args, **kwargs))
            except ValueError:
                log.append("failed")
            if dice.random() < 0.05:
                f.cache_clear()
            log.append(tuple(f.cache_info()))
        return [*log, f.cache_parameters(), f.__name__, f.__wrapped__.__name__]

    assert explore(lambda: repr(play(dropin))).returned == repr(play(real))


def test_it_looks_like_the_real_one() -> None:
    def f(x: int) -> int:
        """Doubles."""
        return 2 * x

    f.state = 1  # type: ignore[attr-defined]
    made = dropin.lru_cache(dropin.lru_cache(f))
    assert (made.__name__, made.__doc__, made.state, made(2)) == ("f", "Doubles.", 1, 4)
    assert isinstance(made, dropin._lru_cache_wrapper)
    with pytest.raises(TypeError, match="unhashable type: 'list'"):
        made([])
    for wrong in ("a", 1.5):
        with pytest.raises(TypeError) as theirs:
            real.lru_cache(wrong)  # type: ignore[call-overload]
        with pytest.raises(TypeError) as ours:
            dropin.lru_cache(wrong)
        assert str(ours.value) == str(theirs.value)


# ---------------------------------------------------------------------- cached_property


PROPERTY = """
    import functools
    class C:
        calls = 0
        @functools.cached_property
        def x(self):
            C.calls += 1
            return object()
        @functools.cached_property
        def y(self):
            return 1
"""


def test_a_cached_property_is_computed_once_where_it_has_a_lock(tmp_path: Path) -> None:
    found = outcomes(
        tmp_path,
        f"""{PROPERTY}
    def scenario():
        c, seen = C(), []
        run(lambda: seen.append(c.x), lambda: seen.append(c.x))
        return seen[0] is seen[1]
""",
    )
    assert found == ({True} if sys.version_info < (3, 12) else {True, False})


def test_two_properties_of_one_object_are_independent(tmp_path: Path) -> None:
    found = outcomes(
        tmp_path,
        f"""{PROPERTY}
    def scenario():
        c = C()
        run(lambda: c.x, lambda: c.y)
        return c.y
""",
    )
    assert found == {1}
    assert found.executions == 1


def test_a_cached_value_may_be_written_or_deleted(tmp_path: Path) -> None:
    found = outcomes(
        tmp_path,
        f"""{PROPERTY}
    def scenario():
        c, seen = C(), []
        run(lambda: seen.append(c.y), lambda: setattr(c, "y", 2))
        return seen
""",
    )
    assert found == {(1,), (2,)}


@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
def test_an_object_that_threads_share_gets_attributes_of_another(tmp_path: Path, strategy: str) -> None:
    source = """
    import functools, types

    class Box:
        x = 1

    def scenario():
        box, got = Box(), []
        box.x = 1
        def write():
            source = types.SimpleNamespace()
            source.__dict__["x"] = 2
            functools.update_wrapper(box, source, assigned=(), updated=("__dict__",))
        def read():
            got.extend((box.x, box.x))
        run(read, write)
        return got
    """
    assert {tuple(found) for found in outcomes(tmp_path, source, strategy)} == {(1, 1), (1, 2), (2, 2)}


def test_a_function_that_is_decorated_belongs_to_its_thread(tmp_path: Path) -> None:
    source = """
    import functools

    def decorated(function):
        @functools.wraps(function)
        def call(*args):
            return function(*args)
        return call

    def scenario():
        got = []
        def act():
            @decorated
            def named():
                "documented"
            got.append((named.__name__, named.__doc__, named.__wrapped__ is not named))
        run(act, act)
        return got
    """
    found = outcomes(tmp_path, source)
    assert found.executions == 2
    assert {tuple(seen) for seen in found} == {(("named", "documented", True),) * 2}
