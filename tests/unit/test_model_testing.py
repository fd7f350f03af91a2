"""The generators of abstract programs, the judge of trace classes, and the shrinker."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import find, given, settings

from dpor.model import parse
from dpor.model.tree import OPERANDS
from dpor.testing import ALL, BASE, abstract_programs, random_program, shrink, trace_class
from tests.oracle.play import play


def test_the_same_seed_gives_the_same_program() -> None:
    assert [random_program(Random(s)) for s in range(50)] == [random_program(Random(s)) for s in range(50)]


def test_every_word_of_the_format_comes_up() -> None:
    text = " ".join(str(random_program(Random(seed))) for seed in range(500))
    for word in (*OPERANDS, "if", "while", "repeat", "rlocks"):
        assert f"'{word}" in text


def test_only_the_given_words_come_up() -> None:
    for seed in range(300):
        text = str(random_program(Random(seed), BASE))
        assert not any(f"'{word} " in text for word in {*OPERANDS} - BASE)
        assert "rlocks" not in text


def test_no_words_no_program() -> None:
    with pytest.raises(ValueError, match=r"no statement can be made of the words \['unless'\]"):
        random_program(Random(0), {"unless"})


def test_threads_are_as_many_as_asked_for() -> None:
    assert {len(random_program(Random(s), threads=(2, 3))["threads"]) for s in range(50)} == {2, 3}


@settings(max_examples=50, derandomize=True, database=None)
@given(abstract_programs())
def test_generated_programs_are_programs(spec: dict[str, Any]) -> None:
    parse(spec)


def test_hypothesis_shrinks_programs() -> None:
    """To the shortest thread with the statement looked for, beside an empty one."""
    spec = find(abstract_programs(ALL), lambda spec: "'notify c'" in str(spec), settings=settings(database=None))
    assert spec["threads"] == [["notify c"], []] or spec["threads"] == [[], ["notify c"]]


# ---------------------------------------------------------------------- trace classes

SPEC = {"vars": {"x": 0, "y": 0}, "threads": [["r x a", "w y 1"], ["r x a", "w x 1"]]}


def test_runs_that_differ_in_the_order_of_independent_events_are_of_one_class() -> None:
    system = play(SPEC, "").system
    assert trace_class(play(system, "0 0 1 1").trace) == trace_class(play(system, "1 0 1 0").trace)


def test_runs_that_differ_in_the_order_of_dependent_events_are_not() -> None:
    system = play(SPEC, "").system
    assert trace_class(play(system, "0 1 1").trace) != trace_class(play(system, "1 1 0").trace)


def test_values_of_choices_tell_classes_apart() -> None:
    system = play({"threads": [["choose a 2"]]}, "").system
    assert trace_class(play(system, "0=0").trace) != trace_class(play(system, "0=1").trace)


# ---------------------------------------------------------------------- shrinking


def test_shrink_leaves_nothing_out_that_is_needed() -> None:
    """Threads, statements and blocks go; what is left fails, and is a program."""
    spec = {
        "vars": {"x": 0, "y": 0},
        "locks": ["m"],
        "threads": [
            ["lock m", ["while", "a<2", [["if", "b", ["w x 1"], ["w y 1"]], "let a a+1"]]],
            ["join 0"],
            ["r y a"],
        ],
    }
    small = shrink(spec, lambda p: "w y 1" in str(p) and "join" in str(p))
    assert small == {"vars": {"y": 0}, "threads": [["w y 1"], ["join 0"]]}
    parse(small)
