"""Which variables matter at each instruction. The operand stack's depth is checked against the interpreter's own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from dpor.python.states.memory import in_use, slots_of
from dpor.python.states.stacks import Layout
from dpor.statics.bytecode import Flow
from dpor.statics.liveness import liveness, slot_names


def here() -> None:
    """Where the functions below are asked which of their variables are live."""


def straight(a: Any, b: Any) -> Any:
    c = a
    here()
    return c


def loop(items: Any, sum_: Any) -> Any:
    for item in items:
        sum_ += item
        here()
    return sum_


def while_loop(n: Any) -> None:
    m = n
    while n:
        n -= 1
        here()
        print(m)


def handler(a: Any, b: Any) -> Any:
    try:
        here()
    except ValueError:
        return a
    return b


def final(a: Any, b: Any) -> Any:
    try:
        here()
        b = 1
    finally:
        print(a, b)


def replaced_after(a: Any) -> Any:
    try:
        here()
        a = 1
    except ValueError:
        pass
    return a


def named_exception(a: Any) -> None:
    try:
        print(a)
    except ValueError as error:
        here()
        raise error


def in_with(manager: Any, a: Any, b: Any) -> Any:
    with manager as m:
        here()
        print(m, a)


def deleted(a: Any, b: Any) -> None:
    here()
    del a


def matched(subject: Any, other: Any) -> Any:
    match subject:
        case [first, *rest]:
            print(first)
            here()
            return rest
        case _:
            return other


def generator(a: Any, b: Any) -> Any:
    yield a
    here()
    yield b


def comprehension(items: Any, a: Any) -> Any:
    here()
    return [a + item for item in items]


def cell(a: Any, b: Any) -> Any:
    def inner() -> Any:
        return a

    here()
    return inner


def stored_cell(a: Any) -> Any:
    def inner() -> Any:
        return a

    print(inner)
    here()
    a = 2


def seen_by_name(a: Any, b: Any) -> Any:
    here()
    return locals()


class Base:
    def method(self, a: Any) -> None: ...


class Derived(Base):
    def method(self, a: Any) -> None:
        here()
        super().method(a)


class Unused(Base):
    def method(self, a: Any) -> None:
        here()
        a = self
        print(a)


TABLE: list[tuple[Callable[..., Any], set[str]]] = [
    (straight, {"c"}),
    (loop, {"sum_"}),
    (while_loop, {"m", "n"}),
    (handler, {"a", "b"}),
    (final, {"a", "b"}),
    (replaced_after, {"a"}),
    (named_exception, {"error"}),
    (in_with, {"m", "a"}),
    (deleted, {"a"}),
    (matched, {"rest"}),
    (generator, {"b"}),
    (comprehension, {"items", "a", *(["item"] if sys.version_info >= (3, 12) else [])}),  # inlined: saved and restored
    (cell, {"inner"}),
    (stored_cell, {"a"}),
    (seen_by_name, {"a", "b"}),
    (Derived.method, {"self", "a", "__class__"}),
    (Unused.method, {"self"}),
]


@pytest.mark.parametrize(("function", "expected"), TABLE, ids=lambda value: getattr(value, "__qualname__", ""))
def test_what_is_live_while_here_is_called(function: Callable[..., Any], expected: set[str]) -> None:
    code = function.__code__
    instructions = Flow(code).instructions
    loads = [
        i for i, found in enumerate(instructions) if found.name == "LOAD_GLOBAL" and _global(code, found) == "here"
    ]
    call = next(i for i in range(loads[0], len(instructions)) if instructions[i].name == "CALL")
    live = liveness(code).after[call]
    assert {name for slot, name in enumerate(slot_names(code)) if live >> slot & 1} == expected


def _global(code: Any, instruction: Any) -> str:
    return str(code.co_names[instruction.arg >> 1])


def test_depths_are_those_of_the_interpreter() -> None:
    """In the middle of expressions, loops, handlers and generators."""
    seen: list[tuple[int, int]] = []

    def look(*_: Any, **__: Any) -> int:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename == __file__ and frame.f_code.co_name.startswith("deep"):
            layout = Layout(frame.f_code, 0)
            top = in_use(slots_of(frame))
            if top >= 0:
                seen.append((layout.place(frame.f_lasti).base, top))
            frame = frame.f_back
        return 1

    def deep(n: int) -> Any:
        if n == 0:
            return look(1, [2, look()], *(3, look()))
        for _ in (1,):
            try:
                raise ValueError([n, look(), {"k": look(n)}])
            except ValueError:
                return (n, [deep(n - 1) for _ in range(1)], look(a=look(), b=1))
            finally:
                look()
        return None

    def deep_generator() -> Any:
        yield look(), [look()]
        yield from (look() for _ in (1,))

    deep(3)
    list(deep_generator())
    assert len(seen) > 10
    assert all(base == top for base, top in seen)
