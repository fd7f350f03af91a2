"""The import of a module.

Two objects: the module (state: None, the thread that loads it, or LOADED), and who is at what (state: which thread
loads which module, and which waits for which).

Who comes while another thread loads the module waits until that is over; but not if that would be for ever, since the
other waits, perhaps through more threads, for a module that this one loads: then it goes on with half a module, as in
CPython. Loads of different modules come in any order, so they UPDATE who is at what. Only who loads a module and has to
wait for another looks at it: nobody waits for a thread that loads none.
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

AtWhat: TypeAlias = tuple[frozenset[tuple[ThreadId, str]], frozenset[tuple[ThreadId, str]]]
"""Which thread loads which module, and which waits for which."""

NOBODY: Final[AtWhat] = (frozenset(), frozenset())


@attrs.frozen
class BeginImport(BaseRule):
    """Result: LOAD, if the caller is to load the module, after which `EndImport` must follow; THERE, if it may go on
    with the module as it is; WAIT, if `AwaitImport` must follow."""

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
    """As `BeginImport`, by a thread that loads another module at the time: others may wait for that."""

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
    """Result: LOAD or THERE. (Who loaded the module may have failed.)"""

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
    """The module is loaded, or failed to load, or is to be loaded again since it is there no more."""

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
