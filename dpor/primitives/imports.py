"""The import of a module.

Two objects: the module (state: None, the thread that loads it, or LOADED), and the activity of threads (state: which
thread loads which module, and which waits for which).

A thread that imports a module while another thread loads it waits until that is over. If it would wait for ever,
because the other thread waits, perhaps by way of more threads, for a module that this one loads, it goes on with the
partly loaded module, as in CPython. Loads of different modules may come in any order, so they UPDATE the activity. Only
a thread that loads a module and has to wait for another one reads it: no thread waits for a thread that loads none.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import attrs

from dpor.core.operations import READ, UPDATE, WRITE, Effect, States, ThreadId
from dpor.primitives.rules import BaseRule

LOADED: Final = "loaded"

LOAD: Final = "load"
THERE: Final = "there"
WAIT: Final = "wait"

Activity: TypeAlias = tuple[frozenset[tuple[ThreadId, str]], frozenset[tuple[ThreadId, str]]]
"""Two sets of pairs of a thread and a module: which thread loads which module, and which thread waits for which."""

IDLE: Final[Activity] = (frozenset(), frozenset())
"""No thread loads a module, and so none waits for one."""


@attrs.frozen
class BeginImport(BaseRule):
    """Begin to import a module. Result: LOAD, if the caller must load the module, after which `EndImport` must follow;
    THERE, if it may go on with the module as it is; WAIT, if `AwaitImport` must follow."""

    module: str
    name = "import"
    modes = (WRITE, UPDATE)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        state, (loads, waits) = states
        if state is None:
            return Effect((thread, (loads | {(thread, self.module)}, waits)), (WRITE, UPDATE), LOAD)
        if state in (LOADED, thread):
            return Effect(states, (READ, UPDATE), THERE)
        return Effect((state, (loads, waits | {(thread, self.module)})), (READ, UPDATE), WAIT)


@attrs.frozen
class BeginImportWithin(BeginImport):
    """A `BeginImport` by a thread that is loading another module, which other threads may wait for."""

    modes = (WRITE, WRITE)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        effect = super().apply(states, thread)
        if effect.result != WAIT:
            return effect
        if _would_wait_for_itself(thread, self.module, *states[1]):
            return Effect(states, (READ, WRITE), THERE)
        return Effect(effect.states, (READ, WRITE), WAIT)


@attrs.frozen
class AwaitImport(BaseRule):
    """Wait until the module is loaded. Result: LOAD or THERE (LOAD if the thread that loaded it has failed)."""

    module: str
    name = "await import"
    modes = (WRITE, UPDATE)

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return states[0] in (None, LOADED)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        state, (loads, waits) = states
        waits -= {(thread, self.module)}
        if state is None:
            return Effect((thread, (loads | {(thread, self.module)}, waits)), (WRITE, UPDATE), LOAD)
        return Effect((state, (loads, waits)), (READ, UPDATE), THERE)


@attrs.frozen
class EndImport(BaseRule):
    """The module is loaded, or failed to load, or was removed and has to be loaded again."""

    module: str
    loaded: bool
    name = "imported"
    modes = (WRITE, UPDATE)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        state, (loads, waits) = states
        if state not in (LOADED, thread):
            return Effect(states, (READ, UPDATE), False)
        after = LOADED if self.loaded else None
        return Effect((after, (loads - {(thread, self.module)}, waits)), (WRITE, UPDATE), True)


def _would_wait_for_itself(
    thread: ThreadId, module: str, loads: frozenset[tuple[ThreadId, str]], waits: frozenset[tuple[ThreadId, str]]
) -> bool:
    loaded_by = {wanted: loading for loading, wanted in loads}
    awaited_by = dict(waits)
    seen: set[str] = set()
    wanted: str | None = module
    while wanted is not None and wanted not in seen:
        seen.add(wanted)
        loading = loaded_by.get(wanted)
        if loading == thread:
            return True
        wanted = None if loading is None else awaited_by.get(loading)
    return False
