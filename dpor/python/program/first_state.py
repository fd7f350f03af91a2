"""The state in which each run finds the program's modules: as they are when they have just been imported.

They are imported again before each run, in the run's main thread, unless no run can change anything in them. Where that
would be much code, what they hold is gone through once, and put back after each run (`lasting`); if that cannot be,
which is a fact that a run shows, they are imported again after all.
"""

from __future__ import annotations

import gc
from collections.abc import Collection
from typing import Any, Final

from dpor.core.errors import AssumptionBroken
from dpor.python.effects.process_state import LOOK_EVERY
from dpor.python.hooks import attributes
from dpor.python.kernel.assumptions import EXECUTED_AGAIN
from dpor.python.kernel.run import run
from dpor.python.program.host_containers import HostContainers
from dpor.python.program.lasting import Lasting
from dpor.python.program.loader import Loader
from dpor.python.program.putting_back import Changed
from dpor.python.program.traces import Before, Traces, left
from dpor.python.sharing import host_fields
from dpor.python.sharing.standing import Standing
from dpor.python.states.stacks import StateUnknown

LEAST_SIZE: float = 30_000
"""Of the source of the modules, in characters: to execute less again is quicker than to look what has changed."""


class _Known:
    """What the modules hold in the beginning of each run. Made when they have been imported. Raises `StateUnknown` if
    it could not be brought back."""

    def __init__(self, loader: Loader, before: Before) -> None:
        self.names = loader.lasting_names()
        modules = {name: loader.modules[name].module for name in self.names}
        found = [*left(before, loader.host)]
        before.containers = None  # which keeps alive what was there before
        gc.collect()  # what modules have made and left, this time and before, is not to die later
        self.contents = Lasting(modules, loader.host, found)
        self.containers = HostContainers(loader.modules)
        self._runs = 0
        host_fields.leave(self.contents.puts_back)
        self.traces = Traces(before, loader.host, self.names)
        self.standing = Standing(
            loader.roots(False), self.contents.watches, self.contents.changed, lambda: loader.late_roots()
        )

    def refuse(self) -> None:
        """After a run. Raises `Changed` if it has left something that cannot be put back."""
        self.traces.refuse_hidden()
        if self._runs % LOOK_EVERY < 2:
            self.containers.refuse_new(self.contents.is_known)
        self._runs += 1


class FirstState:
    """executed_again   why modules are executed again that are much code"""

    def __init__(self, loader: Loader, library: Any) -> None:
        self._loader: Final = loader
        self._library: Final = library
        self._known: _Known | None = None
        self._may_last = True
        self.executed_again: dict[str, None] = {}

    def forget(self, facts: Collection[object]) -> None:
        """Modules have been loaded or compiled again, by these facts."""
        self._known = None
        self._may_last = EXECUTED_AGAIN not in facts

    def set_up(self) -> None:
        """First of all in the main thread of a run."""
        if self._known is not None:
            if run.dirty:
                attributes.forget_types()
            self._known.traces.leave(self._loader.is_made_by_program)
            run.dirty = False
        elif run.dirty or not self._loader.is_constant:
            changed, run.dirty = run.dirty, False
            lasts = self._may_last and self._loader.size >= LEAST_SIZE
            before = Before(self._loader.modules.keys()) if lasts else None
            self._library.execute_again()
            run.lasts = lasts
            try:
                self._loader.reset(changed)
            finally:
                run.lasts = False
            attributes.forget_types()
            if before is not None:
                self._remember(before)

    def _remember(self, before: Before) -> None:
        try:
            self._known = _Known(self._loader, before)
        except StateUnknown as reason:
            self._may_last = False
            self.executed_again[str(reason)] = None

    def bring_back(self, facts: set[object]) -> None:
        """Between runs, when nothing of the last is held any more. Where something cannot be put back, the search
        begins again, since objects get other names when modules are executed again."""
        known = self._known
        if known is None:
            return
        try:
            if self._loader.lasting_names() != known.names:  # of the library: they stay
                self._known, run.dirty = None, True
                raise AssumptionBroken("a run has imported a module that is there when the next begins")
            known.refuse()
            if known.contents.restore():
                run.dirty = True  # what is known of types may not hold
        except Changed as reason:
            self._known, run.dirty = None, True
            self.executed_again[str(reason)] = None
            facts.add(EXECUTED_AGAIN)
            raise AssumptionBroken(f"{reason}: modules are executed again before each run") from None
        known.standing.stand()
