"""Three-address code as it is printed, and where control may go within and between functions. One rule a row."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpor.statics.facts import analyse
from dpor.statics.ir import Function, Nothing, Raise, Return, function_text
from dpor.statics.lowering import lower


def function(body: str) -> Function:
    """`f`, whose body begins in line 2."""
    inside = "".join(f"    {line}\n" for line in body.splitlines())
    return next(found for found in lower({"m.py": f"def f(a, b):\n{inside}"}).functions if found.name == "f")


def test_the_printed_code() -> None:
    """Where it goes on, if not at the next instruction, and after a ! where an exception is handled."""
    code = function_text(function("try:\n    a.x = b[0]\nexcept KeyError:\n    return a.m(b)")).splitlines()
    assert [line.strip() for line in code] == [
        "f(a, b) of m.py:1",
        "0 nothing -> 2",
        "1 nothing -> 5",
        "2 %1 = value !1",
        "3 %2 = load item b %1 !1",
        "4 store attribute a x %2 -> 13 !1",
        "5 %3 = caught",
        "6 %4 = load variable m.py:KeyError",
        "7 %5 = invoke (__instancecheck__) (%4) -> 8, 12",
        "8 %6 = load attribute a m",
        "9 %7 = call %6 (b) a",
        "10 %returned = copy %7",
        "11 return %returned -> end",
        "12 raise -> end",
        "13 %8 = value",
        "14 return %8 -> end",
    ]


def arrows(code: Function) -> set[str]:
    """Between lines that control may come to: "2 3", "2 !3" for an exception; to "end" by a return, to "out" by an
    exception that nobody handles."""

    def laid(targets: list[int]) -> Iterator[int]:
        """Labels stand for what follows them."""
        for target in targets:
            if isinstance(code.instructions[target], Nothing):
                yield from laid(code.following[target])
            else:
                yield target

    def line(i: int) -> int:
        return code.positions[i].line

    found, seen, todo = set(), set(), list(laid([0]))
    while todo:
        i = todo.pop()
        if i in seen:
            continue
        seen.add(i)
        usual, handled = [*laid(code.following[i])], [*laid([code.handlers[i]] if code.handlers[i] >= 0 else [])]
        found |= {f"{line(i)} {line(j)}" for j in usual if line(i) != line(j)}
        found |= {f"{line(i)} !{line(j)}" for j in handled}
        if isinstance(code.instructions[i], Return) or (isinstance(code.instructions[i], Raise) and not handled):
            found.add(f"{line(i)} {'end' if isinstance(code.instructions[i], Return) else 'out'}")
        todo += usual + handled
    return found


# A loop may be over after each round; an exception that no clause names leaves from where the last clause ends.
CONTROL = {
    "one after the other": ("a()\nb()", "2-3 3-end"),
    "if": ("if a:\n    b()\nb()", "2-3 2-4 3-4 4-end"),
    "if else": ("if a:\n    b()\nelse:\n    a()\nb()", "2-3 2-5 3-6 5-6 6-end"),
    "while": ("while a:\n    b()\na()", "2-3 3-2 2-4 4-end"),
    "while true is left by break alone": ("while True:\n    if a:\n        break\na()", "2-3 3-2 3-5 5-end"),
    "for": ("for x in a:\n    b()\na()", "2-3 3-2 2-4 3-4 4-end"),
    "else of a loop, which break passes over": (
        "for x in a:\n    if b:\n        break\nelse:\n    a()\nb()", "2-3 3-2 2-6 3-6 3-7 6-7 7-end"),
    "continue": ("for x in a:\n    if b:\n        continue\n    b()\na()", "2-3 3-2 3-5 5-2 2-6 3-6 5-6 6-end"),
    "return": ("return a\nb()", "2-end"),
    "raise": ("raise a\nb()", "2-out"),
    "assert": ("assert a\nb()", "2-3 2-out 3-end"),
    "match": ("match a:\n    case 1:\n        b()\n    case 2:\n        a()\nb()",
              "2-3 2-5 2-7 3-4 3-5 3-7 4-7 5-6 5-7 6-7 7-end"),
    "an exception is handled": (
        "try:\n    a()\nexcept E:\n    b()\nb()", "3-!2 3-6 2-4 4-5 5-out 5-6 6-end"),
    "else of a try, outside its handler": (
        "try:\n    a()\nexcept E:\n    b()\nelse:\n    a()\nb()", "3-!2 3-7 2-4 4-5 5-out 5-8 7-8 8-end"),
    "a raise that is handled": ("try:\n    raise a\nexcept:\n    b()\nb()", "3-!2 2-5 5-6 6-end"),
    "finally, entered either way": ("try:\n    a()\nfinally:\n    b()\na()", "3-!5 3-5 5-out 5-6 6-end"),
    "a return through finally": ("try:\n    return a\nfinally:\n    b()", "3-!5 3-5 5-out 5-end"),
    "a break through finally": (
        "for x in a:\n    try:\n        break\n    finally:\n        b()\na()", "2-6 6-7 6-out 2-7 7-end"),
    "with, left either way, and it may swallow": ("with a:\n    b()\na()", "2-3 3-!2 3-2 2-4 2-out 4-end"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), CONTROL.values(), ids=CONTROL)
def test_where_control_goes_within_a_function(body: str, expected: str) -> None:
    assert arrows(function(body)) == {arrow.replace("-", " ") for arrow in expected.split()}


BETWEEN = """\
import threading
class C:
    def __add__(self, other):
        pass
def g():
    pass
def gen():
    yield 1
def main():
    {body}
"""
CALLS = {
    "a call": ("g()", {"call g"}),
    "a call of one of two": ("(g if __name__ else gen)()", {"call g"}),
    "an operator": ("C() + 1", {"call C.__add__"}),
    "a generator is resumed, not called": ("for x in gen(): pass", {"resume gen"}),
    "a generator that nobody asks": ("gen()", set()),
    "a thread begins": ("threading.Thread(target=g).start()", {"spawn g"}),
    "a thread that is not started": ("threading.Thread(target=g)", set()),
    "what is not known may call what it is given": ("import x; x.call(g)", {"call <native>"}),
}


@pytest.mark.parametrize(("body", "expected"), CALLS.values(), ids=CALLS)
def test_where_control_goes_between_functions(body: str, expected: set[str]) -> None:
    points_to = analyse({"m.py": BETWEEN.replace("{body}", body)}, "m.py::main").points_to
    name = [instance.function.name for instance in points_to.instances]
    edges = [edge for (n, _), edges in points_to.edges.items() if name[n] == "main" for edge in edges]
    assert {f"{edge.how} {name[edge.target]}" for edge in edges} == expected


RAISING = """\
class C:
    pass
def g(c):
    raise ValueError
def main():
    c = [C()][0]
    try:
        g(c)
        c.usual = 1
    except ValueError:
        c.handled = 1
    c.after = 1
"""


def test_a_callee_that_raises_leads_to_the_callers_handler() -> None:
    facts = analyse({"m.py": RAISING}, "m.py::main")
    number, g = next((n, x.function) for n, x in enumerate(facts.points_to.instances) if x.function.name == "g")
    raises = next(i for i, x in enumerate(g.instructions) if isinstance(x, Raise))
    later = {str(access) for access in facts.accesses.members(facts.insensitive.before[number][raises])}
    assert {"w C.handled", "w C.after"} <= later
