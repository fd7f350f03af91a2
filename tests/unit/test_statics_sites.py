"""Field accesses that tell objects apart by where they are allocated, and containers by whose they are."""

from statics.facts import Facts, Point, analyse
from statics.pointers import Pointers

BOXES = """\
class Box:
    pass
def write(box):
    box.x = 1
def main():
    first = Box()
    second = Box()
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
    told = facts.accesses_from([Point(*at[0])])
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
