"""Options of `check` and `compare` for the strategies that use a static analysis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from dpor.options import FieldAccess, PointerAnalysis

OPTIONS = (
    click.option(
        "--field-access",
        type=click.Choice([*FieldAccess]),
        default=FieldAccess.SENSITIVE,
        show_default=True,
        help="Of sa: how calls are followed to tell what threads may still access: through all callers; through the"
        " callee alone; or by the call stack that a thread has.",
    ),
    click.option(
        "--pointers",
        type=click.Choice([*PointerAnalysis]),
        default=PointerAnalysis.NONE,
        show_default=True,
        help="Of sa: how the objects are told apart whose fields are accessed: not at all; by where they are made (ex)"
        " or through which variables they are accessed (dd), context-insensitively (ci) or context-sensitively (cs).",
    ),
    click.option(
        "--immutable",
        type=click.Choice(["on", "off"]),
        default="on",
        show_default=True,
        callback=lambda context, parameter, value: value == "on",
        help="Of sa and dpor+static: is it used which fields are immutable?",
    ),
)


def static_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """They come as `field_access`, `pointers` and `immutable`."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def arguments_of(field_access: str, pointers: str, immutable: bool) -> list[str]:
    """The arguments that say the same, defaults left out."""
    given = {"--field-access": field_access, "--pointers": pointers, "--immutable": "on" if immutable else "off"}
    usual = {"--field-access": FieldAccess.SENSITIVE, "--pointers": PointerAnalysis.NONE, "--immutable": "on"}
    return [word for option, value in given.items() if value != usual[option] for word in (option, str(value))]
