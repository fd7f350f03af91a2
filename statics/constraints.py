"""The constraints of each instruction: which sets flow where, which fields are accessed."""

from __future__ import annotations

import builtins
from typing import Final

from dpor.statics import ir, natives
from dpor.statics.call_graph import Argument, Arguments, CallEdge, How, Site
from dpor.statics.objects import AbstractObject, ObjectKind
from dpor.statics.solver import Node, members
from dpor.statics.special_methods import SpecialMethods

STEPS: Final = 2_000_000
"""After so many steps, some ten seconds on a slow machine, the analysis gives up."""


class PointsTo(SpecialMethods):
    """The points-to analysis; solved when made. Has `edges`, `touches`, `escapes` and the sets of all variables."""

    def __init__(
        self, program: ir.LoweredProgram, entry: str | None = None, contexts: bool = False, steps: int = STEPS
    ) -> None:
        super().__init__(program, contexts)
        self._stored = {
            instruction.variable
            for function in program.functions
            for instruction in function.instructions
            if isinstance(instruction, ir.StoreVariable)
        }
        self.roots = [self.instance(module) for module in program.modules.values()]
        solved = self.solve(steps)
        if solved and entry is not None:
            self._enter(entry)
        solved = solved and self.solve(steps)
        while solved and self._fill_gaps():
            solved = self.solve(steps)
        if not solved:
            self.given_up = self.given_up or f"the program takes more than {steps:,} steps to analyse"
        self.touch_classes()

    def _fill_gaps(self) -> bool:
        """Treat each used variable with an empty set as anything.

        Such code is reached only through something that was not understood, or never.
        """
        found = False
        for number in range(1, len(self.instances)):
            for name in {n for x in self.instructions(number) for n in ir.used(x)}:
                node = self.local(number, name)
                if not self.sets[node]:
                    self.add(node, 1 << self.unknown)
                    found = True
        return found

    def _enter(self, entry: str) -> None:
        """Call the entry, "path::function", from native code with any arguments; numbers and the like for parameters
        with defaults."""
        path, _, name = entry.partition("::")
        found = self.find(ir.Variable(path, name.partition(".")[0], True))
        anything = Arguments(anything=(Argument(self.constant(self.unknown), ""),))
        for number in members(found):
            thing = self.objects[number]
            if thing.kind is ObjectKind.FUNCTION and not thing.of.parameters.plain:
                self.roots.append(self.instance(thing.of))
                self.edge(self.local(self.roots[-1], "%result"), self.leaks)
            elif thing.kind is ObjectKind.FUNCTION and self._has_defaults(number):
                self.edge(self.local(self.instance(thing.of), "%result"), self.leaks)
                self.apply((0, 1), number, Arguments(anything=(Argument(self.constant(self.plain), ""),)), None)
            else:
                self.add(self.leaks, 1 << number)
                self.apply((0, 1), number, anything, None)

    def _has_defaults(self, function: int) -> bool:
        """True if it can be called without arguments."""
        return all(
            f"default {name}" in self.field_names[function] for name in self.objects[function].of.parameters.plain
        )

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
                made = self.number(AbstractObject(ObjectKind.FUNCTION, function))
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
                self.watch(self.local(at, base), lambda n: self.store_attribute(site, n, name, given, base))
            case ir.DeleteAttribute(_, base, name):
                given = Argument(self.constant(self.plain), "")
                self.watch(self.local(at, base), lambda n: self.store_attribute(site, n, name, given, base))
                self.watch(self.local(at, base), lambda n: self._dunder(site, n, ("__delattr__",), (), dst))
            case ir.LoadItem(_, base, key):
                self.watch(self.local(at, base), lambda n: self._load_item(site, n, base, key, dst))
            case ir.StoreItem(_, base, key, src):
                self.watch(self.local(at, base), lambda n: self._store_item(site, n, base, key, src))
            case ir.DeleteItem(_, base, key):
                self.watch(self.local(at, base), lambda n: self._store_item(site, n, base, key, ""))
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
        made = self.make(site, ObjectKind.CONTAINER, instruction.kind, container=True)
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
        made = self.number(AbstractObject(ObjectKind.CLASS, instruction.klass))
        if instruction.bases or instruction.others:
            self.derived.add(made)
        self.give(dst, made)
        for base in instruction.bases:
            node = self.local(site[0], base)
            self.edge(node, self.bases(made))
            self.watch(node, lambda n: self._inherit(site, n, made))
            if "__init_subclass__" in self.specials:
                me = Arguments((Argument(self.constant(made), ""),), anything=())
                self.watch(
                    node, lambda n: self.look_up(site, n, "__init_subclass__", lambda f: self.apply(site, f, me, None))
                )
        for other in instruction.others:
            self.watch(self.local(site[0], other), lambda n: self._other(site, n, made))
        if "__set_name__" in self.specials:
            self.native(site, Arguments((Argument(self.constant(made), ""),)), None)

    def _inherit(self, site: Site, base: int, made: int) -> None:
        """Inherit from a class. An unknown class outside the program may have a metaclass, as those of enum have."""
        thing = self.objects[base]
        foreign = self.node(("foreign", made))
        if thing.kind is ObjectKind.CLASS:
            self.edge(self.node(("foreign", base)), foreign)
        elif thing.kind is ObjectKind.UNKNOWN or (
            thing.kind is ObjectKind.NATIVE and not natives.is_plain_class(thing.of)
        ):
            self.add(foreign, 1 << self.plain)
            self.add(self.leaks, 1 << made)
            self.native(site, Arguments(), None)

    def _other(self, site: Site, number: int, made: int) -> None:
        """Add a metaclass or keyword of a class: its effect is unknown, unless it is a plain value or ABCMeta."""
        thing = self.objects[number]
        if thing.kind is ObjectKind.VALUE or thing.of == "abc.ABCMeta":
            return
        self.add(self.leaks, 1 << made | 1 << number)
        self.native(site, Arguments(), None)

    def _import(self, site: Site, module: str, dst: Node) -> None:
        body = self.program.modules.get(module)
        if body is not None:
            self.give(dst, self.number(AbstractObject(ObjectKind.MODULE, body)))
            if not self.instances[site[0]].function.is_module:
                self.edges[site].add(CallEdge(self.instance(body), How.CALL, (), False))
        elif module.rpartition(".")[0] not in self.program.modules:
            package, _, name = module.rpartition(".")
            self.give(
                dst,
                self.number(AbstractObject(ObjectKind.NATIVE, natives.attribute(package, name) if package else name)),
            )

    def _super(self, site: Site, klass: str, receiver: str, dst: Node) -> None:
        def both(k: int, r: int) -> None:
            if self.objects[k].kind is ObjectKind.CLASS:
                self.give(dst, self.number(AbstractObject(ObjectKind.SUPER, (self.objects[k], self.objects[r]))))

        receivers = self.local(site[0], receiver)
        self.watch(self.local(site[0], klass), lambda k: self.watch(receivers, lambda r: both(k, r)))

    def _load_variable(self, site: Site, variable: ir.Variable, dst: Node) -> None:
        self.edge(self.node(variable), dst)
        if variable.is_global and hasattr(builtins, variable.name) and variable not in self._stored:
            self.give(dst, self.number(AbstractObject(ObjectKind.NATIVE, f"builtins.{variable.name}")))
        elif variable.name in ("__name__", "__file__", "__doc__"):
            self.give(dst, self.plain)

    def _load_item(self, site: Site, number: int, base: str, key: str, dst: Node) -> None:
        if self.objects[number].kind is ObjectKind.CONTAINER:
            self.touch(site, "r", number, "[]", base)
            keys = (self._argument(site, key)._replace(variable=""), Argument(self.field(number, "keys"), ""))
            self.protocol(site, ("__hash__", "__eq__", "__index__"), keys, None)
            if self.objects[number].of in ("list", "tuple"):
                self.watch(self.local(site[0], key), lambda k: self._index(number, k, dst))
            else:
                self.edge(self.field(number, "[]"), dst)
            if "factory" in self.field_names[number]:
                self.touch(site, "w", number, "[]", base)
                self.edge(self._argument(site, key).node, self.field(number, "keys"))
                elements = self.field(number, "[]")
                self.watch(self.field(number, "factory"), lambda f: self.apply(site, f, Arguments(), elements))
        else:
            self._dunder(site, number, ("__getitem__", "__missing__", "__class_getitem__"), (key,), dst)

    def _store_item(self, site: Site, number: int, base: str, key: str, src: str) -> None:
        if self.objects[number].kind is ObjectKind.CONTAINER:
            self.touch(site, "w", number, "[]", base)
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
        """If the key may be a slice, the elements of the stored value become elements."""
        if self._may_slice(key):
            self.iterate(site, Argument(self.local(site[0], src), ""), self.field(number, "[]"))

    def _index(self, number: int, key: int, dst: Node) -> None:
        """Load an item: a slice of a sequence holds what it holds; any other key gives an element."""
        if self._may_slice(key):
            self.give(dst, number)
        if self.objects[key].of != "tuple":
            self.edge(self.field(number, "[]"), dst)

    def _may_slice(self, key: int) -> bool:
        """True if the key may be a slice, which is modelled as a tuple."""
        return self.objects[key].of == "tuple" or self.objects[key].kind is ObjectKind.UNKNOWN

    def _dunder(self, site: Site, number: int, methods: tuple[str, ...], operands: tuple[str, ...], dst: Node) -> None:
        others = Arguments(tuple(self._argument(site, operand) for operand in operands))
        instruction = self.instances[site[0]].function.instructions[site[1]]
        self.invoke(
            site, number, methods, Argument(self.constant(number), getattr(instruction, "base", "")), others, dst
        )

    def _lay_invoke(self, site: Site, methods: tuple[str, ...], operands: tuple[str, ...], dst: Node) -> None:
        arguments = tuple(self._argument(site, operand) for operand in operands)
        if methods[0] == ir.MATCHED:
            self.edge(arguments[0].node, dst)
            self.watch(dst, lambda n: self._match(site, n, methods[1:], dst))
            return
        if methods[0] == ir.RAISED:
            for raised in arguments[:1]:
                self.watch(raised.node, lambda n: self._set_cause(site, n, arguments[1:]))
            return
        if methods[0] == ir.IMPORTED:
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
        if thing.kind is ObjectKind.MODULE:
            for variable in tuple(self._stored):
                if variable.scope == thing.of.path and variable.is_global:
                    self.edge(self.node(variable), self.node(ir.Variable(here, variable.name, True)))
        elif thing.kind is ObjectKind.NATIVE:
            self._import_all_native(here, thing.of)

    def _import_all_native(self, path: str, module: str) -> None:
        """Any global of the module that has no other value may come from there."""
        for function in self.program.functions:
            for instruction in function.instructions if function.path == path else ():
                if isinstance(instruction, ir.LoadVariable) and instruction.variable.is_global:
                    if instruction.variable not in self._stored:
                        thing = AbstractObject(ObjectKind.NATIVE, natives.attribute(module, instruction.variable.name))
                        self.add(self.node(instruction.variable), 1 << self.number(thing))

    def _raise(self, site: Site, number: int) -> None:
        if self.objects[number].kind is ObjectKind.CLASS:
            self.apply(site, number, Arguments(), self.exceptions)
        else:
            self.add(self.exceptions, 1 << number)
