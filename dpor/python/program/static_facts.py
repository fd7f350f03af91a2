"""What the static analysis of a program says, as searches ask for it: see `dpor.core.oracle`.

Anything here may be wrong, since Python lets a program do what no analysis foresees. `dpor.explorers.sa` compares what
it relied on with what happened. Where reads have no hooks, all writes have: the first write shows the mistake.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from types import FrameType

from dpor.core.home import is_our_file
from dpor.core.oracle import At, ProgramSource
from dpor.python.kernel.options import StaticOptions
from dpor.statics.accesses import Access
from dpor.statics.facts import Facts, ProgramPoint, analyse
from dpor.statics.field_access import Precision
from dpor.statics.ir import Position
from dpor.statics.objects import ObjectKind
from dpor.statics.pointers import Pointers


class StaticOracle:
    """The facts about one program, as an `Oracle`."""

    def __init__(self, source: ProgramSource, options: StaticOptions) -> None:
        self._facts: Facts = analyse(source.texts, source.entry, Pointers(options.pointers), source.names)
        self._precision = Precision(options.field_access)
        self._immutable = {str(field) for field in self._facts.immutable} if options.immutable else set()
        self._points: dict[At, ProgramPoint] = {}
        self._own: dict[At, frozenset[Access]] = {}
        self._later: dict[tuple[At, ...], frozenset[Access]] = {}
        self._answers: dict[tuple[At, ...] | tuple[tuple[At, ...], ...], frozenset[str]] = {}

    def ruled_out(self, stack: Sequence[At], others: Iterable[Sequence[At]]) -> Collection[str]:
        """See `dpor.core.oracle.Oracle`."""
        key = (tuple(stack[:1]), *map(tuple, others))
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = self._ruled_out(stack[0], key[1:])
        return answer

    def _ruled_out(self, at: At, others: Iterable[tuple[At, ...]]) -> frozenset[str]:
        facts = set()
        own = self._accesses_at(at)
        for access in own:
            if access.mode == "r" and str(access.field) in self._immutable:
                facts.add(f"{access.field} is immutable")
            elif any(
                self._facts.may_conflict(access, later) for other in others for later in self._accesses_from(other)
            ):
                return frozenset()
            else:
                verb = "writes" if access.mode == "r" else "accesses"
                facts.add(f"no other thread {verb} {access.field} after what it is doing")
        if not own:
            point = self._point(at)
            where = f"{os.path.basename(point.path)}:{point.position.line}"
            facts.add(f"what is accessed at {where} is written by nobody after the modules' import")
        return frozenset(facts)

    def _accesses_at(self, at: At) -> frozenset[Access]:
        found = self._own.get(at)
        if found is None:
            found = self._own[at] = self._facts.accesses_at(self._point(at))
        return found

    def _accesses_from(self, stack: tuple[At, ...]) -> frozenset[Access]:
        found = self._later.get(stack)
        if found is None:
            points = [self._point(at) for at in stack]
            found = self._later[stack] = self._facts.accesses_from(points, self._precision)
        return found

    def _point(self, at: At) -> ProgramPoint:
        point = self._points.get(at)
        if point is None:
            point = self._points[at] = ProgramPoint(
                at.path, Position(*at.span), at.code.co_firstlineno, at.code.co_qualname
            )
        return point

    def never_written(self) -> frozenset[str]:
        """Return names of attributes. Every access to such a name in the program is to a field of an instance that is
        immutable, or that nothing writes once the first thread may have been started."""
        if self._facts.unknown:
            return frozenset()
        points_to, fields = self._facts.points_to, {f for f in self._facts.immutable if str(f) in self._immutable}
        fields |= self._facts.fixed
        names = {field.name for field in fields}
        for touches in points_to.touches.values():
            for touch in touches:
                if touch.name in names and not (
                    points_to.objects[touch.thing].kind is ObjectKind.INSTANCE
                    and fields.issuperset(points_to.fields_of(touch))
                ):
                    names.discard(touch.name)
        return frozenset(names)


def stack_of(frames: Iterable[FrameType], is_program_file: Callable[[str], bool]) -> tuple[At, ...]:
    """Return the frames that are in the program's files."""
    return tuple([At(frame.f_code, frame.f_lasti) for frame in frames if is_program_file(frame.f_code.co_filename)])


def is_in_program(frames: Iterable[FrameType], is_program_file: Callable[[str], bool]) -> bool:
    """True if the innermost of the frames, apart from ours, is in the program's files. Then the analysis has seen what
    it does; code of a library may do more."""
    names = (frame.f_code.co_filename for frame in frames)
    return is_program_file(next((name for name in names if not is_our_file(name)), ""))
