"""Turns options into a search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec

import attrs

from dpor.core.errors import UserError
from dpor.core.options import AUTO, Options, spelled
from dpor.core.plural import plural
from dpor.core.schedule import hash_seed
from dpor.core.system import Store
from dpor.explorers import (
    CAUSAL,
    DIVIDED,
    SAMPLERS,
    SHARING_STATES,
    STATEFUL,
    STATELESS,
    STRATEGIES,
    Explorer,
    Stats,
    Strategy,
    strategies_with,
)
from dpor.findings.explain import Checkable


def without_use(options: Options) -> list[str]:
    """Return the options that differ from their defaults and that the strategy does not use."""
    usual = Options()
    return [
        option.name
        for option in attrs.fields(Options)
        if (names := strategies_with(option.name))
        and options.explorer not in names
        and getattr(options, option.name) != getattr(usual, option.name)
    ]


def strategy_named(name: str) -> Strategy:
    """Return the strategy of this name. Raises `UserError` if there is none."""
    if name not in STRATEGIES:
        raise UserError(f"no strategy {name!r}; there are {', '.join([AUTO, *STRATEGIES])}")
    return STRATEGIES[name]


def explorer_of(options: Options) -> Callable[[Checkable], Explorer]:
    """Return the search for these options. Raises `UserError` if there is none; so does the search if it needs states
    that the target does not provide."""
    name = options.explorer
    strategy = strategy_named(name)
    for option in without_use(options):
        known = " or ".join(strategies_with(option))
        raise UserError(f"{spelled(option)} goes with --strategy {known}, not with {name}")
    if name in SAMPLERS and options.max_executions is None and options.max_seconds is None:
        raise UserError(f"--strategy {name} never ends: give --max-executions or --max-seconds")
    if options.checkpoint and not is_resumable(options):
        known = ", ".join(each for each, strategy in STRATEGIES.items() if strategy.resumes)
        raise UserError(f"--checkpoint goes with --strategy {known}, without --preemptions: no file keeps others")
    if options.is_shared:
        _check_is_shareable(options)
    if name in (*STATEFUL, *CAUSAL) and options.races:
        raise UserError(f"--races needs a search that visits every trace, and {name} does not; take another strategy")

    def begin(system: Checkable) -> Explorer:
        if strategy.stores_states and not isinstance(system, strategy.needs):
            raise UserError(
                f"--strategy {name} stores states, which this target does not have; take one of {', '.join(STATELESS)}"
            )
        if strategy.asks_data and not isinstance(system, strategy.needs):
            raise UserError(
                f"--strategy {name} needs events that tell what they see, which only those of abstract programs do;"
                f" take one of {', '.join(STATELESS)}"
            )
        return strategy.make(system, options)

    return begin


def _check_is_shareable(options: Options) -> None:
    how = "--workers" if options.cluster is None else "--cluster"
    stores = options.explorer in SHARING_STATES and options.cluster is None
    if options.explorer not in DIVIDED and not stores:
        known = [*DIVIDED, *(SHARING_STATES if options.cluster is None else ())]
        raise UserError(f"{how} goes with --strategy {' or '.join(known)}, not with {options.explorer}")
    if stores and options.store is not Store.EVENTS:
        raise UserError(f"{how} needs --store events: others can meet stored states only")
    if options.oracle is not None:
        raise UserError(f"{how}: an oracle of your own cannot be sent to other processes; leave it out")
    if hash_seed() is None:
        raise UserError(f"{how} needs the same hashes of strings in all processes: set PYTHONHASHSEED")
    if options.cluster is not None:
        if options.workers is not None:
            raise UserError("--cluster lets as many processes search as the cluster has threads: leave --workers out")
        if find_spec("distributed") is None:
            raise UserError('--cluster needs Dask: pip install "dpor[cluster]"')


def needs_every_access(options: Options) -> bool:
    """True if each access of shared data is to be an event of the search."""
    return options.every_access or STRATEGIES[options.explorer].asks_data


def is_estimable(options: Options) -> bool:
    """True if the search has one execution for each trace class of the program, so that their number can be
    estimated."""
    return "once" in STRATEGIES[options.explorer].promises and options.preemptions is None


def is_resumable(options: Options) -> bool:
    """True if a file can keep what is left of the search."""
    return STRATEGIES[options.explorer].resumes and options.preemptions is None and options.oracle is None


def not_kept(options: Options) -> str:
    """Say why no file keeps what is left of the search."""
    name = options.explorer
    why = f"since {name} stores states; with --checkpoint FILE, none are stored" if name in STATEFUL else f"by {name}"
    bound = "" if options.preemptions is None else " with --preemptions"
    return f"what is left is not kept {why}{bound}"


def shortfall(options: Options, counts: Stats) -> Iterator[str]:
    """Yield the reasons why a search of this kind did not cover everything, though it may have finished."""
    if counts.left_out and options.explorer in CAUSAL:
        yield f"after {counts.states:,} cuts the search gave up (--max-states)"
    elif counts.left_out:
        yield f"--preemptions {options.preemptions} left out {plural(counts.left_out, 'schedule')} or more"
    if options.explorer in SAMPLERS:
        seen = "1 class" if counts.classes == 1 else f"{counts.classes:,} distinct classes"
        yield f"{options.explorer} schedules: {plural(counts.executions, 'execution')}, {seen} seen"
