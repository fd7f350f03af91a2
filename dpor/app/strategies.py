"""The search that the options ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from dpor.core.errors import UserError
from dpor.core.options import Options
from dpor.core.plural import plural
from dpor.core.system import OracleSystem, StatefulSystem
from dpor.explorers import BOUNDED, SAMPLERS, STATEFUL, STATIC, STRATEGIES, Explorer, Stats
from dpor.findings.explain import Checkable

GOES_WITH: Final[Mapping[str, Sequence[str]]] = {
    "preemptions": tuple(BOUNDED),
    "seed": tuple(SAMPLERS),
    "depth": ("pct",),
    "max_states": tuple(STATEFUL),
    "store": tuple(STATEFUL),
    "whole_states": tuple(STATEFUL),
    "sync_choices": ("original", "sa"),
    "field_access": STATIC,
    "pointers": STATIC,
    "immutable": STATIC,
}
"""The strategies that an option says something to; every other option does to all."""


def without_use(options: Options) -> list[str]:
    """The options given (so: not as they are by default) that the strategy has no use for."""
    usual = Options()
    return [
        option
        for option, names in GOES_WITH.items()
        if options.explorer not in names and getattr(options, option) != getattr(usual, option)
    ]


def explorer_of(options: Options) -> Callable[[Checkable], Explorer]:
    """The search that the options ask for. Raises `UserError` if there is none, and so does the search where it needs
    states that the target cannot tell."""
    name, preemptions = options.explorer, options.preemptions
    strategies = [*STRATEGIES, *STATEFUL, *SAMPLERS]
    if name not in strategies:
        raise UserError(f"no strategy {name!r}; there are {', '.join(strategies)}")
    for option in without_use(options):
        raise UserError(
            f"--{option.replace('_', '-')} goes with --strategy {' or '.join(GOES_WITH[option])}, not with {name}"
        )
    if options.oracle is not None and name != "sa":
        raise UserError(f"oracle goes with strategy='sa', not with {name!r}")
    if preemptions is not None:
        return lambda system: BOUNDED[name](system, preemptions)
    if name in SAMPLERS:
        if options.max_executions is None and options.max_seconds is None:
            raise UserError(f"--strategy {name} never ends: give --max-executions or --max-seconds")
        return lambda system: SAMPLERS[name](system, options.seed, options.depth)
    if name in STATEFUL and options.races:
        raise UserError(f"--races needs a search that visits every trace, and {name} does not; take another strategy")
    if name in STATEFUL:
        return lambda system: _stateful(options, system)
    return STRATEGIES[name]


def _stateful(options: Options, system: Checkable) -> Explorer:
    name = options.explorer
    if not isinstance(system, OracleSystem if name == "sa" else StatefulSystem):
        raise UserError(
            f"--strategy {name} stores states, which this target cannot tell; take one of {', '.join(STRATEGIES)}"
        )
    return STATEFUL[name](system, options.store, options.sync_choices)


def shortfall(options: Options, counts: Stats) -> Iterator[str]:
    """Why a search of this kind did not cover everything, though it may have come to its end."""
    if counts.left_out:
        yield f"--preemptions {options.preemptions} left out {plural(counts.left_out, 'schedule')} or more"
    if options.explorer in SAMPLERS:
        seen = "1 class" if counts.classes == 1 else f"{counts.classes:,} distinct classes"
        yield f"{options.explorer} schedules: {plural(counts.executions, 'execution')}, {seen} seen"
