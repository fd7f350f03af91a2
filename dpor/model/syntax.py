"""Reads abstract programs from their JSON form (see `dpor.model`) and checks them. A program that is wrong raises
`BadProgram` with a line that says where and why."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from dpor.core.errors import BadProgram
from dpor.model.expressions import FUNCTIONS, Expression, Value, parse_expression
from dpor.model.tree import OPERANDS, Body, If, Object, ObjectReference, Program, Repeat, Simple, Sort, Statement, While

_SORTS: Final = {
    "variable": (Sort.VARIABLE,),
    "lock": (Sort.LOCK, Sort.RLOCK),
    "semaphore": (Sort.SEMAPHORE,),
    "condition": (Sort.CONDITION,),
}
_KEYS: Final = ("name", "vars", "locks", "rlocks", "sems", "conds", "threads", "regs")
_NAME: Final = re.compile(r"[A-Za-z_]\w*(\[\d+\])?")
_SUBSCRIPTED: Final = re.compile(r"(\w+)\[(.*)\]")
_NOT_REGISTERS: Final = {*FUNCTIONS, "and", "or", "not", "if", "else", "True", "False", "None"}


# ---------------------------------------------------------------------- files


def load(path: str | Path, name: str | None = None) -> Program:
    """Return the program in a file; if it has several, the one with this name. Raises `BadProgram` if there is none, if
    a name is needed, or if the file cannot be read."""
    programs = load_all(path)
    if name is None and len(programs) == 1:
        return programs[0]
    names = ", ".join(program.name for program in programs[:5]) + (", ..." if len(programs) > 5 else "")
    if name is None:
        raise BadProgram(f"{path} has {len(programs)} programs: say which ({names})")
    for program in programs:
        if program.name == name:
            return program
    raise BadProgram(f"{path} has no program {name!r} (it has {names})")


def load_all(path: str | Path) -> list[Program]:
    """Return all programs in a file. It has one, a list of them, or one a line, each bare or as {"name": ..., "spec":
    ...}. Raises `BadProgram` if one is wrong or the file cannot be read."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadProgram(f"{path} cannot be read: {reason}") from error
    entries = _entries(path, text)
    if not entries:
        raise BadProgram(f"{path} has no program in it")
    programs = []
    for number, entry in enumerate(entries, 1):
        try:
            programs.append(parse(entry, name=path.stem))
        except BadProgram as error:
            which = f"program {number}: " if len(entries) > 1 else ""
            raise BadProgram(f"{path}: {which}{error}") from error
    return programs


def _entries(path: Path, text: str) -> list[Any]:
    try:
        whole = json.loads(text)
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            return [json.loads(line) for line in lines]
        except ValueError:
            raise BadProgram(f"{path} is neither JSON nor JSON lines: {error}") from error
    return whole if isinstance(whole, list) else [whole]


# ---------------------------------------------------------------------- programs


def parse(spec: object, name: str = "") -> Program:
    """Check a program in its JSON form and return it. `name` is used if the program has none. Raises `BadProgram` if it
    is wrong.

    >>> program = parse({"name": "p", "vars": {"x": 0}, "threads": [["w x 1"], ["r x a"]]})
    >>> program.name, [body[0].text for body in program.threads]
    ('p', ['w x 1', 'r x a'])
    >>> parse({"vars": {"x": 0}, "threads": [["w x 1", "r y a"]]})
    Traceback (most recent call last):
        ...
    dpor.core.errors.BadProgram: T0:1 'r y a': there is no variable 'y'
    """
    spec = _mapping(spec)
    names = [spec.get("name")]
    if "spec" in spec:
        spec = _mapping(spec["spec"])
        names.append(spec.get("name"))
    return _Parser(spec).program(next((str(n) for n in names if n), name))


