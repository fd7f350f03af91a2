"""Settings for how a Python program is run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import attrs

from dpor.core.oracle import Oracle, ProgramSource


@attrs.frozen
class StaticOptions:
    """How a program is analysed before it is run.

    field_access   insensitive, callee or sensitive: see `dpor.statics.field_access.Precision`
    pointers       none, ci-ex, cs-ex, ci-dd or cs-dd: see `dpor.statics.pointers.Pointers`
    immutable      use the facts about which fields are immutable
    unhooked       leave reads of immutable fields without hooks
    """

    field_access: str = "sensitive"
    pointers: str = "none"
    immutable: bool = True
    unhooked: bool = False


@attrs.frozen
class RuntimeOptions:
    """How runs are carried out.

    max_steps      events of one run after which it is cut
    max_back_edges loop iterations without an event after which a run is cut
    timeouts       "any": a timed wait may end at any point where it waits; "idle": only when nothing else can move
    every_access   make operations also of accesses to what no run has written while several threads exist
    whole_states   keep whole states beside their keys, and report two different ones with the same key
    timeout_limit  how often a call site may time out for an object in one thread and run while something else can move
    max_delay      seconds by which a thread may be late
    statics        how the program is analysed; None: not at all
    oracle         what is asked instead of the analysis
    trusted        packages of which each call is one step
    closed         instrument no package on demand
    cache          keep rewritten modules on disk
    """

    max_steps: int = 20_000
    max_back_edges: int = 1_000_000
    timeouts: Literal["any", "idle"] = "any"
    timeout_limit: int = 1
    max_delay: float = 10
    every_access: bool = False
    whole_states: bool = False
    statics: StaticOptions | None = None
    oracle: Callable[[ProgramSource], Oracle] | None = None
    trusted: frozenset[str] = frozenset()
    closed: bool = False
    cache: bool = True
