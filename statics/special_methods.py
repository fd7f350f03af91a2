"""Effects of operators, and of all else that calls special methods, on each kind of object."""

from __future__ import annotations

from typing import Final

from dpor.statics import natives
from dpor.statics.attributes import Attributes
from dpor.statics.call_graph import HAVE_FIELDS, Argument, Arguments, Site
from dpor.statics.objects import ANY, ObjectKind
from dpor.statics.solver import Node

_CALL: Final = frozenset(
    {
        *("__iter__", "__next__", "__await__", "__enter__", "__exit__"),
        *("__getitem__", "__setitem__", "__delitem__", "send", "throw"),
    }
)
"""Special methods by which an unknown object may run any code."""
_KEEP: Final = frozenset(
    f"__{prefix}{name}__"
    for name in ("add", "sub", "mul", "matmul", "mod", "or", "and", "xor")
    for prefix in ("", "r", "i")
)
"""Operators whose result may hold what the operands hold, or that change the first."""


class SpecialMethods(Attributes):
    """Adds the constraints of calling special methods."""

    def invoke(
        self, site: Site, number: int, methods: tuple[str, ...], mine: Argument, others: Arguments, dst: Node
    ) -> None:
        """Add what the special methods do to one object among the operands."""
        thing = self.objects[number]
        if thing.kind is ObjectKind.INSTANCE:
            for method in methods:
                if self.may_define(thing, method):
                    self.send(site, number, method, others, dst, variable=mine.variable)
        elif thing.kind is ObjectKind.CONTAINER:
            self._invoke_container(site, number, methods, mine.variable, others, dst)
        elif thing.kind is ObjectKind.GENERATOR:
            self.give(dst, number)
            if not {"__next__", "send", "__await__", "__contains__"}.isdisjoint(methods):
                self.advance(site, number, dst, mine.variable)
                self.heap_results.add(site)
        elif thing.kind is ObjectKind.NATIVE_INSTANCE:
            self.give(dst, number, self.plain)
            if thing.of in natives.EXECUTORS or thing.of in natives.LOCKS or thing.of in natives.THREADS:
                return
            if self.field_names[number] or not self.specials.isdisjoint(methods):
                self.native(site, others, dst)
        elif thing.kind is ObjectKind.UNKNOWN:
            self._invoke_unknown(site, methods, others, dst)
        elif thing.kind in (ObjectKind.CLASS, ObjectKind.SUPER, ObjectKind.NATIVE):
            self.give(dst, self.unknown, self.plain)
            if thing.kind is not ObjectKind.NATIVE and not self.specials.isdisjoint(methods):
                self.add(self.leaks, 1 << number)
                self.native(site, others, dst)
        else:
            self.give(dst, self.plain)
            if "__mod__" in methods:
                self.protocol(site, natives.TEXT, others.plain, None)
            if "__contains__" in methods:
                self.protocol(site, natives.ORDER, others.plain, None)

    def _invoke_unknown(self, site: Site, methods: tuple[str, ...], others: Arguments, dst: Node) -> None:
        """The same for an object that native code may have: a built-in method accesses the object, any other may run
        any code."""
        self.touch(site, "r", self.unknown, ANY)
        if not _CALL.isdisjoint(methods) or not self.specials.isdisjoint(methods):
            self.native(site, others, dst)
        elif not _KEEP.isdisjoint(methods):
            self.touch(site, "w", self.unknown, ANY)
            for other in others.all():
                self.edge(other.node, self.leaks)
        self.give(dst, self.unknown)
        self.heap_results.add(site)

    def _invoke_container(
        self, site: Site, number: int, methods: tuple[str, ...], variable: str, others: Arguments, dst: Node
    ) -> None:
        elements, keys = self.field(number, "[]"), self.field(number, "keys")
        self.touch(site, "r", number, "[]", variable)
        first = methods[0]
        if self.objects[number].of == "iterator" and first in ("__next__", "__contains__"):
            self.advance_iterator(site, number, dst, variable)
        if first == "__iter__":
            self.give(dst, number)
        elif first == "__next__":
            self.edge(keys if self.objects[number].of == "dict" else elements, dst)
            self.heap_results.add(site)
        elif first in ("__contains__", "__eq__", "__ne__", "__lt__", "__gt__", "__le__", "__ge__"):
            both = (Argument(elements, ""), Argument(keys, ""), *(o._replace(variable="") for o in others.plain))
            self.protocol(site, natives.ORDER, both, None)
            self.give(dst, self.plain)
        elif first in ("__format__",):
            self.protocol(site, natives.TEXT, (Argument(elements, ""), Argument(keys, "")), None)
        elif first not in ("__bool__", "__instancecheck__"):
            target = number
            if first.startswith("__i") and first not in ("__invert__", "__iter__", "__index__"):
                self.touch(site, "w", number, "[]", variable)
                self.give(dst, number)
            else:
                target = self.make(site, ObjectKind.CONTAINER, self.objects[number].of, container=True)
                self.edge(elements, self.field(target, "[]"))
                self.edge(keys, self.field(target, "keys"))
                self.give(dst, target)
            for other in others.plain:
                self.iterate(site, other, self.field(target, "[]"))
                self.iterate(site, other, self.field(target, "keys"))
                self.watch(other.node, lambda n: self._values(n, self.field(target, "[]")))
        else:
            self.give(dst, self.plain)

    def _match(self, site: Site, number: int, names: tuple[str, ...], inside: Node) -> None:
        """Add what patterns may read in an object."""
        kind = self.objects[number].kind
        if kind is ObjectKind.CONTAINER:
            self.touch(site, "r", number, "[]")
            self.edge(self.field(number, "[]"), inside)
            self.edge(self.field(number, "keys"), inside)
        elif kind is ObjectKind.UNKNOWN or (kind in HAVE_FIELDS and "__match_args__" in names):
            self.native(site, Arguments((Argument(self.constant(number), ""),)), inside)
        elif kind in HAVE_FIELDS:
            for name in names:
                self.load_attribute(site, number, name, inside, "")
            if kind is ObjectKind.INSTANCE and self.number(self.objects[number].of) in self.derived:
                self.invoke(site, number, ("__iter__", "__getitem__", "__len__", "keys", "get"),
                            Argument(self.constant(number), ""), Arguments(), inside)  # fmt: skip
        self.heap_results.add(site)

    def _set_cause(self, site: Site, number: int, causes: tuple[Argument, ...]) -> None:
        """A raised exception gets its cause as a field."""
        if self.objects[number].kind in (ObjectKind.INSTANCE, ObjectKind.NATIVE_INSTANCE):
            for name in ("__cause__", "__context__", "__traceback__", "__suppress_context__"):
                self.touch(site, "w", number, name)
            for cause in causes:
                self.edge(cause.node, self.field(number, "__cause__"))
            self.edge(self.exceptions, self.field(number, "__context__"))
