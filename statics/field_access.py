"""Which fields may be accessed from a point of the program on: a backward may-analysis with union [PL, section 5].

    x = c.cmp      insensitive: all that may come after here; a call's return leads to every caller
    x.print()      callee: a call adds what the callee does until it returns, and only that
                   sensitive: until this function returns; to be united over the points of the whole call stack

Accesses of threads that a point may start later count as its own. The transfer functions are those of Figs. 7, 9, 10.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum

from dpor.statics import ir
from dpor.statics.accesses import Accesses
from dpor.statics.call_graph import How, Site
from dpor.statics.constraints import PointsTo
from dpor.statics.objects import ObjectKind
from dpor.statics.solver import members


class Precision(StrEnum):
    """How exactly calls and returns are matched."""

    INSENSITIVE = "insensitive"
    CALLEE = "callee"
    SENSITIVE = "sensitive"


class Phase:
    """A solution of one set of transfer functions: `before` and `after` each instruction of each function instance."""

    def __init__(self, accesses: Accesses) -> None:
        self.points_to = accesses.points_to
        self._exposed = accesses.exposed
        self.before = [[0] * len(masks) for masks in self._exposed]
        self.after = [[0] * len(masks) for masks in self._exposed]
        self.leave = [0] * len(self._exposed)
        """By function instance: accesses after it has returned or raised."""
        self.callers: dict[int, set[Site]] = defaultdict(set)
        for site, edges in self.points_to.edges.items():
            for edge in edges:
                self.callers[edge.target].add(site)
        todo = dict.fromkeys(reversed(range(len(self.before))))
        while todo:
            instance = next(iter(todo))
            del todo[instance]
            entry, calls = self.before[instance][0], dict(self._afters(instance))
            self._solve(instance)
            if self.before[instance][0] != entry:
                todo.update(dict.fromkeys(site[0] for site in self.callers[instance]))
            for site, after in self._afters(instance):
                if after != calls[site]:
                    todo.update(dict.fromkeys(self._passed_on(site, after)))

    def _afters(self, instance: int) -> Iterable[tuple[Site, int]]:
        for i, after in enumerate(self.after[instance]):
            if (instance, i) in self.points_to.edges:
                yield (instance, i), after

    def _passed_on(self, site: Site, after: int) -> list[int]:
        """Propagate the accesses after the call into each callee; return the callees that changed."""
        changed = []
        for edge in self.points_to.edges[site]:
            leave = self.leave[edge.target] | self.at_return(after)
            if edge.how is not How.SPAWN and leave != self.leave[edge.target]:
                self.leave[edge.target] = leave
                changed.append(edge.target)
        return changed

    def _solve(self, instance: int) -> None:
        function = self.points_to.instances[instance].function
        before, after, own, leave = (
            self.before[instance],
            self.after[instance],
            self._exposed[instance],
            self.leave[instance],
        )
        edges = [self.points_to.edges.get((instance, i), ()) for i in range(len(own))]
        called = [self.at_call(e.target for e in edge) if edge else 0 for edge in edges]
        suspends = [leave if isinstance(x, ir.Yield) else 0 for x in function.instructions]
        changed = True
        while changed:
            changed = False
            for i in range(len(own) - 1, -1, -1):
                out = suspends[i]
                for following in function.following[i]:
                    out |= before[following]
                handler = function.handlers[i]
                out |= before[handler] if handler >= 0 else leave
                if i == instance == 0:
                    out |= before[1]
                after[i] = out
                if edges[i] and any(e.target == instance for e in edges[i]):
                    called[i] |= before[0]
                entering = own[i] | called[i] | out
                if entering != before[i]:
                    before[i] = entering
                    changed = True

    def at_call(self, targets: Iterable[int]) -> int:
        """`call M`: the accesses before the callees' entries, which are added before the call to what comes after
        it."""
        mask = 0
        for target in targets:
            mask |= self.before[target][0]
        return mask

    def at_return(self, after: int) -> int:
        """`return`: the part of the accesses after the calls of the function that is added before it."""
        raise NotImplementedError


class Insensitive(Phase):
    """before0 [Fig. 7]: a call leads into the callee, a return to after every call."""

    def at_return(self, after: int) -> int:
        return after


class FirstPhase(Phase):
    """before1 [Fig. 9]: accesses until the function returns."""

    def at_return(self, after: int) -> int:
        return 0


class SecondPhase(Phase):
    """before2 [Fig. 10]: calls add the first phase of the callee; returns lead to after all calls."""

    def __init__(self, accesses: Accesses, first: FirstPhase) -> None:
        self._first = first
        super().__init__(accesses)

    def at_call(self, targets: Iterable[int]) -> int:
        mask = 0
        for target in targets:
            mask |= self._first.before[target][0]
        return mask

    def at_return(self, after: int) -> int:
        return after


def waits_only(points_to: PointsTo, site: Site) -> bool:
    """True if the instruction is over as soon as the function that it has called returns.

    Starred arguments are unpacked before that: they matter only if that may call something, which may be the function
    that the instruction waits for.
    """
    instruction = points_to.instances[site[0]].function.instructions[site[1]]
    if not isinstance(instruction, ir.Call):
        return False
    called = set()
    for number in members(points_to.find((site[0], instruction.callee))):
        thing = points_to.objects[number]
        if thing.kind is ObjectKind.BOUND:
            thing = thing.of[0]
        if thing.kind is ObjectKind.FUNCTION:
            called.add(thing.of)
        elif thing.kind is not ObjectKind.VALUE and (
            thing.kind is not ObjectKind.CLASS or "__new__" in points_to.specials
        ):
            return False
    if not points_to.touches.get(site):
        return True
    edges = points_to.edges.get(site, ())
    return all(edge.how is How.CALL and points_to.instances[edge.target].function in called for edge in edges)
