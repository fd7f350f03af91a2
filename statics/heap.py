"""What variables may point to and what calls may call, found together, starting at the entry.

Inclusion constraints, insensitive to order. With `contexts`, a method that makes containers is analysed for each
object that it is called on, so the lists of two companies are two lists. Code outside the program may do anything with
whatever reaches it: such objects are *leaked*, native code is function instance 0, which calls all leaked functions,
and what comes from it is UNKNOWN, any leaked object.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from typing import TypeGuard

from dpor.statics import natives
from dpor.statics.call_graph import (
    FRESH,
    HAVE_FIELDS,
    NATIVE,
    Argument,
    Arguments,
    CallEdge,
    How,
    Instance,
    Site,
    Touch,
    outside,
)
from dpor.statics.ir import (
    Allocate,
    Function,
    Import,
    Instruction,
    LoweredProgram,
    StoreAttribute,
)
from dpor.statics.objects import ANY, UNKNOWN, VALUE, AbstractObject, ObjectKind
from dpor.statics.solver import Node, Solver


class AbstractHeap(Solver):
    """Function instances, fields and leaked objects; a subclass adds the constraints of instructions."""

    def __init__(self, program: LoweredProgram, contexts: bool) -> None:
        super().__init__()
        self.program = program
        self.contexts = contexts
        self.instances: list[Instance] = []
        self._instance_numbers: dict[Instance, int] = {}
        self.edges: dict[Site, set[CallEdge]] = defaultdict(set)
        self.touches: dict[Site, set[Touch]] = defaultdict(set)
        self.passed: dict[tuple[Node, Node], set[Site]] = defaultdict(set)
        """For an edge from an argument to a parameter, the calls that add it."""
        self.returned: dict[tuple[Node, Node], set[Site]] = defaultdict(set)
        """For an edge from a function's result to a caller's variable, the calls that add it."""
        self.specials = {
            instruction.name
            for function in program.functions
            for instruction in function.instructions
            if isinstance(instruction, StoreAttribute)
        }
        """Names that some attribute, a method too, has."""
        self.class_reads: dict[tuple[int, str], set[Site]] = defaultdict(set)
        """For a class and the name of an attribute, the instructions that look it up there or in its bases."""
        self.escapes: dict[Site, set[str]] = defaultdict(set)
        """Variables whose objects are stored in the heap by what an instruction calls outside the program."""
        self.heap_results: set[Site] = {(NATIVE, 1)}
        """Instructions whose result may come from the heap, whatever the called functions return."""
        self.suspended: set[int] = set()
        """Function instances that are bodies of generators and coroutines."""
        self.generated: set[int] = set()
        """Classes with an `__init__` that stores each argument in a field."""
        self.constants: dict[Node, int] = {}
        self.derived: set[int] = set()
        """Classes that name other classes to inherit from."""
        self.has_descriptors = "__get__" in self.specials
        if any(isinstance(i, Import) and i.module == "dataclasses" for f in program.functions for i in f.instructions):
            self.specials.update(natives.DATACLASS_METHODS)
        self._made_classes: dict[Function, set[str]] = {}
        """The variables with the classes whose bodies are part of a function."""
        self._met: set[object] = set()
        """Constraints that were added, and need not be again."""
        self._hubs: dict[tuple[str, ...], int] = {}
        self._occupied: set[Node] = set()
        """Nodes with some object whose special methods may be the program's."""
        self._waiting: dict[Node, list[Callable[[], None]]] = {}
        """Actions for when a node becomes occupied."""
        self._iterators: set[Node] = set()
        self._receivers: dict[int, set[int]] = defaultdict(set)
        """By class, the objects that native code has and whose methods it may call."""
        self.makes_containers = _with_containers(program)
        self.field_names: dict[int, set[str]] = defaultdict(set)
        self.leaked: set[int] = set()
        self.unknown, self.plain = self.number(UNKNOWN), self.number(VALUE)
        self.leaks = self.node("leaked")
        self.exceptions = self.node("exceptions")
        self.instances.append(Instance(outside("<native>"), -1))
        self.watch(self.leaks, self._leak)
        self.anything = 1 << self.unknown
        self.add(self.leaks, self.anything)
        self.add(self.exceptions, 1 << self.plain)

    # -------------------------------------------------------------- nodes

    def instance(self, function: Function, context: int = -1) -> int:
        """The number of the function in that context; makes it reachable."""
        key = Instance(function, context)
        number = self._instance_numbers.get(key)
        if number is None:
            number = self._instance_numbers[key] = len(self.instances)
            self.instances.append(key)
            self.lay(number)
        return number

    def lay(self, number: int) -> None:
        """Add the constraints of a function instance."""
        raise NotImplementedError

    def local(self, instance: int, name: str) -> Node:
        return self.node((instance, name))

    def owners(self) -> dict[Node, int]:
        """The function instance of each node that is a variable of one."""
        return {node: name[0] for name, node in self._nodes.items() if _is_local(name)}

    def field(self, thing: int, name: str) -> Node:
        """The node of a field of the object."""
        if name not in self.field_names[thing]:
            self.field_names[thing].add(name)
            node = self.node(("field", thing, name))
            if thing in self.leaked:
                self._leak_node(node)
            for receiver in tuple(self._receivers.get(thing, ())):
                self._leak_method(thing, name, receiver)
        return self.node(("field", thing, name))

    def constant(self, thing: int) -> Node:
        """A node whose set is just this object."""
        node = self.node(("constant", thing))
        self.constants[node] = thing
        self.add(node, 1 << thing)
        return node

    def escape(self, site: Site, *variables: str) -> None:
        """The instruction stores the objects of these variables of the caller in the heap."""
        self.escapes[site].update(variable for variable in variables if variable and variable != FRESH)

    def give_up(self, site: Site, why: str) -> None:
        """Give up: the program does something after which no result would be sound."""
        self.given_up = self.given_up or f"{why}, {self.site_name(site)}"

    def touch(self, site: Site, mode: str, thing: int, name: str, through: str = "") -> None:
        self.touches[site].add(Touch(mode, thing, name, through))

    def site_name(self, site: Site) -> str:
        function = self.instances[site[0]].function
        return f"{function.path}:{function.positions[site[1]].line}" if function.positions else "native"

    def make(self, site: Site, kind: ObjectKind, of: object, container: bool = False) -> int:
        """Make the object of the site; containers (and objects that hold some) are distinguished by context."""
        instance = self.instances[site[0]]
        label = f"{self.site_name(site)}:{site[1]}" if site[0] else "native"
        return self.number(AbstractObject(kind, of, label, instance.context if container else -1))

    # -------------------------------------------------------------- native code

    def _leak_node(self, node: Node) -> None:
        self.edge(node, self.leaks)
        self.add(node, 1 << self.unknown)

    def native(self, site: Site, arguments: Arguments, dst: Node | None) -> None:
        """Call something unknown, which may do anything with its arguments and with what has leaked."""
        self.edges[site].add(CallEdge(NATIVE, How.CALL, (), False))
        self.escape(site, arguments.receiver, *(argument.variable for argument in arguments.all()))
        self.heap_results.add(site)
        for argument in arguments.all():
            self.edge(argument.node, self.leaks)
        if dst is not None:
            self.add(dst, 1 << self.unknown)
        self.add(self.exceptions, 1 << self.unknown)

    def _leak(self, number: int) -> None:
        """Native code gets the object: all that it leads to leaks, its functions are called, its fields written."""
        if number in self.leaked:
            return
        self.leaked.add(number)
        self.subsumed |= 1 << number
        thing = self.objects[number]
        site = (NATIVE, 1)
        for name in tuple(self.field_names[number]):
            self._leak_node(self.field(number, name))
        anything = Arguments(anything=(Argument(self.constant(self.unknown), ""),))
        if thing.kind in HAVE_FIELDS:
            self.touch(site, "r", number, ANY)
            self.touch(site, "w", number, ANY)
        if thing.kind is ObjectKind.INSTANCE:
            self._leak_methods(self.number(thing.of), number)
        elif thing.kind is ObjectKind.BOUND:
            self.add(self.leaks, 1 << self.number(thing.of[1]))
            self.apply(site, number, anything, self.leaks)
        elif thing.kind is ObjectKind.SUPER:
            self.add(self.leaks, 1 << self.number(thing.of[1]))
        elif thing.kind in (ObjectKind.FUNCTION, ObjectKind.CLASS):
            self.apply(site, number, anything, self.leaks)
        elif thing.kind is ObjectKind.GENERATOR:
            self.advance(site, number, self.leaks)

    def _leak_methods(self, klass: int, receiver: int) -> None:
        """Native code may call any method of the object."""
        if self.objects[klass].kind is not ObjectKind.CLASS or receiver in self._receivers[klass]:
            return
        self._receivers[klass].add(receiver)
        self.class_reads[klass, ANY].add((NATIVE, 1))
        for name in tuple(self.field_names[klass]):
            self._leak_method(klass, name, receiver)
        self.watch(self.bases(klass), lambda base: self._leak_methods(base, receiver))

    def _leak_method(self, klass: int, name: str, receiver: int) -> None:
        held = self.objects[receiver]
        anything = Arguments(anything=(Argument(self.constant(self.unknown), ""),))

        def call(value: int) -> None:
            if self.objects[value].kind is ObjectKind.FUNCTION:
                bound = self.number(AbstractObject(ObjectKind.BOUND, (self.objects[value], held)))
                self.apply((NATIVE, 1), bound, anything, self.leaks)
            else:
                self.add(self.leaks, 1 << value)

        self.watch(self.field(klass, name), call)

    def apply(self, site: Site, callee: int, arguments: Arguments, dst: Node | None, how: How = How.CALL) -> None:
        raise NotImplementedError

    def advance(self, site: Site, generator: int, dst: Node | None, through: str = "") -> None:
        """Advance a generator, which changes it."""
        self.touch(site, "w", generator, "[]", through)
        self.resume(site, self.objects[generator].of, dst)

    def resume(self, site: Site, instance: int, dst: Node | None) -> None:
        """Resume the body of a generator."""
        self.edges[site].add(CallEdge(instance, How.RESUME, (), True))
        if dst is not None:
            self.edge(self.local(instance, "%yielded"), dst)
            self.edge(self.local(instance, "%result"), dst)

    # -------------------------------------------------------------- classes

    def bases(self, klass: int) -> Node:
        return self.node(("bases", klass))

    # -------------------------------------------------------------- results

    def instructions(self, instance: int) -> list[Instruction]:
        return self.instances[instance].function.instructions


def _is_local(name: Hashable) -> TypeGuard[tuple[int, str]]:
    return isinstance(name, tuple) and len(name) == 2 and isinstance(name[0], int)


def _with_containers(program: LoweredProgram) -> set[Function]:
    """The methods of classes of which some method makes built-in containers."""
    makers = {
        function.klass
        for function in program.functions
        if any(isinstance(i, Allocate) and i.kind != "tuple" for i in function.instructions)
    }
    return {function for function in program.functions if function.klass is not None and function.klass in makers}
