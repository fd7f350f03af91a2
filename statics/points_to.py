"""What variables may point to, and what calls may call: found together, from the entry on.

Inclusion constraints, insensitive to order. With `contexts`, a method that makes containers is taken apart by the
object it is called on, so the lists of two companies are two lists. What the program does not hold may do anything
with whatever reached it: such objects are *leaked*, native code is function instance 0, which calls all leaked
functions, and what comes from it is UNKNOWN, any leaked object.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias, TypeGuard

from statics import natives
from statics.ir import (
    Allocate,
    Call,
    ClassDefinition,
    Function,
    Instruction,
    Nothing,
    Parameters,
    Position,
    Program,
    Return,
    StoreAttribute,
)
from statics.objects import ANY, UNKNOWN, VALUE, Field, Kind, Object
from statics.solver import Node, Solver, members

Site: TypeAlias = tuple[int, int]
"""Number of a function instance, and of an instruction."""
NATIVE: Final = 0
"""The function instance that stands for all native code."""
FRESH: Final = "%fresh"
"""Bound to `self` of a constructor: the object that the call itself makes."""


_OF_OBJECT: Final = frozenset({"__new__", "__setattr__", "__delattr__", "__getattribute__"})
"""Methods of object that matter where a class that names no other is looked up for them."""


class How(StrEnum):
    """How control passes along a call edge."""

    CALL = "call"
    RESUME = "resume"
    """A generator's or coroutine's body goes on."""
    SPAWN = "spawn"
    """Another thread begins; this one does not wait."""


class Edge(NamedTuple):
    """binding   pairs: parameter of the target, variable of the caller ("" if it comes from the heap, or FRESH)
    result    whether what the target returns may be the instruction's result
    """

    target: int
    how: How
    binding: tuple[tuple[str, str], ...]
    result: bool


class Touch(NamedTuple):
    """A field of an abstract object that an instruction reads ("r") or writes ("w")."""

    mode: str
    thing: int
    name: str


class Instance(NamedTuple):
    """A function in a context: the number of the receiver's object, or -1."""

    function: Function
    context: int


class Argument(NamedTuple):
    """What a call is given: the node with its set, and the caller's variable ("" if from the heap)."""

    node: Node
    variable: str


class Arguments(NamedTuple):
    """`starred` holds nodes of containers (or of anything, for native callers) that any parameter may come from."""

    plain: tuple[Argument, ...] = ()
    keywords: tuple[tuple[str, Argument], ...] = ()
    anything: tuple[Argument, ...] = ()
    receiver: str = ""

    def all(self) -> tuple[Argument, ...]:
        return (*self.plain, *(argument for _, argument in self.keywords), *self.anything)


