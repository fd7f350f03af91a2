"""The constraints of each instruction: what flows where, which fields are touched."""

from __future__ import annotations

import builtins
from typing import Final

from statics import ir, natives
from statics.calls import Calls
from statics.objects import Kind, Object
from statics.points_to import Argument, Arguments, Edge, How, Site
from statics.solver import Node, members

_OPENS: Final = frozenset(
    {"__dict__", "__bases__", "__subclasses__", "__mro__", "__globals__", "__closure__", "__code__"}
)


class PointsTo(Calls):
    """Solved when made: `edges`, `touches`, `escapes` and the sets of all variables."""

    def __init__(self, program: ir.Program, entry: str | None = None, contexts: bool = False) -> None:
        super().__init__(program, contexts)
        self._stored = {
            instruction.variable
            for function in program.functions
            for instruction in function.instructions
            if isinstance(instruction, ir.StoreVariable)
        }
        self.roots = [self.instance(module) for module in program.modules.values()]
        self.solve()
        if entry is not None:
            self._enter(entry)
        self.solve()

    def _enter(self, entry: str) -> None:
        """Call the entry, "path::function", from native code with whatever it takes."""
        path, _, name = entry.partition("::")
        found = self.find(ir.Variable(path, name.partition(".")[0], True))
        anything = Arguments(anything=(Argument(self.constant(self.unknown), ""),))
        for number in members(found):
            thing = self.objects[number]
            if thing.kind is Kind.FUNCTION and not thing.of.parameters.plain:
                self.roots.append(self.instance(thing.of))
                self.edge(self.local(self.roots[-1], "%result"), self.leaks)
            else:
                self.add(self.leaks, 1 << number)
                self.apply((0, 1), number, anything, None)

    # -------------------------------------------------------------- attributes

    def load_attribute(self, site: Site, number: int, name: str, dst: Node, variable: str) -> None:
        thing = self.objects[number]
        kind = thing.kind
        if name in _OPENS and kind is not Kind.VALUE:
            self.add(self.leaks, 1 << number)
            self.native(site, Arguments(), dst)
        elif name == "__class__" and kind is Kind.INSTANCE:
            self.give(dst, self.number(thing.of))
        elif kind is Kind.INSTANCE:
            self.touch(site, "r", number, name)
            self.edge(self.field(number, name), dst)
            klass = self.number(thing.of)
            self.look_up(klass, name, lambda value: self._bound(site, value, number, klass, dst, variable))
            named = Arguments((Argument(self.constant(self.plain), ""),))
            for method in ("__getattr__", "__getattribute__"):
                if method in self.specials:
                    self.send(site, number, method, named, dst, variable=variable)
        elif kind is Kind.CLASS:
            self._load_of_class(site, number, name, dst)
        elif kind is Kind.MODULE:
            self.touch(site, "r", number, name)
            self.edge(self.node(ir.Variable(thing.of.path, name, True)), dst)
            self.add(self.local(self.instance(thing.of), "%used"), 1 << self.plain)
        elif kind is Kind.NATIVE:
            if thing.of in natives.THREADS and name not in ("start", "run", "__init__"):
                self.give(dst, self.plain)
            self.give(dst, self.number(Object(Kind.NATIVE, natives.attribute(thing.of, name))))
            self.touch(site, "r", number, name)
            self.edge(self.field(number, name), dst)
        elif kind is Kind.UNKNOWN:
            self.touch(site, "r", number, name)
            self.give(dst, number)
            if {name, "__getattr__", "__getattribute__", "__get__"} & self.specials:
                self._unknown_attribute(site, name)
        elif kind is Kind.SUPER:
            self._load_of_super(site, thing, name, dst)
        else:
            self._load_of_built_in(site, number, name, dst)

    def _unknown_attribute(self, site: Site, name: str) -> None:
        """Some leaked object's attribute: a property is called, as native code would call it."""
        if self.has_descriptors or {"__getattr__", "__getattribute__"} & self.specials:
            self.native(site, Arguments(), None)

    def _load_of_built_in(self, site: Site, number: int, name: str, dst: Node) -> None:
        thing = self.objects[number]
        prefix = thing.of if thing.kind in (Kind.CONTAINER, Kind.NATIVE_INSTANCE) else "value"
        if thing.kind is Kind.GENERATOR:
            prefix = "generator"
        if thing.kind in (Kind.FUNCTION, Kind.NATIVE_INSTANCE, Kind.WRAPPER):
            self.touch(site, "r", number, name)
            self.edge(self.field(number, name), dst)
        if prefix == "tuple" and name in ("start", "stop", "step"):  # a slice
            self.edge(self.field(number, "[]"), dst)
        if thing.kind is Kind.BOUND and name in ("__self__", "__func__"):
            self.give(dst, self.number(thing.of[name == "__self__"]))
        elif thing.kind is Kind.WRAPPER:
            self.give(dst, self.number(Object(Kind.BOUND, (Object(Kind.NATIVE, f"property.{name}"), thing))))
            if name == "func":
                self.edge(self.field(number, "of"), dst)
            self.heap_results.add(site)
        elif thing.kind is Kind.BOUND:
            self.give(dst, self.plain)
        elif thing.kind is not Kind.FUNCTION and natives.has_method(prefix, name):
            self.give(dst, self.number(Object(Kind.BOUND, (Object(Kind.NATIVE, f"{prefix}.{name}"), thing))))

    def _bound(self, site: Site, value: int, receiver: int, klass: int, dst: Node, variable: str) -> None:
        """A class attribute's value, read through an instance."""
        thing = self.objects[value]
        if thing.kind in (Kind.FUNCTION, Kind.NATIVE):
            self.give(dst, self.number(Object(Kind.BOUND, (thing, self.objects[receiver]))))
            return
        if thing.kind is Kind.WRAPPER and thing.of in ("property", "cached_property"):
            me = Arguments((Argument(self.constant(receiver), variable),))
            self.watch(self.field(value, "of"), lambda getter: self.apply(site, getter, me, dst))
        elif thing.kind is Kind.WRAPPER:
            self._unwrap(value, klass, dst)
        elif thing.kind is Kind.INSTANCE and "__get__" in self.specials:
            pair = (Argument(self.constant(receiver), variable), Argument(self.constant(klass), ""))
            self.send(site, value, "__get__", Arguments(pair), dst)
        self.give(dst, value)

    def _unwrap(self, value: int, klass: int, dst: Node) -> None:
        thing = self.objects[value]
        if thing.of == "staticmethod":
            self.edge(self.field(value, "of"), dst)
        elif thing.of == "classmethod":
            bind = lambda f: self.give(dst, self.number(Object(Kind.BOUND, (self.objects[f], self.objects[klass]))))
            self.watch(self.field(value, "of"), bind)

    def _load_of_class(self, site: Site, number: int, name: str, dst: Node) -> None:
        self.touch(site, "r", number, name)

        def found(value: int) -> None:
            thing = self.objects[value]
            if thing.kind is Kind.WRAPPER:
                self._unwrap(value, number, dst)
            elif thing.kind is Kind.INSTANCE and "__get__" in self.specials:
                pair = (Argument(self.constant(self.plain), ""), Argument(self.constant(number), ""))
                self.send(site, value, "__get__", Arguments(pair), dst)
            self.give(dst, value)

        self.look_up(number, name, found)

    def _load_of_super(self, site: Site, thing: Object, name: str, dst: Node) -> None:
        klass, receiver = (self.number(part) for part in thing.of)
        held = self.objects[receiver]
        bind = lambda value: self._bound(site, value, receiver, klass, dst, "")
        if held.kind not in (Kind.INSTANCE, Kind.CLASS):
            self.give(dst, self.unknown)
            self.native(site, Arguments(), None)
            return
        self.watch(self.bases(klass), lambda base: self.look_up(base, name, bind))
        inherited = self.ancestors(klass)
        whole = self.number(held.of) if held.kind is Kind.INSTANCE else receiver

        def of_sibling(sibling: int) -> None:
            if sibling not in inherited and klass not in self.ancestors(sibling):
                self.watch(self.field(sibling, name), bind)

        self.each_ancestor(whole, of_sibling, set())

    def store_attribute(self, site: Site, number: int, name: str, src: Argument) -> None:
        thing = self.objects[number]
        kind = thing.kind
        if kind is Kind.VALUE:
            return
        if name in ("__dict__", "__class__", "__bases__", "__code__", "__defaults__"):
            self.open_up(site)
            self.add(self.leaks, 1 << number)
            self.native(site, Arguments((src,)), None)
        self.touch(site, "w", number, name)
        if kind is Kind.UNKNOWN:
            self.native(site, Arguments((src,)), None)
        elif kind is Kind.MODULE:
            self.edge(src.node, self.node(ir.Variable(thing.of.path, name, True)))
        else:
            self.edge(src.node, self.field(number, name))
        if kind is Kind.INSTANCE:
            self._set_through_class(site, number, name, src)

    def _set_through_class(self, site: Site, number: int, name: str, src: Argument) -> None:
        me = Argument(self.constant(number), "")

        def found(value: int) -> None:
            descriptor = self.objects[value]
            if descriptor.kind is Kind.WRAPPER:
                both = Arguments((me, src))
                self.watch(self.field(value, "of"), lambda setter: self.apply(site, setter, both, None))
            elif descriptor.kind is Kind.INSTANCE and "__set__" in self.specials:
                self.send(site, value, "__set__", Arguments((me, src)), None)

        klass = self.number(self.objects[number].of)
        self.look_up(klass, name, found)
        if "__setattr__" in self.specials:
            named = Arguments((Argument(self.constant(self.plain), ""), src))
            self.send(site, number, "__setattr__", named, None)

    # -------------------------------------------------------------- special methods

    def invoke(
        self, site: Site, number: int, methods: tuple[str, ...], mine: Argument, others: Arguments, dst: Node
    ) -> None:
        """What the special methods do to one object among the operands."""
        thing = self.objects[number]
        if thing.kind is Kind.INSTANCE:
            for method in methods:
                if method in self.specials or self.number(thing.of) in self.derived:
                    self.send(site, number, method, others, dst, variable=mine.variable)
        elif thing.kind is Kind.CONTAINER:
            self._invoke_container(site, number, methods, others, dst)
        elif thing.kind is Kind.GENERATOR:
            self.give(dst, number)
            if not {"__next__", "send", "__await__", "__contains__"}.isdisjoint(methods):
                self.resume(site, thing.of, dst)
                self.heap_results.add(site)
        elif thing.kind is Kind.NATIVE_INSTANCE:
            self.give(dst, number, self.plain)
            if thing.of in natives.EXECUTORS or thing.of in natives.LOCKS or thing.of in natives.THREADS:
                return
            if self.field_names[number] or not self.specials.isdisjoint(methods):
                self.native(site, others, dst)
        elif thing.kind is Kind.UNKNOWN:
            iterates = not {"__iter__", "__next__", "__await__", "__enter__", "__exit__", "__getitem__"}.isdisjoint(
                methods
            )
            if iterates or not self.specials.isdisjoint(methods):
                self.native(site, others, dst)
            self.give(dst, number)
            self.heap_results.add(site)
        elif thing.kind in (Kind.CLASS, Kind.SUPER, Kind.NATIVE):
            self.give(dst, self.unknown, self.plain)
            if thing.kind is not Kind.NATIVE and not self.specials.isdisjoint(methods):
                self.add(self.leaks, 1 << number)
                self.native(site, others, dst)
        else:
            self.give(dst, self.plain)
            if "__mod__" in methods:
                self.protocol(site, natives.TEXT, others.plain, None)
            if "__contains__" in methods:
                self.protocol(site, natives.ORDER, others.plain, None)

    def _invoke_container(
        self, site: Site, number: int, methods: tuple[str, ...], others: Arguments, dst: Node
    ) -> None:
        elements, keys = self.field(number, "[]"), self.field(number, "keys")
        self.touch(site, "r", number, "[]")
        first = methods[0]
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
                self.touch(site, "w", number, "[]")
                self.give(dst, number)
            else:
                target = self.make(site, Kind.CONTAINER, self.objects[number].of, container=True)
                self.edge(elements, self.field(target, "[]"))
                self.edge(keys, self.field(target, "keys"))
                self.give(dst, target)
            for other in others.plain:
                self.iterate(site, other, self.field(target, "[]"))
                self.iterate(site, other, self.field(target, "keys"))
                self.watch(other.node, lambda n: self._values(n, self.field(target, "[]")))
        else:
            self.give(dst, self.plain)

    # -------------------------------------------------------------- instructions

    def lay(self, number: int) -> None:
        function = self.instances[number].function
        for i, instruction in enumerate(function.instructions):
            site = (number, i)
            dst = self.local(number, instruction.dst) if instruction.dst else self.node(("ignored", site))
            self._lay(site, instruction, dst)

    def _argument(self, site: Site, name: str) -> Argument:
        return Argument(self.local(site[0], name), name)

    def _lay(self, site: Site, instruction: ir.Instruction, dst: Node) -> None:
        at = site[0]
        match instruction:
            case ir.Value():
                self.give(dst, self.plain)
            case ir.Copy(_, src):
                self.edge(self.local(at, src), dst)
            case ir.Allocate():
                self._allocate(site, instruction, dst)
            case ir.MakeFunction(_, function, defaults):
                made = self.number(Object(Kind.FUNCTION, function))
                for parameter, src in defaults:
                    self.edge(self.local(at, src), self.field(made, f"default {parameter}"))
                self.give(dst, made)
            case ir.MakeClass():
                self._make_class(site, instruction, dst)
            case ir.Import(_, module):
                self._import(site, module, dst)
            case ir.Super(_, klass, receiver):
                self._super(site, klass, receiver, dst)
            case ir.LoadAttribute(_, base, name):
                self.watch(self.local(at, base), lambda n: self.load_attribute(site, n, name, dst, base))
            case ir.StoreAttribute(_, base, name, src):
                given = self._argument(site, src)
                self.watch(self.local(at, base), lambda n: self.store_attribute(site, n, name, given))
            case ir.DeleteAttribute(_, base, name):
                given = Argument(self.constant(self.plain), "")
                self.watch(self.local(at, base), lambda n: self.store_attribute(site, n, name, given))
                self.watch(self.local(at, base), lambda n: self._dunder(site, n, ("__delattr__",), (), dst))
            case ir.LoadItem(_, base, key):
                self.watch(self.local(at, base), lambda n: self._load_item(site, n, base, key, dst))
            case ir.StoreItem(_, base, key, src):
                self.watch(self.local(at, base), lambda n: self._store_item(site, n, key, src))
            case ir.DeleteItem(_, base, key):
                self.watch(self.local(at, base), lambda n: self._store_item(site, n, key, ""))
            case ir.LoadVariable(_, variable):
                self._load_variable(site, variable, dst)
            case ir.StoreVariable(_, variable, src):
                if src:
                    self.edge(self.local(at, src), self.node(variable))
            case ir.Call():
                arguments = Arguments(
                    tuple(self._argument(site, a) for a in instruction.args),
                    tuple((name, self._argument(site, a)) for name, a in instruction.keywords),
                    tuple(self._starred(site, a) for a in instruction.starred),
                    instruction.receiver,
                )
                self.watch(self.local(at, instruction.callee), lambda f: self.apply(site, f, arguments, dst))
            case ir.Invoke(_, methods, operands):
                self._lay_invoke(site, methods, operands, dst)
            case ir.Caught():
                self.edge(self.exceptions, dst)
            case ir.Raise(_, src):
                if src:
                    self.watch(self.local(at, src), lambda n: self._raise(site, n))
            case ir.Return(_, src):
                self.edge(self.local(at, src), self.local(at, "%result"))
            case ir.Yield(_, src):
                self.edge(self.local(at, src), self.local(at, "%yielded"))
                self.edge(self.local(at, "%sent"), dst)
                self.give(dst, self.plain, self.unknown)
            case _:
                pass

    def _starred(self, site: Site, name: str) -> Argument:
        held = self.node(("unpacked", site, name))
        node = self.local(site[0], name)
        self.iterate(site, Argument(node, name), held)
        self.watch(node, lambda n: self._values(n, held))
        return Argument(held, "")

    def _allocate(self, site: Site, instruction: ir.Allocate, dst: Node) -> None:
        made = self.make(site, Kind.CONTAINER, instruction.kind, container=True)
        self.give(dst, made)
        for element in instruction.elements:
            self.edge(self.local(site[0], element), self.field(made, "[]"))
        for key in instruction.keys:
            self.edge(self.local(site[0], key), self.field(made, "keys"))
        for starred in instruction.starred:
            node = self.local(site[0], starred)
            self.iterate(
                site, Argument(node, starred), self.field(made, "keys" if instruction.kind == "dict" else "[]")
            )
            self.watch(node, lambda n: self._values(n, self.field(made, "[]")))
        if instruction.kind in ("set", "dict"):
            keys = Argument(self.field(made, "keys" if instruction.keys else "[]"), "")
            self.protocol(site, ("__hash__", "__eq__"), (keys,), None)

    def _make_class(self, site: Site, instruction: ir.MakeClass, dst: Node) -> None:
        made = self.number(Object(Kind.CLASS, instruction.klass))
        if instruction.bases or instruction.others:
            self.derived.add(made)
        self.give(dst, made)
        for base in instruction.bases:
            node = self.local(site[0], base)
            self.edge(node, self.bases(made))
            if "__init_subclass__" in self.specials:
                me = Arguments((Argument(self.constant(made), ""),), anything=())
                self.watch(
                    node, lambda n: self.look_up(n, "__init_subclass__", lambda f: self.apply(site, f, me, None))
                )
        for other in instruction.others:
            self.watch(self.local(site[0], other), lambda n: self._other(site, n, made))
        if "__set_name__" in self.specials:
            self.native(site, Arguments((Argument(self.constant(made), ""),)), None)

    def _other(self, site: Site, number: int, made: int) -> None:
        """A metaclass or a keyword: what it does with the class is not known, unless it is a plain value or ABCMeta."""
        thing = self.objects[number]
        if thing.kind is Kind.VALUE or thing.of == "abc.ABCMeta":
            return
        self.add(self.leaks, 1 << made | 1 << number)
        self.native(site, Arguments(), None)

    def _import(self, site: Site, module: str, dst: Node) -> None:
        body = self.program.modules.get(module)
        if body is not None:
            self.give(dst, self.number(Object(Kind.MODULE, body)))
            if not self.instances[site[0]].function.is_module:
                self.edges[site].add(Edge(self.instance(body), How.CALL, (), False))
        elif module.rpartition(".")[0] not in self.program.modules:
            package, _, name = module.rpartition(".")
            self.give(dst, self.number(Object(Kind.NATIVE, natives.attribute(package, name) if package else name)))

    def _super(self, site: Site, klass: str, receiver: str, dst: Node) -> None:
        def both(k: int, r: int) -> None:
            if self.objects[k].kind is Kind.CLASS:
                self.give(dst, self.number(Object(Kind.SUPER, (self.objects[k], self.objects[r]))))

        receivers = self.local(site[0], receiver)
        self.watch(self.local(site[0], klass), lambda k: self.watch(receivers, lambda r: both(k, r)))

    def _load_variable(self, site: Site, variable: ir.Variable, dst: Node) -> None:
        self.edge(self.node(variable), dst)
        if variable.is_global and hasattr(builtins, variable.name) and variable not in self._stored:
            self.give(dst, self.number(Object(Kind.NATIVE, f"builtins.{variable.name}")))
        elif variable.name in ("__name__", "__file__", "__doc__"):
            self.give(dst, self.plain)

    def _load_item(self, site: Site, number: int, base: str, key: str, dst: Node) -> None:
        if self.objects[number].kind is Kind.CONTAINER:
            self.touch(site, "r", number, "[]")
            self.edge(self.field(number, "[]"), dst)
            keys = (self._argument(site, key)._replace(variable=""), Argument(self.field(number, "keys"), ""))
            self.protocol(site, ("__hash__", "__eq__", "__index__"), keys, None)
            if self.objects[number].of in ("list", "tuple"):  # a slice
                self.give(dst, number)
            if "factory" in self.field_names[number]:
                self.watch(self.field(number, "factory"), lambda f: self.apply(site, f, Arguments(), dst))
        else:
            self._dunder(site, number, ("__getitem__", "__missing__", "__class_getitem__"), (key,), dst)

    def _store_item(self, site: Site, number: int, key: str, src: str) -> None:
        if self.objects[number].kind is Kind.CONTAINER:
            self.touch(site, "w", number, "[]")
            if src:
                self.edge(self.local(site[0], src), self.field(number, "[]"))
                self.edge(self.local(site[0], key), self.field(number, "keys"))
                self.watch(self.local(site[0], key), lambda k: self._store_slice(site, number, k, src))
            keys = (self._argument(site, key)._replace(variable=""), Argument(self.field(number, "keys"), ""))
            self.protocol(site, ("__hash__", "__eq__", "__index__"), keys, None)
        elif src:
            self._dunder(site, number, ("__setitem__",), (key, src), self.node(("ignored", site)))
        else:
            self._dunder(site, number, ("__delitem__",), (key,), self.node(("ignored", site)))

    def _store_slice(self, site: Site, number: int, key: int, src: str) -> None:
        """If the key may be a slice, the elements of what is stored become elements."""
        if self.objects[key].of == "tuple" or self.objects[key].kind is Kind.UNKNOWN:
            self.iterate(site, Argument(self.local(site[0], src), ""), self.field(number, "[]"))

    def _dunder(self, site: Site, number: int, methods: tuple[str, ...], operands: tuple[str, ...], dst: Node) -> None:
        others = Arguments(tuple(self._argument(site, operand) for operand in operands))
        instruction = self.instances[site[0]].function.instructions[site[1]]
        self.invoke(
            site, number, methods, Argument(self.constant(number), getattr(instruction, "base", "")), others, dst
        )

    def _lay_invoke(self, site: Site, methods: tuple[str, ...], operands: tuple[str, ...], dst: Node) -> None:
        arguments = tuple(self._argument(site, operand) for operand in operands)
        if methods == ("any attribute",):
            self.native(site, Arguments(arguments), dst)
            return
        if methods == ("import *",):
            self.watch(arguments[0].node, lambda n: self._import_all(site, n))
            return
        if methods == ("__instancecheck__",) and "__instancecheck__" not in self.specials:
            return
        first_only = methods[0] in ("__iter__", "__next__", "__enter__", "__exit__", "__contains__", "__await__")
        for i, mine in enumerate(arguments):
            if i and first_only:
                break
            others = Arguments(tuple(a for j, a in enumerate(arguments) if j != i))
            self.watch(mine.node, lambda n, mine=mine, others=others: self.invoke(site, n, methods, mine, others, dst))  # type: ignore[misc]

    def _import_all(self, site: Site, number: int) -> None:
        thing = self.objects[number]
        here = self.instances[site[0]].function.path
        if thing.kind is Kind.MODULE:
            for variable in tuple(self._stored):
                if variable.scope == thing.of.path and variable.is_global:
                    self.edge(self.node(variable), self.node(ir.Variable(here, variable.name, True)))
        elif thing.kind is Kind.NATIVE:
            self._import_all_native(here, thing.of)

    def _import_all_native(self, path: str, module: str) -> None:
        """Any global of the module that nothing else gives a value may come from there."""
        for function in self.program.functions:
            for instruction in function.instructions if function.path == path else ():
                if isinstance(instruction, ir.LoadVariable) and instruction.variable.is_global:
                    if instruction.variable not in self._stored:
                        thing = Object(Kind.NATIVE, natives.attribute(module, instruction.variable.name))
                        self.add(self.node(instruction.variable), 1 << self.number(thing))

    def _raise(self, site: Site, number: int) -> None:
        if self.objects[number].kind is Kind.CLASS:
            self.apply(site, number, Arguments(), self.exceptions)
        else:
            self.add(self.exceptions, 1 << number)
