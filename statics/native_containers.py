"""Containers and iterators that built-in functions make, and the methods of containers."""

from __future__ import annotations

from dpor.statics import natives
from dpor.statics.call_graph import Argument, Arguments, Site
from dpor.statics.objects import ObjectKind
from dpor.statics.protocols import Protocols
from dpor.statics.solver import Node


class NativeContainers(Protocols):
    """Adds the constraints of making containers, and of calling their methods."""

    def _collect(self, site: Site, kind: str, arguments: Arguments, dst: Node | None) -> None:
        made = self.make(site, ObjectKind.CONTAINER, "iterator" if kind == "pairs" else kind, container=True)
        held = self._held(site, arguments)
        into = self.field(made, "[]")
        if kind in ("iterator", "pairs"):
            for argument in arguments.all():
                self.edge(argument.node, self.field(made, "over"))
            self.edge(held, self.field(made, "given"))
            self.edge(self.field(made, "results"), into)
        if kind == "pairs":
            pair = self.make(site, ObjectKind.CONTAINER, "tuple")
            self.add(into, 1 << pair)
            into = self.field(pair, "[]")
            self.add(into, 1 << self.plain)
        self._call_back(site, held, arguments, into)
        if kind == "dict":
            self.edge(held, self.field(made, "keys"))
            inner = self.node(("pairs", site))
            self.watch(held, lambda n: self.iterate(site, Argument(self.constant(n), ""), inner))
            self.edge(inner, into)
            self.edge(inner, self.field(made, "keys"))
            for argument in arguments.all():
                self.watch(argument.node, lambda n: self._values(n, into))
            for _, argument in arguments.keywords:
                self.edge(argument.node, into)
                self.escape(site, argument.variable)
        self.protocol(site, natives.ORDER, (Argument(held, ""),), None)
        self.escape(site, *(argument.variable for argument in arguments.all()))
        self.give(dst, made)

    def _fresh_list(self, site: Site) -> int:
        made = self.make(site, ObjectKind.CONTAINER, "list")
        self.add(self.field(made, "[]"), 1 << self.plain)
        return made

    def _container_method(
        self, site: Site, name: str, receiver: Argument, arguments: Arguments, dst: Node | None
    ) -> None:
        kind, _, short = name.partition(".")
        others = arguments.all()[1:]
        self.escape(site, *(argument.variable for argument in others))

        def met(number: int) -> None:
            elements, keys = self.field(number, "[]"), self.field(number, "keys")
            self.touch(site, "r", number, "[]", receiver.variable)
            reads = short in natives.READING_METHODS and not (kind == "queue" and short == "get")
            if not reads:
                self.touch(site, "w", number, "[]", receiver.variable)
                for argument in others:
                    self.edge(argument.node, elements)
                    if kind == "dict":
                        self.edge(argument.node, keys)
                    if short in ("extend", "update", "__iadd__", "extendleft", "__ior__", "intersection_update"):
                        self.iterate(site, argument, elements)
                        self.watch(argument.node, lambda n: self._values(n, elements))
                        self.watch(argument.node, lambda n: self._values(n, keys))
            held = self.node(("both", number))
            self.edge(elements, held)
            self.edge(keys, held)
            inner = tuple(a._replace(variable="") for a in others)
            if kind in ("set", "dict", "queue") or short in natives.COMPARING_METHODS:
                self.protocol(site, natives.ORDER, (Argument(held, ""), *inner), None)
            if short in ("sort", "sorted"):
                self._call_back(site, held, Arguments(others), self.node(("ignored", site)))
            if dst is None:
                return
            self.add(dst, 1 << self.plain)
            if short in ("items", "keys", "values"):  # a view, that reads it later
                self.add(dst, 1 << number)
            if short in ("items", "popitem"):
                pair = self.make(site, ObjectKind.CONTAINER, "tuple", container=True)
                self.edge(held, self.field(pair, "[]"))
                self._new_list(site, dst, pair=pair)
                self.add(dst, 1 << pair)
            elif short in ("copy", "union", "intersection", "difference", "symmetric_difference"):
                made = self.make(site, ObjectKind.CONTAINER, kind, container=True)
                self.edge(elements, self.field(made, "[]"))
                self.edge(keys, self.field(made, "keys"))
                for argument in others:
                    self.iterate(site, argument, self.field(made, "[]"))
                self.add(dst, 1 << made)
            elif short in ("keys", "values"):
                self._new_list(site, dst, elements=keys if short == "keys" else elements, keys=keys)
            elif short not in ("append", "add", "extend", "insert", "clear", "remove", "discard", "update", "put"):
                self.edge(elements, dst)
                for argument in others:
                    self.edge(argument.node, dst)
                if short in ("__iter__", "__enter__", "__iadd__", "__ior__"):
                    self.add(dst, 1 << number)
                self.heap_results.add(site)

        if short == "__init__":
            for argument in others:
                self.watch(receiver.node, lambda n: self.iterate(site, argument, self.field(n, "[]")))
                self.watch(receiver.node, lambda n: self.iterate(site, argument, self.field(n, "keys")))
            return
        self.watch(receiver.node, met)

    def _new_list(
        self, site: Site, dst: Node, pair: int | None = None, elements: Node | None = None, keys: Node | None = None
    ) -> None:
        made = self.make(site, ObjectKind.CONTAINER, "list" if pair is not None else "dict", container=True)
        if pair is not None:
            self.add(self.field(made, "[]"), 1 << pair)
        if elements is not None:
            self.edge(elements, self.field(made, "[]"))
        if keys is not None and elements is not None:
            self.edge(elements, self.field(made, "keys"))
            self.edge(keys, self.field(made, "keys"))
        self.add(dst, 1 << made)
