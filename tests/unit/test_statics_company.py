"""The running example of Parizek and Lhotak: a company and two workers. What their sections 2 and 7 say of it."""

import dis

import pytest

from statics.facts import Facts, Point, analyse
from statics.field_access import Precision
from statics.ir import Position

SOURCE = """\
import threading
class Employee:
    def __init__(self, name, salary):
        self.name = name
        self.salary = salary
        self.index = None
class Company:
    def __init__(self):
        self.employees = []
    def add(self, name, salary):
        e = Employee(name, salary)
        e.index = len(self.employees)
        self.employees.append(e)
    def add_employee(self, e):
        e.index = len(self.employees)
        self.employees.append(e)
    def print(self):
        for e in self.employees:
            print(f"{e.index}:{e.name}")
    def set_salary(self, index, salary):
        for e in self.employees:
            if e.index == index:
                e.salary = salary
    def get_salary(self, name):
        for e in self.employees:
            if e.name == name:
                return e.salary
class FirstWorker(threading.Thread):
    def __init__(self, company):
        super().__init__()
        self.company = company
    def run(self):
        self.company.add("david", 115)
        self.company.print()
        self.company.get_salary("john")
        self.company.set_salary(1, 150)
        self.company.print()
class SecondWorker(threading.Thread):
    def __init__(self, company):
        super().__init__()
        self.company = company
    def run(self):
        self.company.get_salary("paul")
        self.company.add("mark", 80)
        self.company.print()
def main():
    company = Company()
    company.add("john", 100)
    company.add_employee(Employee("paul", 120))
    w1 = FirstWorker(company)
    w2 = SecondWorker(company)
    w1.start()
    w2.start()
    w1.join()
    w2.join()
"""
LINES = SOURCE.splitlines()


@pytest.fixture(scope="module")
def facts() -> Facts:
    return analyse({"company.py": SOURCE}, "company.py::main")


def point(line: int, text: str) -> Point:
    """Where the text stands in the line."""
    start = LINES[line - 1].index(text)
    return Point("company.py", Position(line, line, start, start + len(text)))


def told(facts: Facts, *stack: Point, precision: Precision = Precision.SENSITIVE) -> set[str]:
    return {str(a) for a in facts.accesses_from(stack, precision) if a.field.name != "[]"}


def test_the_immutable_fields(facts: Facts) -> None:
    assert {str(field) for field in facts.immutable} == {"Employee.name", "Employee.index", "Company.employees"}


def test_the_reasons_of_the_others(facts: Facts) -> None:
    """The workers' field, because the thread escapes in its super constructor before the field is written."""
    assert {str(field): reason.line for field, reason in facts.mutable.items()} == {
        "Employee.salary": 23,
        "FirstWorker.company": 31,
        "SecondWorker.company": 41,
    }


PRINT_1 = (34, "self.company.print()")
PRINT_2 = (37, "self.company.print()")
IN_PRINT = (19, "e.index")


@pytest.mark.parametrize(
    ("stack", "expected"),
    [
        pytest.param([(13, "self.employees.append(e)")], set(), id="before add returns: elements only"),
        pytest.param([(13, "self.employees")], {"r Company.employees"}, id="one read is left"),
        pytest.param([(12, "e.index")], {"r Company.employees", "w Employee.index"}, id="and a write"),
        pytest.param(
            [IN_PRINT, PRINT_1],
            {
                "r FirstWorker.company", "r Company.employees", "r Employee.index", "r Employee.name",
                "r Employee.salary", "w Employee.salary",
            },
            id="print at its first call: salary is still accessed",
        ),
        pytest.param([IN_PRINT, PRINT_2], {"r Employee.index", "r Employee.name"}, id="at its second call: no more"),
        pytest.param(
            [(44, "self.company.add")],
            {
                "r SecondWorker.company", "r Company.employees", "r Employee.index", "r Employee.name",
                "w Employee.name", "w Employee.salary", "w Employee.index",
            },
            id="the second worker past get_salary reads no salary",
        ),
        pytest.param([], set(), id="a thread that has ended"),
    ],
)  # fmt: skip
def test_what_may_still_be_accessed(facts: Facts, stack: list[tuple[int, str]], expected: set[str]) -> None:
    assert told(facts, *(point(*where) for where in stack)) == expected


