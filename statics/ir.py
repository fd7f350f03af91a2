"""Three-address code of a program's functions, one small step an instruction.

A function is a list of numbered instructions; `following` has the possible successors and `handlers` the target of an
exception (-1: out of the function). Class bodies and comprehensions are part of the function around them. Variables
that other functions see (globals, closure cells) are `Variable`s and are loaded and stored; all others are plain
names, and temporaries are `%1`, `%2`, ... `function_text` shows a function.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import attrs


class Position(NamedTuple):
    """A range in a file, as `co_positions` counts: lines from 1, columns in bytes from 0."""

    line: int
    end_line: int
    column: int
    end_column: int


class Variable(NamedTuple):
    """A variable that several functions see. `scope` is the path of its module, or the key of the cell's function."""

    scope: str
    name: str
    is_global: bool

    def __str__(self) -> str:
        return f"{self.scope}:{self.name}"


@attrs.frozen
class Instruction:
    """An instruction. `dst` is the variable that it assigns, "" if none."""

    dst: str


@attrs.frozen
class Nothing(Instruction):
    """A label, where paths join."""


@attrs.frozen
class Value(Instruction):
    """dst = a built-in value that cannot change and leads to no other object."""


@attrs.frozen
class Copy(Instruction):
    src: str


@attrs.frozen
class Allocate(Instruction):
    """dst = a new list, tuple, set or dict (`kind`); of starred elements, the items are put in."""

    kind: str
    elements: tuple[str, ...]
    keys: tuple[str, ...] = ()
    starred: tuple[str, ...] = ()


@attrs.frozen
class MakeFunction(Instruction):
    function: Function
    defaults: tuple[tuple[str, str], ...]
    """Parameter, and the variable that holds its default."""


@attrs.frozen
class MakeClass(Instruction):
    klass: ClassDefinition
    bases: tuple[str, ...]
    others: tuple[str, ...]
    """Metaclass, keywords, unpacked bases: whatever else `class` is given."""


@attrs.frozen
class Import(Instruction):
    module: str


@attrs.frozen
class Super(Instruction):
    """dst = super(), in a method of `klass` whose first parameter is `receiver`."""

    klass: str
    receiver: str


@attrs.frozen
class LoadAttribute(Instruction):
    base: str
    name: str


@attrs.frozen
class StoreAttribute(Instruction):
    base: str
    name: str
    src: str


@attrs.frozen
class DeleteAttribute(Instruction):
    base: str
    name: str


@attrs.frozen
class LoadItem(Instruction):
    base: str
    key: str


@attrs.frozen
class StoreItem(Instruction):
    base: str
    key: str
    src: str


@attrs.frozen
class DeleteItem(Instruction):
    base: str
    key: str


@attrs.frozen
class LoadVariable(Instruction):
    variable: Variable


@attrs.frozen
class StoreVariable(Instruction):
    """Stores `src`; where that is "", deletes the variable."""

    variable: Variable
    src: str


@attrs.frozen
class Call(Instruction):
    callee: str
    args: tuple[str, ...]
    keywords: tuple[tuple[str, str], ...] = ()
    starred: tuple[str, ...] = ()
    """What is unpacked into arguments, by * or **: any parameter may be anything that it holds."""
    receiver: str = ""
    """Of `E.m(...)`: the variable with E; the callee is used for nothing but this call then."""


MATCHED: Final = "match"
RAISED: Final = "raise"
IMPORTED: Final = "import *"


@attrs.frozen
class Invoke(Instruction):
    """dst = what special methods, any of `methods`, of the operands return when called with the operands.

    Some names are not methods. MATCHED: patterns read the operand, the attributes named after it and what is found in
    there; dst is all of that. RAISED: the first operand is raised, from the second. IMPORTED: all names of the operand
    are.
    """

    methods: tuple[str, ...]
    operands: tuple[str, ...]


@attrs.frozen
class Caught(Instruction):
    """dst = the exception being handled."""


@attrs.frozen
class Raise(Instruction):
    src: str


@attrs.frozen
class Return(Instruction):
    src: str


@attrs.frozen
class Yield(Instruction):
    """Yields `src` to the caller of the generator; dst = what is sent."""

    src: str


@attrs.define(eq=False)
class Parameters:
    """The parameters of a function.

    `plain` by position, then `only_keywords`; `rest` and `rest_keywords` are those of * and **, or "".
    """

    plain: tuple[str, ...] = ()
    only_keywords: tuple[str, ...] = ()
    rest: str = ""
    rest_keywords: str = ""

    def all(self) -> tuple[str, ...]:
        """All names, in the order of a code object."""
        return (*self.plain, *self.only_keywords, *filter(None, (self.rest, self.rest_keywords)))


