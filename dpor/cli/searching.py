"""How a program is explored: the options that `check` and `compare` share.

They come as the fields of `Options` of the same names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click

from dpor.cli.answers import Number, StrategyOption, Whole, one_of
from dpor.cli.static import static_options
from dpor.core.options import DEFAULT_DEPTH, DEFAULT_STEPS
from dpor.core.system import Store, SyncChoices

_OPTIONS: Final[tuple[Callable[..., Any], ...]] = (
    click.option(
        "--preemptions",
        type=Whole(0),
        metavar="N",
        cls=StrategyOption,
        help="Only schedules with at most N preemptions: switches away from a thread that could have gone on. With"
        " {own}; classic is then the default strategy.",
    ),
    click.option(
        "--seed",
        type=Whole(0),
        default=0,
        show_default=True,
        metavar="N",
        cls=StrategyOption,
        help="Of {own}: the same seed gives the same schedules.",
    ),
    click.option(
        "--depth",
        type=Whole(1),
        default=DEFAULT_DEPTH,
        show_default=True,
        metavar="D",
        cls=StrategyOption,
        help="Of {own}: look for bugs that show if D events come in a certain order.",
    ),
    click.option(
        "--max-executions",
        type=Whole(1),
        metavar="N",
        help="Stop after N executions. [default: no limit]",
    ),
    click.option(
        "--max-states",
        type=Whole(1),
        metavar="N",
        help="Stop when more than N states are stored. [default: no limit]",
    ),
    click.option(
        "--max-memory",
        type=Number(1),
        metavar="MB",
        help="Stop when the process takes more than so many megabytes. [default: no limit]",
    ),
    click.option(
        "--store",
        type=one_of(Store),
        default=Store.EVENTS.value,
        show_default=True,
        cls=StrategyOption,
        help="Of {own}: which states are stored and can be met again: those"
        " after every event, those with a choice, or nothing.",
    ),
    click.option("--no-matching", "store", flag_value=Store.NOTHING.value, help="The same as --store nothing."),
    click.option(
        "--whole-states",
        is_flag=True,
        cls=StrategyOption,
        help="Of {own}: keep whole states, and tell if two that differ have the same key (of 128 bits).",
    ),
    click.option(
        "--sync-choices",
        type=one_of(SyncChoices),
        default=SyncChoices.ALL.value,
        show_default=True,
        cls=StrategyOption,
        help="Of {own}: are all starts, ends and joins of threads choices, or those of threads that share something?",
    ),
    static_options,
    click.option(
        "--max-steps",
        type=Whole(1),
        default=DEFAULT_STEPS,
        show_default=True,
        metavar="N",
        help="Cut a single execution after N operations.",
    ),
    click.option(
        "--timeouts",
        type=click.Choice(["any", "idle"]),
        default="any",
        show_default=True,
        help="When a timed wait may time out: at any point, as on a loaded machine, or only when nothing else can"
        " move.",
    ),
    click.option(
        "--timeout-limit",
        type=Whole(0),
        default=1,
        show_default=True,
        metavar="N",
        help="With --timeouts any: how often one call of a thread may time out in one execution.",
    ),
    click.option(
        "--every-access",
        is_flag=True,
        help="Let accesses be events, too, to shared fields and containers that no run writes while several threads"
        " exist: there are more events, and no more outcomes. For comparison with checkers that know no better.",
    ),
    click.option(
        "--races",
        is_flag=True,
        help="Data races are failures, too: two threads access the same field, global or element, one of them writes,"
        " and no lock, event, start or join orders them.",
    ),
    click.option(
        "--instrument",
        multiple=True,
        metavar="PKG",
        help="Explore accesses to shared data inside this package too. May be given again.",
    ),
)


def search_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
