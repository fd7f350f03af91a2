"""Which variables may point to objects that have escaped to the heap [PL, sections 6.1 and 6.2].

First the summaries of all functions: which parameters escape in it, which it may return, whether it may return an
object that has escaped. Then, forward through each function, the variables that may have escaped (Fig. 13); calls pass
the state of the arguments to the callee, and get back only what its summary says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import attrs

from dpor.statics import ir
from dpor.statics.call_graph import FRESH, NATIVE, How, Site
from dpor.statics.constraints import PointsTo
from dpor.statics.objects import ObjectKind
from dpor.statics.solver import members

_MATTER = {
    ObjectKind.INSTANCE,
    ObjectKind.CONTAINER,
    ObjectKind.GENERATOR,
    ObjectKind.NATIVE_INSTANCE,
    ObjectKind.WRAPPER,
    ObjectKind.FUNCTION,
}


@attrs.define
class Summary:
    """The summary of a function: parameters that may escape in it, those it may return, whether it may return from the
    heap."""

    escaping: set[str] = attrs.field(factory=set)
    returned: set[str] = attrs.field(factory=set)
    returns_escaped: bool = False


class Summaries:
    """The summaries of all function instances, found by a worklist."""

    def __init__(self, points_to: PointsTo) -> None:
        self.points_to = points_to
        self._called: dict[ir.Function, set[str]] = {}
        self.of = [Summary() for _ in points_to.instances]
        self.of[NATIVE].returns_escaped = True
        self.callers: dict[int, set[int]] = defaultdict(set)
        for site, edges in points_to.edges.items():
            for edge in edges:
                self.callers[edge.target].add(site[0])
        todo = dict.fromkeys(range(1, len(self.of)))
        while todo:
            instance = next(iter(todo))
            del todo[instance]
            new = self._summarise(instance)
            if new != self.of[instance]:
                self.of[instance] = new
                todo.update(dict.fromkeys(self.callers[instance] - {NATIVE}))

    def _summarise(self, instance: int) -> Summary:
        function = self.points_to.instances[instance].function
        sources: dict[str, set[str]] = defaultdict(set)
        heap: set[str] = set()
        escaping: set[str] = set()
        returned: set[str] = set()
        for i, instruction in enumerate(function.instructions):
            site = (instance, i)
            escaping.update(self.stored(site, instruction))
            if isinstance(instruction, ir.Return):
                returned.add(instruction.src)
            if instruction.dst:
                sources[instruction.dst].update(self.passed(site, instruction))
                if self.from_heap(site, instruction):
                    heap.add(instruction.dst)
        escaping = _closure(escaping, sources)
        returned = _closure(returned, sources)
        parameters = set(function.parameters.all())
        return Summary(
            escaping & parameters,
            returned & parameters,
            not returned.isdisjoint(heap) or not returned.isdisjoint(escaping),
        )

    # -------------------------------------------------------------- instructions

    def stored(self, site: Site, instruction: ir.Instruction) -> Iterator[str]:
        """Yield the variables whose objects the instruction stores in the heap, itself or in what it calls."""
        match instruction:
            case ir.StoreAttribute(_, _, _, src) | ir.StoreVariable(_, _, src) | ir.Raise(_, src) | ir.Yield(_, src):
                yield src
            case ir.StoreItem(_, _, key, src):
                yield from (key, src)
            case ir.Allocate(_, _, elements, keys, _):
                yield from elements
                yield from keys
            case ir.MakeFunction(_, _, defaults):
                yield from (src for _, src in defaults)
            case ir.MakeClass(_, _, bases, others):
                yield from (*bases, *others)
            case ir.LoadAttribute(dst, base, _) if not self._is_called(site, dst) and self._may_bind(site, dst):
                yield base
            case _:
                pass
        yield from self.points_to.escapes.get(site, ())
        for edge in self.points_to.edges.get(site, ()):
            escaping = self.of[edge.target].escaping
            yield from (v for parameter, v in edge.binding if parameter in escaping and v not in ("", FRESH))

    def _is_called(self, site: Site, callee: str) -> bool:
        """True if the attribute is looked up only to be called with its object as the receiver."""
        function = self.points_to.instances[site[0]].function
        called = self._called.get(function)
        if called is None:
            calls = [x for x in function.instructions if isinstance(x, ir.Call)]
            called = self._called[function] = {x.callee for x in calls if x.receiver}
        return callee in called

    def _may_bind(self, site: Site, name: str) -> bool:
        objects = self.points_to.objects
        return any(objects[n].kind is ObjectKind.BOUND for n in members(self.points_to.find((site[0], name))))

    def passed(self, site: Site, instruction: ir.Instruction) -> Iterator[str]:
        """Yield the variables whose objects `dst` may then point to."""
        match instruction:
            case ir.Copy(_, src):
                yield src
            case ir.Super(_, _, receiver):
                yield receiver
            case ir.Invoke(_, _, operands):
                yield from operands  # an iterator is itself what it gives
            case ir.Call(_, _, _, _, _, receiver) if receiver:
                yield receiver  # methods of native objects may return it
            case _:
                pass
        for edge in self.points_to.edges.get(site, ()):
            if edge.result:
                returned = self.of[edge.target].returned
                yield from (v for parameter, v in edge.binding if parameter in returned and v not in ("", FRESH))

    def from_heap(self, site: Site, instruction: ir.Instruction) -> bool:
        """True if `dst` may be an object that has escaped, whatever the operands are."""
        if isinstance(instruction, (ir.LoadAttribute, ir.LoadItem, ir.LoadVariable, ir.Caught, ir.Yield)):
            return True
        if site in self.points_to.heap_results:
            return True
        for edge in self.points_to.edges.get(site, ()):
            summary = self.of[edge.target]
            if edge.result and summary.returns_escaped:
                return True
            if any(v == FRESH and parameter in summary.escaping for parameter, v in edge.binding):
                return True
            if edge.result and any(v == "" and parameter in summary.returned for parameter, v in edge.binding):
                return True
        return False


class Escape:
    """For each function instance, masks of the variables that may have escaped before each instruction."""

    def __init__(self, points_to: PointsTo, summaries: Summaries) -> None:
        self.points_to = points_to
        self.summaries = summaries
        self.numbers: list[dict[str, int]] = []
        self.before: list[list[int]] = []
        self._aliases: list[dict[str, int]] = []
        self._steps: list[list[tuple[int, int, tuple[int, ...], bool]]] = []
        for number, instance in enumerate(points_to.instances):
            self._prepare(number, instance.function)
        todo = dict.fromkeys(range(len(self.before)))
        while todo:
            number = next(iter(todo))
            del todo[number]
            self._flow(number)
            todo.update(dict.fromkeys(self._enter_callees(number)))

    def escaped(self, site: Site, variable: str) -> bool:
        """True if the variable may point to an escaped object before the instruction."""
        return bool(self.before[site[0]][site[1]] >> self.numbers[site[0]][variable] & 1)

    def is_local(self, site: Site, variable: str) -> bool:
        """True if the variable's object neither has escaped nor escapes by the instruction.

        What the frame of a generator holds may go with it to other threads.
        """
        number, i = site
        if number in self.points_to.suspended or variable not in self.numbers[number] or not variable:
            return False
        return not (self.before[number][i] | self._steps[number][i][0]) >> self.numbers[number][variable] & 1

    def _prepare(self, number: int, function: ir.Function) -> None:
        """Compute the masks of each instruction: (variables that escape, `dst`, its sources, from the heap)."""
        numbers = {name: i for i, name in enumerate(function.parameters.all())}
        for instruction in function.instructions:
            if instruction.dst:
                numbers.setdefault(instruction.dst, len(numbers))
        numbers.setdefault("", len(numbers))
        self.numbers.append(numbers)
        pointed = {name: self._pointed(number, name) for name in numbers}
        aliases: dict[str, int] = {}
        steps = []
        for i, instruction in enumerate(function.instructions):
            stored = 0
            for name in self.summaries.stored((number, i), instruction):
                if name in numbers:
                    if name not in aliases:
                        aliases[name] = self._aliases_of(name, numbers, pointed)
                    stored |= aliases[name]
            passed = tuple(numbers[v] for v in self.summaries.passed((number, i), instruction) if v in numbers)
            dst = 1 << numbers[instruction.dst] if instruction.dst else 0
            steps.append((stored, dst, passed, self.summaries.from_heap((number, i), instruction)))
        self._steps.append(steps)
        before = [0] * len(steps)
        if number in self.points_to.suspended or number == NATIVE:
            before[0] = (1 << len(function.parameters.all())) - 1
        self.before.append(before)

    def _pointed(self, instance: int, name: str) -> int:
        """The objects that the variable may point to; bound methods and super() count as their receivers."""
        mask = 0
        for number in members(self.points_to.find((instance, name))):
            thing = self.points_to.objects[number]
            while thing.kind in (ObjectKind.BOUND, ObjectKind.SUPER):
                thing = thing.of[1]
            if thing.kind in _MATTER:
                mask |= 1 << self.points_to.number(thing)
        return mask

    def _aliases_of(self, name: str, numbers: dict[str, int], pointed: dict[str, int]) -> int:
        """v and aliases(v): all variables that may point to the same object."""
        mask = 1 << numbers[name]
        for other, i in numbers.items():
            if pointed[other] & pointed[name]:
                mask |= 1 << i
        return mask

    def _flow(self, number: int) -> None:
        function = self.points_to.instances[number].function
        before = self.before[number]
        todo = dict.fromkeys(range(len(before)))
        while todo:
            i = next(iter(todo))
            del todo[i]
            after = self.transfer(number, i, before[i])
            for following in function.following[i]:
                if after & ~before[following]:
                    before[following] |= after
                    todo[following] = None
            handler = function.handlers[i]
            if handler >= 0 and (after | before[i]) & ~before[handler]:
                before[handler] |= after | before[i]
                todo[handler] = None

    def transfer(self, number: int, i: int, before: int) -> int:
        """The transfer function [Fig. 13]: `new` takes v out; loads put it in; stores put v and aliases(v) in; others
        copy."""
        stored, dst, passed, from_heap = self._steps[number][i]
        after = before | stored
        if dst:
            if from_heap or any(after >> source & 1 for source in passed):
                return after | dst
            return after & ~dst if not stored & dst else after
        return after

    def _enter_callees(self, number: int) -> Iterator[int]:
        """Add to before[M.entry] the parameters whose arguments have escaped before the call; yields the callees that
        changed."""
        for i in range(len(self.before[number])):
            for edge in self.points_to.edges.get((number, i), ()):
                target = self.numbers[edge.target]
                entry = self.before[edge.target][0]
                for parameter, variable in edge.binding:
                    if parameter in target and self._is_escaped_argument(number, i, edge.how, variable):
                        entry |= 1 << target[parameter]
                if entry != self.before[edge.target][0]:
                    self.before[edge.target][0] = entry
                    yield edge.target

    def _is_escaped_argument(self, number: int, i: int, how: How, variable: str) -> bool:
        if how is How.SPAWN or variable == "":
            return True
        return variable != FRESH and bool(self.before[number][i] >> self.numbers[number].get(variable, 0) & 1)


def _closure(names: set[str], sources: dict[str, set[str]]) -> set[str]:
    """The names, and all that may have been copied to them."""
    todo = list(names)
    closed = set(names)
    while todo:
        for source in sources[todo.pop()] - closed:
            closed.add(source)
            todo.append(source)
    return closed