class Heap(Solver):
    """Function instances, fields and what has leaked; the constraints of instructions are laid by a subclass."""

    def __init__(self, program: Program, contexts: bool) -> None:
        super().__init__()
        self.program = program
        self.contexts = contexts
        self.instances: list[Instance] = []
        self._instance_numbers: dict[Instance, int] = {}
        self.edges: dict[Site, set[Edge]] = defaultdict(set)
        self.touches: dict[Site, set[Touch]] = defaultdict(set)
        self.passed: dict[tuple[Node, Node], set[Site]] = defaultdict(set)
        """Of an edge from an argument to a parameter, the calls that make it."""
        self.returned: dict[tuple[Node, Node], set[Site]] = defaultdict(set)
        """Of an edge from a function's result to a caller's variable, the calls that make it."""
        self.specials = {
            instruction.name
            for function in program.functions
            for instruction in function.instructions
            if isinstance(instruction, StoreAttribute)
        }
        """Names that some attribute, a method too, has."""
        self.escapes: dict[Site, set[str]] = defaultdict(set)
        """Variables whose objects are stored in the heap by what an instruction calls outside the program."""
        self.heap_results: set[Site] = {(NATIVE, 1)}
        """Instructions whose result may come out of the heap, whatever the functions called return."""
        self.suspended: set[int] = set()
        """Function instances that are bodies of generators and coroutines."""
        self.generated: set[int] = set()
        """Classes with an `__init__` that stores each argument in a field."""
        self.constants: dict[Node, int] = {}
        self.derived: set[int] = set()
        """Classes that name other classes to inherit from."""
        self.has_descriptors = "__get__" in self.specials
        self._met: set[object] = set()
        """What has been laid and need not be again."""
        self._hubs: dict[tuple[str, ...], int] = {}
        self._occupied: set[Node] = set()
        """Nodes with some object whose special methods may be the program's."""
        self._waiting: dict[Node, list[Callable[[], None]]] = {}
        """What is to be done once a node is occupied."""
        self._iterators: set[Node] = set()
        self._receivers: dict[int, set[int]] = defaultdict(set)
        """Of each class, the objects that native code has and whose methods it may call."""
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
        """The number of the function in that context; it is reachable from now on."""
        key = Instance(function, context)
        number = self._instance_numbers.get(key)
        if number is None:
            number = self._instance_numbers[key] = len(self.instances)
            self.instances.append(key)
            self.lay(number)
        return number

    def lay(self, number: int) -> None:
        """Lay the constraints of a function instance."""
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
        """A node that has just this object."""
        node = self.node(("constant", thing))
        self.constants[node] = thing
        self.add(node, 1 << thing)
        return node

    def escape(self, site: Site, *variables: str) -> None:
        """The caller's variables hold objects that the instruction stores in the heap."""
        self.escapes[site].update(variable for variable in variables if variable and variable != FRESH)

    def touch(self, site: Site, mode: str, thing: int, name: str) -> None:
        self.touches[site].add(Touch(mode, thing, name))

    def site_name(self, site: Site) -> str:
        function = self.instances[site[0]].function
        return f"{function.path}:{function.positions[site[1]].line}" if function.positions else "native"

    def make(self, site: Site, kind: Kind, of: object, container: bool = False) -> int:
        """The object made at the site; containers (and what holds them) are told apart by context."""
        instance = self.instances[site[0]]
        label = f"{self.site_name(site)}:{site[1]}" if site[0] else "native"
        return self.number(Object(kind, of, label, instance.context if container else -1))

    # -------------------------------------------------------------- native code

    def _leak_node(self, node: Node) -> None:
        self.edge(node, self.leaks)
        self.add(node, 1 << self.unknown)

    def native(self, site: Site, arguments: Arguments, dst: Node | None) -> None:
        """A call of something that may do anything with what it is given, and what leaked before."""
        self.edges[site].add(Edge(NATIVE, How.CALL, (), False))
        self.escape(site, arguments.receiver, *(argument.variable for argument in arguments.all()))
        self.heap_results.add(site)
        for argument in arguments.all():
            self.edge(argument.node, self.leaks)
        if dst is not None:
            self.add(dst, 1 << self.unknown)
        self.add(self.exceptions, 1 << self.unknown)

    def _leak(self, number: int) -> None:
        """Native code has the object now: whatever it leads to leaks, its functions are called, its fields written."""
        if number in self.leaked:
            return
        self.leaked.add(number)
        self.subsumed |= 1 << number
        thing = self.objects[number]
        site = (NATIVE, 1)
        for name in tuple(self.field_names[number]):
            self._leak_node(self.field(number, name))
        anything = Arguments(anything=(Argument(self.constant(self.unknown), ""),))
        if thing.kind in (Kind.INSTANCE, Kind.CONTAINER, Kind.MODULE, Kind.NATIVE_INSTANCE):
            self.touch(site, "r", number, ANY)
            self.touch(site, "w", number, ANY)
        if thing.kind is Kind.INSTANCE:
            self._leak_methods(self.number(thing.of), number)
        elif thing.kind is Kind.BOUND:
            self.add(self.leaks, 1 << self.number(thing.of[1]))
            self.apply(site, number, anything, self.leaks)
        elif thing.kind is Kind.SUPER:
            self.add(self.leaks, 1 << self.number(thing.of[1]))
        elif thing.kind in (Kind.FUNCTION, Kind.CLASS):
            self.apply(site, number, anything, self.leaks)
        elif thing.kind is Kind.GENERATOR:
            self.resume(site, thing.of, self.leaks)

    def _leak_methods(self, klass: int, receiver: int) -> None:
        """Native code may call any method of the object."""
        if self.objects[klass].kind is not Kind.CLASS or receiver in self._receivers[klass]:
            return
        self._receivers[klass].add(receiver)
        for name in tuple(self.field_names[klass]):
            self._leak_method(klass, name, receiver)
        self.watch(self.bases(klass), lambda base: self._leak_methods(base, receiver))

    def _leak_method(self, klass: int, name: str, receiver: int) -> None:
        held = self.objects[receiver]
        anything = Arguments(anything=(Argument(self.constant(self.unknown), ""),))

        def call(value: int) -> None:
            if self.objects[value].kind is Kind.FUNCTION:
                bound = self.number(Object(Kind.BOUND, (self.objects[value], held)))
                self.apply((NATIVE, 1), bound, anything, self.leaks)
            else:
                self.add(self.leaks, 1 << value)

        self.watch(self.field(klass, name), call)

    def apply(self, site: Site, callee: int, arguments: Arguments, dst: Node | None, how: How = How.CALL) -> None:
        raise NotImplementedError

    def resume(self, site: Site, instance: int, dst: Node | None) -> None:
        """Run a generator's body on."""
        self.edges[site].add(Edge(instance, How.RESUME, (), True))
        if dst is not None:
            self.edge(self.local(instance, "%yielded"), dst)
            self.edge(self.local(instance, "%result"), dst)

    # -------------------------------------------------------------- classes

    def bases(self, klass: int) -> Node:
        return self.node(("bases", klass))

    def look_up(self, klass: int, name: str, found: Callable[[int], None]) -> None:
        """Tell `found` each value that the attribute may have in the class, or in those it inherits from."""
        self.watch(self.attribute(klass, name), found)

    def attribute(self, klass: int, name: str) -> Node:
        """The node of what the attribute may be, looked up from the class on."""
        node = self.node(("attribute", klass, name))
        if node in self._met:
            return node
        self._met.add(node)
        thing = self.objects[klass]
        if thing.kind is Kind.CLASS:
            self.edge(self.field(klass, name), node)
            definition: ClassDefinition = thing.of
            if name not in definition.defines or name in self.program.deleted:
                self.watch(self.bases(klass), lambda base: self.edge(self.attribute(base, name), node))
                if klass not in self.derived and name in _OF_OBJECT:
                    self.add(node, 1 << self.number(Object(Kind.NATIVE, f"builtins.object.{name}")))
        elif thing.kind is Kind.NATIVE and natives.may_have(thing.of, name):
            self.add(node, 1 << self.number(Object(Kind.NATIVE, natives.attribute(thing.of, name))))
        elif thing.kind is Kind.UNKNOWN:
            self.add(node, 1 << self.unknown)
        return node

    def fields_of(self, touch: Touch) -> list[Field]:
        """The fields that are touched, as they are told."""
        thing = self.objects[touch.thing]
        if thing.kind is Kind.INSTANCE:
            klass = self.number(thing.of)
            if touch.name == ANY:
                return [Field(self.objects[k].of.name, ANY) for k in self.ancestors(klass)]
            return [Field(self._declarer(klass, touch.name), touch.name)]
        owner = thing.of
        if thing.kind is Kind.CLASS:
            owner = f"type {thing.of.name}"
        elif thing.kind is Kind.MODULE:
            owner = thing.of.path
        elif thing.kind is Kind.UNKNOWN:
            owner = ANY
        elif thing.kind is Kind.FUNCTION:
            owner = thing.of.key
        return [Field(str(owner), touch.name)]

    def _declarer(self, klass: int, name: str) -> str:
        """The name of the class that declares the field: of those that the class inherits from, the last that does."""
        order = self.ancestors(klass)
        declaring = [k for k in order if name in self.objects[k].of.declares]
        return str(self.objects[(declaring or order)[-1 if declaring else 0]].of.name)

    def each_ancestor(self, klass: int, found: Callable[[int], None], seen: set[int]) -> None:
        """Tell `found` the class and all program classes that it inherits from, now or later."""
        if klass not in seen and self.objects[klass].kind is Kind.CLASS:
            seen.add(klass)
            found(klass)
            self.watch(self.bases(klass), lambda base: self.each_ancestor(base, found, seen))

    def ancestors(self, klass: int) -> list[int]:
        """The class and all program classes it inherits from, nearest first."""
        order = [klass]
        for k in order:
            for base in members(self.find(("bases", k))):
                if self.objects[base].kind is Kind.CLASS and base not in order:
                    order.append(base)
        return order

    # -------------------------------------------------------------- results

    def instructions(self, instance: int) -> list[Instruction]:
        return self.instances[instance].function.instructions


def _is_local(name: Hashable) -> TypeGuard[tuple[int, str]]:
    return isinstance(name, tuple) and len(name) == 2 and isinstance(name[0], int)


def outside(name: str) -> Function:
    """A function that stands for code outside the program: it calls again and again, at instruction 1, then returns."""
    function = Function("", name, 0, Parameters())
    function.instructions = [Nothing(""), Call("", "", ()), Return("", "")]
    function.positions = [Position(0, 0, 0, 0)] * 3
    function.following = [[1, 2], [1, 2], []]
    function.handlers = [-1] * 3
    return function


def _with_containers(program: Program) -> set[Function]:
    """The methods of classes of which some method makes built-in containers."""
    makers = {
        function.klass
        for function in program.functions
        if any(isinstance(i, Allocate) and i.kind != "tuple" for i in function.instructions)
    }
    return {function for function in program.functions if function.klass is not None and function.klass in makers}
