"""The format of abstract programs: what is accepted, and the one line that says what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dpor.core.errors import BadProgram
from dpor.model import load, load_all, parse
from dpor.model.expressions import parse_expression
from dpor.model.tree import Sort


def one(*statements: Any, **declared: Any) -> dict[str, Any]:
    """A program of one thread."""
    return {"vars": {"x": 0, "arr": [0, 0]}, "locks": ["m"], **declared, "threads": [list(statements)]}


BAD = {
    "an unknown operation": (
        one("w x 1", "load x a"),
        "T0:1 'load x a': there is no operation 'load' (there are r, w,",
    ),
    "an empty statement": (one(""), "T0:0 '': there is no operation ''"),
    "too few operands": (one("r x"), "T0:0 'r x': 'r' takes 2 operands (variable, register)"),
    "too many operands": (one("w x a + 1"), "T0:0 'w x a + 1': 'w' takes 2 operands (variable, expression)"),
    "an unknown variable": (one("w y 1"), "T0:0 'w y 1': there is no variable 'y'"),
    "an unknown array": (one("w b[a] 1"), "there is no variable 'b[a]'"),
    "an element that is not there": (one("w arr[2] 1"), "there is no variable 'arr[2]'"),
    "another kind of object": (one("lock x"), "T0:0 'lock x': 'x' is a variable, not a lock"),
    "a bad register": (one("r x 1"), "'1' is not a name of a register"),
    "a word of Python as a register": (one("r x not"), "'not' is not a name of a register"),
    "a thread that is not there": (one("join 1"), "there is no thread 1 (they are numbered from 0 to 0)"),
    "no alternatives": (one("choose a 0"), "'0' is not a number of alternatives"),
    "a call": (one("w x open(a)"), "'open' is not a function of expressions (they are min, max, abs, int)"),
    "an attribute": (one("w x a.real"), "'a.real' is more than an expression of numbers and registers (Attribute)"),
    "a string": (one("w x 'a'"), "'a' in \"'a'\" is not a number"),
    "a function as a register": (one("w x min"), "'min' in 'min' is a function, not a register"),
    "half an expression": (one("w x a+"), "'a+' is not an expression"),
    "keywords in a call": (one("w x min(a,key=b)"), "'min' in 'min(a,key=b)' takes plain arguments"),
    "a statement of no kind": (one(7), "T0:0 is 7, neither a statement nor an if, while or repeat"),
    "an unknown block": (
        one(["unless", "a", []]),
        "T0:0 ['unless', 'a', []]: not of the form ['if', EXPR, [...], [...]]",
    ),
    "a while with an else": (one(["while", "a", [], []]), "not of the form"),
    "a repeat without a number": (one(["repeat", "2", []]), "not of the form"),
    "a bad condition": (one(["if", "a b", ["w x 1"]]), "T0:0 ['if', 'a b', ['w x 1']]: 'a b' is not an expression"),
    "something wrong inside": (one(["if", "a", [], ["w x 1", "w"]]), "T0:0.3.1 'w': 'w' takes 2 operands"),
    "a block that is no list": (one(["if", "a", "w x 1"]), "T0:0.2 is 'w x 1', not a list of statements"),
    "no threads": ({"vars": {}}, "'threads' is None, not a list of one or more lists of statements"),
    "a thread that is no list": ({"threads": ["w x 1"]}, "T0 is 'w x 1', not a list of statements"),
    "an unknown part": (one(lock=["m"]), "'lock' is not a part of a program (those are name, vars, locks,"),
    "two objects of one name": (one(sems={"x": 1}), "'x' is declared twice"),
    "a bad name": (one(vars={"x y": 1}), "'x y' is not a name of an object"),
    "a first value": (one(vars={"x": "1"}), "'x' begins as '1', which is not a number"),
    "a semaphore below 0": (one(sems={"s": -1}), "semaphore 's' begins as -1, not as a number from 0"),
    "locks that are no list": (one(locks={"m": 0}), "'locks' is {'m': 0}, not a list"),
    "registers for other threads": (one(regs={"a": [1, 2]}), "register 'a' begins as [1, 2], not as one value for"),
    "not a program": ([1], "[1] is not a program (a mapping)"),
}


@pytest.mark.parametrize(("spec", "message"), BAD.values(), ids=BAD)
def test_one_line_names_what_is_wrong(spec: object, message: str) -> None:
    with pytest.raises(BadProgram) as caught:
        parse(spec)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_all_that_is_declared() -> None:
    """Arrays are elements, "l[2]" declares two locks, elements can also be declared one by one."""
    program = parse(
        {
            "name": "p",
            "vars": {"x": 1, "arr": [2, 3], "one[7]": 4},
            "locks": ["m", "l[2]"],
            "rlocks": ["r"],
            "sems": {"s": 5},
            "conds": ["c"],
            "threads": [["w one[7] 1", "lock l[a]"], []],
            "regs": {"a": [0, 1]},
        }
    )
    declared = {o.name: (o.sort, o.initial) for o in program.objects}
    assert declared == {
        "x": (Sort.VARIABLE, 1),
        "arr[0]": (Sort.VARIABLE, 2),
        "arr[1]": (Sort.VARIABLE, 3),
        "one[7]": (Sort.VARIABLE, 4),
        "m": (Sort.LOCK, None),
        "l[0]": (Sort.LOCK, None),
        "l[1]": (Sort.LOCK, None),
        "r": (Sort.RLOCK, None),
        "s": (Sort.SEMAPHORE, 5),
        "c": (Sort.CONDITION, None),
    }
    assert program.name == "p"
    assert program.registers == {"a": (0, 1)}


def test_statements_are_named_by_where_they_stand() -> None:
    program = parse(one("w x 1", ["if", "a", ["w x 2"], [["while", "b", ["w x 3"]]]], ["repeat", 2, ["w x 4"]]))
    assert [(s.place, s.text) for s in program.statements(0)] == [
        ("0", "w x 1"),
        ("1.2.0", "w x 2"),
        ("1.3.0.2.0", "w x 3"),
        ("2.2.0", "w x 4"),
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a", 5),
        ("-a+2*b//3%4", -3),
        ("(a==5)and(b<=3)or(not(a))", True),
        ("1<a<9", True),
        ("(1)if(a>9)else(b)", 3),
        ("min(a,b)+max(1,a)+abs(-b)+int(True)", 12),
        ("a<<1|b&1^2", 11),
        ("2**b", 8),
    ],
)
def test_expressions_mean_what_they_mean_in_python(text: str, value: object) -> None:
    assert parse_expression(text).compile({"a": 0, "b": 1})([5, 3]) == value


def test_registers_of_an_expression_in_order_of_appearance() -> None:
    assert parse_expression("min(b,a)+b*(c)").names == ("b", "a", "c")


# ---------------------------------------------------------------------- files


def spec(name: str | None = None) -> dict[str, Any]:
    return {**({"name": name} if name else {}), "vars": {"x": 0}, "threads": [["w x 1"]]}


def test_a_file_with_one_program(tmp_path: Path) -> None:
    """Bare, or with a name around it; without any name, the file's is used."""
    file = tmp_path / "tiny.json"
    file.write_text(json.dumps(spec(), indent=1))
    assert load(file).name == "tiny"
    file.write_text(json.dumps({"name": "outer", "spec": spec("inner"), "counts": {"maz": 1}}))
    assert load(file).name == "outer"
    file.write_text(json.dumps({"spec": spec("inner")}))
    assert load(file).name == "inner"


