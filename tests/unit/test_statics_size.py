"""How much work the analysis of long programs is, counted in steps, and that it has an end."""

from __future__ import annotations

from dpor.statics.constraints import PointsTo
from dpor.statics.facts import Facts, analyse
from dpor.statics.lowering import lower
from dpor.statics.pointers import Pointers

CLASS = """\
class Node{n}({base}):
    def __init__(self, name, parent=None):
        {init}
        self.parent{n} = parent
        self.items{n} = []
        self.table{n} = {{}}
        self.lock{n} = threading.Lock()

    def add{n}(self, item):
        with self.lock{n}:
            self.items{n}.append(item)
            self.table{n}[item.name] = item
        return self

    def total{n}(self):
        found = 0
        for item in self.items{n}:
            try:
                found += item.weight() + len(self.table{n}[item.name])
            except ValueError as error:
                print(f"{{error}} of {{item.name}}")
        return found

    def weight(self):
        return sum(len(x.name) for x in self.items{n}) if self.parent{n} else 1


def make{n}(parent):
    node = Node{n}("n{n}", parent)
    for i in range(3):
        node.add{n}(Node{child}(str(i), node))
    REGISTRY["n{n}"] = node
    node.total{n}()
    make{other}(node) if parent is None else None
    return node


"""


def program(classes: int) -> str:
    """Some 42 lines a class; each third class inherits from another, and all call one another."""
    parts = ["import threading\n\nREGISTRY = {}\n\n"]
    for n in range(classes):
        base = f"Node{n // 2}" if n % 3 == 2 else "object"
        init = "super().__init__(name, parent)" if n % 3 == 2 else "self.name = name"
        parts.append(CLASS.format(n=n, base=base, init=init, child=n * 7 % (n + 1), other=max(n - 1, 0)))
    calls = "".join(f"    make{n}(None)\n" for n in range(classes))
    parts.append(f"def work():\n{calls}\ndef main():\n    threading.Thread(target=work).start()\n    work()\n")
    return "".join(parts)


def points_to(classes: int) -> PointsTo:
    return PointsTo(lower({"m.py": program(classes)}), "m.py::main")


def test_the_work_grows_with_the_program() -> None:
    short, long = points_to(27), points_to(135)
    assert program(135).count("\n") > 5_000
    assert not long.given_up
    assert long.steps < 8 * short.steps


def test_a_program_that_takes_too_many_steps_is_not_known() -> None:
    cut = PointsTo(lower({"m.py": program(5)}), "m.py::main", steps=100)
    facts = Facts(cut.program, cut, Pointers.NONE)
    assert facts.unknown == "the program takes more than 100 steps to analyse"
    assert facts.immutable == set()
    assert not analyse({"m.py": program(5)}, "m.py::main").unknown