class _Parser:
    """Parses one program, and knows what it declares."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._spec = spec
        for key in spec:
            if key not in _KEYS:
                raise BadProgram(f"{key!r} is not a part of a program (those are {', '.join(_KEYS)})")
        self._objects = tuple(self._declared())
        twice = [name for name, count in Counter(o.name for o in self._objects).items() if count > 1]
        if twice:
            raise BadProgram(f"{twice[0]!r} is declared twice")
        self._sorts = {o.name: o.sort for o in self._objects}
        self._elements: dict[str, dict[int, str]] = {}
        for declared in self._objects:
            if match := _SUBSCRIPTED.fullmatch(declared.name):
                self._elements.setdefault(match[1], {})[int(match[2])] = declared.name

    def program(self, name: str) -> Program:
        threads = self._spec.get("threads")
        if not isinstance(threads, list | tuple) or not threads:
            raise BadProgram(f"'threads' is {threads!r}, not a list of one or more lists of statements")
        self._count = len(threads)
        bodies = tuple(self._body(body, f"T{t}", "") for t, body in enumerate(threads))
        return Program(name, self._objects, bodies, self._registers())

    # ------------------------------------------------------------------ declarations

    def _declared(self) -> Iterator[Object]:
        for name, value in self._part("vars", dict).items():
            if isinstance(value, list | tuple):
                for i, element in enumerate(value):
                    yield Object(_name(f"{name}[{i}]"), Sort.VARIABLE, _number(element, name))
            else:
                yield Object(_name(name), Sort.VARIABLE, _number(value, name))
        for key, sort in (("locks", Sort.LOCK), ("rlocks", Sort.RLOCK)):
            for name in self._part(key, list):
                match = _SUBSCRIPTED.fullmatch(_name(name))
                for element in [f"{match[1]}[{i}]" for i in range(int(match[2]))] if match else [name]:
                    yield Object(element, sort)
        for name, value in self._part("sems", dict).items():
            if not _is_count(value):
                raise BadProgram(f"semaphore {name!r} begins as {value!r}, not as a number from 0")
            yield Object(_name(name), Sort.SEMAPHORE, value)
        for name in self._part("conds", list):
            yield Object(_name(name), Sort.CONDITION)

    def _part(self, key: str, kind: type) -> Any:
        part = self._spec.get(key, kind())
        if isinstance(part, tuple):
            part = list(part)
        if not isinstance(part, kind):
            raise BadProgram(f"{key!r} is {part!r}, not a {'list' if kind is list else 'mapping'}")
        return part

    def _registers(self) -> dict[str, tuple[Value, ...]]:
        registers = {}
        for name, values in self._part("regs", dict).items():
            if not isinstance(values, list | tuple) or len(values) != self._count:
                raise BadProgram(f"register {name!r} begins as {values!r}, not as one value for each thread")
            registers[_register(name)] = tuple(_number(value, name) for value in values)
        return registers

    # ------------------------------------------------------------------ statements

    def _body(self, body: object, thread: str, place: str) -> Body:
        if not isinstance(body, list | tuple):
            raise BadProgram(f"{thread}{':' if place else ''}{place.rstrip('.')} is {body!r}, not a list of statements")
        return tuple(self._statement(s, thread, f"{place}{i}") for i, s in enumerate(body))

    def _statement(self, statement: object, thread: str, place: str) -> Statement:
        if isinstance(statement, str):
            try:
                return self._simple(statement, place)
            except BadProgram as error:
                raise BadProgram(f"{thread}:{place} {statement!r}: {error}") from error
        if not isinstance(statement, list | tuple):
            raise BadProgram(f"{thread}:{place} is {statement!r}, neither a statement nor an if, while or repeat")
        try:
            return self._compound(statement, thread, place)
        except _Shape as error:
            raise BadProgram(f"{thread}:{place} {_short(statement)}: {error}") from error

    def _compound(self, statement: Sequence[Any], thread: str, place: str) -> Statement:
        match statement:
            case ["if", str(condition), then, *rest] if len(rest) < 2:
                otherwise = self._body(rest[0], thread, f"{place}.3.") if rest else ()
                return If(place, _condition(condition), self._body(then, thread, f"{place}.2."), otherwise)
            case ["while", str(condition), body]:
                return While(place, _condition(condition), self._body(body, thread, f"{place}.2."))
            case ["repeat", int(times), body] if _is_count(times):
                return Repeat(times, self._body(body, thread, f"{place}.2."))
        raise _Shape("not of the form ['if', EXPR, [...], [...]], ['while', EXPR, [...]] or ['repeat', NUMBER, [...]]")

    def _simple(self, text: str, place: str) -> Simple:
        words = text.split()
        if not words or words[0] not in OPERANDS:
            raise BadProgram(f"there is no operation {words[0] if words else ''!r} (there are {', '.join(OPERANDS)})")
        kinds = OPERANDS[words[0]].split()
        if len(words) - 1 != len(kinds):
            raise BadProgram(f"{words[0]!r} takes {len(kinds)} operands ({', '.join(kinds)})")
        objects: list[ObjectReference] = []
        expressions: list[Expression] = []
        register, number = "", 0
        for kind, word in zip(kinds, words[1:], strict=True):
            if kind == "register":
                register = _register(word)
            elif kind == "expression":
                expressions.append(parse_expression(word))
            elif kind == "thread":
                number = self._thread(word)
            elif kind == "count":
                number = _count(word)
            else:
                objects.append(self._reference(word, kind))
        return Simple(place, text, words[0], tuple(objects), register, tuple(expressions), number)

    def _reference(self, text: str, kind: str) -> ObjectReference:
        sorts = _SORTS[kind]
        if text in self._sorts:
            if self._sorts[text] not in sorts:
                raise BadProgram(f"{text!r} is a {self._sorts[text].value}, not a {kind}")
            return ObjectReference(text, {0: text})
        match = _SUBSCRIPTED.fullmatch(text)
        elements = self._elements.get(match[1], {}) if match else {}
        elements = {i: name for i, name in elements.items() if self._sorts[name] in sorts}
        if match is None or not elements:
            raise BadProgram(f"there is no {kind} {text!r}")
        subscript = parse_expression(match[2])
        if not subscript.names and subscript.compile({})(()) not in elements:
            raise BadProgram(f"there is no {kind} {text!r}")
        return ObjectReference(text, elements, subscript)

    def _thread(self, word: str) -> int:
        if not word.isdecimal() or int(word) >= self._count:
            raise BadProgram(f"there is no thread {word} (they are numbered from 0 to {self._count - 1})")
        return int(word)


class _Shape(BadProgram):
    """Raised if a compound statement itself is wrong, not a statement inside it: the message about that names its place
    already."""


def _condition(text: str) -> Expression:
    try:
        return parse_expression(text)
    except BadProgram as error:
        raise _Shape(str(error)) from error


def _short(statement: object) -> str:
    text = repr(statement)
    return text if len(text) <= 60 else text[:57] + "..."


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BadProgram(f"{_short(value)} is not a program (a mapping)")
    return value


def _name(name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise BadProgram(f"{name!r} is not a name of an object")
    return name


def _register(word: str) -> str:
    if not word.isidentifier() or word in _NOT_REGISTERS:
        raise BadProgram(f"{word!r} is not a name of a register")
    return word


def _number(value: object, name: str) -> Value:
    if not isinstance(value, int | float):
        raise BadProgram(f"{name!r} begins as {value!r}, which is not a number")
    return value


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _count(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise BadProgram(f"{word!r} is not a number of alternatives")
    return int(word)
