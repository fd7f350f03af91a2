"""Calls of code outside the program, as far as `natives` knows it, and operations on built-in objects."""

from __future__ import annotations

from functools import partial

from dpor.statics import natives
from dpor.statics.call_graph import Argument, Arguments, How, Site
from dpor.statics.native_threads import NativeThreads
from dpor.statics.objects import ANY, AbstractObject, ObjectKind
from dpor.statics.solver import Node


class NativeCalls(NativeThreads):
    """Adds the constraints of calling native functions and classes."""

    def call_native(self, site: Site, name: str, arguments: Arguments, dst: Node | None, how: How) -> None:
        """Call a native function or class of this dotted name."""
        short = name.rpartition(".")[2]
        receiver = arguments.plain[0] if arguments.plain else None
        if name in natives.PROTOCOLS:
            self.protocol(site, natives.PROTOCOLS[name], arguments.all(), dst)
            self.give(dst, self.plain)
            if name == "builtins.print":  # calls write of what it prints to
                for argument in (*(a for key, a in arguments.keywords if key == "file"), *arguments.anything):
                    self.watch(argument.node, partial(self._print_to, site))
        elif natives.is_inert(name):
            self.give(dst, self.plain)
            if short in ("isinstance", "issubclass"):
                for argument in arguments.all()[1:]:
                    self.watch(argument.node, partial(self._check_class, site))
        elif name.startswith("dataclass."):
            for argument in arguments.all():
                self.watch(argument.node, partial(self._look_at_fields, site))
            self.give(dst, self.plain)
        elif name == "collections.defaultdict":
            self._collect(site, "dict", arguments._replace(plain=arguments.plain[1:]), dst)
            made = self.make(site, ObjectKind.CONTAINER, "dict", container=True)
            for argument in (*arguments.plain[:1], *arguments.anything):
                self.edge(argument.node, self.field(made, "factory"))
        elif name in natives.COLLECTORS:
            self._collect(site, natives.COLLECTORS[name], arguments, dst)
        elif name in natives.PICKERS:
            into = self.node(("picked", site))
            self._call_back(site, self._held(site, arguments), arguments, into)
            self.protocol(site, (*natives.ORDER, "__add__", "__radd__", "__bool__"), (Argument(into, ""),), into)
            self.heap_results.add(site)
            if dst is not None:
                self.edge(into, dst)
        elif name == "builtins.type" and receiver is not None and len(arguments.all()) == 1:
            self.watch(receiver.node, partial(self._type_of, site, receiver.variable, dst))
        elif name == "builtins.object.__new__" and receiver is not None:
            self.watch(receiver.node, lambda klass: self._make_instance(site, klass, dst))
        elif name in natives.RUNNING:
            listed = self.make(site, ObjectKind.CONTAINER, "list")
            self.edge(self.node("threads"), self.field(listed, "[]"))
            self.heap_results.add(site)
            self.give(dst, listed, self.plain)
            if dst is not None:
                self.edge(self.node("threads"), dst)
        elif name in natives.LOCKS:
            made = self.make(site, ObjectKind.NATIVE_INSTANCE, name)
            self._call_back(site, self.constant(self.plain), arguments, self.constant(self.plain))
            self.give(dst, made)
        elif name.rpartition(".")[0] in natives.LOCKS:
            self._call_back(site, self.constant(self.plain), arguments, self.constant(self.plain))
            self.give(dst, self.plain, *([self.constants.get(receiver.node, self.plain)] if receiver else []))
        elif name in natives.THREADS or name in natives.EXECUTORS:
            made = self.make(site, ObjectKind.NATIVE_INSTANCE, name)
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
            self.watch(receiver.node, self._make_dataclass)
            if dst is not None:
                self.edge(receiver.node, dst)
        elif name == "dataclasses.dataclass":
            self.give(dst, self.number(AbstractObject(ObjectKind.NATIVE, name)))
        elif name == "dataclasses.field":
            self._call_back(site, self.constant(self.plain), arguments, dst or self.node(("ignored", site)))
        elif name.partition(".")[0] in ("list", "set", "tuple", "dict", "deque", "queue") and receiver is not None:
            self._container_method(site, name, receiver, arguments, dst)
        elif name.startswith("value."):
            self.protocol(site, natives.TEXT, arguments.all(), None)
            if short in ("format", "format_map"):  # {0.x} reads attributes
                for argument in arguments.all():
                    self.watch(argument.node, partial(self._look_at_fields, site))
            self.give(dst, self.plain, self._fresh_list(site))
        elif name.startswith("builtins.") and name.endswith(("Error", "Exception", "Iteration", "Interrupt", "Exit")):
            made = self.make(site, ObjectKind.NATIVE_INSTANCE, name)
            self._set_args(site, made, arguments.all())
            self.give(dst, made)
        elif name.startswith("builtins.") and short == "__init__" and _is_exception(name) and receiver is not None:
            self.watch(receiver.node, lambda error: self._set_args(site, error, arguments.all()[1:]))
        else:
            if name in natives.PEEKING:
                self.give_up(site, f"{name} is called")
            if name in natives.OPENERS:
                self.open_up(site)
            self.native(site, arguments, dst)

    def _print_to(self, site: Site, number: int) -> None:
        if self.objects[number].kind not in (ObjectKind.VALUE, ObjectKind.NATIVE):
            self.native(site, Arguments((Argument(self.constant(number), ""),)), None)

    def _make_dataclass(self, klass: int) -> None:
        self.generated.add(klass)
        self.add(self.node(("generated", klass)), 1 << self.plain)

    def _look_at_fields(self, site: Site, number: int) -> None:
        """Read all fields of an instance, compare their values and convert them to text."""
        if self.objects[number].kind is ObjectKind.INSTANCE:
            self.touch(site, "r", number, ANY)
            for name in self.objects[number].of.of.declares:
                self.protocol(site, (*natives.ORDER, *natives.TEXT), (Argument(self.field(number, name), ""),), None)
        elif self.objects[number].kind is ObjectKind.UNKNOWN:
            self.touch(site, "r", number, ANY)

    def _check_class(self, site: Site, number: int) -> None:
        """`isinstance` with an abstract class reads which classes were registered with it."""
        thing = self.objects[number]
        if thing.kind is ObjectKind.CLASS:
            self.touch(site, "r", number, "register")
            if not self.specials.isdisjoint(("__instancecheck__", "__subclasscheck__", "__subclasshook__")):
                self.native(site, Arguments(), None)
        elif thing.kind is ObjectKind.CONTAINER:
            self.watch(self.field(number, "[]"), partial(self._check_class, site))

    def _type_of(self, site: Site, variable: str, dst: Node | None, number: int) -> None:
        thing = self.objects[number]
        if thing.kind is ObjectKind.INSTANCE:
            self.give(dst, self.number(thing.of))
        elif thing.kind is ObjectKind.VALUE:
            self.give(dst, self.plain)
        else:
            self.native(site, Arguments((Argument(self.constant(number), variable),)), dst)

    def _make_instance(self, site: Site, klass: int, dst: Node | None) -> None:
        if self.objects[klass].kind is ObjectKind.CLASS:
            self.give(dst, self.make(site, ObjectKind.INSTANCE, self.objects[klass]))

    def _set_args(self, site: Site, error: int, arguments: tuple[Argument, ...]) -> None:
        """An exception keeps its arguments in a tuple."""
        kept = self.make(site, ObjectKind.CONTAINER, "tuple")
        self.add(self.field(error, "args"), 1 << kept)
        for argument in arguments:
            self.edge(argument.node, self.field(kept, "[]"))
        self.escape(site, *(argument.variable for argument in arguments))

    def open_up(self, site: Site) -> None:
        """Unseen code may do anything with the variables of the function and of all modules."""
        instance = site[0]
        function = self.instances[instance].function
        names = {i.dst for i in function.instructions if i.dst} | set(function.parameters.all())
        for name in names:
            if not name.startswith("%"):
                node = self.local(instance, name)
                self.edge(node, self.leaks)
                self.add(node, 1 << self.unknown)
        for module in self.program.modules.values():
            self.add(self.leaks, 1 << self.number(AbstractObject(ObjectKind.MODULE, module)))

    def _wrap(self, site: Site, kind: str, arguments: Arguments, dst: Node | None) -> None:
        made = self.make(site, ObjectKind.WRAPPER, kind)
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
        """Access an attribute whose name is not known."""
        for argument in arguments.plain[:1] or arguments.anything:

            def met(number: int) -> None:
                if self.objects[number].kind is not ObjectKind.VALUE:
                    self.add(self.leaks, 1 << number)
                    self.native(site, arguments, dst)

            self.watch(argument.node, met)
        self.heap_results.add(site)
        for argument in arguments.plain[2:]:
            self.escape(site, argument.variable)
            self.edge(argument.node, self.leaks)
            if dst is not None:
                self.edge(argument.node, dst)


def _is_exception(name: str) -> bool:
    return name.rpartition(".")[0].endswith(("Error", "Exception", "Iteration", "Interrupt", "Exit", "Warning"))
