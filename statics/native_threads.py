"""Threads, timers, executors and futures: what they run, and when."""

from __future__ import annotations

from dpor.statics.call_graph import Argument, Arguments, How, Site
from dpor.statics.native_containers import NativeContainers
from dpor.statics.objects import ObjectKind
from dpor.statics.solver import Node


class NativeThreads(NativeContainers):
    """Adds the constraints of starting threads."""

    def _keep(self, site: Site, thread: int, name: str, arguments: Arguments) -> None:
        """Store the function that a thread will run, and its arguments, in fields of the thread object."""
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
            if thing.kind is ObjectKind.INSTANCE:
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
        if self.objects[number].kind is ObjectKind.CONTAINER:
            self.edge(self.field(number, "[]"), into)
        else:
            self.iterate(site, Argument(self.constant(number), ""), into)

    def _executor(self, site: Site, short: str, receiver: Argument, arguments: Arguments, dst: Node | None) -> None:
        self.escape(site, *(argument.variable for argument in arguments.all()[1:]))
        if short in ("submit", "map") and arguments.all()[1:]:
            made = self.make(site, ObjectKind.NATIVE_INSTANCE if short == "submit" else ObjectKind.CONTAINER,
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
