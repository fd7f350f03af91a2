"""Calls of what is outside the program, as far as `natives` knows it, and operations on built-in objects."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from statics import natives
from statics.objects import Kind, Object
from statics.points_to import NATIVE, Argument, Arguments, Edge, Heap, How, Instance, Site, outside
from statics.solver import Node


class NativeCalls(Heap):
    """Applies native callables."""

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
        known = tuple(method for method in methods if method in self.specials)
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
        if kind is Kind.INSTANCE:
            for method in methods:
                self.send(site, number, method, others, dst, variable=variable)
        elif kind is Kind.CONTAINER:
            self.touch(site, "r", number, "[]")
            for held in (self.field(number, "[]"), self.field(number, "keys")):
                self._protocol_by_hub(site, methods, held, dst)
        elif kind is Kind.UNKNOWN:
            self.touch(site, "r", number, "[]")
            if methods:
                self.native(site, Arguments(), None)

    def _protocol_by_hub(self, site: Site, methods: tuple[str, ...], given: Node, dst: Node | None) -> None:
        """Whatever is in the node is given to the function instance that calls these methods, the same for all sites.

        The site calls it once there is something whose methods may be the program's.
        """
        hub, held, result = self._hub(methods)
        self.edge(given, held)

        def call() -> None:
            self.edges[site].add(Edge(hub, How.CALL, (), False))
            if dst is not None:
                self.heap_results.add(site)
                self.edge(result, dst)

        self._when_occupied(given, call)

    def _hub(self, methods: tuple[str, ...]) -> tuple[int, Node, Node]:
        """The function instance, the node of what it calls the methods of, and the node of what they return."""
        held, result = self.node(("hub", methods)), self.node(("hub's result", methods))
        if methods not in self._hubs:
            self._hubs[methods] = hub = len(self.instances)
            self.instances.append(Instance(outside(f"<{', '.join(methods)}>"), -1))
            others = Arguments(anything=(Argument(held, ""),))
            self.watch(held, partial(self._protocol_of, (hub, 1), methods, others, result, ""))
        return self._hubs[methods], held, result

    def _when_occupied(self, node: Node, action: Callable[[], None]) -> None:
        """Act when the node has an object whose special methods may be the program's."""
        if node in self._occupied:
            action()
        elif node in self._waiting:
            self._waiting[node].append(action)
        else:
            self._waiting[node] = [action]
            self.watch(node, partial(self._occupy, node))

    def _occupy(self, node: Node, number: int) -> None:
        if node in self._waiting and self.objects[number].kind in (Kind.INSTANCE, Kind.CONTAINER, Kind.UNKNOWN):
            self._occupied.add(node)
            for action in self._waiting.pop(node):
                action()

    def iterate(self, site: Site, source: Argument, into: Node) -> None:
        """All that iterating over the source may give goes into the node."""
        held = self.node(("iterated", site, source.node))
        self.edge(held, into)
        if held not in self._iterators:
            self._iterators.add(held)
            self._iterate(site, source, held)

    def _iterate(self, site: Site, source: Argument, into: Node) -> None:

        def met(number: int) -> None:
            thing = self.objects[number]
            if thing.kind is Kind.CONTAINER:
                self.touch(site, "r", number, "[]")
                self.edge(self.field(number, "keys" if thing.of == "dict" else "[]"), into)
            elif thing.kind is Kind.GENERATOR:
                self.resume(site, thing.of, into)
            elif thing.kind is Kind.INSTANCE:
                iterator = self.node(("iterator", site, number))
                if iterator not in self._iterators:
                    self._iterators.add(iterator)
                    for method in ("__iter__", "__getitem__"):
                        self.send(site, number, method, Arguments(), iterator, variable=source.variable)
                    self.watch(iterator, lambda i: self._next(site, i, into))
                    if {"__next__"} & self.specials:
                        self._next(site, number, into)
            elif thing.kind is Kind.VALUE:
                self.add(into, 1 << self.plain)
            elif thing.kind not in (Kind.FUNCTION, Kind.BOUND, Kind.MODULE) and thing.of not in natives.CONTROLS:
                self.native(site, Arguments((source,)), into)

        self.watch(source.node, met)

    def _next(self, site: Site, number: int, into: Node) -> None:
        thing = self.objects[number]
        if thing.kind is Kind.INSTANCE:
            self.send(site, number, "__next__", Arguments(), into)
            self.add(into, 1 << number)
        else:
            self.iterate(site, Argument(self.constant(number), ""), into)

    # -------------------------------------------------------------- functions and classes

    def call_native(self, site: Site, name: str, arguments: Arguments, dst: Node | None, how: How) -> None:
        """A native function or class, of this dotted name, is called."""
        short = name.rpartition(".")[2]
        receiver = arguments.plain[0] if arguments.plain else None
        if name in natives.PROTOCOLS:
            self.protocol(site, natives.PROTOCOLS[name], arguments.all(), dst)
            self.give(dst, self.plain)
        elif natives.is_inert(name):
            self.give(dst, self.plain)
        elif name in natives.COLLECTORS:
            self._collect(site, natives.COLLECTORS[name], arguments, dst)
        elif name in natives.PICKERS:
            into = self.node(("picked", site))
            self._call_back(site, self._held(site, arguments), arguments, into)
            self.protocol(site, (*natives.ORDER, "__add__", "__radd__", "__bool__"), (Argument(into, ""),), into)
            self.heap_results.add(site)
            if dst is not None:
                self.edge(into, dst)
        elif name == "builtins.object.__new__" and receiver is not None:
            self.watch(receiver.node, lambda klass: self._make_instance(site, klass, dst))
        elif name in natives.RUNNING:
            listed = self.make(site, Kind.CONTAINER, "list")
            self.edge(self.node("threads"), self.field(listed, "[]"))
            self.heap_results.add(site)
            self.give(dst, listed, self.plain)
            if dst is not None:
                self.edge(self.node("threads"), dst)
        elif name in natives.LOCKS:
            made = self.make(site, Kind.NATIVE_INSTANCE, name)
            self._call_back(site, self.constant(self.plain), arguments, self.constant(self.plain))
            self.give(dst, made)
        elif name.rpartition(".")[0] in natives.LOCKS:
            self._call_back(site, self.constant(self.plain), arguments, self.constant(self.plain))
            self.give(dst, self.plain, *([self.constants.get(receiver.node, self.plain)] if receiver else []))
        elif name in natives.THREADS or name in natives.EXECUTORS:
            made = self.make(site, Kind.NATIVE_INSTANCE, name)
            self._keep(site, made, name, arguments)
            self.give(dst, made)
        elif name.rpartition(".")[0] in natives.THREADS and receiver is not None:
            self.watch(receiver.node, lambda thread: self._thread(site, name, thread, arguments))
            self.give(dst, self.plain)
        elif name.rpartition(".")[0] in natives.EXECUTORS and receiver is not None:
            self._executor(site, short, receiver, arguments, dst)
        elif name.rpartition(".")[0] == "future":
            self._future(site, short, receiver, arguments, dst)
        elif name in ("builtins.property", "builtins.staticmethod", "builtins.classmethod", "functools.partial",
                      "functools.cached_property"):  # fmt: skip
            self._wrap(site, short, arguments, dst)
        elif name.startswith("property.") and receiver is not None:
            for argument in arguments.all():
                if receiver.node in self.constants:
                    self.edge(argument.node, self.field(self.constants[receiver.node], "of"))
            self.give(dst, *([self.constants[receiver.node]] if receiver.node in self.constants else []))
        elif name in ("builtins.getattr", "builtins.setattr", "builtins.delattr", "builtins.hasattr"):
            self._computed(site, short, arguments, dst)
        elif name == "dataclasses.dataclass" and receiver is not None:
            self.watch(receiver.node, self.generated.add)
            if dst is not None:
                self.edge(receiver.node, dst)
        elif name == "dataclasses.dataclass":
            self.give(dst, self.number(Object(Kind.NATIVE, name)))
        elif name == "dataclasses.field":
            self._call_back(site, self.constant(self.plain), arguments, dst or self.node(("ignored", site)))
        elif name.partition(".")[0] in ("list", "set", "tuple", "dict", "deque", "queue") and receiver is not None:
            self._container_method(site, name, receiver, arguments, dst)
        elif name.startswith("value."):
            self.protocol(site, natives.TEXT, arguments.all(), None)
            self.give(dst, self.plain, self._fresh_list(site))
        elif name.startswith("builtins.") and name.endswith(("Error", "Exception", "Iteration", "Interrupt", "Exit")):
            made = self.make(site, Kind.NATIVE_INSTANCE, name)
            self._set_args(site, made, arguments.all())
            self.give(dst, made)
        elif name.startswith("builtins.") and short == "__init__" and _is_exception(name) and receiver is not None:
            self.watch(receiver.node, lambda error: self._set_args(site, error, arguments.all()[1:]))
        else:
            if name in natives.OPENERS:
                self.open_up(site)
            self.native(site, arguments, dst)

    def _make_instance(self, site: Site, klass: int, dst: Node | None) -> None:
        if self.objects[klass].kind is Kind.CLASS:
            self.give(dst, self.make(site, Kind.INSTANCE, self.objects[klass]))

    def _set_args(self, site: Site, error: int, arguments: tuple[Argument, ...]) -> None:
        """An exception keeps its arguments in a tuple."""
        kept = self.make(site, Kind.CONTAINER, "tuple")
        self.add(self.field(error, "args"), 1 << kept)
        for argument in arguments:
            self.edge(argument.node, self.field(kept, "[]"))
        self.escape(site, *(argument.variable for argument in arguments))

    def open_up(self, site: Site) -> None:
        """Code that is not seen may do anything with the variables of the function and of all modules."""
        instance = site[0]
        function = self.instances[instance].function
        names = {i.dst for i in function.instructions if i.dst} | set(function.parameters.all())
        for name in names:
            if not name.startswith("%"):
                node = self.local(instance, name)
                self.edge(node, self.leaks)
                self.add(node, 1 << self.unknown)
        for module in self.program.modules.values():
            self.add(self.leaks, 1 << self.number(Object(Kind.MODULE, module)))

    def _fresh_list(self, site: Site) -> int:
        made = self.make(site, Kind.CONTAINER, "list")
        self.add(self.field(made, "[]"), 1 << self.plain)
        return made

    def _held(self, site: Site, arguments: Arguments) -> Node:
        """What the containers among the arguments hold."""
        held = self.node(("held", site))
        for argument in arguments.all():
            self.iterate(site, argument, held)
        return held

    def _call_back(self, site: Site, given: Node, arguments: Arguments, into: Node) -> None:
        """Functions among the arguments are called on what is given; that, and what they return, goes into the node."""
        self.edge(given, into)
        inner = Arguments(anything=(Argument(given, ""),))
        for argument in arguments.all():

            def met(number: int) -> None:
                if self.objects[number].kind in (Kind.FUNCTION, Kind.BOUND, Kind.WRAPPER, Kind.UNKNOWN, Kind.CLASS) or (
                    self.objects[number].kind is Kind.INSTANCE and "__call__" in self.specials
                ):
                    self.apply(site, number, inner, into)

            self.watch(argument.node, met)

    def _collect(self, site: Site, kind: str, arguments: Arguments, dst: Node | None) -> None:
        made = self.make(site, Kind.CONTAINER, "list" if kind == "pairs" else kind, container=True)
        held = self._held(site, arguments)
        into = self.field(made, "[]")
        if kind == "pairs":
            pair = self.make(site, Kind.CONTAINER, "tuple")
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

    def _values(self, number: int, into: Node) -> None:
        if self.objects[number].kind is Kind.CONTAINER:
            self.edge(self.field(number, "[]"), into)

    def _wrap(self, site: Site, kind: str, arguments: Arguments, dst: Node | None) -> None:
        made = self.make(site, Kind.WRAPPER, kind)
        self.has_descriptors = True
        functions = arguments.plain[:1] if kind == "partial" else arguments.all()
        rest = arguments.plain[1:] if kind == "partial" else ()
        for argument in functions:
            self.edge(argument.node, self.field(made, "of"))
        for argument in (*rest, *arguments.anything):
            self.edge(argument.node, self.field(made, "[]"))
        if kind == "partial":
            for _, argument in arguments.keywords:
                self.edge(argument.node, self.field(made, "keywords"))
        self.escape(site, *(argument.variable for argument in arguments.all()))
        self.give(dst, made)

    def _computed(self, site: Site, what: str, arguments: Arguments, dst: Node | None) -> None:
        """An attribute whose name is not known."""
        for argument in arguments.plain[:1] or arguments.anything:

            def met(number: int) -> None:
                if self.objects[number].kind is not Kind.VALUE:
                    self.add(self.leaks, 1 << number)
                    self.native(site, arguments, dst)

            self.watch(argument.node, met)
        self.heap_results.add(site)
        for argument in arguments.plain[2:]:
            self.escape(site, argument.variable)
            self.edge(argument.node, self.leaks)
            if dst is not None:
                self.edge(argument.node, dst)

    # -------------------------------------------------------------- threads

    def _keep(self, site: Site, thread: int, name: str, arguments: Arguments) -> None:
        """What a thread is told to run, and on what, is kept in fields of the object."""
        self.add(self.node("threads"), 1 << thread)
        positions = ("group", "target", "name", "args", "kwargs") if name.endswith("Thread") else (
            "interval", "target", "args", "kwargs") if name.endswith("Timer") else (
            "max_workers", "thread_name_prefix", "target", "args")  # fmt: skip
        renamed = {"function": "target", "initializer": "target", "initargs": "args"}
        for key, argument in (*zip(positions, arguments.plain, strict=False), *arguments.keywords):
            self.edge(argument.node, self.field(thread, f"_{renamed.get(key, key)}"))
            self.escape(site, argument.variable)
        for argument in arguments.anything:
            for key in positions:
                self.edge(argument.node, self.field(thread, f"_{key}"))

    def _thread(self, site: Site, name: str, thread: int, arguments: Arguments) -> None:
        short = name.rpartition(".")[2]
        thing = self.objects[thread]
        if short == "__init__":
            self.escape(site, *(argument.variable for argument in arguments.all()))
            if arguments.plain and arguments.plain[0].variable == "":
                pass
            self._keep(site, thread, name.rpartition(".")[0], arguments._replace(plain=arguments.plain[1:]))
        elif short == "start":
            if thing.kind is Kind.INSTANCE:
                self.send(site, thread, "run", Arguments(), None, How.SPAWN)
            self._run(site, thread, How.SPAWN)
        elif short == "run":
            self._run(site, thread, How.CALL)

    def _run(self, site: Site, thread: int, how: How) -> None:
        held = self.node(("thread arguments", thread))
        for name in ("_args", "_kwargs"):
            self.watch(self.field(thread, name), lambda n: self._values_of_any(site, n, held))
        inner = Arguments(anything=(Argument(held, ""),))
        ignored = self.node(("ignored", site))
        self.watch(self.field(thread, "_target"), lambda f: self.apply(site, f, inner, ignored, how))

    def _values_of_any(self, site: Site, number: int, into: Node) -> None:
        if self.objects[number].kind is Kind.CONTAINER:
            self.edge(self.field(number, "[]"), into)
        else:
            self.iterate(site, Argument(self.constant(number), ""), into)

    def _executor(self, site: Site, short: str, receiver: Argument, arguments: Arguments, dst: Node | None) -> None:
        self.escape(site, *(argument.variable for argument in arguments.all()[1:]))
        if short in ("submit", "map") and arguments.all()[1:]:
            made = self.make(site, Kind.NATIVE_INSTANCE if short == "submit" else Kind.CONTAINER,
                             "future" if short == "submit" else "list")  # fmt: skip
            result = self.field(made, "[]")
            others = Arguments(arguments.plain[2:], arguments.keywords, arguments.anything)
            given = others
            if short == "map":
                given = Arguments(anything=(Argument(self._held(site, others), ""),))
            for argument in arguments.plain[1:2] or arguments.anything:
                self.watch(argument.node, lambda f: self._submit(site, f, given, result))
            self.give(dst, made)
        elif short in ("__enter__", "__init__"):
            if dst is not None:
                self.edge(receiver.node, dst)
        self.watch(receiver.node, lambda pool: self._run(site, pool, How.SPAWN))

    def _submit(self, site: Site, function: int, given: Arguments, result: Node) -> None:
        self.apply(site, function, given, result, How.SPAWN)

    def _future(
        self, site: Site, short: str, receiver: Argument | None, arguments: Arguments, dst: Node | None
    ) -> None:
        if receiver is None:
            return
        if short in ("result", "exception"):
            self.watch(receiver.node, lambda n: self.edge(self.field(n, "[]"), dst) if dst is not None else None)
            self.heap_results.add(site)
            self.give(dst, self.plain)
            if short == "exception" and dst is not None:
                self.edge(self.exceptions, dst)
        elif short == "add_done_callback":
            inner = Arguments(anything=(receiver._replace(variable=""),))
            for argument in arguments.all()[1:]:
                self.watch(argument.node, lambda f: self.apply(site, f, inner, None, How.SPAWN))
                self.watch(argument.node, lambda f: self.apply(site, f, inner, None))
        else:
            self.give(dst, self.plain)

    # -------------------------------------------------------------- containers

    def _container_method(
        self, site: Site, name: str, receiver: Argument, arguments: Arguments, dst: Node | None
    ) -> None:
        kind, _, short = name.partition(".")
        others = arguments.all()[1:]
        self.escape(site, *(argument.variable for argument in others))

        def met(number: int) -> None:
            elements, keys = self.field(number, "[]"), self.field(number, "keys")
            self.touch(site, "r", number, "[]")
            reads = short in natives.READING_METHODS and not (kind == "queue" and short == "get")
            if not reads:
                self.touch(site, "w", number, "[]")
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
            self.protocol(site, natives.ORDER, (Argument(held, ""), *inner), None)
            if short in ("sort", "sorted"):
                self._call_back(site, held, Arguments(others), self.node(("ignored", site)))
            if dst is None:
                return
            self.add(dst, 1 << self.plain)
            if short in ("items", "keys", "values"):  # a view, that reads it later
                self.add(dst, 1 << number)
            if short in ("items", "popitem"):
                pair = self.make(site, Kind.CONTAINER, "tuple", container=True)
                self.edge(held, self.field(pair, "[]"))
                self._new_list(site, dst, pair=pair)
                self.add(dst, 1 << pair)
            elif short in ("copy", "union", "intersection", "difference", "symmetric_difference"):
                made = self.make(site, Kind.CONTAINER, kind, container=True)
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
        made = self.make(site, Kind.CONTAINER, "list" if pair is not None else "dict", container=True)
        if pair is not None:
            self.add(self.field(made, "[]"), 1 << pair)
        if elements is not None:
            self.edge(elements, self.field(made, "[]"))
        if keys is not None and elements is not None:
            self.edge(elements, self.field(made, "keys"))
            self.edge(keys, self.field(made, "keys"))
        self.add(dst, 1 << made)


def _is_exception(name: str) -> bool:
    return name.rpartition(".")[0].endswith(("Error", "Exception", "Iteration", "Interrupt", "Exit", "Warning"))
