"""Special methods that code outside the program calls: to compare, to convert to text, to iterate."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from dpor.statics import natives
from dpor.statics.call_graph import NATIVE, Argument, Arguments, CallEdge, How, Instance, Site, outside
from dpor.statics.hierarchy import Hierarchy
from dpor.statics.objects import ANY, ObjectKind
from dpor.statics.solver import Node

_CALLABLE: Final = frozenset(
    {ObjectKind.FUNCTION, ObjectKind.BOUND, ObjectKind.WRAPPER, ObjectKind.UNKNOWN, ObjectKind.CLASS, ObjectKind.NATIVE}
)


class Protocols(Hierarchy):
    """Adds the constraints of calling special methods of the objects in a node."""

    def send(
        self, site: Site, receiver: int, name: str, arguments: Arguments, dst: Node | None, how: How = How.CALL,
        variable: str = "",
    ) -> None:  # fmt: skip
        raise NotImplementedError

    def give(self, dst: Node | None, *things: int) -> None:
        if dst is not None:
            for thing in things:
                self.add(dst, 1 << thing)

    def protocol(self, site: Site, methods: tuple[str, ...], arguments: tuple[Argument, ...], dst: Node | None) -> None:
        """Native code calls special methods of the objects, if they have any, on one another, and reads containers.

        What containers hold goes to a function instance of its own for these methods, the same for all calls.
        """
        known = methods
        key = (site, known, arguments)
        if key in self._met:
            return
        self._met.add(key)
        others = Arguments(anything=tuple(a._replace(variable="") for a in arguments))
        for argument in arguments:
            if argument.variable and site[0] != NATIVE:
                self.watch(argument.node, partial(self._protocol_of, site, known, others, dst, argument.variable))
            else:
                self._protocol_by_hub(site, known, argument.node, dst)

    def _protocol_of(
        self, site: Site, methods: tuple[str, ...], others: Arguments, dst: Node | None, variable: str, number: int
    ) -> None:
        kind = self.objects[number].kind
        if kind is ObjectKind.INSTANCE:
            for method in methods:
                if "__hash__" in methods and method in ("__hash__", "__eq__") and method in self.specials:
                    self.look_up(
                        site, self.number(self.objects[number].of), method, partial(self._compare_keys, site, number)
                    )
                if self.may_define(self.objects[number], method):
                    self.send(site, number, method, others, dst, variable=variable)
        elif kind is ObjectKind.NATIVE_INSTANCE and self.field_names[number]:
            self.touch(site, "r", number, ANY)
            for name in tuple(self.field_names[number]):
                self._protocol_by_hub(site, methods, self.field(number, name), dst)
        elif kind is ObjectKind.CONTAINER:
            self.touch(site, "r", number, "[]", variable)
            if "__iter__" in methods and self.objects[number].of == "iterator":
                self.advance_iterator(site, number, None, variable)
            for held in (self.field(number, "[]"), self.field(number, "keys")):
                self._protocol_by_hub(site, methods, held, dst)
        elif kind is ObjectKind.UNKNOWN:
            self.touch(site, "r", self.unknown, ANY)
            if not self.specials.isdisjoint(methods):
                self.native(site, Arguments(), None)

    def _compare_keys(self, site: Site, key: int, method: int) -> None:
        """Looking up a key by the program's own comparison reads all fields of the key."""
        if self.objects[method].kind is not ObjectKind.NATIVE:
            self.touch(site, "r", key, ANY)

    def _protocol_by_hub(self, site: Site, methods: tuple[str, ...], given: Node, dst: Node | None) -> None:
        """Pass the objects of the node to the function instance that calls these methods, the same for all sites.

        The site calls it once the node has an object whose methods may be the program's.
        """
        hub, held, result = self._hub(methods)
        self.edge(given, held)

        def call() -> None:
            self.edges[site].add(CallEdge(hub, How.CALL, (), False))
            if dst is not None:
                self.heap_results.add(site)
                self.edge(result, dst)

        self._when_occupied(given, call)

    def _hub(self, methods: tuple[str, ...]) -> tuple[int, Node, Node]:
        """The function instance, the node of the objects whose methods it calls, and the node of their results."""
        held, result = self.node(("hub", methods)), self.node(("hub's result", methods))
        if methods not in self._hubs:
            self._hubs[methods] = hub = len(self.instances)
            self.instances.append(Instance(outside(f"<{', '.join(methods)}>"), -1))
            others = Arguments(anything=(Argument(held, ""),))
            self.watch(held, partial(self._protocol_of, (hub, 1), methods, others, result, ""))
        return self._hubs[methods], held, result

    def _when_occupied(self, node: Node, action: Callable[[], None]) -> None:
        """Run the action when the node has an object whose special methods may be the program's."""
        if node in self._occupied:
            action()
        elif node in self._waiting:
            self._waiting[node].append(action)
        else:
            self._waiting[node] = [action]
            self.watch(node, partial(self._occupy, node))

    def _occupy(self, node: Node, number: int) -> None:
        if node in self._waiting and self.objects[number].kind in (
            ObjectKind.INSTANCE,
            ObjectKind.CONTAINER,
            ObjectKind.UNKNOWN,
        ):
            self._occupied.add(node)
            for action in self._waiting.pop(node):
                action()

    def iterate(self, site: Site, source: Argument, into: Node) -> None:
        """Add all that iterating over the source may give to the node."""
        held = self.node(("iterated", site, source))
        self.edge(held, into)
        if held not in self._iterators:
            self._iterators.add(held)
            self._iterate(site, source, held)

    def _iterate(self, site: Site, source: Argument, into: Node) -> None:

        def met(number: int) -> None:
            thing = self.objects[number]
            if thing.kind is ObjectKind.CONTAINER:
                self.touch(site, "r", number, "[]", source.variable)
                self.edge(self.field(number, "keys" if thing.of == "dict" else "[]"), into)
                if thing.of == "iterator":
                    self.advance_iterator(site, number, into, source.variable)
            elif thing.kind is ObjectKind.GENERATOR:
                self.advance(site, number, into, source.variable)
            elif thing.kind is ObjectKind.INSTANCE:
                iterator = self.node(("iterator", site, number))
                if iterator not in self._iterators:
                    self._iterators.add(iterator)
                    for method in ("__iter__", "__getitem__"):
                        self.send(site, number, method, Arguments(), iterator, variable=source.variable)
                    self.watch(iterator, lambda i: self._next(site, i, into))
                    if {"__next__"} & self.specials:
                        self._next(site, number, into)
            elif thing.kind is ObjectKind.VALUE or (
                thing.kind is ObjectKind.NATIVE and thing.of.startswith("builtins.")
            ):
                self.add(into, 1 << self.plain)
            elif (
                thing.kind not in (ObjectKind.FUNCTION, ObjectKind.BOUND, ObjectKind.MODULE)
                and thing.of not in natives.CONTROLS
            ):
                self.native(site, Arguments((source,)), into)

        self.watch(source.node, met)

    def advance_iterator(self, site: Site, iterator: int, into: Node | None, through: str) -> None:
        """Advance a native iterator: it advances what it iterates over, and calls the functions that it was given."""
        self.touch(site, "w", iterator, "[]", through)
        elements, given = self.field(iterator, "[]"), self.field(iterator, "given")
        if into is not None:
            self.edge(elements, into)
        key = ("advanced", site, iterator)
        if key in self._met:
            return
        self._met.add(key)
        over = self.field(iterator, "over")
        self.iterate(site, Argument(over, ""), self.node(("ignored", site)))
        self._call_back(site, given, Arguments(anything=(Argument(over, ""),)), self.field(iterator, "results"))
        self.heap_results.add(site)

    def _next(self, site: Site, number: int, into: Node) -> None:
        thing = self.objects[number]
        if thing.kind is ObjectKind.INSTANCE:
            self.send(site, number, "__next__", Arguments(), into)
            self.add(into, 1 << number)
        else:
            self.iterate(site, Argument(self.constant(number), ""), into)

    def _held(self, site: Site, arguments: Arguments) -> Node:
        """The elements of the containers among the arguments."""
        held = self.node(("held", site))
        for argument in arguments.all():
            self.iterate(site, argument, held)
        return held

    def _call_back(self, site: Site, given: Node, arguments: Arguments, into: Node) -> None:
        """Call the functions among the arguments on the objects in `given`; these objects, and the results, go to the
        node."""
        self.edge(given, into)
        inner = Arguments(anything=(Argument(given, ""),))
        for argument in arguments.all():

            def met(number: int) -> None:
                if self.objects[number].kind in _CALLABLE or (
                    self.objects[number].kind is ObjectKind.INSTANCE and "__call__" in self.specials
                ):
                    self.apply(site, number, inner, into)

            self.watch(argument.node, met)

    def _values(self, number: int, into: Node) -> None:
        if self.objects[number].kind is ObjectKind.CONTAINER:
            self.edge(self.field(number, "[]"), into)
