"""Runs a few lines of instrumented source on objects that count as shared, and writes down what they touch.

Nothing is scheduled: there is one thread, which is told that there are others. An access is written as `R d['k']`
(READ, WRITE, UPDATE), the parts of a container as `d.structure`, `d.elements`, `d.any_key`; an operation is its
accesses after a word, `read: R d['k']`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from dpor.core.operations import Access
from dpor.core.system import Trace
from dpor.python.effects.accesses import CHANGES, EVERYTHING, KEY_SET
from dpor.python.hooks import attributes
from dpor.python.hooks.table import all_hooks
from dpor.python.kernel import accessing, driving, opaque_code, scheduler
from dpor.python.kernel.driving import SearchState
from dpor.python.kernel.options import RuntimeOptions
from dpor.python.kernel.run import run
from dpor.python.program.layers import Layers
from dpor.python.rewrite import instrument
from dpor.python.sharing import shared_object, shared_objects
from dpor.python.sharing.shared_object import ELEMENTS, STRUCTURE

FILE = "program.py"

_PARTS = {STRUCTURE: ".structure", ELEMENTS: ".elements", KEY_SET: ".any_key"}


class World:
    """What the run under test may see and what it did.

    log        the operations, as text
    published  what was made shared, in order
    opaque     Python functions that ran as one step
    """

    def __init__(self) -> None:
        self.log: list[str] = []
        self.published: list[Any] = []
        self.opaque: list[str] = []
        self.names: dict[int, str] = {}
        self.indivisible = 0
        self.meanwhile: Any = None

    def share(self, **objects: Any) -> None:
        """Make these shared, under these names."""
        for name, obj in objects.items():
            shared_objects._publish(obj)
            shared = shared_objects.table.get(id(obj))
            if isinstance(shared, shared_object.SharedObject):
                self.names[shared.number] = name
        self.published.clear()

    def run(self, source: str, **objects: Any) -> dict[str, Any]:
        """Execute the source, instrumented. Returns its globals."""
        namespace = {**self.hooks(), **objects, "__name__": "program"}
        code = instrument(source, FILE)
        self.log.clear()
        exec(code, namespace)
        return namespace

    def touches(self, source: str, **objects: Any) -> list[str]:
        self.share(**objects)
        self.run(source, **objects)
        return self.log

    def hooks(self) -> dict[str, Any]:
        return all_hooks(run.facts, "program")

    def know(self, *facts: object) -> None:
        run.facts.update(facts)

    # ------------------------------------------------------------------ in place of the kernel

    def touch(self, kind: str, accesses: tuple[Access, ...], reread: object = None) -> None:
        if not self.indivisible:
            self.log.append(f"{kind}: {self.text(accesses)}")
            if self.meanwhile is not None:
                self.meanwhile()

    def access(self, operation: Any, reread: object = None) -> None:
        self.touch(operation.kind, operation.accesses)

    def text(self, accesses: tuple[Access, ...]) -> str:
        return ", ".join(f"{mode.name[0]} {self._place(location)}" for location, mode in accesses)

    def _place(self, location: int) -> str:
        number, part = run.operations.name_of(location)  # type: ignore[misc]
        name = self.names.get(number, "?")
        return f"{name}{_PARTS.get(part) or f'[{part!r}]'}"

    @contextmanager
    def atomic(self) -> Iterator[None]:
        self.indivisible += 1
        try:
            yield
        finally:
            self.indivisible -= 1


@contextmanager
def pretending(*, knowing: bool = True) -> Iterator[World]:
    """A world in which all accesses show, as every way in which containers change is known; or nothing is known yet."""
    made = World()
    with pytest.MonkeyPatch.context() as patch:
        run.serve(Layers(lambda name: name == FILE, *[lambda name: False] * 3))
        driving.begin_run(SearchState(), RuntimeOptions(), Trace(), lambda enabled: 1, None)
        try:
            shared_objects.forget()
            shared_objects.begin_run(lambda: ())
            attributes.forget_types()
            patch.setattr(run, "multi", True)
            patch.setattr(run, "stateful", False)  # an earlier run may have compared states
            patch.setattr(accessing, "touch", made.touch)
            patch.setattr(accessing, "access", made.access)
            patch.setattr(scheduler, "atomic", made.atomic)
            patch.setattr(opaque_code, "opaque", made.opaque.append)
            publish = shared_objects.publish

            def published(value: Any) -> None:
                made.published.append(value)
                publish(value)

            patch.setattr(shared_objects, "publish", published)
            patch.setattr(attributes, "publish", published)
            if knowing:
                made.know(EVERYTHING)
            yield made
        finally:
            driving.end_run()
            run.threads.clear()


def learnt() -> set[str]:
    """Which parts are known to change."""
    return {str(fact[1]) for fact in run.facts if isinstance(fact, tuple) and fact[0] == CHANGES}
