"""The state in which each run finds the program's modules: as they are when they have just been imported.

They are imported again before each run, in the run's main thread, unless no run can change anything in them. Where that
would be much code, what they hold is gone through once, and put back after each run (`module_contents.py`); if that
cannot be, which is a fact that a run shows, they are imported again after all.
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
from dpor.python.program.import_effects import Before, ImportEffects, left
from dpor.python.program.loader import Loader
from dpor.python.program.module_contents import ModuleContents
from dpor.python.program.restoring import CannotRestore
from dpor.python.sharing import host_fields
from dpor.python.sharing.always_shared import AlwaysShared
from dpor.python.states.stacks import StateUnknown

LEAST_SIZE: float = 30_000
"""Characters of source of the modules. To execute less than this again is quicker than to compare contents."""


class _Known:
    """The state of the modules at the beginning of each run, taken when they have just been imported. Raises
    `StateUnknown` if it could not be restored."""

    def __init__(self, loader: Loader, before: Before) -> None:
        self.names = loader.kept_modules()
        modules = {name: loader.modules[name].module for name in self.names}
        found = [*left(before, loader.host)]
        before.containers = None  # it keeps old objects alive
        gc.collect()  # objects that importing has made and dropped must not die later
        self.contents = ModuleContents(modules, loader.host, found)
        self.containers = HostContainers(loader.modules)
        self._runs = 0
        host_fields.forget_restored(self.contents.restores)
        self.traces = ImportEffects(before, loader.host, self.names)
        self.always = AlwaysShared(
            loader.roots(False), self.contents.watches, self.contents.changed, lambda: loader.late_roots()
        )

    def refuse(self) -> None:
        """After a run. Raises `CannotRestore` if it has left something outside the modules that cannot be undone."""
        self.traces.refuse_hidden()
        if self._runs % LOOK_EVERY < 2:
            self.containers.refuse_new(self.contents.is_known)
        self._runs += 1


class InitialState:
    """Prepares the modules for each run.

    executed_again   why modules are executed again although they are much code
    """

    def __init__(self, loader: Loader, library: Any) -> None:
        self._loader: Final = loader
        self._library: Final = library
        self._known: _Known | None = None
        self._may_restore = True
        self.executed_again: dict[str, None] = {}

    def forget(self, facts: Collection[object]) -> None:
        """Modules have been loaded or compiled again because of these facts: their old state is of no use."""
        self._known = None
        self._may_restore = EXECUTED_AGAIN not in facts

    def set_up(self) -> None:
        """Give the modules their initial state. The first thing done in the main thread of a run."""
        if self._known is not None:
            if run.dirty:
                attributes.forget_types()
            self._known.traces.repeat(self._loader.is_made_by_program)
            run.dirty = False
        elif run.dirty or not self._loader.is_constant:
            changed, run.dirty = run.dirty, False
            lasts = self._may_restore and self._loader.size >= LEAST_SIZE
            if lasts:
                self._loader.hide_host()
            before = Before(self._loader.modules.keys()) if lasts else None
            self._library.execute_again()
            run.imports_once = lasts
            try:
                self._loader.reset(changed)
            finally:
                run.imports_once = False
            attributes.forget_types()
            if before is not None:
                self._remember(before)

    def _remember(self, before: Before) -> None:
        try:
            self._known = _Known(self._loader, before)
        except StateUnknown as reason:
            self._may_restore = False
            self.executed_again[str(reason)] = None

    def restore(self, facts: set[object]) -> None:
        """Between runs, when nothing holds objects of the last any more. If something cannot be restored, the search
        begins again, since objects get other names when modules are executed again."""
        known = self._known
        if known is None:
            return
        try:
            if self._loader.kept_modules() != known.names:  # modules of the library stay
                self._known, run.dirty = None, True
                raise AssumptionBroken("a run has imported a module that is there when the next begins")
            known.refuse()
            self._loader.drop_late()
            if known.contents.restore():
                run.dirty = True  # what is known of types may be wrong
        except CannotRestore as reason:
            self._known, run.dirty = None, True
            self.executed_again[str(reason)] = None
            facts.add(EXECUTED_AGAIN)
            raise AssumptionBroken(f"{reason}: modules are executed again before each run") from None
        known.always.begin_run()
