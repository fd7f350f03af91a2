"""Field accesses that tell objects apart by where they are allocated, and containers by whose they are."""

from pathlib import Path

import pytest

from dpor.statics.constraints import PointsTo
from dpor.statics.demand import Demand
from dpor.statics.facts import Facts, ProgramPoint, analyse
from dpor.statics.lowering import lower
from dpor.statics.pointers import Pointers

BOXES = """\
class Box:
    pass
def write(box):
    box.x = 1
def main():
    first = [Box()][0]
    second = [Box()][0]
    write(first)
    second.x = 2
"""

COMPANIES = """\
class Company:
    def __init__(self):
        self.employees = []
    def add(self, e):
        self.employees.append(e)
def main():
    first = Company()
    second = Company()
    first.add(1)
    second.add(2)
"""


def written(facts: Facts, line: int, name: str) -> set[str]:
    """The objects whose field may be written from the line on, until its function returns."""
    at = [(f.path, p) for f in facts.program.functions for p in f.positions if p.line == line]
    told = facts.accesses_from([ProgramPoint(*at[0])])
    return {access.of for access in told if access.mode == "w" and access.field.name == name}


def test_without_sites_nothing_is_told_of_the_object() -> None:
    assert written(analyse({"m.py": BOXES}, "m.py::main"), 9, "x") == {""}


def test_objects_of_two_sites_are_two() -> None:
    facts = analyse({"m.py": BOXES}, "m.py::main", Pointers.CI_EX)
    before, after = written(facts, 8, "x"), written(facts, 9, "x")
    assert len(before) == 2
    assert len(after) == 1
    assert after < before


def test_the_lists_of_two_companies_are_one_without_contexts() -> None:
    facts = analyse({"m.py": COMPANIES}, "m.py::main", Pointers.CI_EX)
    assert len(written(facts, 9, "[]")) == 1


def test_the_lists_of_two_companies_are_two_with_contexts() -> None:
    facts = analyse({"m.py": COMPANIES}, "m.py::main", Pointers.CS_EX)
    before, after = written(facts, 9, "[]"), written(facts, 10, "[]")
    assert len(before) == 2
    assert len(after) == 1
    assert after < before


SAME = """\
class Box:
    pass
def same(box):
    return box
def main():
    first = same(Box())
    second = same(Box())
    first.x = 1
    second.x = 2
"""


def meet(source: str, pointers: Pointers, *lines: int) -> bool:
    """Whether the writes of x in the two lines may be to the same object."""
    facts = analyse({"m.py": source}, "m.py::main", pointers)
    first, second = (
        {
            access
            for function in facts.program.functions
            for position in function.positions
            if position.line == line
            for access in facts.accesses_at(ProgramPoint(function.path, position))
            if access.mode == "w" and access.field.name == "x"
        }
        for line in lines
    )
    assert first
    assert second
    return any(facts.may_conflict(one, other) for one in first for other in second)


def test_without_pointers_equal_fields_meet() -> None:
    assert meet(BOXES, Pointers.NONE, 4, 9)


def test_variables_meet_if_their_sets_do() -> None:
    for pointers in (Pointers.CI_DD, Pointers.CS_DD):
        assert meet(BOXES.replace("write(first)", "write(second)"), pointers, 4, 9)
        assert not meet(BOXES.replace("write(first)", "first.x = 1"), pointers, 8, 9)


def test_what_a_function_returns_meets_unless_calls_and_returns_are_matched() -> None:
    assert meet(SAME, Pointers.CI_DD, 8, 9)
    assert not meet(SAME, Pointers.CS_DD, 8, 9)


def test_what_comes_from_the_heap_forgets_the_calls_it_was_in() -> None:
    kept = SAME.replace("    return box", "    kept.append(box)\n    return kept[0]").replace(
        "class", "kept = []\nclass"
    )
    assert meet(kept, Pointers.CS_DD, 10, 11)


def test_a_question_that_takes_too_many_steps_has_the_exhaustive_answer() -> None:
    facts = analyse({"m.py": SAME}, "m.py::main", Pointers.CS_DD)
    main = next(n for n, x in enumerate(facts.points_to.instances) if x.function.name == "main")
    sizes = [Demand(facts.points_to, True, steps).ask(main, "first").bit_count() for steps in (1, 1000)]
    assert sizes == [3, 2]  # a number, which no field is of, is among them


@pytest.mark.parametrize("name", ["test_statics_company", "test_statics_calls"])
def test_on_demand_and_exhaustively_the_sets_are_the_same_without_contexts(name: str) -> None:
    points_to = PointsTo(lower({"m.py": (Path(__file__).parent / f"{name}.py").read_text()}))
    demand = Demand(points_to, contexts=False)
    for number, instance in enumerate(points_to.instances):
        for instruction in instance.function.instructions:
            if instruction.dst:
                found = demand.ask(number, instruction.dst)
                assert points_to.find((number, instruction.dst)) & ~found == 0
                assert found & ~points_to.find((number, instruction.dst)) & ~points_to.subsumed == 0
