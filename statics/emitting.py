"""Builds a function's code: instructions are emitted one after the other, and all open ends are linked to the next one.

A `finally` body is emitted once: every way through it (an exception, a return, a break) enters it there, and all of
them go on from its end. That adds paths that no run takes, and loses none.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from dpor.statics.ir import Function, Instruction, Nothing, Position, Raise, Return


@attrs.define
class OpenLoop:
    """A loop being built: the target of `continue`, and the ends of its `break`s."""

    head: int
    breaks: list[int] = attrs.field(factory=list)


@attrs.define
class Cleanup:
    """A `finally` being built: where it begins, and how the ways through it go on afterwards."""

    entry: int
    leavings: set[str] = attrs.field(factory=set)


class Emitter:
    """Emits the instructions of one function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.position = Position(function.line, function.line, 0, 0)
        self.ends: list[int] = []
        """Instructions whose successor is still to be emitted; empty where control cannot come."""
        self.handler = -1
        self.surroundings: list[OpenLoop | Cleanup] = []
        self._temporaries = 0
        self._place(Nothing(""))

    def temporary(self) -> str:
        self._temporaries += 1
        return f"%{self._temporaries}"

    def _place(self, instruction: Instruction) -> int:
        function = self.function
        at = len(function.instructions)
        function.instructions.append(instruction)
        function.positions.append(self.position)
        function.following.append([])
        function.handlers.append(-1 if isinstance(instruction, Nothing) else self.handler)
        if not at:
            self.ends = [at]
        return at

    def label(self) -> int:
        """Emit a label that instructions emitted later may jump to; returns its index."""
        return self._place(Nothing(""))

    def link(self, to: int) -> None:
        """Link all open ends to `to`."""
        for end in self.ends:
            if to not in self.function.following[end]:
                self.function.following[end].append(to)
        self.ends = []

    def emit(self, instruction: Instruction) -> str:
        """Emit the instruction after all open ends; returns the name of its result."""
        at = self._place(instruction)
        self.link(at)
        self.ends = [at]
        return instruction.dst

    def here(self) -> int:
        """Emit a label at the present position."""
        at = self.label()
        self.link(at)
        self.ends = [at]
        return at

    def give_back(self, src: str) -> None:
        self.emit(Return("", src))
        self.ends = []

    def throw(self, src: str) -> None:
        self.emit(Raise("", src))
        self.ends = []

    def leave(self, how: str) -> None:
        """Emit `return`, `break` or `continue`, through the cleanups in between."""
        for place in reversed(self.surroundings):
            if isinstance(place, Cleanup):
                place.leavings.add(how)
                self.link(place.entry)
                return
            if how == "break":
                place.breaks += self.ends
                self.ends = []
                return
            if how == "continue":
                self.link(place.head)
                return
        if how == "return":
            self.give_back("%returned")
        self.ends = []

    def with_cleanup(self, body: Callable[[], None], cleanup: Callable[[], None]) -> None:
        """Emit `body`, then `cleanup`, however the body is left."""
        place = Cleanup(self.label())
        outside = self.handler
        self.handler = place.entry
        self.surroundings.append(place)
        body()
        self.surroundings.pop()
        self.handler = outside
        falls_through = bool(self.ends)
        self.link(place.entry)
        self.ends = [place.entry]
        cleanup()
        ends = self.ends
        for how in sorted(place.leavings):
            self.ends = list(ends)
            self.leave(how)
        self.ends = list(ends)
        self.throw("")
        self.ends = ends if falls_through else []
