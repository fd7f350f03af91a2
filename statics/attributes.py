"""Constraints of loading and storing attributes: fields, class attributes, descriptors, `super()`."""

from __future__ import annotations

from typing import Final

from dpor.statics import ir, natives
from dpor.statics.call_graph import Argument, Arguments, Site
from dpor.statics.calls import Calls
from dpor.statics.objects import AbstractObject, ObjectKind
from dpor.statics.solver import Node

_OPENS: Final = frozenset(
    {"__dict__", "__bases__", "__subclasses__", "__mro__", "__globals__", "__closure__", "__code__"}
)


class Attributes(Calls):
    """Adds the constraints of loading and storing attributes."""

    def load_attribute(self, site: Site, number: int, name: str, dst: Node, variable: str) -> None:
        thing = self.objects[number]
        kind = thing.kind
        if name in natives.GIVE_UP and kind not in (ObjectKind.VALUE, ObjectKind.UNKNOWN):
            self.give_up(site, f"{name} is used")
        if name in _OPENS and kind is not ObjectKind.VALUE:
            if name in ("__globals__", "__code__"):
                self.open_up(site)
            self.add(self.leaks, 1 << number)
            self.native(site, Arguments(), dst)
        elif name == "__class__" and kind is ObjectKind.INSTANCE:
            self.give(dst, self.number(thing.of))
        elif kind is ObjectKind.INSTANCE:
            self.touch(site, "r", number, name, variable)
            self.edge(self.field(number, name), dst)
            klass = self.number(thing.of)
            self.look_up(site, klass, name, lambda value: self._bound(site, value, number, klass, dst, variable))
            named = Arguments((Argument(self.constant(self.plain), ""),))
            for method in ("__getattr__", "__getattribute__"):
                if method in self.specials:
                    self.send(site, number, method, named, dst, variable=variable)
        elif kind is ObjectKind.CLASS:
            self._load_of_class(site, number, name, dst)
        elif kind is ObjectKind.MODULE:
            self.touch(site, "r", number, name)
            self.edge(self.node(ir.Variable(thing.of.path, name, True)), dst)
            self.add(self.local(self.instance(thing.of), "%used"), 1 << self.plain)
        elif kind is ObjectKind.NATIVE:
            if natives.attribute(thing.of, name) in natives.OPENERS:
                self.open_up(site)
            if thing.of in natives.THREADS and name not in ("start", "run", "__init__"):
                self.give(dst, self.plain)
            self.give(dst, self.number(AbstractObject(ObjectKind.NATIVE, natives.attribute(thing.of, name))))
            self.touch(site, "r", number, name)
            self.edge(self.field(number, name), dst)
        elif kind is ObjectKind.UNKNOWN:
            self.touch(site, "r", number, name)
            self.give(dst, number)
            if {name, "__getattr__", "__getattribute__", "__get__"} & self.specials:
                self._unknown_attribute(site, name)
        elif kind is ObjectKind.SUPER:
            self._load_of_super(site, thing, name, dst)
        else:
            self._load_of_built_in(site, number, name, dst)

    def _unknown_attribute(self, site: Site, name: str) -> None:
        """Load an attribute of any leaked object: a property is called, as native code would call it."""
        if self.has_descriptors or {"__getattr__", "__getattribute__"} & self.specials:
            self.native(site, Arguments(), None)

    def _load_of_built_in(self, site: Site, number: int, name: str, dst: Node) -> None:
        thing = self.objects[number]
        prefix = thing.of if thing.kind in (ObjectKind.CONTAINER, ObjectKind.NATIVE_INSTANCE) else "value"
        if thing.kind is ObjectKind.GENERATOR:
            prefix = "generator"
            self.touch(site, "r", number, "[]")
        if thing.kind in (ObjectKind.FUNCTION, ObjectKind.NATIVE_INSTANCE, ObjectKind.WRAPPER):
            self.touch(site, "r", number, name)
            self.edge(self.field(number, name), dst)
        if prefix == "tuple" and name in ("start", "stop", "step"):  # a slice
            self.edge(self.field(number, "[]"), dst)
        if thing.kind is ObjectKind.BOUND and name in ("__self__", "__func__"):
            self.give(dst, self.number(thing.of[name == "__self__"]))
        elif thing.kind is ObjectKind.WRAPPER:
            self.give(
                dst,
                self.number(
                    AbstractObject(ObjectKind.BOUND, (AbstractObject(ObjectKind.NATIVE, f"property.{name}"), thing))
                ),
            )
            if name == "func":
                self.edge(self.field(number, "of"), dst)
            elif thing.of == "partial":
                self.add(self.leaks, 1 << number)
                self.native(site, Arguments(), dst)
            self.heap_results.add(site)
        elif thing.kind is ObjectKind.BOUND:
            self.give(dst, self.plain)
        elif thing.kind is not ObjectKind.FUNCTION and natives.has_method(prefix, name):
            self.give(
                dst,
                self.number(
                    AbstractObject(ObjectKind.BOUND, (AbstractObject(ObjectKind.NATIVE, f"{prefix}.{name}"), thing))
                ),
            )

    def _bound(self, site: Site, value: int, receiver: int, klass: int, dst: Node, variable: str) -> None:
        """Load a class attribute's value through an instance."""
        thing = self.objects[value]
        if thing.kind in (ObjectKind.FUNCTION, ObjectKind.NATIVE):
            self.give(dst, self.number(AbstractObject(ObjectKind.BOUND, (thing, self.objects[receiver]))))
            return
        if thing.kind is ObjectKind.WRAPPER and thing.of in ("property", "cached_property"):
            me = Arguments((Argument(self.constant(receiver), variable),))
            self.watch(self.field(value, "of"), lambda getter: self.apply(site, getter, me, dst))
        elif thing.kind is ObjectKind.WRAPPER:
            self._unwrap(value, klass, dst)
        elif thing.kind is ObjectKind.INSTANCE and "__get__" in self.specials:
            pair = (Argument(self.constant(receiver), variable), Argument(self.constant(klass), ""))
            self.send(site, value, "__get__", Arguments(pair), dst)
        self.give(dst, value)

    def _unwrap(self, value: int, klass: int, dst: Node) -> None:
        thing = self.objects[value]
        if thing.of == "staticmethod":
            self.edge(self.field(value, "of"), dst)
        elif thing.of == "classmethod":
            bind = lambda f: self.give(
                dst, self.number(AbstractObject(ObjectKind.BOUND, (self.objects[f], self.objects[klass])))
            )
            self.watch(self.field(value, "of"), bind)

    def _load_of_class(self, site: Site, number: int, name: str, dst: Node) -> None:
        self.touch(site, "r", number, name)
        if name == "register":  # of an abstract class
            self.touch(site, "w", number, name)

        def found(value: int) -> None:
            thing = self.objects[value]
            if thing.kind is ObjectKind.WRAPPER:
                self._unwrap(value, number, dst)
            elif thing.kind is ObjectKind.INSTANCE and "__get__" in self.specials:
                pair = (Argument(self.constant(self.plain), ""), Argument(self.constant(number), ""))
                self.send(site, value, "__get__", Arguments(pair), dst)
            self.give(dst, value)

        self.look_up(site, number, name, found)
        self.watch(self.node(("foreign", number)), lambda _: self.give(dst, self.unknown))

    def _load_of_super(self, site: Site, thing: AbstractObject, name: str, dst: Node) -> None:
        klass, receiver = (self.number(part) for part in thing.of)
        held = self.objects[receiver]
        bind = lambda value: self._bound(site, value, receiver, klass, dst, "")
        if held.kind not in (ObjectKind.INSTANCE, ObjectKind.CLASS):
            self.give(dst, self.unknown)
            self.native(site, Arguments(), None)
            return
        self.watch(self.bases(klass), lambda base: self.look_up(site, base, name, bind))
        inherited = self.ancestors(klass)
        whole = self.number(held.of) if held.kind is ObjectKind.INSTANCE else receiver

        def of_sibling(sibling: int) -> None:
            if sibling not in inherited and klass not in self.ancestors(sibling):
                self.class_reads[sibling, name].add(site)
                self.watch(self.field(sibling, name), bind)

        self.each_ancestor(whole, of_sibling, set())

    def store_attribute(self, site: Site, number: int, name: str, src: Argument, variable: str) -> None:
        thing = self.objects[number]
        kind = thing.kind
        if kind is ObjectKind.VALUE:
            return
        if name in natives.REPLACED:
            self.give_up(site, f"{name} of an object is replaced")
        elif kind is ObjectKind.CLASS and ir.is_special(name) and not self.in_class_body(site):
            self.give_up(site, f"{name} of a class is replaced")
        elif kind is ObjectKind.NATIVE and name in ("stdout", "stderr"):
            self.give_up(site, f"{name} is replaced")
        self.touch(site, "w", number, name, variable)
        if kind is ObjectKind.UNKNOWN:
            self.native(site, Arguments((src,)), None)
        elif kind is ObjectKind.MODULE:
            self.edge(src.node, self.node(ir.Variable(thing.of.path, name, True)))
        else:
            self.edge(src.node, self.field(number, name))
        if kind is ObjectKind.INSTANCE:
            self._set_through_class(site, number, name, src)

    def _set_through_class(self, site: Site, number: int, name: str, src: Argument) -> None:
        me = Argument(self.constant(number), "")

        def found(value: int) -> None:
            descriptor = self.objects[value]
            if descriptor.kind is ObjectKind.WRAPPER:
                both = Arguments((me, src))
                self.watch(self.field(value, "of"), lambda setter: self.apply(site, setter, both, None))
            elif descriptor.kind is ObjectKind.INSTANCE and "__set__" in self.specials:
                self.send(site, value, "__set__", Arguments((me, src)), None)

        klass = self.number(self.objects[number].of)
        self.look_up(site, klass, name, found)
        if "__setattr__" in self.specials:
            named = Arguments((Argument(self.constant(self.plain), ""), src))
            self.send(site, number, "__setattr__", named, None)
