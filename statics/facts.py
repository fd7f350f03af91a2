"""The results of the static analysis of a program: `analyse` returns `Facts`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from dpor.statics import ir
from dpor.statics.accesses import Access, Accesses
from dpor.statics.call_graph import NATIVE, How, Site
from dpor.statics.constraints import PointsTo
from dpor.statics.escape import Escape, Summaries
from dpor.statics.field_access import (
    FirstPhase,
    Insensitive,
    Phase,
    Precision,
    SecondPhase,
    waits_only,
)
from dpor.statics.immutable import Reason, immutable_fields
from dpor.statics.lowering import lower
from dpor.statics.objects import ANY, Field
from dpor.statics.pointers import Pointers


class ProgramPoint(NamedTuple):
    """The position of a frame: its file, and the range of its instruction in the source (of `co_positions`).

    `line` and `function` are `co_firstlineno` and `co_qualname` of its code, for ranges of code that we did not lower.
    """

    path: str
    position: ir.Position
    line: int = 0
    function: str = ""


ANYTHING: Final = frozenset(Access(mode, Field(ANY, ANY)) for mode in ("r", "w"))
"""What a thread may access if nothing is known of it."""


class Facts:
    """Facts about a program.

    unknown     why nothing is known, "" if something is
    immutable   fields that nothing writes once their object may have escaped
    mutable     the other fields of the program's instances, with the reason
    """

    def __init__(self, program: ir.LoweredProgram, points_to: PointsTo, pointers: Pointers) -> None:
        self.program = program
        self.points_to = points_to
        self.unknown = points_to.given_up
        if self.unknown:
            return
        self.escape = Escape(points_to, Summaries(points_to))
        self.accesses = Accesses(points_to, self.escape, pointers)
        self._at: dict[tuple[str, ir.Position], list[Site]] = defaultdict(list)
        self._in: dict[tuple[str, int, str], list[int]] = defaultdict(list)
        for number, instance in enumerate(points_to.instances):
            function = instance.function
            self._in[function.path, function.line, function.name].append(number)
            for i, position in enumerate(function.positions):
                self._at[function.path, position].append((number, i))

    @cached_property
    def _fields(self) -> tuple[set[Field], dict[Field, Reason]]:
        return (set(), {}) if self.unknown else immutable_fields(self.points_to, self.escape)

    @property
    def immutable(self) -> set[Field]:
        return self._fields[0]

    @property
    def mutable(self) -> dict[Field, Reason]:
        return self._fields[1]

    @cached_property
    def fixed(self) -> set[Field]:
        """Fields of instances that nothing writes once the first thread may have been started."""
        late = 0
        for (number, i), edges in self.points_to.edges.items():
            for edge in edges:
                if edge.how is How.SPAWN:
                    late |= self.second.after[number][i] | self.first.before[edge.target][0]
        written = {access.field for access in self.accesses.members(late) if access.mode == "w"}
        fields = self.immutable | self.mutable.keys()
        return {field for field in fields if not any(field.may_be(other) for other in written)}

    @cached_property
    def insensitive(self) -> Insensitive:
        return Insensitive(self.accesses)

    @cached_property
    def first(self) -> FirstPhase:
        return FirstPhase(self.accesses)

    @cached_property
    def second(self) -> SecondPhase:
        return SecondPhase(self.accesses, self.first)

    def accesses_from(
        self, stack: Sequence[ProgramPoint], precision: Precision = Precision.SENSITIVE
    ) -> frozenset[Access]:
        """What a thread may access from now on, including the threads that it starts later [PL, section 5].

        `stack` has its frames in the program, innermost first: the first is about to execute the instruction at its
        point, the others wait at theirs for what they have called. An empty stack: the thread has ended.
        """
        if not stack:
            return frozenset()
        if self.unknown:
            return ANYTHING
        if precision is not Precision.SENSITIVE:
            phase: Phase = self.insensitive if precision is Precision.INSENSITIVE else self.second
            return self.accesses.members(self._union(phase.before, self.sites(stack[0])))
        first = self.first
        mask = self._union(first.before, self.sites(stack[0]))
        for point in stack[1:]:
            sites = self.sites(point)
            for site in [site for site in sites if self.points_to.edges.get(site)] or sites:
                over = waits_only(self.points_to, site)
                mask |= (first.after if over else first.before)[site[0]][site[1]]
        return self.accesses.members(mask)

    def accesses_at(self, point: ProgramPoint) -> frozenset[Access]:
        """What the instruction at the point may access itself, without the functions that it calls."""
        if self.unknown:
            return ANYTHING
        return self.accesses.members(self._union(self.accesses.own, self.sites(point)))

    def may_conflict(self, one: Access, other: Access) -> bool:
        """True if one of them writes, and both may go to the same field of the same object."""
        return "w" in (one.mode, other.mode) and (bool(self.unknown) or self.accesses.may_meet(one, other))

    def sites(self, point: ProgramPoint) -> list[Site]:
        """The instructions that the point may be at; if none has its range, all of its function (or file)."""
        found = self._at.get((point.path, point.position))
        if found:
            return found
        inside = self._in.get((point.path, point.line, point.function)) or [
            number for number, instance in enumerate(self.points_to.instances) if instance.function.path == point.path
        ]
        return [
            (n, i) for n in inside or [NATIVE] for i in range(len(self.points_to.instances[n].function.instructions))
        ]

    def _union(self, masks: list[list[int]], sites: list[Site]) -> int:
        mask = 0
        for number, i in sites:
            mask |= masks[number][i]
        return mask

    def until_return(self, instance: int) -> frozenset[Access]:
        """What the function instance may access until it returns, including the threads that it starts."""
        if self.unknown:
            return ANYTHING
        return self.accesses.members(self.first.before[instance][0])

    def dot(self) -> str:
        """The call graph, for Graphviz: solid arrows call, dashed ones resume generators, dotted ones start threads."""
        style = {How.CALL: "solid", How.RESUME: "dashed", How.SPAWN: "dotted"}
        names = [f"{instance.function.name}:{instance.function.line}" for instance in self.points_to.instances]
        arrows = {
            f'  "{names[site[0]]}" -> "{names[edge.target]}" [style={style[edge.how]}];'
            for site, edges in self.points_to.edges.items()
            for edge in edges
        }
        return "\n".join(["digraph calls {", *sorted(arrows), "}"])


def analyse(
    sources: Mapping[str, str],
    entry: str | None = None,
    pointers: Pointers = Pointers.NONE,
    names: Mapping[str, str] | None = None,
) -> Facts:
    """Analyse source files.

    sources    the text of each file, by path
    entry      "path::function", called after all modules have been imported; None: the modules alone
    pointers   how objects are distinguished [PL, section 5.5]
    names      the name of each file's module, by path; None: they follow from the paths

    Returns `Facts`, whose `unknown` says why if nothing is known of the program. Raises SyntaxError.
    """
    program = lower(sources, names)
    return Facts(program, PointsTo(program, entry, contexts=pointers is Pointers.CS_EX), pointers)
