"""Abstract programs as Python source: what each thread's registers are is kept in an object of its own to the end.

A thread that has done its statements waits for a gate, so its registers stay part of the state. Main is about to open
it as soon as it has started all threads.

What is one step in Python, too, is written with that: adding one, as `next` of a counter (`rmw x a a+1`), and filling
an empty cell (`cas x[i] 0 v a`), as `setdefault` of a dict. A general compare-and-swap has no such form. An assertion
that fails lets a thread of an abstract program carry on, so it is an expression that does nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any


class NoTwin(Exception):
    """The program has a statement without a natural Python form."""


_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_WORDS = {"and", "or", "not", "if", "else", "min", "max", "abs"}
_ELEMENT = re.compile(r"(\w+)\[(.*)\]")


def source(spec: dict[str, Any]) -> str:
    """A module with a function `scenario`. Raises `NoTwin`."""
    if any(key not in ("name", "vars", "locks", "sems", "conds", "threads") for key in spec):
        raise NoTwin("declares something else")
    threads = [list(_block(body, 2)) for body in spec["threads"]]
    registers = sorted({name for body in spec["threads"] for name in _registers(body)})
    _check_written(spec)
    lines = ["import itertools", "import threading", "", "", "class Registers:", "    def __init__(self):"]
    lines += [f"        self.{name} = 0" for name in registers] or ["        pass"]
    lines += ["", "", "class Shared:", "    pass", "", "", "def scenario():", "    box = Shared()"]
    lines += _declarations(spec)
    lines += ["    gate = threading.Lock()", "    gate.acquire()", ""]
    for number, body in enumerate(threads):
        body = [re.sub(r"\br\.tid\b", str(number), line) for line in body]
        lines += [f"    def body{number}():", "        r = Registers()", *body, "        gate.acquire()"]
        lines += ["        return r", ""]
    names = ", ".join(f"body{number}" for number in range(len(threads)))
    lines += [f"    threads = [threading.Thread(target=body) for body in ({names},)]"]
    lines += ["    for thread in threads:", "        thread.start()", "    gate.release()"]
    return "\n".join(lines) + "\n"


def _declarations(spec: dict[str, Any]) -> Iterator[str]:
    for name, value in spec.get("vars", {}).items():
        if "[" in name:
            raise NoTwin("an array given by elements")
        words = _words(spec["threads"], name)
        if words == {"rmw"}:
            yield f"    {name} = itertools.count({value})"
        elif words == {"cas"} and isinstance(value, list) and not any(value):
            yield f"    {name} = [{{}} for _ in range({len(value)})]"
        elif not words.isdisjoint({"rmw", "cas"}):
            raise NoTwin(f"{name} is no counter or array of cells")
        else:
            yield f"    {name} = {value}" if isinstance(value, list) else f"    box.{name} = {value}"
    semaphores: dict[str, list[int]] = {}
    for name, value in spec.get("sems", {}).items():
        element = _ELEMENT.fullmatch(name)
        if element:
            semaphores.setdefault(element[1], []).append(value)
        else:
            yield f"    {name} = threading.Semaphore({value})"
    for name, values in semaphores.items():
        yield f"    {name} = [threading.Semaphore(value) for value in {values}]"
    for name in spec.get("locks", ()):
        element = _ELEMENT.fullmatch(name)
        if element:
            yield f"    {element[1]} = [threading.Lock() for _ in range({element[2]})]"
        else:
            yield f"    {name} = threading.Lock()"
    waits = dict(_waits(spec["threads"]))
    for name in spec.get("conds", ()):
        if name not in waits:
            raise NoTwin("a condition that nobody waits for")
        yield f"    {name} = threading.Condition({waits[name]})"


def _words(statements: Any, variable: str) -> set[str]:
    """With which statements the variable, or its elements, are accessed."""
    words = set()
    for statement in statements:
        if isinstance(statement, list):
            words |= _words(statement, variable)
        else:
            word, *rest = statement.split()
            if rest and rest[0].partition("[")[0] == variable:
                words.add(word)
    return words


def _waits(statements: Any) -> Iterator[tuple[str, str]]:
    for statement in statements:
        if isinstance(statement, list):
            yield from _waits(statement)
        elif statement.startswith("wait "):
            _, condition, lock = statement.split()
            yield condition, lock


def _registers(statements: Any) -> Iterator[str]:
    for statement in statements:
        if isinstance(statement, list):
            yield from _registers(statement)
        else:
            kind, *rest = statement.split()
            if kind == "r":
                yield rest[1]
            elif kind == "let":
                yield rest[0]
            elif kind == "rmw":
                yield rest[1]
            elif kind == "cas":
                yield rest[3]


def _check_written(spec: dict[str, Any]) -> None:
    """What is read must also be written by somebody, else reading it is no operation in Python."""
    touched: dict[str, set[str]] = {"r": set(), "w": set()}

    def look(statements: Any) -> None:
        for statement in statements:
            if isinstance(statement, list):
                look(statement)
            elif statement.split()[0] in touched:
                touched[statement.split()[0]].add(statement.split()[1].partition("[")[0])

    look(spec["threads"])
    if not touched["r"] <= touched["w"]:
        raise NoTwin("reads what nobody writes")


def _block(statements: Any, depth: int) -> Iterator[str]:
    pad = "    " * depth
    if not statements:
        yield f"{pad}pass"
    for statement in statements:
        if isinstance(statement, list):
            kind, condition, body, *orelse = statement
            yield f"{pad}{kind} {_expression(condition)}:"
            yield from _block(body, depth + 1)
            if orelse and orelse[0]:
                yield f"{pad}else:"
                yield from _block(orelse[0], depth + 1)
        else:
            yield f"{pad}{_simple(statement)}"


def _simple(statement: str) -> str:
    kind, *rest = statement.split(maxsplit=2)
    match kind:
        case "r":
            return f"r.{rest[1]} = {_variable(rest[0])}"
        case "w":
            return f"{_variable(rest[0])} = {_expression(rest[1])}"
        case "let":
            return f"r.{rest[0]} = {_expression(rest[1])}"
        case "lock":
            return f"{_object(rest[0])}.acquire()"
        case "unlock":
            return f"{_object(rest[0])}.release()"
        case "P":
            return f"{_object(rest[0])}.acquire()"
        case "V":
            return f"{_object(rest[0])}.release()"
        case "wait":
            return f"{rest[0]}.wait()"
        case "notify":
            return f"{rest[0]}.notify()"
        case "notifyall":
            return f"{rest[0]}.notify_all()"
        case "assert":
            return _expression(" ".join(rest))
        case "rmw" if rest[1].split() == [register := rest[1].split()[0], f"{register}+1"]:
            return f"r.{register} = next({rest[0]})"
        case "cas" if rest[1].split()[0] == "0":
            _, new, register = rest[1].split()
            value = _expression(new)
            return f"r.{register} = int({_object(rest[0])}.setdefault('', {value}) == {value})"
    raise NoTwin(kind)


def _object(name: str) -> str:
    element = _ELEMENT.fullmatch(name)
    return f"{element[1]}[{_expression(element[2])}]" if element else name


def _variable(name: str) -> str:
    return _object(name) if "[" in name else f"box.{name}"


def _expression(text: str) -> str:
    return _IDENTIFIER.sub(lambda m: m[0] if m[0] in _WORDS else f"r.{m[0]}", text)
