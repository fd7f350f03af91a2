"""Which fields are immutable: one rule a row. Each program has a class C with a field x; `shared` is the heap."""

import pytest

from dpor.statics.facts import analyse

HEAD = """\
import threading
shared = []
class Box:
    pass
class C:
    def __init__(self):
        self.x = 1
"""

IMMUTABLE = {
    "the attribute of another class is replaced": "class K:\n    x = 1\nc = C(); shared.append(c); K.x = 2",
    "an enumeration is made": "import enum\nclass E(enum.Enum):\n    a = 1\nc = C(); shared.append(c)",
    "written in the constructor only": "c = C(); shared.append(c)",
    "written before the object is stored": "c = C(); c.x = 2; shared.append(c)",
    "written by a callee before": "def set(c):\n    c.x = 2\nc = C(); set(c); shared.append(c)",
    "made by a function and then written": "def make():\n    return C()\nc = make(); c.x = 2; shared.append(c)",
    "a new object in each turn": "for _ in range(3):\n    c = C(); c.x = 2; shared.append(c)",
    "only the other object has escaped": "a = C(); b = Box(); shared.append(b); a.x = 2",
}
MUTABLE = {
    "written after it is an element": "c = C(); shared.append(c); c.x = 2",
    "written after it is in a field": "c = C(); b = Box(); b.f = c; c.x = 2",
    "written after it is in a global": "global c; c = C(); c.x = 2",
    "written through an alias": "c = C(); d = c; shared.append(c); d.x = 2",
    "written in the next turn": "c = C()\nfor _ in range(3):\n    c.x = 2; shared.append(c)",
    "loaded from the heap": "shared.append(C()); shared[0].x = 2",
    "a callee stores it": "def keep(c):\n    shared.append(c)\nc = C(); keep(c); c.x = 2",
    "a callee's callee stores it": "def k(c):\n    shared.append(c)\ndef keep(c):\n    k(c)\nc = C(); keep(c); c.x = 2",
    "a callee returns what it has stored": "def make():\n    c = C()\n    shared.append(c)\n    return c\nmake().x = 2",
    "a callee returns its argument": "def same(c):\n    return c\nc = C(); shared.append(c); same(c).x = 2",
    "its constructor stores it": "class D(C):\n    def __init__(self):\n        shared.append(self); self.x = 2\nD()",
    "a closure has it": "c = C()\ndef f():\n    return c\nc.x = 2",
    "a thread is given it": "c = C(); threading.Thread(target=print, args=(c,)).start(); c.x = 2",
    "a bound method has it": "class D(C):\n    def m(self):\n        pass\nd = D(); shared.append(d.m); d.x = 2",
    "a generator has it": "def g(c):\n    yield c\nc = C(); h = g(c); c.x = 2",
    "an exception leads to it": "c = C(); e = ValueError(c); c.x = 2",
    "deleted later": "c = C(); shared.append(c); del c.x",
    "setattr with a computed name": "c = C(); setattr(c, input(), 2)",
    "written through __dict__": "c = C(); c.__dict__['x'] = 2",
    "given to code that is not known": "import foreign\nc = C(); foreign.f(c)",
    "exec": "c = C(); exec(input())",
    "the class attribute is replaced": "class D:\n    x = 1\n    def f(self):\n        self.x = 2\nD().f(); D.x = 3",
    "the class attribute of a base is replaced": (
        "class B:\n    x = 1\nclass D(B):\n    def f(self):\n        self.x = 2\nD().f(); B.x = 3"
    ),
    "the running thread": (
        "class D(threading.Thread):\n def run(self):\n  threading.current_thread().x = 2\nD().start(); D().x = 1"
    ),
    "an annotation stores it": "c = C()\ndef f(a: shared.append(c)):\n    pass\nc.x = 2",
    "made once and initialised twice": (
        "class D:\n one = None\n def __new__(cls):\n  if not cls.one:\n   cls.one = object.__new__(cls)\n"
        "  return cls.one\n def __init__(self):\n  self.x = 1\nD(); D()"
    ),
    "augmented": "c = C(); shared.append(c); c.x += 1",
    "assigned by a for loop": "c = C(); shared.append(c)\nfor c.x in range(3):\n    pass",
    "assigned by with": "c = C(); shared.append(c)\nwith open('f') as c.x:\n    pass",
    "written in a handler": "c = C()\ntry:\n    shared.append(c)\nexcept ValueError:\n    c.x = 2",
    "written in finally": "c = C()\ntry:\n    shared.append(c)\nfinally:\n    c.x = 2",
}


def immutable(body: str) -> set[str]:
    inside = "\n".join(f"    {line}" for line in body.splitlines())
    facts = analyse({"m.py": f"{HEAD}def main():\n{inside}\n"}, "m.py::main")
    return {str(field) for field in facts.immutable}


@pytest.mark.parametrize("body", IMMUTABLE.values(), ids=IMMUTABLE)
def test_immutable(body: str) -> None:
    assert "C.x" in immutable(body)


@pytest.mark.parametrize("body", MUTABLE.values(), ids=MUTABLE)
def test_not_immutable(body: str) -> None:
    assert not {"C.x", "D.x"} & immutable(body)