@pytest.mark.parametrize("form", ["lines", "list"])
def test_a_file_with_several(tmp_path: Path, form: str) -> None:
    file = tmp_path / "many.jsonl"
    programs = [spec("p"), {"name": "q", "spec": spec()}]
    lines = "\n".join(json.dumps(p) for p in programs) + "\n\n"
    file.write_text(lines if form == "lines" else json.dumps(programs))
    assert [p.name for p in load_all(file)] == ["p", "q"]
    assert load(file, "q").name == "q"
    with pytest.raises(BadProgram, match=r"many.jsonl has 2 programs: say which \(p, q\)"):
        load(file)
    with pytest.raises(BadProgram, match=r"many.jsonl has no program 'r' \(it has p, q\)"):
        load(file, "r")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is neither JSON nor JSON lines"),
        ("", "is neither JSON nor JSON lines|has no program in it"),
        ("[]", "has no program in it"),
        ('{"threads": [["w x 1"]]}', r"bad.json: T0:0 'w x 1': there is no variable 'x'"),
        ('{"threads": [[]]}\n{"name": "p", "spec": 3}', r"bad.json: program 2: 3 is not a program"),
    ],
)
def test_a_bad_file(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(text)
    with pytest.raises(BadProgram, match=message):
        load(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadProgram, match=r"none.json cannot be read"):
        load(tmp_path / "none.json")


def test_the_programs_of_the_litmus_tests() -> None:
    data = Path(__file__).parent.parent / "data"
    assert len(load_all(data / "programs.jsonl")) == 106
    assert len(load_all(data / "soundness.json")) == 17
