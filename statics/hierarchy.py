"""The class hierarchy: looks attributes up in classes and their bases, and finds the class that declares a field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dpor.statics import natives
from dpor.statics.call_graph import Site, Touch
from dpor.statics.heap import AbstractHeap
from dpor.statics.ir import ClassDefinition, MakeClass, StoreAttribute
from dpor.statics.objects import ANY, AbstractObject, Field, ObjectKind
from dpor.statics.solver import Node, members

_OF_OBJECT: Final = frozenset({"__new__", "__setattr__", "__delattr__", "__getattribute__"})
"""Methods of object that matter when they are looked up in a class without explicit bases."""


class Hierarchy(AbstractHeap):
    """Looks attributes up in classes."""

    def look_up(self, site: Site, klass: int, name: str, found: Callable[[int], None]) -> None:
        """Call `found` with each value that the attribute may have in the class or its bases."""
        self.class_reads[klass, name].add(site)
        self.watch(self.attribute(klass, name), found)

    def attribute(self, klass: int, name: str) -> Node:
        """The node of the attribute's values, looked up from the class on."""
        node = self.node(("attribute", klass, name))
        if node in self._met:
            return node
        self._met.add(node)
        thing = self.objects[klass]
        if thing.kind is ObjectKind.CLASS:
            if name in natives.DATACLASS_METHODS:
                self.watch(self.node(("generated", klass)), lambda _: self._generate(name, node))
            self.edge(self.field(klass, name), node)
            definition: ClassDefinition = thing.of
            if name not in definition.defines or name in self.program.deleted:
                self.watch(self.bases(klass), lambda base: self.edge(self.attribute(base, name), node))
                if klass not in self.derived and name in _OF_OBJECT:
                    self.add(node, 1 << self.number(AbstractObject(ObjectKind.NATIVE, f"builtins.object.{name}")))
        elif thing.kind is ObjectKind.NATIVE and natives.may_have(thing.of, name):
            self.add(node, 1 << self.number(AbstractObject(ObjectKind.NATIVE, natives.attribute(thing.of, name))))
        elif thing.kind is ObjectKind.UNKNOWN:
            self.add(node, 1 << self.unknown)
        return node

    def _generate(self, name: str, node: Node) -> None:
        self.add(node, 1 << self.number(AbstractObject(ObjectKind.NATIVE, f"dataclass.{name}")))

    def may_define(self, thing: AbstractObject, method: str) -> bool:
        """True if the class of the instance may have the special method: a class of the program has it, or the class
        has bases."""
        return method in self.specials or self.number(thing.of) in self.derived

    def fields_of(self, touch: Touch) -> list[Field]:
        """The fields that are accessed, as reports name them."""
        thing = self.objects[touch.thing]
        if thing.kind is ObjectKind.INSTANCE:
            klass = self.number(thing.of)
            if touch.name == ANY:
                return [Field(self.objects[k].of.name, ANY) for k in self.ancestors(klass)]
            return [Field(self._declarer(klass, touch.name), touch.name)]
        owner = thing.of
        if thing.kind is ObjectKind.CLASS:
            owner = f"type {thing.of.name}"
        elif thing.kind is ObjectKind.MODULE:
            owner = thing.of.path
        elif thing.kind is ObjectKind.UNKNOWN:
            owner = ANY
        elif thing.kind is ObjectKind.FUNCTION:
            owner = f"function {thing.of.key}"
        elif thing.kind is ObjectKind.GENERATOR:
            owner = "generator"
        return [Field(str(owner), touch.name)]

    def _declarer(self, klass: int, name: str) -> str:
        """The name of the class that declares the field: the furthest base that does."""
        order = self.ancestors(klass)
        declaring = [k for k in order if name in self.objects[k].of.declares]
        return str(self.objects[(declaring or order)[-1 if declaring else 0]].of.name)

    def in_class_body(self, site: Site) -> bool:
        """True if the instruction stores an attribute of a class as part of its body."""
        function = self.instances[site[0]].function
        made = self._made_classes.get(function)
        if made is None:
            made = {x.dst for x in function.instructions if isinstance(x, MakeClass)}
            self._made_classes[function] = made
        instruction = function.instructions[site[1]]
        return isinstance(instruction, StoreAttribute) and instruction.base in made

    def touch_classes(self) -> None:
        """Lookups of attributes that are replaced in a class, other than by its body, read them."""
        replaced = {
            (touch.thing, touch.name)
            for site, touches in self.touches.items()
            for touch in touches
            if touch.mode == "w" and self.objects[touch.thing].kind is ObjectKind.CLASS and not self.in_class_body(site)
        }
        classes = {klass for klass, _ in replaced}
        for (klass, name), sites in self.class_reads.items() if replaced else ():
            for k in self.ancestors(klass):
                if (k, name) in replaced or (k, ANY) in replaced or (name == ANY and k in classes):
                    for site in sites:
                        self.touch(site, "r", k, name)

    def each_ancestor(self, klass: int, found: Callable[[int], None], seen: set[int]) -> None:
        """Call `found` with the class and all its bases in the program, now or when they become known."""
        if klass not in seen and self.objects[klass].kind is ObjectKind.CLASS:
            seen.add(klass)
            found(klass)
            self.watch(self.bases(klass), lambda base: self.each_ancestor(base, found, seen))

    def ancestors(self, klass: int) -> list[int]:
        """The class and all its bases in the program, nearest first."""
        order = [klass]
        for k in order:
            for base in members(self.find(("bases", k))):
                if self.objects[base].kind is ObjectKind.CLASS and base not in order:
                    order.append(base)
        return order
