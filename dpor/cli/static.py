"""Options of the static analysis, for the commands that use one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from dpor.cli.answers import one_of
from dpor.core.options import FieldAccess, PointerAnalysis

field_access_option = click.option(
    "--field-access",
    type=one_of(FieldAccess),
    default=FieldAccess.SENSITIVE.value,
    show_default=True,
    help="Of the analysis that sa uses: how calls are followed to tell what threads may still access:"
    " through all callers; through the callee alone; or by the call stack that a thread has.",
)
pointers_option = click.option(
    "--pointers",
    type=one_of(PointerAnalysis),
    default=PointerAnalysis.NONE.value,
    show_default=True,
    help="Of the analysis that sa uses: how the objects are told apart whose fields are accessed: not at all; by where"
    " they are made (ex) or through which variables they are accessed (dd), context-insensitively (ci) or"
    " context-sensitively (cs).",
)
immutable_option = click.option(
    "--immutable",
    type=click.Choice(["on", "off"]),
    default="on",
    show_default=True,
    callback=lambda context, parameter, value: value == "on",
    help="Of sa and dpor+static: is it used which fields are immutable?",
)


def static_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """They come as `field_access`, `pointers` and `immutable`."""
    for option in (immutable_option, pointers_option, field_access_option):
        command = option(command)
    return command
