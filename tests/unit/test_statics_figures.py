"""The transfer functions of [PL], by figure and rule: Figs. 7, 9 and 10 of field accesses, Fig. 13 of escape."""

from __future__ import annotations

import pytest

from dpor.statics import ir
from dpor.statics.facts import Facts, ProgramPoint, analyse
from dpor.statics.field_access import Precision

FIELDS = """\
class C:
    pass
def callee(c):
    c.inside = 1
def caller(c):
    c.before = 1
    callee(c)
    c.between = 1
    callee(c)
    c.after = c.read
def other(c):
    callee(c)
    c.elsewhere = 1
def main():
    c = [C()][0]
    c.read = 0
    caller(c)
    other(c)
    c.last = 1
"""
INSENSITIVE, CALLEE, SENSITIVE = Precision.INSENSITIVE, Precision.CALLEE, Precision.SENSITIVE


def told(facts: Facts, line: int, precision: Precision) -> set[str]:
    """Before the first instruction of the line."""
    function, i = next(
        (f, i) for f in facts.program.functions for i, p in enumerate(f.positions) if p.line == line and i and f.path
    )
    accesses = facts.accesses_from([ProgramPoint(function.path, function.positions[i])], precision)
    return {f"{a.mode} {a.field.name}" for a in accesses if a.field.owner == "C"}


REST = {"w between", "w after", "r read", "w inside", "w elsewhere", "w last"}
"""What may come after a return from `callee`, if it may lead to any of its callers."""
RULES = [
    pytest.param(19, INSENSITIVE, {"w last"}, id="Fig. 7: v.f = x adds w f"),
    pytest.param(10, INSENSITIVE, REST, id="Fig. 7: x = v.f adds r f"),
    pytest.param(9, INSENSITIVE, REST, id="Fig. 7: a call leads to the callee's entry"),
    pytest.param(4, INSENSITIVE, REST, id="Fig. 7: a return leads to what is after each call"),
    pytest.param(10, SENSITIVE, {"r read", "w after"}, id="Fig. 9: a return is the empty set"),
    pytest.param(9, SENSITIVE, {"w inside", "r read", "w after"}, id="Fig. 9: a call adds the callee's"),
    pytest.param(4, SENSITIVE, {"w inside"}, id="Fig. 9: within the callee, until it returns"),
    pytest.param(4, CALLEE, REST, id="Fig. 10: a return merges what is after all calls"),
    pytest.param(13, CALLEE, {"w elsewhere", "w last"}, id="Fig. 10: a return to the only caller"),
    pytest.param(
        12, CALLEE, {"w inside", "w elsewhere", "w last"}, id="Fig. 10: a call adds the first phase, no other returns"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("line", "precision", "expected"), RULES)
def test_field_accesses(line: int, precision: Precision, expected: set[str]) -> None:
    assert told(analyse({"m.py": FIELDS}, "m.py::main"), line, precision) == expected


KEEPING = """\
class C:
    pass
shared = {}
def keep(c):
    shared["c"] = c
def generator():
    c = C()
    yield
    c.x = 1
def main():
"""
EXPOSED = {
    "not the fields of what has not escaped": ("c = C()\nc.x = 1", set()),
    "nor its elements": ("c = [1]\nc[0] = 2\nc.append(3)", set()),
    "nor what a callee does with it": ("c = C()\ndef f(c):\n    c.x = 1\nf(c)", set()),
    "but after it has": ("c = C()\nkeep(c)\nc.x = 1", {"w C.x"}),
    "and by the instruction with which it does": ("c = C()\nc.x = c", {"w C.x"}),
    "and through another variable": ("c = d = C()\nkeep(d)\nc.x = 1", {"w C.x"}),
    "and where it may have": ("c = C()\nif shared:\n    keep(c)\nc.x = 1", {"w C.x"}),
    "and of what comes out of the heap": ("keep(C())\nc = shared['c']\nc.x = 1", {"w C.x"}),
    "and of elements that escaped, if the list did not": ("c = [C()]\nfor d in c:\n    d.x = 1", {"w C.x"}),
    "and of what is iterated over within": (
        "c = [1]\nkeep(c)\nc[0] = 2\nfor d in enumerate(c):\n    pass",
        {"r list.[]"},
    ),
    "and of a generator's variables: another thread may resume it": ("for c in generator():\n    pass", {"w C.x"}),
}


@pytest.mark.parametrize(("body", "expected"), EXPOSED.values(), ids=EXPOSED)
def test_what_another_thread_may_meet(body: str, expected: set[str]) -> None:
    """Of what a thread may still access, that alone counts which is of objects that may have escaped."""
    inside = "".join(f"    {line}\n" for line in body.splitlines())
    facts = analyse({"m.py": KEEPING + inside}, "m.py::main")
    number = next(n for n, x in enumerate(facts.points_to.instances) if x.function.name == "main")
    told = {str(access) for access in facts.until_return(number)}
    assert {access for access in told if "C.x" in access or access == "r list.[]"} == expected


ESCAPES = {
    "Fig. 13: v = new C takes v out": ("v = shared[0]\nv = C()", set()),
    "Fig. 13: v = p.f puts v in": ("v = p.f", {"v"}),
    "Fig. 13: p.f = v puts v in": ("v = C()\np.f = v", {"v"}),
    "Fig. 13: p.f = v puts the aliases of v in": ("v = w = C()\np.f = v", {"v", "w"}),
    "Fig. 13: v = a[i] puts v in": ("v = shared[0]", {"v"}),
    "Fig. 13: a[i] = v puts v and its aliases in": ("v = w = C()\nshared[0] = v", {"v", "w"}),
    "Fig. 13: other instructions copy": ("v = C()\nw = 1 + 2", set()),
    "Fig. 13: before is the union over the predecessors": ("v = C()\nif p:\n    p.f = v", {"v"}),
    "a call puts in what escapes in the callee": ("v = C()\nkeep(v)", {"v"}),
    "a call leaves what does not": ("v = C()\nlook(v)", set()),
    "a return takes what the callee returns": ("v = same(p.f)", {"v"}),
    "a return of what is new": ("v = make()", set()),
}
HEAPS = """\
shared = [1]
class C:
    pass
def keep(c):
    shared.append(c)
def look(c):
    return c.x
def same(c):
    return c
def make():
    return C()
def main():
    p = C()
    p.f = C()
"""


@pytest.mark.parametrize(("body", "expected"), ESCAPES.values(), ids=ESCAPES)
def test_escaped_variables(body: str, expected: set[str]) -> None:
    inside = "".join(f"    {line}\n" for line in body.splitlines())
    facts = analyse({"m.py": HEAPS + inside}, "m.py::main")
    number, main = next((n, x.function) for n, x in enumerate(facts.points_to.instances) if x.function.name == "main")
    end = max(i for i, x in enumerate(main.instructions) if isinstance(x, ir.Return))
    known = facts.escape.numbers[number]
    assert {v for v in ("v", "w") if v in known and facts.escape.escaped((number, end), v)} == expected
