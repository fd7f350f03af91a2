"""The running example of Parizek and Lhotak: a company and two workers. What their sections 2 and 7 say of it."""

import ast
import dis
from pathlib import Path

import pytest

import dpor.workloads
from dpor.statics.facts import Facts, ProgramPoint, analyse
from dpor.statics.field_access import Precision
from dpor.statics.ir import Position

FOLDER = Path(dpor.workloads.__file__).parent
FILES = {name: (FOLDER / name).read_text(encoding="utf-8") for name in ("running_example.py", "__init__.py")}
NAMES = {"running_example.py": "dpor.workloads.running_example", "__init__.py": "dpor.workloads"}


@pytest.fixture(scope="module")
def facts() -> Facts:
    return analyse(FILES, "running_example.py::main", names=NAMES)


def lines_of(function: str, text: str) -> list[tuple[str, int]]:
    """The lines of the function, "Class.method" or its name, in which the text stands: files and numbers."""
    found = []
    for path, source in FILES.items():
        nodes = [ast.parse(source)]
        for name in function.split("."):
            nodes = [part for node in nodes for part in node.body if getattr(part, "name", "") == name]
        lines = source.splitlines()
        for node in nodes:
            found += [(path, i) for i in range(node.lineno, node.end_lineno + 1) if text in lines[i - 1]]
    return found


def point(function: str, text: str, nth: int = 0) -> ProgramPoint:
    """Where the text stands for the nth time in the function."""
    path, line = lines_of(function, text)[nth]
    start = FILES[path].splitlines()[line - 1].index(text)
    return ProgramPoint(path, Position(line, line, start, start + len(text)))


def told(facts: Facts, *stack: ProgramPoint, precision: Precision = Precision.SENSITIVE) -> set[str]:
    return {str(a) for a in facts.accesses_from(stack, precision) if a.field.name != "[]"}


def test_the_immutable_fields(facts: Facts) -> None:
    assert {str(field) for field in facts.immutable} == {"Employee.name", "Employee.index", "Company.employees"}


def test_the_reasons_of_the_others(facts: Facts) -> None:
    """The workers' field, because the thread escapes in its super constructor before the field is written."""
    assert {str(field): (reason.path, reason.line) for field, reason in facts.mutable.items()} == {
        "Employee.salary": lines_of("Company.set_salary", "e.salary = salary")[0],
        "FirstWorker.company": lines_of("FirstWorker.__init__", "self.company = company")[0],
        "SecondWorker.company": lines_of("SecondWorker.__init__", "self.company = company")[0],
    }


IN_PRINT = ("Company.print", "e.index")
PRINT_1 = ("FirstWorker.run", "self.company.print()", 0)
PRINT_2 = ("FirstWorker.run", "self.company.print()", 1)


@pytest.mark.parametrize(
    ("stack", "expected"),
    [
        pytest.param(
            [("Company.add_employee", "self.employees.append(employee)")], set(), id="append: elements only"
        ),
        pytest.param(
            [("Company.add_employee", "self.employees", 1)], {"r Company.employees"}, id="before it, one read is left"
        ),
        pytest.param(
            [("Company.add_employee", "employee.index")], {"r Company.employees"},
            id="no write that is to an employee whom nobody else has yet",
        ),
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
            [("SecondWorker.run", "self.company.add")],
            {"r SecondWorker.company", "r Company.employees", "r Employee.index", "r Employee.name"},
            id="the second worker past get_salary touches no salary",
        ),
        pytest.param([], set(), id="a thread that has ended"),
    ],
)  # fmt: skip
def test_what_may_still_be_accessed(facts: Facts, stack: list[tuple[str, str, int]], expected: set[str]) -> None:
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
            here = [ProgramPoint(instance.function.path, position)]
            sensitive, callee, insensitive = (facts.accesses_from(here, precision) for precision in (
                Precision.SENSITIVE, Precision.CALLEE, Precision.INSENSITIVE))  # fmt: skip
            assert sensitive <= callee <= insensitive, number


def test_what_the_main_thread_starts_later_counts_as_its_own(facts: Facts) -> None:
    starts, joins = point("run", "thread.start()"), point("run", "thread.join()")
    assert "w Employee.salary" in told(facts, starts)
    assert told(facts, joins) == set()


def test_a_range_that_names_no_instruction_stands_for_all_of_its_function(facts: Facts) -> None:
    path, line = lines_of("Company.print", "def print")[0]
    nowhere = ProgramPoint(path, Position(line, line, 0, 1), line, "Company.print")
    assert told(facts, nowhere) == {"r Company.employees", "r Employee.index", "r Employee.name"}


def test_a_function_that_is_not_known_stands_for_its_whole_file(facts: Facts) -> None:
    path, line = lines_of("Company.print", "return")[0]
    nowhere = ProgramPoint(path, Position(line, line, 0, 1), line, "Company.print.<locals>.<listcomp>")
    assert {"w Employee.salary", "w FirstWorker.company"} <= told(facts, nowhere)


def test_the_call_graph_is_drawn(facts: Facts) -> None:
    caller, called = lines_of("run", "def run")[0][1], lines_of("FirstWorker.run", "def run")[0][1]
    assert f'  "run:{caller}" -> "FirstWorker.run:{called}" [style=dotted];' in facts.dot()


def test_a_thread_that_waits_for_a_lock_stands_at_its_with_statement() -> None:
    """Found by the range that the code object has for the call of __enter__."""
    source = "class C:\n    def m(self, lock):\n        self.a = 1\n        with lock:\n            self.b = 1\n"
    module: dict[str, type] = {}
    exec(compile(source, "m.py", "exec"), module)
    code = module["C"].m.__code__
    enters = [i.positions for i in dis.get_instructions(code) if i.opname in ("BEFORE_WITH", "LOAD_SPECIAL")]
    place = Position(*(part or 0 for part in enters[0] or ()))
    facts = analyse({"m.py": source + "def main():\n    [C()][0].m(None)\n"}, "m.py::main")
    assert told(facts, ProgramPoint("m.py", place, code.co_firstlineno, code.co_qualname)) == {"w C.b"}


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
    found = told(facts, ProgramPoint("company.py", inside), ProgramPoint("company.py", outside))
    assert ("w Thing.hit" in found) is not is_over
