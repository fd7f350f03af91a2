"""The accesses that each instruction makes itself, with their objects as exactly as the pointer setting says."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from dpor.statics import ir
from dpor.statics.call_graph import NATIVE, How, Site, Touch
from dpor.statics.constraints import PointsTo
from dpor.statics.demand import Demand
from dpor.statics.escape import Escape
from dpor.statics.objects import ANY, Field, ObjectKind, variable_field
from dpor.statics.pointers import Pointers
from dpor.statics.solver import members


class Access(NamedTuple):
    """An access to a field.

    mode   "r" or "w"
    of     the object as points-to knows it, or "" if objects are not distinguished
    """

    mode: str
    field: Field
    of: str = ""

    def __str__(self) -> str:
        return f"{self.mode} {self.field}" + (f" of {self.of}" if self.of else "")


class Accesses:
    """A table of all accesses; sets of accesses are masks over it.

    own       those of each instruction of each function instance
    exposed   of these, those to objects that may have escaped: no other thread can access one that has not
    """

    def __init__(self, points_to: PointsTo, escape: Escape, pointers: Pointers = Pointers.NONE) -> None:
        self.points_to = points_to
        self._escape = escape
        self.pointers = pointers
        self.table: list[Access] = []
        self._numbers: dict[Access, int] = {}
        self._settled = _Settled(points_to)
        self._demand = Demand(points_to, contexts=pointers is Pointers.CS_DD) if pointers.demand_driven else None
        self._objects: dict[str, int] = defaultdict(int)
        self._variables: dict[str, tuple[int, str]] = {}
        self._outside = self._of_outside()
        self.own: list[list[int]] = []
        self.exposed: list[list[int]] = []
        for number, instance in enumerate(points_to.instances):
            masks = [self._of((number, i), x) for i, x in enumerate(instance.function.instructions)]
            self.own.append([own for own, _ in masks])
            self.exposed.append([exposed for _, exposed in masks])

    def _of_outside(self) -> dict[int, int]:
        """The accesses of each function instance that stands for code outside the program.

        Such code has no frames, so a thread in it is at the call.
        """
        instances = self.points_to.instances
        outside = {n: 0 for n, instance in enumerate(instances) if not instance.function.path}
        anything: dict[int, set[str]] = defaultdict(set)
        for number in outside:
            for touch in self.points_to.touches.get((number, 1), ()):
                if is_anything(self.points_to, touch):
                    anything[number].add(touch.mode)
                else:
                    outside[number] |= self._touched((number, 1), instances[number].function.instructions[1], touch)
        changed = True
        while changed:
            changed = False
            for number, mask in outside.items():
                for edge in self.points_to.edges.get((number, 1), ()):
                    mask |= outside.get(edge.target, 0)
                for mode in anything[number]:
                    mask |= self._of_mode(mode, outside[NATIVE])
                changed |= mask != outside[number]
                outside[number] = mask
        return outside

    def _of(self, site: Site, instruction: ir.Instruction) -> tuple[int, int]:
        mask = local = 0
        for edge in self.points_to.edges.get(site, ()):
            mask |= self._outside.get(edge.target, 0)
        for touch in self.points_to.touches.get(site, ()):
            if is_anything(self.points_to, touch):
                mask |= self._of_mode(touch.mode, self._outside[NATIVE])
            elif self._is_local(site, touch):
                local |= self._touched(site, instruction, touch)
            else:
                mask |= self._touched(site, instruction, touch)
        if isinstance(instruction, ir.LoadVariable):
            mask |= self._bit(Access("r", variable_field(instruction.variable)))
        elif isinstance(instruction, ir.StoreVariable):
            mask |= self._bit(Access("w", variable_field(instruction.variable)))
        return mask | local, mask

    def _is_local(self, site: Site, touch: Touch) -> bool:
        """True if no other thread can have the object. Modules, classes and functions can be found by their names."""
        made_anew = self.points_to.objects[touch.thing].kind in (
            ObjectKind.INSTANCE,
            ObjectKind.CONTAINER,
            ObjectKind.GENERATOR,
        )
        return made_anew and self._escape.is_local(site, touch.through)

    def _touched(self, site: Site, instruction: ir.Instruction, touch: Touch) -> int:
        of = "" if self.pointers is Pointers.NONE else self._label(site, instruction, touch)
        mask = 0
        for field in self.points_to.fields_of(touch):
            mask |= self._bit(Access(touch.mode, field, of))
        return mask

    def _of_mode(self, mode: str, mask: int) -> int:
        """The accesses of the mask that have this mode."""
        return sum(1 << number for number in members(mask) if self.table[number].mode == mode)

    def _label(self, site: Site, instruction: ir.Instruction, touch: Touch) -> str:
        """The variable whose object is accessed, if sets are looked up on demand; else the object."""
        if self._demand is not None:
            base = getattr(instruction, "base", "") or getattr(instruction, "receiver", "")
            if base and self.points_to.find((site[0], base)) >> touch.thing & 1:
                label = f"{self.points_to.instances[site[0]].function.key}.{base}"
                self._variables[label] = site[0], base
                return label
        label = str(self.points_to.objects[touch.thing])
        self._objects[label] |= 1 << touch.thing
        return label

    def objects(self, of: str) -> int:
        """The objects, as a mask, with fields that an access with this `of` may go to."""
        if of in self._variables:
            assert self._demand is not None
            return self._demand.ask(*self._variables[of]) & ~(1 << self.points_to.plain)
        return self._objects[of]

    def may_meet(self, one: Access, other: Access) -> bool:
        """True if both accesses may go to the same field of the same object."""
        if not one.field.may_be(other.field):
            return False
        if not one.of or not other.of or one.of == other.of:
            return True
        first, second = self.objects(one.of), self.objects(other.of)
        anything, leaked = self.points_to.anything, self.points_to.subsumed | self.points_to.anything
        return bool(first & second or (first & anything and second & leaked) or (second & anything and first & leaked))

    def _bit(self, access: Access) -> int:
        number = self._number(access)
        return 1 << number if number >= 0 else 0

    def _number(self, access: Access) -> int:
        number = self._numbers.get(access)
        if number is None:
            if self._settled.is_settled(access.field):
                number = self._numbers[access] = -1
            else:
                number = self._numbers[access] = len(self.table)
                self.table.append(access)
        return number

    def members(self, mask: int) -> frozenset[Access]:
        """The accesses of a mask."""
        return frozenset(self.table[number] for number in members(mask))


def is_anything(points_to: PointsTo, touch: Touch) -> bool:
    """True if it is an access to any field of what code outside the program has: function instance 0 makes these,
    too."""
    return touch.thing == points_to.unknown and touch.name == ANY


class _Settled:
    """Fields that nothing writes once the modules have been imported: methods, constants, fields that are never
    assigned.

    Accesses to them are left out. A field does not count as settled if modules start threads while they are imported.
    """

    def __init__(self, points_to: PointsTo) -> None:
        early = {n for n, x in enumerate(points_to.instances) if x.function.is_module}
        reached, todo = set(early), list(early)
        targets: dict[int, set[int]] = defaultdict(set)
        for site, edges in points_to.edges.items():
            targets[site[0]].update(edge.target for edge in edges)
            early = early - {edge.target for edge in edges}
        while todo:
            for target in targets[todo.pop()] - reached:
                reached.add(target)
                todo.append(target)
        if any(
            edge.how is How.SPAWN for site, edges in points_to.edges.items() if site[0] in reached for edge in edges
        ):
            early = set()
        self._written: set[Field] = set()
        for site, touches in points_to.touches.items():
            if site[0] not in early:
                written = [t for t in touches if t.mode == "w" and not is_anything(points_to, t)]
                self._written.update(field for touch in written for field in points_to.fields_of(touch))
        for number, instance in enumerate(points_to.instances):
            if number not in early:
                stores = (x for x in instance.function.instructions if isinstance(x, ir.StoreVariable))
                self._written.update(variable_field(x.variable) for x in stores)
        self._vague = [field for field in self._written if ANY in field]

    def is_settled(self, field: Field) -> bool:
        if field in self._written:
            return False
        vague = self._written if ANY in field else self._vague
        return not any(field.may_be(other) for other in vague)
