"""Constraints of calls, by what is called: arguments, results, and the edges of the call graph."""

from __future__ import annotations

from dpor.statics.call_graph import FRESH, NATIVE, Argument, Arguments, CallEdge, How, Site
from dpor.statics.ir import Function
from dpor.statics.native_calls import NativeCalls
from dpor.statics.objects import ANY, AbstractObject, ObjectKind
from dpor.statics.solver import Node


class Calls(NativeCalls):
    """Adds the constraints of calling objects of the program."""

    def apply(self, site: Site, callee: int, arguments: Arguments, dst: Node | None, how: How = How.CALL) -> None:
        """Add the call of `callee` at the site with these arguments."""
        key = (site, callee, arguments, dst, how)
        if key in self._met:
            return
        self._met.add(key)
        thing = self.objects[callee]
        if thing.kind is ObjectKind.FUNCTION:
            self._call_function(site, callee, thing.of, arguments, dst, how)
        elif thing.kind is ObjectKind.BOUND:
            function, receiver = thing.of
            first = Argument(self.constant(self.number(receiver)), arguments.receiver)
            inner = arguments._replace(plain=(first, *arguments.plain), receiver="")
            self.apply(site, self.number(function), inner, dst, how)
        elif thing.kind is ObjectKind.CLASS:
            self._construct(site, callee, arguments, dst)
        elif thing.kind is ObjectKind.INSTANCE:
            self.send(site, callee, "__call__", arguments, dst, how)
        elif thing.kind is ObjectKind.WRAPPER:
            self._call_wrapped(site, callee, arguments, dst, how)
        elif thing.kind is ObjectKind.NATIVE:
            self.call_native(site, thing.of, arguments, dst, how)
        elif thing.kind in (ObjectKind.UNKNOWN, ObjectKind.NATIVE_INSTANCE, ObjectKind.SUPER):
            self.native(site, arguments, dst)

    def _call_wrapped(self, site: Site, wrapper: int, arguments: Arguments, dst: Node | None, how: How) -> None:
        """Call what a wrapper wraps. All calls of one wrapper share their results and what it keeps, so partials of
        partials end."""
        self.touch(site, "r", wrapper, ANY)
        given = self.node(("wrapped", wrapper))
        for name in ("[]", "keywords"):
            self.edge(self.field(wrapper, name), given)
        for argument in arguments.all():
            self.edge(argument.node, given)
        self.escape(site, *(argument.variable for argument in arguments.all()))
        inner = Arguments(anything=(Argument(given, ""),))
        self.watch(self.field(wrapper, "of"), lambda f: self.apply(site, f, inner, dst, how))

    def send(
        self, site: Site, receiver: int, name: str, arguments: Arguments, dst: Node | None, how: How = How.CALL,
        variable: str = "",
    ) -> None:  # fmt: skip
        """Call the method of that name, of the instance's class, on the instance."""
        klass = self.number(self.objects[receiver].of)
        first = Argument(self.constant(receiver), variable)
        inner = arguments._replace(plain=(first, *arguments.plain), receiver="")

        def found(method: int) -> None:
            if self.objects[method].kind is ObjectKind.WRAPPER:
                self.apply(site, method, arguments, dst, how)
            else:
                self.apply(site, method, inner, dst, how)

        self.look_up(site, klass, name, found)

    def _call_function(
        self, site: Site, callee: int, function: Function, arguments: Arguments, dst: Node | None, how: How
    ) -> None:
        target = self.instance(function, self._context(function, arguments))
        binding = self._bind(site, target, callee, function, arguments)
        if function.suspends:
            if dst is not None:
                self.add(dst, 1 << self.make(site, ObjectKind.GENERATOR, target))
            if how is How.SPAWN or site[0] == NATIVE:
                self.resume(site, target, dst)
            self.escape(site, *(variable for _, variable in binding))
            self.suspended.add(target)
            return
        if how is How.SPAWN:
            self.escape(site, *(variable for _, variable in binding))
        self.edges[site].add(CallEdge(target, how, binding, how is How.CALL))
        if dst is not None:
            result = self.local(target, "%result")
            self.edge(result, dst)
            self.returned[result, dst].add(site)

    def _context(self, function: Function, arguments: Arguments) -> int:
        """The receiver that the call is distinguished by; -1 if all calls are taken together."""
        if not self.contexts or function not in self.makes_containers or not arguments.plain:
            return -1
        return self.constants.get(arguments.plain[0].node, -1)

    def _bind(
        self, site: Site, target: int, callee: int, function: Function, arguments: Arguments
    ) -> tuple[tuple[str, str], ...]:
        parameters = function.parameters
        binding: set[tuple[str, str]] = set()

        def give(parameter: str, argument: Argument) -> None:
            node = self.local(target, parameter)
            self.edge(argument.node, node)
            self.passed[argument.node, node].add(site)
            binding.add((parameter, argument.variable))

        def gather(parameter: str, kind: str, argument: Argument) -> None:
            thing = self.number(
                AbstractObject(ObjectKind.CONTAINER, kind, f"{function.path}:{function.line}:{parameter}")
            )
            self.add(self.local(target, parameter), 1 << thing)
            self.edge(argument.node, self.field(thing, "[]"))
            self.escape(site, argument.variable)

        for i, argument in enumerate(arguments.plain):
            if i < len(parameters.plain):
                give(parameters.plain[i], argument)
            elif parameters.rest:
                gather(parameters.rest, "tuple", argument)
        for name, argument in arguments.keywords:
            if name in parameters.plain or name in parameters.only_keywords:
                give(name, argument)
            elif parameters.rest_keywords:
                gather(parameters.rest_keywords, "dict", argument)
        if arguments.anything:
            given = len(arguments.plain)
            for name in (*parameters.plain[given:], *parameters.only_keywords):
                for argument in arguments.anything:
                    give(name, argument._replace(variable=""))
            for name, kind in ((parameters.rest, "tuple"), (parameters.rest_keywords, "dict")):
                for argument in arguments.anything:
                    if name:
                        gather(name, kind, argument._replace(variable=""))
        for name in (parameters.rest, parameters.rest_keywords):
            if name:
                kind = "tuple" if name == parameters.rest else "dict"
                thing = self.number(
                    AbstractObject(ObjectKind.CONTAINER, kind, f"{function.path}:{function.line}:{name}")
                )
                self.add(self.local(target, name), 1 << thing)
        for name in parameters.all():
            if f"default {name}" in self.field_names[callee]:
                self.edge(self.field(callee, f"default {name}"), self.local(target, name))
                binding.add((name, ""))
        return tuple(sorted(binding))

    def _construct(self, site: Site, klass: int, arguments: Arguments, dst: Node | None) -> None:
        thing = self.objects[klass]
        made = self.make(site, ObjectKind.INSTANCE, thing)
        if dst is not None:
            self.add(dst, 1 << made)
        node = self.constant(made)
        inner = arguments._replace(plain=(Argument(node, FRESH), *arguments.plain), receiver="")
        if klass in self.generated:
            for argument in arguments.all():
                for name in thing.of.declares:
                    self.edge(argument.node, self.field(made, name))
                self.escape(site, argument.variable)
            for name in thing.of.declares:
                self.touch(site, "w", made, name)
        self.look_up(site, klass, "__init__", lambda f: self.apply(site, f, inner, None))
        if "__new__" in self.specials or klass in self.derived:
            of_class = Argument(self.constant(klass), "")
            created = arguments._replace(plain=(of_class, *arguments.plain), receiver="")

            def new(method: int) -> None:
                kind = self.objects[method].kind
                if kind is ObjectKind.WRAPPER:
                    self.watch(self.field(method, "of"), new)
                elif kind is ObjectKind.FUNCTION:
                    result = self.node(("created", site, klass))
                    self.apply(site, method, created, result)
                    if dst is not None:
                        self.edge(result, dst)
                    self.watch(result, initialise)

            def initialise(number: int) -> None:
                if self.objects[number].kind is ObjectKind.INSTANCE:
                    again = arguments._replace(
                        plain=(Argument(self.constant(number), ""), *arguments.plain), receiver=""
                    )
                    self.look_up(site, klass, "__init__", lambda f: self.apply(site, f, again, None))

            self.look_up(site, klass, "__new__", new)