@attrs.define(eq=False)
class Function:
    """A function, lambda, generator expression or module body.

    key         its path, qualified name and first line; no two functions share it
    suspends    calling it makes a generator or coroutine, whose body runs later
    klass       the class whose body holds it, if any
    """

    path: str
    name: str
    line: int
    parameters: Parameters
    suspends: bool = False
    klass: ClassDefinition | None = None
    is_module: bool = False
    instructions: list[Instruction] = attrs.field(factory=list)
    positions: list[Position] = attrs.field(factory=list)
    following: list[list[int]] = attrs.field(factory=list)
    handlers: list[int] = attrs.field(factory=list)

    @property
    def key(self) -> str:
        return f"{self.path}:{self.line}:{self.name}"

    def __repr__(self) -> str:
        return f"<{self.name} of line {self.line}>"

    def after(self, i: int) -> Iterator[int]:
        """Yield the instructions that control may reach after instruction i, also by an exception, within the
        function."""
        yield from self.following[i]
        if self.handlers[i] >= 0:
            yield self.handlers[i]


@attrs.define(eq=False)
class ClassDefinition:
    """A class.

    defines      names that the body binds on every path
    declares     names that its methods store through their first parameter, or that the body binds
    """

    path: str
    name: str
    line: int
    defines: set[str] = attrs.field(factory=set)
    declares: set[str] = attrs.field(factory=set)

    def __repr__(self) -> str:
        return f"<class {self.name}>"


@attrs.define(eq=False)
class LoweredProgram:
    """A lowered program.

    names        the name of each file's module, by path
    modules      the function of each module's body, by the module's name
    functions    all functions, those of modules included
    deleted      attribute names that some instruction deletes
    """

    names: dict[str, str] = attrs.field(factory=dict)
    modules: dict[str, Function] = attrs.field(factory=dict)
    functions: list[Function] = attrs.field(factory=list)
    classes: list[ClassDefinition] = attrs.field(factory=list)
    deleted: set[str] = attrs.field(factory=set)


def used(instruction: Instruction) -> tuple[str, ...]:
    """The variables whose objects the instruction reads."""
    match instruction:
        case LoadAttribute(_, base, _) | StoreAttribute(_, base, _, _) | DeleteAttribute(_, base, _):
            return (base,)
        case LoadItem(_, base, key):
            return (base, key)
        case StoreItem(_, base, _, _) | DeleteItem(_, base, _):
            return (base,)
        case Call():
            return (instruction.callee,)
        case Invoke(_, _, operands):
            return operands
        case _:
            return ()


def is_special(name: str) -> bool:
    """True if it is the name of a method that the interpreter calls."""
    return name.startswith("__") and name.endswith("__") and name not in _PLAIN


_PLAIN: Final = frozenset({"__doc__", "__name__", "__module__", "__qualname__", "__annotations__", "__version__"})


def function_text(function: Function) -> str:
    """Return the function's code, a line for each instruction: number, text, successors but the next, its handler."""
    lines = [f"{function.name}({', '.join(function.parameters.all())}) of {function.path}:{function.line}"]
    for i, instruction in enumerate(function.instructions):
        ways = function.following[i]
        lines.append(
            f"{i:4} {instruction_text(instruction)}"
            + ("" if ways == [i + 1] else f" -> {', '.join(map(str, ways)) or 'end'}")
            + (f" !{function.handlers[i]}" if function.handlers[i] >= 0 else "")
        )
    return "\n".join(lines)


def instruction_text(instruction: Instruction) -> str:
    """The instruction in a few words: `x = load attribute base name`."""
    name = "".join(
        f" {letter.lower()}" if letter.isupper() else letter for letter in type(instruction).__name__
    ).strip()
    operands = [_word(getattr(instruction, f.name)) for f in attrs.fields(type(instruction)) if f.name != "dst"]
    text = " ".join([name, *filter(None, operands)])
    return f"{instruction.dst} = {text}" if instruction.dst else text


def _word(value: object) -> str:
    if isinstance(value, (Function, ClassDefinition)):
        return value.name
    if isinstance(value, tuple) and not isinstance(value, Variable):
        return "(" + ", ".join(_word(part) for part in value) + ")" if value else ""
    return str(value)
