"""Summaries of functions and the class hierarchy: a few lines in, what is expected of them out, one rule a row."""

from __future__ import annotations

import pytest

from dpor.statics.escape import Summaries
from dpor.statics.facts import analyse
from dpor.statics.objects import Field, ObjectKind

SHARED = """\
shared = []
class C:
    pass
def keep(x):
    shared.append(x)
def same(x):
    return x
{function}
def main():
    f(C(), C())
"""
SUMMARIES = {
    "nothing happens to a parameter that is looked at": ("return a.x", "", "", True),
    "a stored parameter escapes": ("b.x = a", "a", "", False),
    "a parameter in a list escapes": ("return [a]", "a", "", False),
    "a parameter in a global escapes": ("global g\ng = a", "a", "", False),
    "a parameter that is raised escapes": ("raise a", "a", "", False),
    "a parameter that escapes in a callee escapes": ("keep(a)", "a", "", False),
    "by way of a variable": ("c = a\nkeep(c)", "a", "", False),
    "a parameter is returned": ("return a", "", "a", False),
    "on one of two ways": ("return a if b.x else None", "", "a", False),
    "by a callee": ("return same(b)", "", "b", False),
    "what has escaped is returned": ("keep(a)\nreturn a", "a", "a", True),
    "what comes out of the heap is returned": ("return shared[0]", "", "", True),
    "what is new is returned": ("return C()", "", "", False),
}


@pytest.mark.parametrize(("body", "escaping", "returned", "from_heap"), SUMMARIES.values(), ids=SUMMARIES)
def test_summaries(body: str, escaping: str, returned: str, from_heap: bool) -> None:
    function = "def f(a, b):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    points_to = analyse({"m.py": SHARED.replace("{function}\n", function)}, "m.py::main").points_to
    number = next(n for n, x in enumerate(points_to.instances) if x.function.name == "f")
    summary = Summaries(points_to).of[number]
    assert (summary.escaping, summary.returned) == (set(escaping), set(returned))
    assert summary.returns_escaped is from_heap


CLASSES = """\
def one(self): pass
def two(self): pass
def other(self): pass
{classes}
def main():
    {use}
"""
LOOKED_UP = {
    "its own": ("class A:\n    m = one", "A().m()", {"one"}),
    "inherited": ("class A:\n    m = one\nclass B(A):\n    pass", "B().m()", {"one"}),
    "inherited from afar": ("class A:\n    m = one\nclass B(A):\n    pass\nclass C(B):\n    pass", "C().m()", {"one"}),
    "overridden": ("class A:\n    m = one\nclass B(A):\n    m = two", "B().m()", {"two"}),
    "overridden in a branch": (
        "class A:\n    m = one\nclass B(A):\n    if A:\n        m = two", "B().m()", {"one", "two"}),
    "set from outside": ("class A:\n    m = one\nA.m = two", "A().m()", {"one", "two"}),
    "deleted": ("class A:\n    m = one\nclass B(A):\n    m = two\ndel B.m", "B().m()", {"one", "two"}),
    "of either base": (
        "class A:\n    m = one\nclass B:\n    m = two\nclass C(A, B):\n    pass", "C().m()", {"one", "two"}),
    "past its own by super": (
        "class A:\n    m = one\nclass B(A):\n    def m(self): super().m()", "B().m()", {"one", "B.m"}),
    "not in a class that inherits from it": ("class A:\n    m = one\nclass B(A):\n    m = two", "A().m()", {"one"}),
}  # fmt: skip


@pytest.mark.parametrize(("classes", "use", "expected"), LOOKED_UP.values(), ids=LOOKED_UP)
def test_which_methods_a_look_up_may_find(classes: str, use: str, expected: set[str]) -> None:
    text = CLASSES.replace("{classes}", classes).replace("{use}", use)
    points_to = analyse({"m.py": text}, "m.py::main").points_to
    found = {instance.function.name for instance in points_to.instances}
    assert found - {"main", "<module>", "<native>"} == expected


DECLARED = """\
class A:
    def __init__(self):
        self.x = 1
class B(A):
    def grow(self):
        self.x = 2
        self.y = 3
class C(B):
    pass
def main():
    C().grow()
    A().z = 1
"""


@pytest.mark.parametrize(("name", "owner"), [("x", "A"), ("y", "B"), ("z", "A")])
def test_a_field_is_of_the_class_furthest_up_that_declares_it(name: str, owner: str) -> None:
    points_to = analyse({"m.py": DECLARED}, "m.py::main").points_to
    touches = [touch for each in points_to.touches.values() for touch in each if touch.name == name]
    assert {field for touch in touches for field in points_to.fields_of(touch)} == {Field(owner, name)}


def test_the_ancestors_of_a_class() -> None:
    points_to = analyse({"m.py": DECLARED}, "m.py::main").points_to
    classes = {x.of.name: n for n, x in enumerate(points_to.objects) if x.kind is ObjectKind.CLASS}
    assert [points_to.objects[k].of.name for k in points_to.ancestors(classes["C"])] == ["C", "B", "A"]