def test_without_the_stack_the_second_call_of_print_is_like_the_first(facts: Facts) -> None:
    stack = [point(*IN_PRINT), point(*PRINT_2)]
    salary = {"r Employee.salary", "w Employee.salary"}
    assert not salary & told(facts, *stack)
    assert salary <= told(facts, *stack, precision=Precision.CALLEE)
    assert salary <= told(facts, *stack, precision=Precision.INSENSITIVE)


def test_the_precisions_are_ordered_at_every_point(facts: Facts) -> None:
    for number, instance in enumerate(facts.points_to.instances):
        for position in instance.function.positions:
            here = [Point(instance.function.path, position)]
            sensitive, callee, insensitive = (facts.accesses_from(here, precision) for precision in (
                Precision.SENSITIVE, Precision.CALLEE, Precision.INSENSITIVE))  # fmt: skip
            assert sensitive <= callee <= insensitive, number


def test_what_the_main_thread_starts_later_counts_as_its_own(facts: Facts) -> None:
    starts, joins = point(52, "w1.start()"), point(54, "w1.join()")
    assert "w Employee.salary" in told(facts, starts)
    assert told(facts, joins) == set()


def test_a_range_that_names_no_instruction_stands_for_all_of_its_function(facts: Facts) -> None:
    nowhere = Point("company.py", Position(18, 18, 0, 1), 17, "Company.print")
    assert told(facts, nowhere) == {"r Company.employees", "r Employee.index", "r Employee.name"}


def test_a_function_that_is_not_known_stands_for_its_whole_file(facts: Facts) -> None:
    nowhere = Point("company.py", Position(18, 18, 0, 1), 17, "Company.print.<locals>.<listcomp>")
    assert {"w Employee.salary", "w FirstWorker.company"} <= told(facts, nowhere)


def test_the_call_graph_is_drawn(facts: Facts) -> None:
    assert '  "main:46" -> "FirstWorker.run:32" [style=dotted];' in facts.dot()


def test_a_thread_that_waits_for_a_lock_stands_at_its_with_statement() -> None:
    """Found by the range that the code object has for the call of __enter__."""
    source = "class C:\n    def m(self, lock):\n        self.a = 1\n        with lock:\n            self.b = 1\n"
    module: dict[str, type] = {}
    exec(compile(source, "m.py", "exec"), module)
    code = module["C"].m.__code__
    enters = [i.positions for i in dis.get_instructions(code) if i.opname in ("BEFORE_WITH", "LOAD_SPECIAL")]
    place = Position(*(part or 0 for part in enters[0] or ()))
    facts = analyse({"m.py": source + "def main():\n    C().m(None)\n"}, "m.py::main")
    assert told(facts, Point("m.py", place, code.co_firstlineno, code.co_qualname)) == {"w C.b"}


UNPACKED = """\
class Thing:
    def __iter__(self):
        return self
    def __next__(self):
        raise StopIteration
def inner(thing, *others):
    thing.hit = 1
    thing.hit
def main(things):
    things.append(1)
    inner(Thing(), *{unpacked})
"""


@pytest.mark.parametrize(
    ("unpacked", "is_over"),
    [
        pytest.param("[1, 2]", True, id="a list is unpacked by the time that the function has begun"),
        pytest.param("Thing()", False, id="what unpacks may be what has not returned yet"),
        pytest.param("things", False, id="nothing is known of what is unpacked"),
    ],
)
def test_a_call_that_unpacks_is_over_when_its_function_returns(unpacked: str, is_over: bool) -> None:
    source = UNPACKED.format(unpacked=unpacked)
    call = f"inner(Thing(), *{unpacked})"
    facts = analyse({"company.py": source}, "company.py::main")
    inside, outside = Position(8, 8, 4, 13), Position(11, 11, 4, 4 + len(call))
    found = told(facts, Point("company.py", inside), Point("company.py", outside))
    assert ("w Thing.hit" in found) is not is_over
